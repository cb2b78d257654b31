"""PostgreSQL's way, from version 15 on.

Doubles fail here where they overflow or underflow (operators, not casts alone), logarithms of zero fail, and so do
casts; so every such expression carries its own guard in a CASE: a condition elsewhere might be evaluated later. AND has
no order either, so no guard relies on another one beside it. Text is compared byte by byte, whatever its collation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from sfumato.dataset.kind import Kind
from sfumato.engines.postgres._texts import parsed
from sfumato.engines.sql.dialect import LONG, Dialect, exact_to
from sfumato.plan.syntax.functions import FUNCTIONS
from sfumato.plan.syntax.node import How

_REAL = "DOUBLE PRECISION"
_NAN, _INFINITY = f"CAST('NaN' AS {_REAL})", f"CAST('Infinity' AS {_REAL})"
_LARGEST = Fraction(179, 100) * 10**308  # beyond it a result counts as infinite
_LEAST = Fraction(1, 1 << 1070)  # below it a result counts as zero
TEXTS = ("text", "varchar", "char", "uuid", "enum")  # types whose values are read by their letters
_EPOCH = "DATE '0001-01-01'"
_END = "DATE '10000-01-01'"


class PostgresDialect(Dialect):
    """Where it differs from DuckDB's."""

    name: ClassVar[str] = "PostgreSQL"
    wide: ClassVar[str] = "NUMERIC"
    number: ClassVar[str] = "BIGINT"
    small: ClassVar[str] = "INTEGER"
    narrow: ClassVar[bool] = False  # a table is written as slowly as it is read several times
    most_listed: ClassVar[int] = 100
    types: ClassVar[Mapping[Kind, str]] = {**Dialect.types, Kind.REAL: _REAL, Kind.TEXT: "TEXT"}

    def real(self, x: Fraction) -> str:
        """In quotes, so that it is read as a double at once."""
        return f"CAST('{float(x)!r}' AS {_REAL})"

    def numeral(self, written: str, kind: Kind) -> str:
        """One that is too large or too small for a double is infinite or zero."""
        if kind is not Kind.REAL:
            return super().numeral(written, kind)
        double = float(written)  # of digits, a point and an exponent
        return f"CAST('{'Infinity' if math.isinf(double) else repr(double)}' AS {_REAL})"

    def call(self, function: str, arguments: Sequence[str]) -> str:
        """What would fail has its guard; long arguments are computed once, in a row of their own."""
        if function == "subtract":
            return self.call("add", [arguments[0], f"(-{arguments[1]})"])
        template = FUNCTIONS[function].sql(self.name)
        guards = {"most": self.real(_LARGEST), "least": self.real(_LEAST), "inf": _INFINITY}
        if all(template.count(f"{{{place}}}") == 1 for place in range(len(arguments))):
            return template.format(*arguments, **guards)
        if sum(map(len, arguments)) <= LONG:
            return f"({template.format(*arguments, **guards)})"
        names = [f"v{place}" for place in range(len(arguments))]
        row = ", ".join(f"{argument} AS {name}" for argument, name in zip(arguments, names, strict=True))
        return f"(SELECT {template.format(*names, **guards)} FROM (SELECT {row} OFFSET 0) AS v)"

    def decimal(self, double: str, scale: int) -> str:
        """By whole steps, guarded."""
        limit, steps = self.real(exact_to(scale)), self.real(Fraction(10**scale))
        template = f"CASE WHEN abs({{0}}) < {limit} THEN round({{0}} * {steps}) / {steps} ELSE {{0}} END"
        if len(double) <= LONG:
            return f"({template.format(double)})"
        return f"(SELECT {template.format('v0')} FROM (SELECT {double} AS v0 OFFSET 0) AS v)"

    def date_part(self, function: str, argument: str, kind: Kind | None) -> str:
        """Of a time, since a date has no hours here; a part is a whole number, and not a NUMERIC."""
        rendered = self.call(function, [f"CAST({argument} AS TIMESTAMP)"])
        if function.startswith("extract"):
            return f"CAST({rendered} AS BIGINT)"
        return f"CAST({rendered} AS DATE)" if kind is Kind.DATE else rendered

    def is_number(self, double: str) -> str:
        """NaN is equal to itself."""
        return f"{double} <> {_NAN}"

    def only(self, value: str, holds: Callable[[str], str]) -> str:
        """A long one is computed once."""
        if len(value) <= LONG:
            return super().only(value, holds)
        return f"(SELECT CASE WHEN {holds('v0')} THEN v0 END FROM (SELECT {value} AS v0 OFFSET 0) AS v)"

    def numbers(self, double: str) -> str:
        """In one step."""
        return f"NULLIF({double}, {_NAN})"

    def read(self, stored: str, kind: Kind, source: str = "") -> str:
        """By the type that the table has: there is no cast that cannot fail, but these do not; texts by their form."""
        text = f"CAST({stored} AS TEXT)"
        if source == "enum":  # whatever casts its owner made for it
            text = f"(CASE WHEN {stored} IS NOT NULL THEN concat({stored}) END)"
        letters = f'{text} COLLATE "C"'
        if kind is Kind.TEXT or source in TEXTS:
            return parsed(letters, kind)
        match kind:
            case Kind.REAL if source.startswith("numeric"):
                fits = f"abs({stored}) <= 1.79e308 OR abs({stored}) = 'Infinity'"
                double = f"CASE WHEN abs({stored}) < 1e-300 THEN 0 ELSE CAST({stored} AS {_REAL}) END"
                return f"(CASE WHEN {fits} THEN {double} END)"
            case Kind.DATE if source == "timestamptz":
                return f"CAST({stored} AT TIME ZONE 'UTC' AS DATE)"
        return f"CAST({stored} AS {self.type(kind)})"

    def read_time(self, stored: str, source: str = "") -> str:
        """A date far out has no time."""
        match source:
            case _ if source in TEXTS:
                return self.read(stored, Kind.TIMESTAMP, source)
            case "timestamptz":
                return f"({stored} AT TIME ZONE 'UTC')"
            case "date":
                return f"(CASE WHEN {stored} >= {_EPOCH} AND {stored} < {_END} THEN CAST({stored} AS TIMESTAMP) END)"
        return f"CAST({stored} AS TIMESTAMP)"

    def stored_unit(self, column: str, kind: Kind | None, source: str) -> str:
        """1 and 1.00 are equal, and so are 0 and -0."""
        match source:
            case _ if source.startswith("numeric"):  # with its sizes
                return f"trim_scale({column})"
            case "double" | "real":
                return f"({column} + 0)"
        return super().stored_unit(column, kind, source)

    def unit(self, column: str, kind: Kind) -> str:
        """As it was read."""
        return column

    def over(self, a: str, b: object) -> str:
        """Of whole numbers it rounds toward zero."""
        return f"{a} / {b}"

    def wide_over(self, a: str, b: object) -> str:
        """Of NUMERIC `/` would have digits after the point."""
        return f"div({a}, {b})"

    def rest(self, a: str, b: object) -> str:
        """The sign is that of the first."""
        return f"mod({a}, {b})"

    def sum_parts(self, small: str, size: int) -> tuple[str, str]:
        """Of 32 bits a sum has 64, which 2**32 rows of a cell do not exceed, and no table has 2**32 blocks of them."""
        return f"sum({small}) / {size}", f"sum({small}) % {size}"

    def unit_sum(self, whole: str) -> str:
        """In doubles, which is quicker than in NUMERIC by half.

        Whole numbers that are not negative add up exactly where their sum is below 2**53: so is every sum on the way.
        Else a sum of doubles is less than twice too small.
        """
        total = f"sum(CAST({whole} AS {_REAL}))"
        return f"CASE WHEN {total} < {2**53} THEN {self.widened(total)} ELSE CAST({total} AS NUMERIC) * 2 END"

    def unit_steps(self, count: str, steps: int) -> str:
        """No table has 2**41 rows."""
        return f"{count} * {steps}"

    def widened(self, double: str) -> str:
        """By way of 64 bits: from a double a NUMERIC keeps 15 digits."""
        return f"CAST(CAST({double} AS BIGINT) AS NUMERIC)"

    def steps_of(self, double: str, step: int, small: bool) -> str:
        """What is before the point, and what is after it."""
        if small:
            return f"CAST(trunc({double} * {step}) AS BIGINT)"
        after = f"CAST(trunc(({double} - trunc({double})) * {step}) AS BIGINT)"
        return f"({self.widened(f'trunc({double})')} * {step} + {after})"

    def scaled(self, double: str, factor: Fraction) -> str:
        """What would underflow is zero."""
        product = f"{double} * {self.real(factor)}"
        if factor >= 1:
            return product
        return f"(CASE WHEN abs({double}) < {self.real(_LEAST / factor)} THEN 0 ELSE {product} END)"

    def within(self, double: str, low: Fraction, high: Fraction) -> str:
        """Cut, so that a difference does not overflow."""
        return f"greatest(least({double}, {self.real(high)}), {self.real(low)})"

    def log2(self, double: str) -> str:
        """The natural one, and where a power of two is near, whether it is that."""
        x = f"greatest(least({double}, {self.real(Fraction(2) ** 100)}), {self.real(Fraction(1, 2**100))})"
        log = f"(ln({x}) / {self.real(Fraction(math.log(2)))})"
        whole = f"round({log})"
        return f"(CASE WHEN power({self.real(Fraction(2))}, {whole}) = {x} THEN {whole} ELSE {log} END)"

    def rank(self, double: str, edges: Sequence[float]) -> str | None:
        """By halving."""
        return f"width_bucket({double}, CAST('{{{', '.join(map(repr, edges))}}}' AS {_REAL}[]))"

    def once(self, sql: str) -> str:
        """Else it is written into what names it."""
        return f"{sql} OFFSET 0"

    def group_bit(self, place: str) -> str:
        """By 32 bits."""
        return f"CAST(1 AS BIGINT) << CAST({place} AS INTEGER)"

    def hash(self, columns: Sequence[str]) -> str:
        """Of one text after another."""
        mixed = "0"
        for column in columns:
            mixed = self._hashed(column, mixed)
        return mixed

    def _hashed(self, column: str, seed: str) -> str:
        return f"hashtextextended(coalesce(CAST({column} AS TEXT), '') COLLATE \"C\", {seed})"

    def mixed(self, columns: Sequence[str]) -> str:
        """It is."""
        return self.hash(columns)

    def sampled(self, columns: Sequence[str], kinds: Sequence[Kind | None], one_of: int) -> str:
        """Of whole numbers without their letters; a hash may be negative."""
        mixed = "0"
        for column, kind in zip(columns, kinds, strict=True):
            whole = kind is Kind.INTEGER
            mixed = f"hashint8extended({column}, {mixed})" if whole else self._hashed(column, mixed)
        return f"abs({mixed} % {one_of}) = 1"

    def bits(self, mask: str) -> str:
        """Of a string of bits."""
        return f"bit_count(CAST({mask} AS BIT(64)))"

    def pick(self, values: Sequence[int], place: str) -> str:
        """By 32 bits."""
        return f"(CAST(ARRAY[{', '.join(map(str, values))}] AS BIGINT[]))[CAST({place} AS INTEGER)]"

    def nonzero(self, count: str) -> str:
        """Whatever is evaluated first."""
        return f"NULLIF({count}, 0)"

    def least(self, value: str, kind: Kind | None) -> str:
        """A truth value has no minimum."""
        return f"bool_and({value})" if kind is Kind.BOOLEAN else f"min({value})"

    def largest(self, value: str, kind: Kind | None) -> str:
        """A truth value has no maximum."""
        return f"bool_or({value})" if kind is Kind.BOOLEAN else f"max({value})"

    def median(self, double: str) -> str:
        """As the standard has it."""
        return f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {double})"

    def having(self, rows: str, others: str, columns: Sequence[str], alias: str, anti: bool = False) -> str:
        """By EXISTS."""
        same = " AND ".join(f"other.{column} = {alias}.{column}" for column in columns)
        return f"{rows} WHERE {'NOT ' if anti else ''}EXISTS (SELECT 1 FROM {others} AS other WHERE {same})"

    def sought(self, chosen: str, left: str, how: How, right: str, same: str) -> str:
        """By EXISTS."""
        found = "NOT EXISTS" if how is How.ANTI else "EXISTS"
        return f"SELECT {chosen} FROM {left} WHERE {found} (SELECT 1 FROM {right} WHERE {same})"
