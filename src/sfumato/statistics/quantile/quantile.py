"""MEDIAN, QUANTILE_CONT, MIN and MAX: values searched for along a line. Proof: docs/proofs/quantiles.md.

Nothing is summed. Noisy numbers of rows by the position of their value, in rounds that look closer and closer, tell
where a quantile lies: `curator/measurement/quantile_search.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from sfumato.dataset.kind import UNSCALED, WHOLE
from sfumato.statistics.contribution_histogram import ContributionHistogram, Limit, choose
from sfumato.statistics.quantile.rounds import looks_of
from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.statistic import Counting, Gathering, Priced, RangeNeed, capped_rows
from sfumato.statistics.steps import ROW

AROUND = 8  # cells of the last look whose noise adds up in a quantile's rank, about


class Quantiles(Counting):
    """Quantiles of the same values, all found together."""

    name: ClassVar[str] = "quantiles"
    functions: ClassVar[tuple[str, ...]] = ("quantile_cont", "median", "min", "max")
    points: ClassVar[Mapping[str, Fraction]] = {"min": Fraction(0), "median": Fraction(1, 2), "max": Fraction(1)}
    gathering: ClassVar[Gathering] = Gathering.POSITIONS
    range_need: ClassVar[RangeNeed] = RangeNeed.OPTIONAL
    cells: ClassVar[int] = 0
    counts_rows: ClassVar[bool] = True

    def declared_rows(self, asked: int | None, most: int | None) -> int | None:
        """Only what the question says."""
        return asked

    def result_scale(self, function: str, scale: int | None) -> int | None:
        """A minimum or maximum is one of the values; between two whole numbers a quantile may be a double."""
        if scale is None or (scale == WHOLE and function not in ("min", "max")):
            return None
        return UNSCALED

    def steps(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """One row with a value, or none."""
        return [row.or_zero(f"CAST({ROW} AS BIGINT)")]

    def unit_contribution(self, row: RowSql, priced: Priced) -> str:
        """The number of its rows with a value."""
        return row.dialect.unit_steps(self._rows(row), ROW)

    def unit_sums(self, row: RowSql, priced: Priced) -> Sequence[str]:
        """The number of its rows with a value."""
        return [capped_rows(self._rows(row))]

    def choose_limit(self, histogram: ContributionHistogram, priced: Priced, groups: int) -> Limit:
        """By the noise of the last look."""
        return choose(histogram, AROUND * looks_of(priced.share).around.variance(), max(1, groups), counts=True)

    def is_predictable(self, priced: Priced) -> bool:
        """It depends on where values lie."""
        return False

    def tidy(self, value: float, interval: tuple[float, float]) -> tuple[float, tuple[float, float]]:
        """A value, not a count: as it is."""
        return value, interval

    def _rows(self, row: RowSql) -> str:
        return f"count({row.column('a' if row.dialect.narrow else 'x')})"
