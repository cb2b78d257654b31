"""The outputs on both sides as a few bins, and the chart of them: what the event found looks like."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import charts
from sfumato.audit.finding import Finding, Side, floor, said
from sfumato.audit.outputs.events import Event
from sfumato.audit.outputs.outputs import Floats, Kind, Reader

_BARS, _FEW, _TITLE = 48, 40, 60
_OUTSIDE = 0.002  # of the outputs, at each end


def picture(reader: Reader, event: Event, late: Sequence[Floats]) -> tuple[Side, ...]:
    """The shares of outputs in bins of what the event's lens shows."""
    shown = [event.lens.look(rows) for rows in late]
    held = np.concatenate([event.holds(rows) for rows in late])
    present = np.concatenate([each[np.isfinite(each)] for each in shown])
    low, high = np.quantile(present, [_OUTSIDE, 1 - _OUTSIDE], method="nearest") if present.size else (0.0, 0.0)
    values = np.unique(present[(present >= low) & (present <= high)])
    few = len(values) <= _FEW
    edges = np.append(values, np.nextafter(high, np.inf)) if few else _edges(values)
    is_key = reader.kind is Kind.KEYS and event.lens.name in reader.columns
    found = []
    everything = np.concatenate(shown)
    for start, end in itertools.pairwise(edges):
        inside = [each == start if few else (each >= start) & (each < end) for each in shown]
        both = np.concatenate(inside)
        chosen = bool(both.any() and held[both].mean() > 0.5)
        label = reader.label(start) if event.lens.is_category else f"{start:.4g}"
        label = "there" if is_key and label == "1" else label
        found.append(Side(label, float(start), float(end), *_shares(inside), chosen))
    if (lost := ~np.isfinite(everything)).any():
        shares = _shares([~np.isfinite(each) for each in shown])
        found.append(Side("not there" if is_key else "missing", np.nan, np.nan, *shares, bool(held[lost].mean() > 0.5)))
    return tuple(found)


def _edges(values: Floats) -> Floats:
    """Bins as wide as each other; of whole numbers each has as many, or the picture would have teeth."""
    low, high = float(values[0]), float(values[-1])
    if np.all(values == np.round(values)) and high - low < 2**50:
        width = math.ceil((high - low + 1) / (4 * _BARS))  # no fewer bins than make a line
        return np.arange(low - 0.5, high + width, width)
    edges = np.linspace(low, high, _BARS + 1)
    edges[-1] = np.nextafter(high, np.inf)
    return edges


def _shares(inside: Sequence[NDArray[np.bool_]]) -> tuple[float, float]:
    value, neighbor = (float(np.mean(each)) for each in inside)
    return value, neighbor


def draw_finding(finding: Finding) -> Any:
    """An Altair chart: outputs on both neighbors, the event shaded."""
    verdict = "refuted" if finding.refuted else "not refuted, which is no proof"
    delta = f", delta {float(finding.claim.delta):g}" if finding.claim.delta else ""
    telling = finding.certified > 0
    subtitle: tuple[str, ...] = (
        f"claimed epsilon {float(finding.claim.epsilon):g}{delta}; certified at least {floor(finding.certified)} "
        f"with confidence {said(finding.confidence)}: {verdict}",
        "; ".join(f"{side}: {_cut(words)}" for side, words in zip(("value", "neighbor"), finding.inputs, strict=True)),
        f"shaded: {finding.best.words}" if telling else "no event told them apart",
    )
    few = len(finding.sides) <= _FEW + 1
    if not few and (lost := next((s for s in finding.sides if not math.isfinite(s.start)), None)):
        subtitle += (f"not drawn: no number, {lost.value:.1%} on the value and {lost.neighbor:.1%} on the neighbor",)
    name = finding.name if len(finding.name) <= _TITLE else f"{finding.name[:_TITLE]}..."
    names = charts.Names(finding.seen, "share of outputs", f"Audit of {name}", "input", subtitle)
    return charts.two_sides(
        [(s.label, s.start, s.end, s.value, s.neighbor, s.chosen and telling) for s in finding.sides], few, names
    )


def _cut(words: str, most: int = 36) -> str:
    return words if len(words) <= most else f"{words[: most - 3]}..."
