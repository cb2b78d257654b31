"""COUNT(*) and COUNT(x): how many rows there are, or how many have a value. Proof: docs/proofs/means.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sfumato.dataset.kind import Kind
from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.statistic import Counting, Priced, capped_rows
from sfumato.statistics.steps import ROW


class Count(Counting):
    """The number of rows."""

    name: ClassVar[str] = "number of rows"
    functions: ClassVar[tuple[str, ...]] = ("count",)
    adds_up: ClassVar[bool] = True
    counts_rows: ClassVar[bool] = True

    def counts_single_rows(self, has_argument: bool) -> bool:
        """COUNT(*) is the number of units, where every unit has one row."""
        return not has_argument

    def argument(self, row: RowSql, written: str, kind: Kind | None, is_number: bool) -> str:
        """Whether the row has a value."""
        return f"({written} IS NOT NULL)"

    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """One row, or none."""
        return [f"CASE WHEN {row.x} THEN CAST({ROW} AS BIGINT) ELSE 0 END"]

    def unit_contribution(self, row: RowSql, priced: Priced) -> str:
        """The number of its rows, which is quicker than a sum."""
        if row.has_argument:
            return super().unit_contribution(row, priced)
        return row.dialect.unit_steps("count(*)", ROW)

    def group_sums(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The number of rows."""
        return [f"CAST({self._rows(row)} AS {row.dialect.wide}) * {ROW}"]

    def unit_sums(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The number of rows."""
        return [capped_rows(self._rows(row))]

    def least_limit(self, priced: Priced) -> int | None:
        """Where every unit has one row."""
        limit = self.declared_limit(priced)
        return priced.row_steps if limit is None else limit

    def _rows(self, row: RowSql) -> str:
        return f"count(*) FILTER (WHERE {row.x})" if row.has_argument else "count(*)"
