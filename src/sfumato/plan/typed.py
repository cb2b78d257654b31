"""The kind of every expression, checked from declarations only, and the interval of its numbers."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.kind import Kind
from sfumato.errors import UnsupportedQuery
from sfumato.plan.functions import FUNCTIONS, Shape
from sfumato.plan.interval import Interval, hull
from sfumato.plan.node import Call, Case, Column, Expression, In, Literal

DATES = (Kind.DATE, Kind.TIMESTAMP)
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression over the columns of one table, with what is public about its values."""

    expression: Expression
    kind: Kind | None  # None: the constant NULL, of any kind
    interval: Interval | None = None


def typed(expression: Expression, columns: Mapping[str, Declared]) -> Typed:
    """Check an expression over rows, or refuse it with what was expected."""
    match expression:
        case Column(name):
            declared = columns[name]
            bounds = declared.bounds
            interval = None if bounds is None else Interval(bounds.low, bounds.high)
            if interval is None and declared.kind is not None and declared.kind.is_number and declared.keys:
                numbers = [Fraction(key) for key in declared.keys if isinstance(key, (int, float))]
                interval = Interval(min(numbers), max(numbers))
            return Typed(expression, declared.kind, interval)
        case Literal():
            return _literal(expression)
        case Call(function, arguments):
            return _call(expression, function, tuple(typed(argument, columns) for argument in arguments))
        case In(value, items):
            same_kind(expression, (typed(value, columns), *(typed(item, columns) for item in items)))
            return Typed(expression, Kind.BOOLEAN)
        case Case(branches, otherwise):
            for condition, _ in branches:
                expect(typed(condition, columns), Kind.BOOLEAN)
            values = [typed(value, columns) for _, value in branches]
            values += [] if otherwise is None else [typed(otherwise, columns)]
            return _same(expression, tuple(values))
    raise UnsupportedQuery(f"an aggregate may not stand inside another or in WHERE: {expression.sql()}")


def _literal(literal: Literal) -> Typed:
    match literal.value:
        case None:
            return Typed(literal, None)
        case bool():
            return Typed(literal, Kind.BOOLEAN)
    if literal.is_number:
        number = Fraction(literal.value)
        whole = number.denominator == 1 and abs(number) < 2**53
        return Typed(literal, Kind.INTEGER if whole else Kind.REAL, Interval(number, number))
    if literal.is_date:
        try:
            if not _DATE.fullmatch(literal.value):  # 2026-W01-1 is a date in Python, and an error in an engine
                raise ValueError
            datetime.date.fromisoformat(literal.value)
        except ValueError:
            raise UnsupportedQuery(f"a date is written DATE 'yyyy-mm-dd'; got {literal.value!r}") from None
        return Typed(literal, Kind.DATE)
    return Typed(literal, Kind.TEXT)


def _call(expression: Call, function: str, arguments: tuple[Typed, ...]) -> Typed:
    match FUNCTIONS[function].shape:
        case Shape.ARITHMETIC | Shape.ROUNDING:
            for argument in arguments:
                expect(argument, Kind.INTEGER, Kind.REAL)
            return Typed(expression, Kind.REAL, _interval(function, [argument.interval for argument in arguments]))
        case Shape.COMPARISON:
            same_kind(expression, arguments)
        case Shape.LOGIC:
            for argument in arguments:
                expect(argument, Kind.BOOLEAN)
        case Shape.PATTERN:
            expect(arguments[0], Kind.TEXT)
            if not isinstance(arguments[1].expression, Literal) or arguments[1].kind is not Kind.TEXT:
                raise UnsupportedQuery(f"LIKE takes a constant pattern: {expression.sql()}")
        case Shape.SAME:
            return _same(expression, arguments)
        case Shape.DATE_PART:
            expect(arguments[0], *DATES)
            return Typed(expression, arguments[0].kind)
        case Shape.DATE_NUMBER:
            expect(arguments[0], *DATES)
            return Typed(expression, Kind.INTEGER)
    return Typed(expression, Kind.BOOLEAN)


def _interval(function: str, known: list[Interval | None]) -> Interval | None:
    if any(one is None for one in known):
        return None
    first, *rest = [one for one in known if one is not None]
    match function:
        case "add":
            return first + rest[0]
        case "subtract":
            return first - rest[0]
        case "multiply":
            return first * rest[0]
        case "divide":
            return first.over(rest[0])
        case "negate":
            return -first
        case "abs":
            return first.absolute()
    return first.rounded()


def _same(expression: Expression, values: tuple[Typed, ...]) -> Typed:
    kind = same_kind(expression, values)
    known = [value.interval for value in values if value.kind is not None]
    return Typed(expression, kind, hull(known))


def expect(value: Typed, *kinds: Kind) -> None:
    """Refuse a value of another kind."""
    if value.kind is not None and value.kind not in kinds:
        wanted = " or ".join(map(str, kinds))
        raise UnsupportedQuery(f"{wanted} was expected; got {value.kind}: {value.expression.sql()}")


def same_kind(whole: Expression, values: tuple[Typed, ...]) -> Kind | None:
    """The one kind of several values; numbers mix, and so do dates and times."""
    kinds = {value.kind for value in values if value.kind is not None}
    if len(kinds) <= 1:
        return next(iter(kinds), None)
    if kinds <= {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL
    if kinds <= set(DATES):
        return Kind.TIMESTAMP
    named = " and ".join(sorted(map(str, kinds)))
    hint = "; write a date as DATE 'yyyy-mm-dd'" if kinds & set(DATES) else ""
    raise UnsupportedQuery(f"values of one kind were expected; got {named}: {whole.sql()}{hint}")
