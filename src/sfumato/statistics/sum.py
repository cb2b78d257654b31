"""SUM(x): the sum of clipped values, in steps of a power of two. Proof: docs/proofs/means.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from sfumato.dataset.kind import UNSCALED
from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.statistic import Priced, Statistic
from sfumato.statistics.steps import sum_step


class Sum(Statistic):
    """The sum of the values."""

    name: ClassVar[str] = "sum"
    functions: ClassVar[tuple[str, ...]] = ("sum",)
    adds_up: ClassVar[bool] = True

    def result_scale(self, function: str, scale: int | None) -> int | None:
        """A decimal for decimals and whole numbers."""
        return None if scale is None else UNSCALED

    def row_steps(self, priced: Priced) -> int:
        """Those of the largest absolute value."""
        assert priced.value_range is not None
        return max(1, math.ceil(priced.value_range.largest / priced.step))

    def step(self, priced: Priced) -> Fraction:
        """A power of two."""
        assert priced.value_range is not None
        return sum_step(priced.value_range.largest)

    def is_nonnegative(self, priced: Priced) -> bool:
        """By its bounds; estimated ones lie around zero."""
        return priced.value_range is not None and priced.value_range.low >= 0

    def row_contribution(self, row: RowSql, priced: Priced) -> str:
        """The absolute value."""
        (step,) = self.steps(row, priced)
        return step if self.is_nonnegative(priced) else f"abs({step})"

    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The clipped value."""
        assert priced.value_range is not None
        return [row.or_zero(row.rounded(row.clipped(priced.value_range), 1 / priced.step))]

    def describe_row(self, priced: Priced) -> str:
        """A row of the largest value."""
        return f"row of {priced.row_steps * float(priced.step):g}"
