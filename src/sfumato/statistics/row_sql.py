"""What a statistic needs to write SQL: a dialect, and the names of its columns.

A statistic writes what one row gives to it; the engine writes everything around that. Whatever is written here must be
total: no value of a row may make it fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from sfumato.dataset.kind import Kind
from sfumato.statistics.ranges import Range


class SqlDialect(Protocol):
    """The part of an engine's dialect that statistics use; see `engines.sql.dialect` for what each method promises."""

    wide: ClassVar[str]
    narrow: ClassVar[bool]

    def type(self, kind: Kind) -> str:
        """The type of a kind."""

    def real(self, x: Fraction) -> str:
        """A number as a double."""

    def numbers(self, double: str) -> str:
        """A double, and NULL for what is no number."""

    def scaled(self, double: str, factor: Fraction) -> str:
        """A double times a constant."""

    def over(self, a: str, b: object) -> str:
        """A quotient of whole numbers of 64 bits, rounded toward zero."""

    def sum(self, whole: str) -> str:
        """A sum of whole numbers, as a wide one."""

    def row_sum(self, whole: str) -> str:
        """A sum of rows' whole numbers of at most 2**31, as a wide one."""

    def unit_sum(self, whole: str) -> str:
        """A sum of one unit's whole numbers, or more."""

    def unit_total(self, double: str) -> str:
        """The same of doubles that are whole numbers."""

    def unit_steps(self, count: str, steps: int) -> str:
        """A number of one unit's rows, each of so many steps."""


@dataclass(frozen=True, slots=True)
class RowSql:
    """One measure's columns in the rows of a question: `x` is its argument, NULL where a row has no value."""

    dialect: SqlDialect
    measure: int
    has_argument: bool

    @property
    def x(self) -> str:
        """The argument."""
        return self.column("x")

    def column(self, letter: str) -> str:
        """A column of this measure."""
        return f"{letter}{self.measure}"

    def clipped(self, value_range: Range) -> str:
        """The argument, cut at the bounds."""
        return f"greatest(least({self.x}, {self.dialect.real(value_range.high)}), {self.dialect.real(value_range.low)})"

    def rounded(self, double: str, factor: Fraction) -> str:
        """The nearest lattice step of a double."""
        return f"CAST(floor({self.dialect.scaled(double, factor)} + 0.5) AS BIGINT)"

    def or_zero(self, steps: str) -> str:
        """Steps of a row with a value, else none; `least` and `greatest` pass over NULL, so it is asked for first."""
        return f"CASE WHEN {self.x} IS NULL THEN 0 ELSE {steps} END"
