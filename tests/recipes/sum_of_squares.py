"""A sample statistic: SUM_OF_SQUARES(x), the sum of the squares of clipped values, in steps of a power of two.

Claim. A row gives the square of its clipped value, rounded to whole steps, to one cell. The engine scales a unit down
to the contribution limit by `row_contribution`, which is that number itself (docs/proofs/means.md, section 3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.statistic import Priced, Statistic
from sfumato.statistics.steps import sum_step


class SumOfSquares(Statistic):
    """The sum of the squares."""

    name: ClassVar[str] = "sum of squares"
    functions: ClassVar[tuple[str, ...]] = ("sum_of_squares",)
    adds_up: ClassVar[bool] = True

    def row_steps(self, priced: Priced) -> int:
        """Those of the largest square."""
        assert priced.value_range is not None
        return max(1, math.ceil(priced.value_range.largest**2 / priced.step))

    def step(self, priced: Priced) -> Fraction:
        """A power of two."""
        assert priced.value_range is not None
        return sum_step(priced.value_range.largest**2)

    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The square of the clipped value."""
        assert priced.value_range is not None
        clipped = row.clipped(priced.value_range)
        return [row.or_zero(row.rounded(f"({clipped} * {clipped})", 1 / priced.step))]
