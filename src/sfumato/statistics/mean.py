"""AVG(x): the mean, from two noisy sums. Proof: docs/proofs/means.md.

With y the distance of a value from the center in spreads, a row gives (1 + y) / 2 and (1 - y) / 2: together the number
of rows, their difference the sum of y.
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

_ROUNDING = 2  # steps by which a row may be off, since it has whole steps


class Mean(Centered):
    """The mean of the values."""

    name: ClassVar[str] = "mean"
    functions: ClassVar[tuple[str, ...]] = ("avg",)
    cells: ClassVar[int] = 2

    def columns(self, row: RowSql, priced: Priced) -> Mapping[str, str]:
        """`p`, which is (1 + y) / 2 in steps, rounded toward zero."""
        half = row.dialect.over(f"({priced.row_steps} + {self.away(row, priced)})", 2)
        return {"p": f"CASE WHEN {row.x} IS NOT NULL THEN {half} END"}

    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """`p` and the rest of the row; their absolute values add up to max(1, |y|) rows at most."""
        p = row.column("p")
        return [f"coalesce({p}, 0)", f"coalesce({priced.row_steps} - {p}, 0)"]

    def row_contribution(self, row: RowSql, priced: Priced) -> str:
        """The larger of one row and the distance."""
        return row.or_zero(f"greatest({priced.row_steps}, abs({self.away(row, priced)}))")

    def unit_contribution(self, row: RowSql, priced: Priced) -> str:
        """The same in doubles that are whole numbers, which is quicker."""
        steps = row.dialect.real(Fraction(priced.row_steps))
        return row.dialect.unit_total(row.or_zero(f"greatest({steps}, abs({self.away_double(row, priced)}))"))

    def group_sums(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The sum of `p`; the other part follows from the number of rows."""
        wide = row.dialect.wide
        total = f"coalesce(CAST({row.dialect.row_sum(row.column('p'))} AS {wide}), 0)"
        return [total, f"CAST(count({row.x}) AS {wide}) * {priced.row_steps} - {total}"]

    def _row_size(self, away: int, row_steps: int) -> int:
        return away

    def estimate(self, priced: Priced, cells: Sequence[int], error: CellError) -> Estimate:
        """The mean of one group."""
        (found,) = self.estimates(priced, [cells], error)
        return found

    def estimates(self, priced: Priced, cells: Sequence[Sequence[int]], error: CellError) -> Sequence[Estimate]:
        """The center, and from it A / B spreads, with A = P - M and B = P + M of the two released sums.

        The interval is that of a ratio of two sums over the same noises (`ratios`): the means that noise, loss and
        rounding explain together.
        """
        values, center = priced.value_range, priced.center
        assert values is not None
        assert center is not None
        low, high = float(values.low), float(values.high)
        ends = (-math.inf, math.inf) if priced.bounds_share else (low, high)  # estimated bounds are not declared
        middle, spread = float(center.middle), float(center.spread)
        plus, minus = (np.array([each[part] for each in cells], dtype=float) for part in (0, 1))
        lows, highs = self._ratios(priced, plus, minus, error)
        found = []
        for p, m, first, last in zip(plus.tolist(), minus.tolist(), lows.tolist(), highs.tolist(), strict=True):
            if p + m <= 0:
                found.append(Estimate((low + high) / 2, *ends))
                continue
            value = min(high, max(low, middle + spread * (p - m) / (p + m)))
            sure = (max(ends[0], middle + spread * first), min(ends[1], middle + spread * last))
            found.append(Estimate(value, min(value, *sure), max(value, *sure)))
        return found

    def _ratios(self, priced: Priced, plus: Floats, minus: Floats, error: CellError) -> tuple[Floats, Floats]:
        """The ends of A / B; infinite where B may be zero, or nobody knows what is lost."""
        if error.lost is None:
            return np.full_like(plus, -math.inf), np.full_like(plus, math.inf)
        largest = float(max(0.0, *(plus + minus))) + 2 * (error.reach + error.lost)
        rounding = 2 * _ROUNDING * math.ceil(largest / priced.row_steps)  # of both sums of one group
        parts = (Part(1, 1.0, 1.0), Part(1, -1.0, 1.0))
        source = Source(error.noise, parts, error.lost + rounding, signed=True)
        return quotients([source], plus - minus, plus + minus, error.miss)
