"""The kind of every expression, checked from declarations only, and the interval of its numbers.

A text that is compared with a date is read as a date (`read_dates`), here and not by an engine: one that is no date is
refused before anything is charged.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.kind import Kind
from sfumato.errors import UnsupportedQuery
from sfumato.phrases import Phrase, Setting
from sfumato.plan.expressions.decimals import outward, with_decimals
from sfumato.plan.syntax.functions import FUNCTIONS, Shape
from sfumato.plan.syntax.node import Call, Case, Column, Exact, Expression, In, Literal, mapped
from sfumato.statistics.ranges import Range, hull

DATES = (Kind.DATE, Kind.TIMESTAMP)
# 2026-W01-1 is a date in Python, and an error in an engine
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(f"{_DATE.pattern}([ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}([.][0-9]{{1,6}})?)?)?")


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression over the columns of one table, with what is public about its values."""

    expression: Expression
    kind: Kind | None  # None: the constant NULL, of any kind
    value_range: Range | None = None


def typed(expression: Expression, columns: Mapping[str, Declared]) -> Typed:
    """Check an expression over rows, or refuse it with what was expected."""
    match expression:
        case Column(name):
            declared = columns[name]
            bounds = declared.bounds
            value_range = None if bounds is None else Range(bounds.low, bounds.high)
            if value_range is None and declared.kind is not None and declared.kind.is_number and declared.keys:
                numbers = [Fraction(key) for key in declared.keys if isinstance(key, (int, float))]
                value_range = Range(min(numbers), max(numbers))
            return Typed(expression, declared.kind, value_range)
        case Literal():
            return _literal(expression)
        case Call(function, arguments):
            return _call(expression, function, tuple(typed(argument, columns) for argument in arguments))
        case Exact(value, scale):
            inside = typed(value, columns)
            known = inside.value_range
            return Typed(
                expression, Kind.REAL, None if known is None else Range(*outward(known.low, known.high, scale))
            )
        case In(value, items):
            same_kind(expression, (typed(value, columns), *(typed(item, columns) for item in items)))
            return Typed(expression, Kind.BOOLEAN)
        case Case(branches, otherwise):
            for condition, _ in branches:
                expect(typed(condition, columns), Kind.BOOLEAN)
            values = [typed(value, columns) for _, value in branches]
            values += [] if otherwise is None else [typed(otherwise, columns)]
            return _same(expression, tuple(values))
    raise UnsupportedQuery(
        f"an aggregate may not stand inside another or in WHERE: {expression.sql()}; aggregate each unit's rows in a "
        "sub-query, then ask about it"
    )


def _literal(literal: Literal) -> Typed:
    match literal.value:
        case None:
            return Typed(literal, None)
        case bool():
            return Typed(literal, Kind.BOOLEAN)
    if literal.is_number:
        number = Fraction(literal.value)
        whole = number.denominator == 1 and abs(number) < 2**53
        return Typed(literal, Kind.INTEGER if whole else Kind.REAL, Range(number, number))
    if literal.is_date or literal.is_time:
        time_of(literal)
        return Typed(literal, Kind.DATE if literal.is_date else Kind.TIMESTAMP)
    return Typed(literal, Kind.TEXT)


def time_of(literal: Literal) -> datetime.datetime:
    """The time that a date or a time means, at midnight for a date; a text that is none is refused."""
    text = str(literal.value)
    try:
        if not (_DATE if literal.is_date else _TIME).fullmatch(text):
            raise ValueError
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        written = "DATE 'yyyy-mm-dd'" if literal.is_date else "TIMESTAMP 'yyyy-mm-dd hh:mm:ss'"
        raise UnsupportedQuery(
            f"a {'date' if literal.is_date else 'time'} is written {written}; got {text!r}"
        ) from None


def read_dates(expression: Expression, kind_of: Callable[[Expression], Kind | None]) -> Expression:
    """The same expression, texts that are compared with dates read as dates; `kind_of` knows the kinds of parts."""
    changed = mapped(expression, lambda part: read_dates(part, kind_of))
    match changed:
        case In(value, items):
            if any(item.is_text for item in items) and kind_of(value) in DATES:
                return replace(changed, items=tuple(_date(item) for item in items))
        case Case(branches, otherwise):
            if _meets_date([*(value for _, value in branches), otherwise], kind_of):
                read = tuple((condition, _date_in(value)) for condition, value in branches)
                return Case(read, None if otherwise is None else _date_in(otherwise))
        case Call(function, arguments) if FUNCTIONS[function].shape in (Shape.COMPARISON, Shape.SAME):
            if _meets_date(list(arguments), kind_of):
                return mapped(changed, _date_in)
    return changed


