"""The outputs on both sides as a few bins, and the chart of them: what the event found looks like."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import charts
from sfumato.audit.events import Event
from sfumato.audit.finding import Finding, Side, floor, said
from sfumato.audit.outputs import Floats, Reader

_BARS, _FEW = 48, 40
_OUTSIDE = 0.002  # of the outputs, at each end


def picture(reader: Reader, event: Event, late: Sequence[Floats]) -> tuple[Side, ...]:
    """The shares of outputs in bins of what the event's lens shows."""
    shown = [event.lens.look(rows) for rows in late]
    held = np.concatenate([event.holds(rows) for rows in late])
    present = np.concatenate([each[np.isfinite(each)] for each in shown])
    low, high = np.quantile(present, [_OUTSIDE, 1 - _OUTSIDE], method="nearest") if present.size else (0.0, 0.0)
    values = np.unique(present[(present >= low) & (present <= high)])
    few = len(values) <= _FEW
    edges = np.append(values, np.nextafter(high, np.inf)) if few else np.linspace(low, high, _BARS + 1)
    found = []
    everything = np.concatenate(shown)
    for start, end in itertools.pairwise(edges):
        inside = [each == start if few else (each >= start) & (each < end) for each in shown]
        both = np.concatenate(inside)
        chosen = bool(both.any() and held[both].mean() > 0.5)
        label = reader.label(start) if event.lens.is_category else f"{start:.4g}"
        found.append(Side(label, float(start), float(end), *_shares(inside), chosen))
    if (lost := ~np.isfinite(everything)).any():
        shares = _shares([~np.isfinite(each) for each in shown])
        found.append(Side("missing", np.nan, np.nan, *shares, bool(held[lost].mean() > 0.5)))
    return tuple(found)


def _shares(inside: Sequence[NDArray[np.bool_]]) -> tuple[float, float]:
    value, neighbour = (float(np.mean(each)) for each in inside)
    return value, neighbour


def draw_finding(finding: Finding) -> Any:
    """An Altair chart: outputs on both neighbours, the event shaded."""
    verdict = "refuted" if finding.refuted else "not refuted"
    best = finding.best
    subtitle = (
        f"claimed epsilon {float(finding.claim.epsilon):g}: {verdict}; at least {floor(finding.certified)} "
        f"with confidence {said(finding.confidence)}",
        f"shaded: {best.words}",
    )
    names = charts.Names(finding.seen, "share of outputs", f"Audit of {finding.name}", "input", subtitle)
    few = len(finding.sides) <= _FEW + 1
    return charts.two_sides(
        [(s.label, s.start, s.end, s.value, s.neighbour, s.chosen) for s in finding.sides], few, names
    )
