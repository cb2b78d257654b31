"""Decimals, which engines compute exactly and this project in doubles: where that matters, they are brought back.

DuckDB's types say which numbers are decimals: 0.5 and columns of type DECIMAL, and sums, differences and products of
them and of whole numbers. Quotients, 1e3 and AVG are doubles. It matters in two places.

A cast to INTEGER rounds the half of a decimal away from zero, and the half of a double to the even number. So CAST of a
decimal is ROUND here. And a double that stands for a decimal may miss it by its last digit: 0.1 * 3 is not 0.3, and
0.145 * 100 not 14.5. Before such a number is compared, rounded, cast or a key, it is replaced by the double that is
nearest to a decimal with as many digits after the point as it can have (`Exact`). Beyond 2**50 steps of the last digit
doubles cannot tell decimals apart, and it stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.kind import UNSCALED, WHOLE, Kind
from sfumato.plan.syntax.functions import FUNCTIONS, Shape
from sfumato.plan.syntax.node import (
    Call,
    Case,
    Column,
    Exact,
    Expression,
    In,
    KeyAt,
    Literal,
    MeasureAt,
    TotalAt,
)

MAX_DIGITS = 15  # after the point, as many as a double has
_LARGEST = 38  # digits of DuckDB's decimals; what needs more is a double

Columns = Mapping[str, Declared]


@dataclass(frozen=True, slots=True)
class _Part:
    """An expression, its digits after the point if it is a decimal, and whether its double may miss the decimal."""

    expression: Expression
    scale: int | None = None
    misses: bool = False

    def exact(self) -> Expression:
        """The same expression as the nearest double of its decimal."""
        if self.misses and self.scale is not None and 0 < self.scale <= MAX_DIGITS:
            return Exact(self.expression, self.scale)
        return self.expression


def with_decimals(expression: Expression, columns: Columns) -> Expression:
    """The same expression, decimals brought back where it matters."""
    return _read(expression, columns).expression


def exact_key(expression: Expression, columns: Columns) -> Expression:
    """The same expression for a key, or for values that are told apart."""
    return _read(expression, columns).exact()


def scale_of(expression: Expression, columns: Columns) -> tuple[int | None, bool]:
    """The digits after the point of a decimal, None of a double, and whether its double may miss it."""
    part = _read(expression, columns)
    return part.scale, part.misses


def common(scales: Iterable[int | None]) -> int | None:
    """The digits of a decimal that is one of several numbers; None where one of them is a double."""
    listed = list(scales)
    return None if None in listed else max((scale for scale in listed if scale is not None), default=None)


def _read(expression: Expression, columns: Columns) -> _Part:
    match expression:
        case Column(name):
            return _Part(expression, *_declared(columns.get(name)))
        case KeyAt() | MeasureAt() | TotalAt():
            return _Part(expression, *_declared(columns.get(expression.sql())))
        case Literal():
            return _Part(expression, _digits(expression))
        case Exact():
            return _Part(expression, expression.scale)
        case In(value):
            return _Part(replace(expression, value=_read(value, columns).exact()))
        case Case(branches, otherwise):
            tests = [_read(test, columns).expression for test, _ in branches]
            values = [_read(value, columns) for _, value in branches]
            last = None if otherwise is None else _read(otherwise, columns)
            scale, misses = _one_of([*values, *(() if last is None else (last,))])
            pairs = tuple((test, value.expression) for test, value in zip(tests, values, strict=True))
            return _Part(Case(pairs, None if last is None else last.expression), scale, misses)
        case Call():
            return _call(expression, columns)
    return _Part(expression)


def _call(call: Call, columns: Columns) -> _Part:
    if (rounded := _rounded_to(call, columns)) is not None:
        return rounded
    parts = [_read(argument, columns) for argument in call.arguments]
    plain = replace(call, arguments=tuple(part.expression for part in parts))
    match call.function:
        case "add" | "subtract" | "multiply":
            scale = _computed(call.function, *(part.scale for part in parts))
            return _Part(plain, scale, scale is not None and scale > 0)
        case "negate" | "abs":
            return _Part(plain, parts[0].scale, parts[0].misses)
        case "coalesce":
            return _Part(plain, *_one_of(parts))
        case "floor" | "ceil" | "round" | "as_integer" | "as_double":
            return _rounding(call.function, parts[0])
    if FUNCTIONS[call.function].shape is Shape.COMPARISON:
        return _Part(replace(call, arguments=tuple(part.exact() for part in parts)))
    return _Part(plain, WHOLE if FUNCTIONS[call.function].shape is Shape.DATE_NUMBER else None)


def _rounding(function: str, part: _Part) -> _Part:
    """FLOOR, CEIL, ROUND and casts; FLOOR and CEIL of whole numbers are doubles in DuckDB."""
    is_decimal = part.scale is not None and part.scale >= 0
    name = "round" if function == "as_integer" and is_decimal else function
    call = Call(name, (part.exact(),))
    match function:
        case "as_integer":
            return _Part(call, WHOLE)
        case "as_double":
            return _Part(call)
        case "round" if part.scale == WHOLE:
            return _Part(call, WHOLE)
    return _Part(call, 0 if is_decimal else None)


def _rounded_to(call: Call, columns: Columns) -> _Part | None:
    """ROUND(x, n), which is spelled out as ROUND(x * 10^n) / 10^n, or with n below zero the other way round."""
    match call:
        case Call("divide", (Call("round", (Call("multiply", (value, Literal() as inner)),)), Literal() as outer)):
            first, second = "multiply", "divide"
        case Call("multiply", (Call("round", (Call("divide", (value, Literal() as inner)),)), Literal() as outer)):
            first, second = "divide", "multiply"
        case _:
            return None
    power = str(outer.value)
    if inner != outer or not outer.is_number or power.rstrip("0") != "1":
        return None
    part = _read(value, columns)
    scaled = _Part(Call(first, (part.exact(), inner)), part.scale, first == "multiply")
    rounded = Call(second, (Call("round", (scaled.exact(),)), outer))
    if part.scale is None or part.scale == WHOLE:
        return _Part(rounded, part.scale)
    return _Part(rounded, min(part.scale, len(power) - 1) if second == "divide" else 0)


def _computed(function: str, first: int | None, second: int | None) -> int | None:
    """The digits of a sum, a difference or a product."""
    if first is None or second is None:
        return None
    if first == second == WHOLE:
        return WHOLE
    found = max(first, 0) + max(second, 0) if function == "multiply" else max(first, second)
    return min(found, UNSCALED)


def _one_of(parts: list[_Part]) -> tuple[int | None, bool]:
    """The digits of one of several values; NULL is of any type."""
    known = [part for part in parts if part.expression != Literal(None)]
    return common(part.scale for part in known), any(part.misses for part in known)


def _declared(declared: Declared | None) -> tuple[int | None, bool]:
    if declared is None or declared.kind is None or not declared.kind.is_number:
        return None, False
    return WHOLE if declared.kind is Kind.INTEGER else declared.scale, declared.misses


def _digits(literal: Literal) -> int | None:
    """The digits after the point of a number as it was written; with an exponent it is a double."""
    written = str(literal.value)
    if not literal.is_number or "e" in written.lower() or len(written.replace(".", "").lstrip("-0")) > _LARGEST:
        return None
    return len(written.partition(".")[2]) if "." in written else WHOLE


def outward(low: Fraction, high: Fraction, scale: int) -> tuple[Fraction, Fraction]:
    """The least decimals with so many digits that hold an interval between them."""
    steps = 10**scale
    return Fraction(low * steps // 1, steps), Fraction(-(-high * steps // 1), steps)
