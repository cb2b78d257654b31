"""COUNT(DISTINCT x): how many different values there are. Proof: docs/proofs/distinct.md.

A unit has each value of a group once. Of more of them than the limit it keeps as many as a hash of its own columns
chooses; `engines/sql/distinct.py` lists and counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sfumato.dataset.kind import Kind
from sfumato.statistics.contribution_histogram import ContributionHistogram, Limit
from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.statistic import Counting, Gathering, Priced
from sfumato.statistics.steps import ROW


class Distinct(Counting):
    """The number of different values."""

    name: ClassVar[str] = "number of distinct values"
    gathering: ClassVar[Gathering] = Gathering.VALUES

    def argument(self, row: RowSql, written: str, kind: Kind | None, is_number: bool) -> str:
        """The value as it is; equal numbers are spelled alike."""
        if kind is not Kind.REAL:
            return written
        real = row.dialect.type(Kind.REAL)
        return row.dialect.numbers(f"(CAST({written} AS {real}) + CAST(0 AS {real}))")

    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """One value, or none."""
        return [row.or_zero(f"CAST({ROW} AS BIGINT)")]

    def choose_limit(self, histogram: ContributionHistogram, priced: Priced, groups: int) -> Limit:
        """Whole values: what is left of the last one would count nothing."""
        chosen = super().choose_limit(histogram, priced, groups)
        return Limit(max(ROW, chosen.steps // ROW * ROW), chosen.closed)
