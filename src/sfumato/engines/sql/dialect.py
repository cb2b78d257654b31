"""What engines spell differently, as a table: types, division, hashes, what is no number, casts, names, wide sums.

SQL is written once, in `lower`, `weights`, `relation`, `rows`, `run`, `center`, `line`, `distinct` and `unknown`, and
asks a dialect wherever engines differ. What stands here is DuckDB's way; another engine overrides what it says
otherwise. Each method says what must hold, on every engine and for every value: in particular that nothing fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from sfumato.dataset.kind import Kind
from sfumato.plan.syntax.functions import FUNCTIONS
from sfumato.plan.syntax.node import How, quoted, text_literal

LONG = 120  # letters of arguments that are not written several times


def exact_to(scale: int) -> Fraction:
    """Below this doubles tell decimals with so many digits apart, also after some arithmetic."""
    return Fraction(2**50, 10**scale)


class Dialect:
    """DuckDB's way; the root of all others."""

    name: ClassVar[str] = "DuckDB"
    wide: ClassVar[str] = "HUGEINT"  # whole numbers of 38 digits
    number: ClassVar[str] = "UINTEGER"  # those of 32 bits
    small: ClassVar[str] = "INTEGER"  # signed ones of 32 bits, whose sums `sum` also takes
    narrow: ClassVar[bool] = True  # whether rows of quantiles are kept as pairs of unit and place; else read again
    most_listed: ClassVar[int] = 0  # so many keys are written into a question sooner than joined
    snapshot: ClassVar[bool] = True  # whether all passes of a question see the same rows; if not, they are copied
    any_order: ClassVar[str] = ""  # what a window is ordered by where no row differs from another
    types: ClassVar[Mapping[Kind, str]] = {kind: kind.value for kind in Kind}

    def type(self, kind: Kind) -> str:
        """The type of a kind."""
        return self.types[kind]

    def quoted(self, name: str) -> str:
        """A name that is an owner's."""
        return quoted(name)

    def text(self, value: str) -> str:
        """A text, whatever letters it has."""
        return text_literal(value)

    def pattern(self, value: str) -> str:
        """A pattern of LIKE, in which no letter escapes another."""
        return self.text(value)

    def real(self, x: Fraction) -> str:
        """A number as a double, near enough for data; it takes no part in any bound."""
        return f"CAST({float(x)!r} AS {self.type(Kind.REAL)})"

    def numeral(self, written: str, kind: Kind) -> str:
        """A number as the question has it."""
        return f"CAST({written} AS {self.type(kind)})"

    def call(self, function: str, arguments: Sequence[str]) -> str:
        """A function or operator on rows; of numbers in doubles."""
        return FUNCTIONS[function].sql(self.name).format(*arguments)

    def decimal(self, double: str, scale: int) -> str:
        """The double that is nearest to a decimal with so many digits, up to 2**50 of their steps, beyond it as it is.

        A long expression is written once, since it might hold others of the kind: then one beyond may lose a digit.
        """
        nearest = f"round({double}, {scale})"
        if len(double) > LONG:
            return nearest
        return f"(CASE WHEN abs({double}) < {self.real(exact_to(scale))} THEN {nearest} ELSE {double} END)"

    def date_part(self, function: str, argument: str, kind: Kind | None) -> str:
        """A part of a date as a whole number, or its beginning, of the same kind."""
        rendered = self.call(function, [argument])
        return f"CAST({rendered} AS DATE)" if kind is Kind.DATE and function.startswith("truncate") else rendered

    def is_number(self, double: str) -> str:
        """Whether a double is a number; not true of NULL."""
        return f"NOT isnan({double})"

    def only(self, value: str, holds: Callable[[str], str]) -> str:
        """A value of which something holds, else NULL."""
        return f"CASE WHEN {holds(value)} THEN {value} END"

    def numbers(self, double: str) -> str:
        """A double, and NULL for what is no number."""
        return f"CASE WHEN {self.is_number(double)} THEN {double} END"

    def read(self, stored: str, kind: Kind, source: str = "") -> str:
        """A stored column as its kind; what does not fit is NULL. `source` is the type that the source has for it."""
        return f"TRY_CAST({stored} AS {self.type(kind)})"

    def read_time(self, stored: str, source: str = "") -> str:
        """The same of a time; one with a zone is read in UTC. From nanoseconds with a zone there is no direct way."""
        zoned = f"TRY_CAST(TRY_CAST({stored} AS TIMESTAMP WITH TIME ZONE) AS TIMESTAMP)"
        return f"coalesce({self.read(stored, Kind.TIMESTAMP)}, {zoned})"

    def stored_unit(self, column: str, kind: Kind | None, source: str) -> str:
        """A unit's column of a server's table, of one type for one kind, and equal ones spelled alike for hashes.

        A cast might make one unit of two; those of whole numbers and of texts do not, and others are taken as they are.
        """
        return self.read(column, kind, source) if kind in (Kind.INTEGER, Kind.TEXT) else column

    def unit(self, column: str, kind: Kind) -> str:
        """A unit's column, of a kind by which units are compared (never a double)."""
        return f"TRY_CAST({column} AS {self.type(kind)})"

    def over(self, a: str, b: object) -> str:
        """A quotient of whole numbers of 64 bits, rounded toward zero."""
        return f"{a} // {b}"

    def wide_over(self, a: str, b: object) -> str:
        """The same where one of them is wide."""
        return f"{a} // {b}"

    def rest(self, a: str, b: object) -> str:
        """What `wide_over` leaves."""
        return f"{a} % {b}"

    def sum(self, whole: str) -> str:
        """A sum of whole numbers of 64 bits or wide ones, as a wide one."""
        return f"sum({whole})"

    def sum_parts(self, small: str, size: int) -> tuple[str, str]:
        """A sum of small numbers, which may need more than 64 bits: how often it holds `size`, and the rest."""
        total = self.sum(small)
        return self.wide_over(total, size), self.rest(total, size)

    def row_sum(self, whole: str) -> str:
        """A sum of rows' whole numbers, of at most 2**31 each in absolute value, as a wide one."""
        return self.sum(whole)

    def unit_sum(self, whole: str) -> str:
        """A sum of one unit's whole numbers, of 0 to 2**52 each, as a wide one; or more than that, beyond 2**53."""
        return f"CAST({self.sum(whole)} AS {self.wide})"

    def unit_total(self, double: str) -> str:
        """The same of doubles that are whole numbers: quicker than a wide sum, and exact where it is below 2**53.

        For then every sum on the way is, in any order. Else a sum of doubles is less than twice too small.
        """
        total = f"sum({double})"
        return f"CASE WHEN {total} < {2**53} THEN {self.widened(total)} ELSE CAST({total} AS {self.wide}) * 2 END"

    def unit_steps(self, count: str, steps: int) -> str:
        """A number of one unit's rows or groups, each of so many steps, below 2**22."""
        return f"CAST({count} AS {self.wide}) * {steps}"

    def widened(self, double: str) -> str:
        """A double that is a whole number below 2**63 as a wide one, exactly."""
        return f"CAST({double} AS {self.wide})"

    def steps_of(self, double: str, step: int, small: bool) -> str:
        """The steps in a double of at most 2**58 as a whole number, rounded toward zero; `small`: 64 bits suffice."""
        steps = self.trunc(f"{double} * CAST({step} AS {self.type(Kind.REAL)})")
        return f"CAST({steps} AS {'BIGINT' if small else self.wide})"

    def trunc(self, double: str) -> str:
        """A double without what follows the point, as a double."""
        return f"trunc({double})"

    def scaled(self, double: str, factor: Fraction) -> str:
        """A double times a constant, if the product is no larger than a double can be; too small a one may be zero."""
        return f"{double} * {self.real(factor)}"

    def within(self, double: str, low: Fraction, high: Fraction) -> str:
        """A double that takes part in a difference, which is cut anyway; kept from where a difference fails."""
        return double

    def log2(self, double: str) -> str:
        """The logarithm of a positive double, exact for powers of two; infinite ones may be cut at 2**100."""
        return f"log2({double})"

    def rank(self, double: str, edges: Sequence[float]) -> str | None:
        """How many of so many ordered numbers a double is not below; None where logarithms are as quick."""
        return None

    def once(self, sql: str) -> str:
        """A query whose columns are computed once, however often they are named."""
        return sql

    def shifted(self, whole: str, digits: int, left: bool = False) -> str:
        """A whole number of 64 bits, without its last binary digits, or with so many more."""
        return f"{whole} {'<<' if left else '>>'} {digits}"

    def group_bit(self, place: str) -> str:
        """The bit of a group."""
        return f"CAST(1 AS BIGINT) << {place}"

    def hash(self, columns: Sequence[str]) -> str:
        """A hash of contents, by which rows are ordered; nothing else must enter."""
        return f"hash({', '.join(columns)})"

    def mixed(self, columns: Sequence[str]) -> str:
        """A hash in which every column moves every digit."""
        return f"hash({self.hash(columns)})"

    def coin(self, columns: Sequence[str]) -> str:
        """One of two, by contents."""
        return f"{self.hash(columns)} % 2 = 0"

    def sampled(self, columns: Sequence[str], kinds: Sequence[Kind | None], one_of: int) -> str:
        """Whether contents of these kinds are among one of so many, by a hash that may be a quick one."""
        return f"{self.mixed(columns)} % {one_of} = 1"  # of zero the hash is zero

    def bits(self, mask: str) -> str:
        """How many bits are set."""
        return f"bit_count({mask})"

    def pick(self, values: Sequence[int], place: str) -> str:
        """The value at a place from 1 on, which is there."""
        return f"CAST([{', '.join(map(str, values))}] AS INTEGER[])[{place}]"

    def nonzero(self, count: str) -> str:
        """A number to divide by; where it is zero, what is divided is NULL."""
        return count

    def least(self, value: str, kind: Kind | None) -> str:
        """The least of a group's values."""
        return f"min({value})"

    def largest(self, value: str, kind: Kind | None) -> str:
        """The largest of a group's values."""
        return f"max({value})"

    def median(self, double: str) -> str:
        """The median of a group's doubles, none of which is beyond 2**58."""
        return f"quantile_cont({double}, 0.5)"

    def having(self, rows: str, others: str, columns: Sequence[str], alias: str, anti: bool = False) -> str:
        """What stands after FROM for rows that others have the same columns as, or (`anti`) do not; named `alias`."""
        return f"{rows} {'ANTI' if anti else 'SEMI'} JOIN {others} USING ({', '.join(columns)})"

    def sought(self, chosen: str, left: str, how: How, right: str, same: str) -> str:
        """A query for rows of `left` AS l that have, or do not have, one of `right` AS r with which `same` holds."""
        return f"SELECT {chosen} FROM {left} {how.value} {right} ON {same}"


DUCKDB = Dialect()
