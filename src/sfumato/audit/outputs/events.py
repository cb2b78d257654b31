"""Events that tell two neighbors apart, learned from some outputs so that others can test them.

In each way to look (`lenses`), half lines, and sets of the bins with the largest likelihood ratio: the
best event is a set {ratio > t}, and for Laplace noise a half line. A first part of the outputs orders the bins, a
second one decides how many to take and which few events are worth a test: each test more makes all bounds wider.
What is learned here decides only how much is found, never whether it is true.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.outputs.bins import Bins
from sfumato.audit.outputs.features import Lens, lenses
from sfumato.audit.outputs.outputs import Floats, Kind, Reader

MoreLenses = Callable[[Reader, Floats, Floats], list[Lens]]
MOST_EVENTS = 3
_BINS = 256


@dataclass(frozen=True)
class Event:
    """Some bins of what a lens shows; `swapped`: it is more likely on the neighbor than on the value."""

    lens: Lens
    bins: Bins
    chosen: NDArray[np.bool_]
    swapped: bool
    words: str

    def holds(self, rows: Floats) -> NDArray[np.bool_]:
        """For each output whether the event happened."""
        return np.asarray(self.chosen[self.bins.place(self.lens.look(rows))])


@dataclass(frozen=True)
class Parts:
    """Rows of the value and of the neighbor: to order bins by, and to choose events by."""

    order: tuple[Floats, Floats]
    choose: tuple[Floats, Floats]


def no_lenses(reader: Reader, mine: Floats, theirs: Floats) -> list[Lens]:
    """None beside those of the outputs."""
    return []


def learn(reader: Reader, parts: Parts, delta: float, miss: float, more: MoreLenses = no_lenses) -> list[Event]:
    """The few events most worth a test, best first; at least one. `more` adds lenses to those of the outputs."""
    candidates: list[tuple[float, tuple[int, int], Event]] = []
    for lens in [*lenses(reader, *parts.order), *more(reader, *parts.order)]:
        shown = [[lens.look(rows) for rows in part] for part in (parts.order, parts.choose)]
        bins = Bins.learn(np.concatenate(shown[0]), _BINS)
        counts = [[bins.count(each) for each in part] for part in shown]
        for swapped in (False, True):
            turned = [part[::-1] if swapped else part for part in counts]
            candidates += list(_candidates(reader, lens, bins, turned, swapped, delta, miss))
    candidates.sort(key=lambda found: -found[0])
    different: dict[object, Event] = {}  # a half line may be the same set as another form
    for _, seen, event in candidates:
        different.setdefault((event.lens.name, event.swapped, seen), event)
    return list(different.values())[:MOST_EVENTS]


def _candidates(
    reader: Reader,
    lens: Lens,
    bins: Bins,
    counts: list[list[NDArray[np.int64]]],
    swapped: bool,
    delta: float,
    miss: float,
) -> Iterator[tuple[float, tuple[int, int], Event]]:
    """The best event of each form, with what it promises and how often it was seen on both sides."""
    (mine, theirs), (mine_then, theirs_then) = counts
    by_ratio = np.argsort(-(mine + 1) / (theirs + 1), kind="stable")
    up = np.arange(bins.size - 1)  # without what is missing
    forms = [("set", by_ratio)] if lens.is_category else [("most", up), ("above", up[::-1]), ("set", by_ratio)]
    for form, order in forms:
        hits, others = np.cumsum(mine_then[order]), np.cumsum(theirs_then[order])
        promised = _promised(hits, int(mine_then.sum()), others, int(theirs_then.sum()), delta, miss)
        best = int(np.argmax(promised))
        chosen = np.zeros(bins.size, bool)
        chosen[order[: best + 1]] = True
        words = _words(reader, lens, bins, chosen, form)
        yield float(promised[best]), (int(hits[best]), int(others[best])), Event(lens, bins, chosen, swapped, words)


def _promised(
    hits: NDArray[np.int64], trials: int, others: NDArray[np.int64], other_trials: int, delta: float, miss: float
) -> Floats:
    """About the epsilon that a test would certify, by Wilson's bounds."""
    z = math.sqrt(-2 * math.log(miss))
    low, high = _wilson(hits, trials, -z), _wilson(others, other_trials, z)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(low - delta, 1e-300)) - np.log(high))


def _wilson(hits: NDArray[np.int64], trials: int, z: float) -> Floats:
    share = hits / trials
    middle, spread = share + z * z / (2 * trials), np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    return np.asarray((middle + z * spread) / (1 + z * z / trials))


def _words(reader: Reader, lens: Lens, bins: Bins, chosen: NDArray[np.bool_], form: str) -> str:
    """An event as a reader of a report understands it."""
    name, places = lens.name, np.flatnonzero(chosen)
    if reader.kind is Kind.KEYS and lens.name in reader.columns:
        held = set(places.tolist()) - {len(bins.edges)}  # above all edges is nothing
        if held == set(range(len(bins.edges))) or held == {bins.size - 1}:
            return f"{name} is {'not there' if bins.size - 1 in held else 'there'}"
    if form == "most":
        return f"{name} <= {bins.edges[places[-1]]:.6g}" if places[-1] < len(bins.edges) else f"{name} is a number"
    if form == "above":
        return f"{name} > {bins.edges[places[0] - 1]:.6g}" if places[0] > 0 else f"{name} is a number"
    if len(places) == 1 and places[0] == bins.size - 1:
        return f"{name} is missing"
    edges = [bins.edges[place] for place in places if place < len(bins.edges)]
    if lens.name == "output" and lens.is_category and len(edges) == len(places) <= 3:
        return f"output is {' or '.join(reader.label(edge) for edge in edges)}"
    if lens.name == "form" and len(edges) == len(places) <= 3:
        return f"the output's form is {' or '.join(reader.form(edge) for edge in edges)}"
    if not edges or lens.is_category:
        return f"{name} is one of {len(places)} of {bins.size} that occur"
    runs = 1 + int(np.count_nonzero(np.diff(places) > 1))
    among = "" if runs == 1 else f", in {runs} intervals"
    first = bins.edges[places[0] - 1] if places[0] > 0 else -math.inf
    return f"{name} is in {len(places)} of {bins.size} bins between {first:.6g} and {edges[-1]:.6g}{among}"
