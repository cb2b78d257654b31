"""A private histogram, and what follows from it at no cost: totals, range counts, margins, means, quantiles.

Margins and totals are sums of cells, so all tables that are made from one histogram agree. An interval has the noise
of all cells together, what the limit took away, and that a value may lie anywhere in its bin.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from sfumato import charts, checks
from sfumato.curator.answers.answer import Answer, Receipt
from sfumato.curator.answers.released import Released
from sfumato.curator.tabulate.axis import Axis, Bin
from sfumato.curator.tabulate.tidy import tidied
from sfumato.dataset.column import Key
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.estimate import Estimate
from sfumato.statistics.ratios import Part, Source, linear, quotients
from sfumato.suggestions import find

_COUNT = "count"


@dataclass(frozen=True)
class Histogram:
    """Private counts by cell, as `sf.histogram` returns them.

    axes         a column with its bins or keys each; cells run through the last one first
    counts       one number for each cell; with tidy=True whole and not negative
    released     what was released, in lattice steps, with its noise
    draws        how many released numbers a cell is the sum of, more than one in a margin
    guarantee    what was promised for everything that follows from it
    receipt      what was charged, what is left, and notes on how to read it
    confidence   how often an interval holds
    question     the same histogram in SQL
    explanation  how it came about

    """

    axes: tuple[Axis, ...]
    counts: tuple[float, ...]
    released: Released
    draws: int
    guarantee: Guarantee
    receipt: Receipt
    confidence: float
    question: str
    explanation: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(axis.column for axis in self.axes)

    @property
    def edges(self) -> dict[str, tuple[float, ...]]:
        """The edges of each column that has bins."""
        return {axis.column: axis.edges for axis in self.axes if axis.edges is not None}

    @property
    def cells(self) -> list[tuple[Bin | Key, ...]]:
        """A bin or key of each column, cell by cell."""
        return list(product(*(axis.labels for axis in self.axes)))

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """From where to where each count may truly be."""
        miss = self.released.miss / (len(self.counts) if self.released.at_once else 1)
        off = linear([self._source([(1.0, 0.0)])], 0.0, miss)
        numbers = (number * float(self.released.step) for number in self.released.numbers)
        pairs = [(number + off.low, number + off.high) for number in numbers]
        return [self._covering(pair, count) for pair, count in zip(pairs, self.counts, strict=True)]

    def total(self) -> Estimate:
        """The sum of all cells."""
        return self._sum(range(len(self.counts)))

    def margin(self, *columns: str) -> Histogram:
        """The histogram of some of the columns: sums over the others."""
        names = [find(column, self.columns, what="column", where="this histogram") for column in columns]
        if not names or len(set(names)) < len(names):
            raise InvalidArgument(f"margin must name columns once each ({', '.join(self.columns)}); got {columns!r}")
        kept = [self.columns.index(name) for name in names]
        others = tuple(place for place in range(len(self.axes)) if place not in kept)
        shape = tuple(len(axis.labels) for axis in self.axes)
        order = sorted(range(len(kept)), key=lambda place: kept[place])

        def summed(values: Sequence[Any]) -> list[Any]:
            table = np.array(values, dtype=object).reshape(shape).sum(axis=others) if others else (
                np.array(values, dtype=object).reshape(shape))  # fmt: skip
            return list(np.transpose(table, [order.index(place) for place in range(len(kept))]).ravel())

        numbers = tuple(summed(self.released.numbers))
        released = replace(self.released, numbers=numbers, groups=len(numbers))
        draws = self.draws * math.prod(shape[place] for place in others)
        return replace(
            self,
            axes=tuple(self.axes[place] for place in kept),
            counts=tuple(summed(self.counts)),
            released=released,
            draws=draws,
        )

    def count(self, low: float, high: float) -> Estimate:
        """How many lie from low to high; of bins that are cut, any part may be inside."""
        ranges = self._ranges("count")
        if not low < high:
            raise InvalidArgument(f"count must be given a low below a high; got {low!r} and {high!r}; turn them")
        inside = [place for place, (a, b) in enumerate(ranges) if low <= a and (b <= high if a < b else b < high)]
        touched = [place for place, (a, b) in enumerate(ranges) if (a < high and low < b) or low <= a == b < high]
        cut = (self.counts[place] * _part(ranges[place], low, high) for place in touched if place not in inside)
        value = sum(self.counts[place] for place in inside) + math.fsum(cut)
        ends = self._sum(inside).low, self._sum(touched).high
        return Estimate(value, *self._covering(ends, value))

    def mean(self) -> Estimate:
        """The mean of the values that were counted, whose places in their bins are not known."""
        ranges = self._ranges("mean")
        if not all(math.isfinite(end) for pair in ranges for end in pair):
            raise InvalidArgument("mean must have bins with ends; got infinite ones; declare bounds, or ask for AVG")
        lowest, highest = min(a for a, _ in ranges), max(b for _, b in ranges)
        middles = np.array([a / 2 + b / 2 for a, b in ranges])
        weights = np.array(self.counts, dtype=float)  # also those below zero: cut at zero, noise would no more cancel
        value = float(middles @ weights / weights.sum()) if weights.sum() > 0 else lowest / 2 + highest / 2
        value = min(max(value, lowest), highest)
        low, high = (self._average([pair[end] for pair in ranges])[end] for end in (0, 1))
        return Estimate(value, min(value, max(lowest, low)), max(value, min(highest, high)))

    def quantile(self, q: float) -> Estimate:
        """The value below which a share q lies; the interval is of whole bins, since nothing is known inside one."""
        share = float(checks.probability(q=q))
        ranges = self._ranges("quantile")
        held = [place for place in range(len(ranges)) if not self._excluded(place, share)]
        place, part = self._at(share)
        chosen = [ranges[each] for each in (*held, place)]
        low, high = ranges[place]
        value = low + part * (high - low) if math.isfinite(low) and math.isfinite(high) else Bin(low, high).middle
        return Estimate(value, min(a for a, _ in chosen), max(b for _, b in chosen))

    def plot(self) -> Any:
        """An Altair chart with error bars: bars over bins, or bars by key; a second column in colors.

        Bars over bins of different widths have heights per unit of the column, so that areas are comparable.
        """
        delta = f" and delta {float(self.guarantee.delta):g}" if self.guarantee.delta else ""
        title = f"{self.confidence:.0%} intervals; epsilon {float(self.guarantee.epsilon):g}{delta}"
        names = charts.Names(self.columns[0], _COUNT, title, " / ".join(self.columns[1:]))
        listed = zip(self.cells, self.counts, self.intervals, strict=True)
        if len(self.axes) == 1 and self.axes[0].edges is not None:
            return charts.over_bins([charts.Bar(*_drawn(cell[0]), n, *ends) for cell, n, ends in listed], names)
        points = []
        for cell, n, ends in listed:
            first, *others = (charts.in_words(label) for label in cell)
            points.append(charts.Point(first, n, *ends, series=" / ".join(others) or None))
        return charts.with_intervals(points, names)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: keys as they are, bins as NAME_low and NAME_high, and the count with its interval."""
        table: dict[str, list[Any]] = {}
        for place, axis in enumerate(self.axes):
            labels = [cell[place] for cell in self.cells]
            if axis.edges is None:
                table[axis.column] = labels
            else:
                bins = [label for label in labels if isinstance(label, Bin)]
                table[f"{axis.column}_low"] = [each.low for each in bins]
                table[f"{axis.column}_high"] = [each.high for each in bins]
        low, high = zip(*self.intervals, strict=True)
        return {**table, _COUNT: list(self.counts), f"{_COUNT}_low": list(low), f"{_COUNT}_high": list(high)}

    def to_pandas(self) -> Any:
        """A pandas frame."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def tidy(self) -> Histogram:
        """The same with whole numbers of at least zero, which add up to the same total, rounded."""
        return replace(self, counts=tuple(tidied(self.counts)))

    def explain(self) -> str:
        """How it came about, step by step."""
        return self.explanation

    def __repr__(self) -> str:
        return f"Histogram(columns={', '.join(self.columns)}; cells={len(self.counts)})"

    def __str__(self) -> str:
        """A plain table: count ± half-width, then the notes."""
        return str(self._in_words())

    def _repr_html_(self) -> str:
        """For a notebook: the table with error bars, and a chart."""
        return self._in_words()._repr_html_()

    def _in_words(self) -> Answer:
        """The same as an answer, its bins in words."""
        rows = [
            {**{name: charts.in_words(label) for name, label in zip(self.columns, cell, strict=True)}, _COUNT: count}
            for cell, count in zip(self.cells, self.counts, strict=True)
        ]
        ends: dict[str, Any] = {**{name: [None] * len(rows) for name in self.columns}, _COUNT: self.intervals}
        names = (*self.columns, _COUNT)
        return Answer(names, rows, ends, self.guarantee, self.receipt, self.confidence, self.explanation)

    def _ranges(self, what: str) -> list[tuple[float, float]]:
        """The ends of the bins, for what is computed along one axis of numbers."""
        ranges = self.axes[0].ranges
        if len(self.axes) > 1:
            raise InvalidArgument(f"{what} must be of one column; got {len(self.axes)}; take margin(column) first")
        if ranges is None:
            raise InvalidArgument(f"{what} must be of numbers; got keys of {self.columns[0]}; take another column")
        return ranges

    def _source(self, weights: Sequence[tuple[float, float]]) -> Source:
        """Cells with weights in A and B, in the released numbers' own steps."""
        step = float(self.released.step)
        parts = (Part(n * self.draws, a * step, b * step) for (a, b), n in Counter(weights).items())
        return Source(self.released.noise, tuple(parts), self.released.lost, self.released.signed)

    def _sum(self, places: Sequence[int]) -> Estimate:
        value = sum(self.counts[place] for place in places)
        if not places:
            return Estimate(0.0, 0.0, 0.0)
        released = float(sum(self.released.numbers[place] for place in places) * self.released.step)
        found = linear([self._source([(1.0, 0.0)] * len(places))], released, self.released.miss)
        return Estimate(value, *self._covering(found.interval, value))

    def _covering(self, pair: tuple[float, float], count: float) -> tuple[float, float]:
        """An interval with its count in it; where counts were made whole and not negative, it is not negative."""
        low, high = pair
        if isinstance(count, int):
            low, high = max(0.0, low), max(0.0, high)
        return min(low, count), max(high, count)

    def _average(self, ends: Sequence[float]) -> tuple[float, float]:
        """The interval of the mean if every value were at the given end of its bin."""
        middle = math.fsum(each / len(ends) for each in ends)  # from here the noises of sum and count are unlike
        away = np.array(ends) - middle
        numbers = np.array([float(number) for number in self.released.numbers]) * float(self.released.step)
        source = self._source([(float(each), 1.0) for each in away])
        low, high = quotients([source], np.array([away @ numbers]), np.array([numbers.sum()]), self.released.miss)
        return middle + float(low[0]), middle + float(high[0])

    def _excluded(self, place: int, share: float) -> bool:
        """Whether the quantile is surely not in a bin: too many lie before it, or too few up to its end."""
        before, low_off, _ = self._before(place, share)
        until, _, high_off = self._before(place + 1, share)
        return before > low_off or until < -high_off

    def _before(self, place: int, share: float) -> tuple[float, float, float]:
        """How many lie before a place, less that share of all; and how far above and below the truth that may be."""
        size = len(self.counts)
        weights = [(1 - share, 0.0)] * place + [(-share, 0.0)] * (size - place)
        numbers = self.released.numbers
        exact = (1 - Fraction(share)) * sum(numbers[:place]) - Fraction(share) * sum(numbers[place:])
        off = linear([self._source(weights)], 0.0, self.released.miss)
        return float(exact * self.released.step), -off.low, off.high

    def _at(self, share: float) -> tuple[int, float]:
        """The bin in which a share of all is reached, and how far in it."""
        counts = np.array(tidied(self.counts), dtype=float)
        if counts.sum() <= 0:
            return len(counts) // 2, 0.5
        sums = np.cumsum(counts)
        place = min(int(np.searchsorted(sums, share * sums[-1])), len(counts) - 1)
        return place, (share * float(sums[-1]) - float(sums[place] - counts[place])) / max(float(counts[place]), 1e-300)


def _part(pair: tuple[float, float], low: float, high: float) -> float:
    """Which part of a bin lies between low and high."""
    a, b = pair
    if math.isinf(a) or math.isinf(b):
        return 0.5
    return (min(b, high) - max(a, low)) / (b - a)


def _drawn(label: Bin | Key) -> tuple[float, float]:
    assert isinstance(label, Bin)
    return label.low, label.high
