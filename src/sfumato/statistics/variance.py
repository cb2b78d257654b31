"""VARIANCE, VAR_POP, STDDEV and STDDEV_POP: from three noisy sums. Proof: docs/proofs/means.md.

With y the distance of a value from the center in spreads, the sums are those of (1 - y)**2 / 4, (1 - y**2) / 2 and
(1 + y)**2 / 4: together the number of rows, the last less the first the sum of y, and both of them less the middle one
that of y**2.

A sample's variance is n / (n - 1) times that of the rows themselves. The number n is as noisy as the sums, and with a
handful of rows that factor matters more than they do, so the interval has its range: from that of the most rows that
there may be to that of the fewest. One row has no such variance, so these are two at least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.mechanisms._noise.sums import Floats
from sfumato.statistics.center import Centered
from sfumato.statistics.estimate import Estimate
from sfumato.statistics.ratios import Part, Source, quotients
from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.statistic import CellError, Priced
from sfumato.statistics.steps import DIGITS, SQUARE_DIGITS


class Spread(Centered):
    """How far values lie apart: a variance, of a sample or of all rows, or its root."""

    cells: ClassVar[int] = 3
    is_wide: ClassVar[bool] = True
    octaves_beyond: ClassVar[int] = 3  # squares are added up: what is farther out counts no more
    spread_factor: ClassVar[int] = 2  # what is farther out counts by its square
    finest_digits: ClassVar[int] = 12
    is_sample: ClassVar[bool] = True
    is_root: ClassVar[bool] = False

    def columns(self, row: RowSql, priced: Priced) -> Mapping[str, str]:
        """`p` and `q`, which are (1 + y)**2 / 4 and (1 - y)**2 / 4 in steps, rounded toward zero."""
        found = {}
        for name, sign in (("p", "+"), ("q", "-")):
            side = f"({priced.row_steps} {sign} {self.away(row, priced)})"
            part = row.dialect.over(f"{side} * {side}", 4 * priced.row_steps)
            found[name] = f"CASE WHEN {row.x} IS NOT NULL THEN {part} END"
        return found

    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """`q`, the rest of the row, and `p`; their absolute values add up to max(1, y**2) rows at most."""
        p, q = row.column("p"), row.column("q")
        return [f"coalesce({part}, 0)" for part in (q, f"{priced.row_steps} - {p} - {q}", p)]

    def row_contribution(self, row: RowSql, priced: Priced) -> str:
        """The larger of one row and the squared distance."""
        away, steps = self.away(row, priced), priced.row_steps
        size = row.dialect.over(f"({away} * {away} + {steps - 1})", steps)
        return row.or_zero(f"greatest({steps}, {size})")

    def group_sums(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The sums of `q` and `p`; the middle part follows from the number of rows."""
        wide = row.dialect.wide
        q, p = (f"coalesce(CAST({row.dialect.sum(row.column(part))} AS {wide}), 0)" for part in ("q", "p"))
        return [q, f"CAST(count({row.x}) AS {wide}) * {priced.row_steps} - {q} - {p}", p]

    def _most_digits(self, farthest: int) -> int:
        return min(DIGITS - 1 - farthest, SQUARE_DIGITS - 2 * farthest)

    def _row_size(self, away: int, row_steps: int) -> int:
        return -(-away * away // row_steps)

    def estimate(self, priced: Priced, cells: Sequence[int], error: CellError) -> Estimate:
        """The variance of one group, or its root."""
        (found,) = self.estimates(priced, [cells], error)
        return found

    def estimates(self, priced: Priced, cells: Sequence[Sequence[int]], error: CellError) -> Sequence[Estimate]:
        """The mean of y**2 less the square of the mean of y, in squared spreads, for each group.

        Half of the miss probability goes to each of the two means, whose intervals are those of ratios (`ratios`): what
        noise, loss and rounding explain.
        """
        first, middle, last = (np.array([each[part] for each in cells], dtype=float) for part in range(3))
        rows = first + middle + last
        if error.lost is None:
            open_ends = np.full_like(rows, -math.inf), np.full_like(rows, math.inf)
            means = seconds = open_ends
        else:
            lost = error.lost + _rounding(priced, cells, error)
            half = error.miss / 2
            means = _ratios(error, (-1.0, 0.0, 1.0), lost, half, last - first, rows)
            seconds = _ratios(error, (1.0, -1.0, 1.0), lost, half, first + last - middle, rows)
        ends = zip(*(each.tolist() for each in (*means, *seconds)), strict=True)
        found = [self._variance(priced, each, error, end) for each, end in zip(cells, ends, strict=True)]
        return [_root(each) for each in found] if self.is_root else found

    def _variance(
        self, priced: Priced, cells: Sequence[int], error: CellError, ends: tuple[float, float, float, float]
    ) -> Estimate:
        """The variance of one group; `ends` are those of the mean of y and of y**2."""
        assert priced.value_range is not None
        assert priced.center is not None
        first, middle, last = cells
        rows, unit = first + middle + last, float(priced.center.spread) ** 2
        most = float(priced.value_range.width) ** 2 / 4  # half the values at either end
        away = error.away
        few, many = self._factors(priced, rows, None if away is None else 3 * away)
        widest = math.inf if priced.bounds_share else most * few
        if rows <= 0:
            return Estimate(0.0, 0.0, widest)
        factor, _ = self._factors(priced, rows, 0)
        centered, squares = last - first, first + last - middle
        value = factor * min(most, max(0.0, unit * (squares / rows - (centered / rows) ** 2)))
        if not all(map(math.isfinite, ends)):
            return Estimate(value, 0.0, max(value, widest))
        nearest = 0.0 if ends[0] <= 0 <= ends[1] else min(abs(ends[0]), abs(ends[1]))
        low = many * unit * (ends[2] - max(abs(ends[0]), abs(ends[1])) ** 2)
        high = few * unit * (ends[3] - nearest**2)
        return Estimate(value, min(value, max(0.0, low)), max(value, min(widest, high)))

    def _factors(self, priced: Priced, rows: int, away: int | None) -> tuple[float, float]:
        """What makes a sample's variance of that of the rows: for the fewest rows that there may be, and the most.

        Rows are given in steps, and are whole numbers truly; they are off by `away` at most, None: nobody knows.
        """
        if not self.is_sample:
            return 1.0, 1.0
        if away is None:
            return 2.0, 1.0
        if not away:
            number = max(2.0, rows / priced.row_steps)
            return number / (number - 1), number / (number - 1)
        fewest = max(2, -(-(rows - away) // priced.row_steps))
        most = max(fewest, (rows + away) // priced.row_steps)
        return fewest / (fewest - 1), most / (most - 1)


class Variance(Spread):
    """The variance of a sample."""

    name: ClassVar[str] = "variance"
    functions: ClassVar[tuple[str, ...]] = ("variance",)


class PopulationVariance(Spread):
    """The variance of all rows."""

    name: ClassVar[str] = "population variance"
    functions: ClassVar[tuple[str, ...]] = ("var_pop",)
    is_sample: ClassVar[bool] = False


class Deviation(Spread):
    """The standard deviation of a sample."""

    name: ClassVar[str] = "standard deviation"
    functions: ClassVar[tuple[str, ...]] = ("stddev", "stddev_samp")
    is_root: ClassVar[bool] = True


class PopulationDeviation(Spread):
    """The standard deviation of all rows."""

    name: ClassVar[str] = "population standard deviation"
    functions: ClassVar[tuple[str, ...]] = ("stddev_pop",)
    is_sample: ClassVar[bool] = False
    is_root: ClassVar[bool] = True


def _ratios(
    error: CellError, weights: tuple[float, float, float], lost: int, miss: Fraction, above: Floats, below: Floats
) -> tuple[Floats, Floats]:
    """The ends of a weighted sum of the three released sums over the number of rows."""
    parts = tuple(Part(1, weight, 1.0) for weight in weights)
    return quotients([Source(error.noise, parts, lost, signed=True)], above, below, miss)


def _rounding(priced: Priced, cells: Sequence[Sequence[int]], error: CellError) -> int:
    """How far the sums of any group may be off together, since every row has whole steps.

    A row is off by 3 steps at most and half of its distance from the center in spreads, since it is squared. By the
    inequality of Cauchy and Schwarz the distances of n rows have at most the root of n times the sum of their squares
    together.
    """
    assert error.away is not None
    away, found = error.away, 0
    for first, middle, last in cells:
        rows = -(-(max(0, first + middle + last) + 3 * away) // priced.row_steps)
        squares = -(-(max(0, first + last - middle) + 3 * away) // priced.row_steps)
        found = max(found, 3 * (3 * rows + math.isqrt(rows * squares) // 2 + 1))
    return found


def _root(variance: Estimate) -> Estimate:
    return Estimate(*(math.sqrt(each) for each in (variance.value, variance.low, variance.high)))
