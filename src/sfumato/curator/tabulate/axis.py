"""One column of a histogram: its bins or keys, and the SQL that sorts rows into them.

Bins hold their lower edge and not their upper one, but for the last, which holds both. A value beyond the declared
bounds counts as the nearest bound, as in sums; one beyond edges that were given is left out, unless the first is -inf
or the last inf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from sfumato import checks
from sfumato.dataset.column import Bounds, Key
from sfumato.errors import InvalidArgument
from sfumato.plan.syntax.node import quoted

MOST_BINS = 2_000  # a CASE with one branch for each must fit into a question
_LARGEST, _LEAST = 1e300, 1e-300


@dataclass(frozen=True, slots=True)
class Bin:
    """From low to high; `closed`: high belongs to it.

    >>> print(Bin(0.0, 10.0), Bin(90.0, 100.0, closed=True), Bin(-math.inf, 0.0))
    [0, 10) [90, 100] [-inf, 0)
    """

    low: float
    high: float
    closed: bool = False

    @property
    def middle(self) -> float:
        """Halfway; the finite end where the other is not."""
        if math.isinf(self.low) or math.isinf(self.high):
            return next((end for end in (self.low, self.high) if math.isfinite(end)), 0.0)
        return self.low / 2 + self.high / 2

    def __str__(self) -> str:
        """As intervals are written."""
        return f"[{self.low:.10g}, {self.high:.10g}{']' if self.closed else ')'}"


@dataclass(frozen=True, slots=True)
class Axis:
    """A column with its bins, or with its keys as they are; `sql` is what rows are grouped by."""

    column: str
    labels: tuple[Bin | Key, ...]
    sql: str

    @property
    def edges(self) -> tuple[float, ...] | None:
        """Where bins begin, and where the last ends; None: keys."""
        bins = [label for label in self.labels if isinstance(label, Bin)]
        return (*(each.low for each in bins), bins[-1].high) if bins else None

    @property
    def ranges(self) -> list[tuple[float, float]] | None:
        """Between which numbers the values of each cell lie; None: they are no numbers."""
        found = []
        for label in self.labels:
            if isinstance(label, Bin):
                found.append((label.low, label.high))
            elif isinstance(label, (int, float)) and not isinstance(label, bool):
                found.append((float(label), float(label)))
            else:
                return None
        return found

    def place(self, key: object) -> int:
        """The place of a group's key among the labels."""
        if self.edges is not None:
            assert isinstance(key, (int, float))
            return int(key)
        return [*self.labels].index(key)  # type: ignore[arg-type]


def keyed(column: str, keys: Sequence[Key]) -> Axis:
    """An axis of a column's own keys."""
    return Axis(column, tuple(keys), quoted(column))


def binned(column: str, edges: Sequence[float], bounds: Bounds | None, clipped: bool = False) -> Axis:
    """An axis of bins between edges; `clipped`: what lies outside counts in the outermost ones."""
    low = clipped or math.isinf(edges[0]) or (bounds is not None and bounds.low >= edges[0])
    high = clipped or math.isinf(edges[-1]) or (bounds is not None and bounds.high <= edges[-1])
    name, inner = quoted(column), edges[1:-1]
    _check_inside(edges, bounds)
    whens = [] if low else [f"WHEN {name} < {written(edges[0])} THEN NULL"]
    whens += [f"WHEN {name} < {written(edge)} THEN {place}" for place, edge in enumerate(inner)]
    last = f"{name} <= {written(edges[-1])}"
    if high:
        last = f"{name} >= {written(inner[-1])}" if inner else f"{name} IS NOT NULL"
    ends = _within(edges, bounds)
    bins = [Bin(a, b) for a, b in pairwise(ends)]
    labels = (*bins[:-1], Bin(bins[-1].low, bins[-1].high, closed=True))
    return Axis(column, labels, f"CASE {' '.join([*whens, f'WHEN {last} THEN {len(inner)}'])} END")


def _check_inside(edges: Sequence[float], bounds: Bounds | None) -> None:
    """A bin outside the bounds holds nothing by declaration, but a value out there would be in it: refused."""
    if bounds is None:
        return
    low, high = bounds.low, bounds.high
    if edges[0] > high or edges[-1] < low or any(not low < edge <= high for edge in edges[1:-1]):
        raise InvalidArgument(
            f"each bin must reach into the declared bounds, from {float(low):g} to {float(high):g}; got edges beyond; "
            "leave those out"
        )


def _within(edges: Sequence[float], bounds: Bounds | None) -> list[float]:
    """The edges, infinite ones at the declared bounds where these lie beyond the others."""
    ends = list(edges)
    if bounds is not None and math.isinf(ends[0]) and float(bounds.low) < ends[1]:
        ends[0] = float(bounds.low)
    if bounds is not None and math.isinf(ends[-1]) and float(bounds.high) > ends[-2]:
        ends[-1] = float(bounds.high)
    return ends


def written(number: float) -> str:
    """A number as SQL, whole ones without a point."""
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def equal_width(bounds: Bounds, number: object) -> list[float]:
    """The edges of so many bins of equal width."""
    count = checks.whole(least=1, bins=number)  # type: ignore[arg-type]
    if count > MOST_BINS:
        raise InvalidArgument(f"bins must be at most {MOST_BINS:,}; got {count:,}; take fewer")
    width = (bounds.high - bounds.low) / count
    return read_edges([float(bounds.low + Fraction(place) * width) for place in range(count + 1)])


def read_edges(given: Sequence[object]) -> list[float]:
    """Check edges: at least two, rising, only the outermost infinite."""
    try:
        edges = [float(edge) for edge in given]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidArgument(f"edges must be numbers; got {given!r}; for example [0, 10, 50, 100]") from None
    if not 2 <= len(edges) <= MOST_BINS + 1:
        raise InvalidArgument(f"edges must be 2 to {MOST_BINS + 1:,}; got {len(edges):,}; for example [0, 50, 100]")
    if not all(a < b for a, b in pairwise(edges)):  # also NaN
        raise InvalidArgument("edges must rise; got some that do not, or are too close to be told apart; sort them")
    finite = [abs(edge) for edge in edges if math.isfinite(edge)]
    if not finite or not all(edge == 0 or _LEAST <= edge <= _LARGEST for edge in finite):
        raise InvalidArgument("edges must lie between -1e300 and 1e300, but for -inf first and inf last; got others")
    return [0.0 if edge == 0 else edge for edge in edges]
