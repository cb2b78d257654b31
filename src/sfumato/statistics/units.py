"""COUNT(DISTINCT unit): how many units there are; each counts once in a group. Proof: docs/proofs/means.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.statistic import Counting, Gathering, Priced
from sfumato.statistics.steps import ROW


class Units(Counting):
    """The number of units."""

    name: ClassVar[str] = "number of units"
    gathering: ClassVar[Gathering] = Gathering.UNITS
    adds_up: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True

    def counts_single_rows(self, has_argument: bool) -> bool:
        """A unit is one row there."""
        return True

    def max_rows(self, most: int | None, groups: int | None) -> int | None:
        """A unit counts in as many groups as it has rows, or as there are."""
        if groups is None:
            return most
        return groups if most is None else min(most, groups)

    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """One unit."""
        return [f"CAST({ROW} AS BIGINT)"]

    def unit_sums(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """It is there."""
        return ["CAST(1 AS BIGINT)"]

    def least_limit(self, priced: Priced) -> int | None:
        """Where every unit is in one group."""
        limit = self.declared_limit(priced)
        return priced.row_steps if limit is None else limit