def dated(expression: Expression, columns: Mapping[str, Declared]) -> Expression:
    """The same expression over these columns, its dates read and its decimals exact where that matters."""
    return with_decimals(read_dates(expression, lambda part: typed(part, columns).kind), columns)


def condition(expression: Expression, columns: Mapping[str, Declared]) -> Typed:
    """A condition over rows, its dates read; refused if it is of another kind."""
    found = typed(dated(expression, columns), columns)
    expect(found, Kind.BOOLEAN)
    return found


def _meets_date(parts: list[Expression | None], kind_of: Callable[[Expression], Kind | None]) -> bool:
    """Whether there is a text among parts of which another is a date."""
    texts = [isinstance(part, Literal) and part.is_text for part in parts]
    others = [part for part, is_text in zip(parts, texts, strict=True) if part is not None and not is_text]
    return any(texts) and any(kind_of(part) in DATES for part in others)


def _date_in(part: Expression) -> Expression:
    return _date(part) if isinstance(part, Literal) else part


def _date(literal: Literal) -> Literal:
    """A text as the date or time that it is, anything else as it is."""
    text = str(literal.value)
    if not literal.is_text or not _TIME.fullmatch(text):
        return literal
    return Literal(text, is_date=True) if _DATE.fullmatch(text) else Literal(text, is_time=True)


def _call(expression: Call, name: str, arguments: tuple[Typed, ...]) -> Typed:
    function = FUNCTIONS[name]
    match function.shape:
        case Shape.ARITHMETIC | Shape.ROUNDING:
            for argument in arguments:
                expect(argument, Kind.INTEGER, Kind.REAL)
            return Typed(expression, Kind.REAL, function.result(*(argument.value_range for argument in arguments)))
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
            kind = same_kind(expression, arguments)
            return Typed(expression, kind, function.result(*_known(arguments)))
        case Shape.DATE_PART:
            expect(arguments[0], *DATES)
            return Typed(expression, arguments[0].kind)
        case Shape.DATE_NUMBER:
            expect(arguments[0], *DATES)
            return Typed(expression, Kind.INTEGER, function.result(None))
    return Typed(expression, Kind.BOOLEAN)


def _same(expression: Expression, values: tuple[Typed, ...]) -> Typed:
    return Typed(expression, same_kind(expression, values), hull(_known(values)))


def _known(values: tuple[Typed, ...]) -> list[Range | None]:
    """The ranges of values, without the constant NULL, which is no number."""
    return [value.value_range for value in values if value.kind is not None]


def expect(value: Typed, *kinds: Kind) -> None:
    """Refuse a value of another kind."""
    if value.kind is not None and value.kind not in kinds:
        wanted, written = " or ".join(map(str, kinds)), value.expression.sql()
        hint = ""
        if kinds == (Kind.INTEGER, Kind.REAL) and value.kind is Kind.BOOLEAN:
            hint = f"write CASE WHEN {written} THEN 1 ELSE 0 END"
        elif Kind.INTEGER in kinds and value.kind in DATES:
            hint = f"take a number of it, such as EXTRACT(YEAR FROM {written})"
        elif Kind.BOOLEAN not in kinds:
            hint = _declare(value, Kind.REAL if Kind.REAL in kinds else kinds[0])  # whole numbers would round
        raise UnsupportedQuery(f"{wanted} was expected; got {value.kind}: {written}", fix=hint)


def _declare(value: Typed, kind: Kind) -> str:
    """The advice for a column that is text only because nobody said otherwise, as in a CSV file."""
    if value.kind is not Kind.TEXT or not isinstance(value.expression, Column):
        return ""
    return Phrase("if it holds such values, declare ", Setting("type", str(kind)), f" for {value.expression.sql()}")


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
    hint = "write a date as DATE 'yyyy-mm-dd'" if kinds & set(DATES) else ""
    if any(isinstance(value.expression, Literal) and value.expression.is_text for value in values):
        hint = hint or "write numbers without quotes"
    others = [kind for kind in Kind if kind in kinds and kind is not Kind.TEXT]
    hint = next(filter(None, (_declare(value, others[0]) for value in values)), hint)
    raise UnsupportedQuery(f"values of one kind were expected; got {named}: {whole.sql()}", fix=hint)
