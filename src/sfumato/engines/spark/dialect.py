"""Spark's way, with ANSI on: an overflow fails instead of wrapping around, and nothing here overflows.

What fails there on some value, and why it is not met: a cast (`try_cast` of what is stored; others are of doubles that
were cut before), a sum or product of whole numbers (of rows in two halves, of units in doubles, else in 38 digits), a
quotient by zero (`nonzero`, or after a CASE that has asked), an index of an array (`pick` is within it), a pattern that
ends in an escape (`pattern` doubles it). FLOOR and CEIL give the nearest number of 64 bits, so a CASE leaves larger
doubles as they are. The list with examples: docs/concepts/what-fails-in-a-database.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from sfumato.dataset.kind import Kind
from sfumato.engines.sql.dialect import Dialect

_PLAIN = re.compile(r"[ !#%&(-\[\]-~]*")  # letters of ASCII without quotes, backslashes and $, which names variables
_WHOLE = 2.0**53  # from here on every double is a whole number
_TIME = "TIMESTAMP_NTZ"


class SparkDialect(Dialect):
    """Where it differs from DuckDB's."""

    name: ClassVar[str] = "Spark"
    wide: ClassVar[str] = "DECIMAL(38, 0)"
    number: ClassVar[str] = "BIGINT"
    small: ClassVar[str] = "BIGINT"
    snapshot: ClassVar[bool] = False
    narrow: ClassVar[bool] = False  # the rows are copied as it is
    any_order: ClassVar[str] = "1"
    types: ClassVar[Mapping[Kind, str]] = {**Dialect.types, Kind.TEXT: "STRING", Kind.TIMESTAMP: _TIME}

    def quoted(self, name: str) -> str:
        """In its own quotes."""
        return "`" + name.replace("`", "``") + "`"

    def text(self, value: str) -> str:
        """By its bytes where a letter might mean something else."""
        return f"'{value}'" if _PLAIN.fullmatch(value) else f"CAST(X'{value.encode().hex()}' AS STRING)"

    def pattern(self, value: str) -> str:
        """A backslash escapes here."""
        return self.text(value.replace("\\", "\\\\"))

    def real(self, x: Fraction) -> str:
        """As a double at once."""
        return f"{float(x)!r}D"

    def numeral(self, written: str, kind: Kind) -> str:
        """One that is too large for a double is infinite."""
        if kind is not Kind.REAL:
            return super().numeral(written, kind)
        double = float(written)
        return "CAST('Infinity' AS DOUBLE)" if math.isinf(double) else f"{double!r}D"

    def decimal(self, double: str, scale: int) -> str:
        """By the digits that it prints, however large it is."""
        return f"round({double}, {scale})"

    def date_part(self, function: str, argument: str, kind: Kind | None) -> str:
        """Of a time without a zone."""
        rendered = self.call(function, [f"CAST({argument} AS {_TIME})"])
        return (
            f"CAST({rendered} AS {'BIGINT' if function.startswith('extract') else self.type(kind or Kind.TIMESTAMP)})"
        )

    def is_number(self, double: str) -> str:
        """Of NULL it is said here that it is one."""
        return f"({double} IS NOT NULL AND NOT isnan({double}))"

    def read(self, stored: str, kind: Kind, source: str = "") -> str:
        """Text by its bytes, whatever its collation."""
        if kind is Kind.TEXT:
            return f"CAST({stored} AS STRING) COLLATE UTF8_BINARY"
        return f"try_cast({stored} AS {self.type(kind)})"

    def read_time(self, stored: str, source: str = "") -> str:
        """The session is in UTC."""
        return self.read(stored, Kind.TIMESTAMP, source)

    def unit(self, column: str, kind: Kind) -> str:
        """As it was read."""
        return column

    def over(self, a: str, b: object) -> str:
        """It rounds toward zero."""
        return f"{a} div {b}"

    def wide_over(self, a: str, b: object) -> str:
        """Also of decimals; the quotient has 64 bits, which all of ours fit."""
        return f"{a} div {b}"

    def sum(self, whole: str) -> str:
        """A sum of 64 bits would have 64 bits."""
        return f"sum(CAST({whole} AS {self.wide}))"

    def row_sum(self, whole: str) -> str:
        """In two halves of 64 bits, since decimals are slow: v is high * 2**16 + low, with -2**15 <= low < 2**15.

        Of fewer than 2**48 rows neither half can overflow, as |high| <= 2**15.
        """
        high = f"shiftright({whole} + {1 << 15}, 16)"
        return f"(CAST(sum({high}) AS {self.wide}) * {1 << 16} + sum({whole} - shiftleft({high}, 16)))"

    def unit_sum(self, whole: str) -> str:
        """In doubles: whole numbers that are not negative add up exactly below 2**53, else to half at least."""
        total = f"sum(CAST({whole} AS DOUBLE))"
        return f"CASE WHEN {total} < {2.0**53!r}D THEN {self.widened(total)} ELSE CAST({total} * 2 AS {self.wide}) END"

    def widened(self, double: str) -> str:
        """By way of 64 bits: from a double a decimal has the digits that it prints."""
        return f"CAST(CAST({double} AS BIGINT) AS {self.wide})"

    def steps_of(self, double: str, step: int, small: bool) -> str:
        """What is before the point, and what is after it."""
        if small:
            return f"CAST({double} * {step} AS BIGINT)"
        after = f"CAST(({double} - {self.trunc(double)}) * {step} AS BIGINT)"
        return f"({self.widened(double)} * {step} + {after})"

    def trunc(self, double: str) -> str:
        """A cast to 64 bits rounds toward zero."""
        return f"(CASE WHEN abs({double}) < {_WHOLE!r} THEN CAST(CAST({double} AS BIGINT) AS DOUBLE) ELSE {double} END)"

    def within(self, double: str, low: Fraction, high: Fraction) -> str:
        """Cut, since FLOOR fails beyond 64 bits."""
        return f"greatest(least({double}, {self.real(high)}), {self.real(low)})"

    def log2(self, double: str) -> str:
        """A quotient of natural ones here; where a power of two is near, whether it is that."""
        x = f"least({double}, {self.real(Fraction(2) ** 100)})"
        log = f"log2({x})"
        return f"(CASE WHEN power(2D, rint({log})) = {x} THEN rint({log}) ELSE {log} END)"

    def shifted(self, whole: str, digits: int, left: bool = False) -> str:
        """By its name."""
        return f"shift{'left' if left else 'right'}({whole}, {digits})"

    def group_bit(self, place: str) -> str:
        """By 32 bits."""
        return f"shiftleft(CAST(1 AS BIGINT), CAST({place} AS INT))"

    def hash(self, columns: Sequence[str]) -> str:
        """Of 64 bits."""
        return f"xxhash64({', '.join(columns)})"

    def mixed(self, columns: Sequence[str]) -> str:
        """It is."""
        return self.hash(columns)

    def sampled(self, columns: Sequence[str], kinds: Sequence[Kind | None], one_of: int) -> str:
        """A hash may be negative."""
        return f"abs({self.mixed(columns)} % {one_of}) = 1"

    def pick(self, values: Sequence[int], place: str) -> str:
        """By 32 bits."""
        return f"element_at(array({', '.join(map(str, values))}), CAST({place} AS INT))"

    def nonzero(self, count: str) -> str:
        """A division by zero fails."""
        return f"NULLIF({count}, 0)"

    def median(self, double: str) -> str:
        """The exact one."""
        return f"percentile({double}, 0.5D)"
