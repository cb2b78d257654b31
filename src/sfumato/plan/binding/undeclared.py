"""Constants that a column is compared with though they are none of its declared keys.

Rows may hold values that nobody declared, so such a comparison is answered; but mostly it is a slip, and a question
about nobody costs as much as any other. What is said here follows from the text and the declarations alone.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import islice

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.column import Key
from sfumato.dataset.kind import Kind
from sfumato.plan.expressions.types import time_of
from sfumato.plan.plan import BoundPlan
from sfumato.plan.syntax.node import Call, Column, Expression, In, KeyAt, Literal, children, mapped
from sfumato.suggestions import nearest

_SAID = 3  # notes; a long list of constants has one more for all the others
_LOOKED_AT = 2_000  # keys among which a similar one is looked for


def strangers(bound: BoundPlan) -> tuple[str, ...]:
    """What to note of a question: each constant that is no key of its column, with the nearest key."""
    columns = bound.table.columns
    found = [
        (name, literal)
        for name, literal in dict.fromkeys(pair for part in _parts(bound) for pair in _compared(part))
        if _is_stranger(literal, columns[name])
    ]
    said = [_note(name, literal, columns[name].keys or ()) for name, literal in found[:_SAID]]
    rest = len(found) - _SAID
    return (*said, f"{rest} more constants of the question are not declared keys.") if rest > 0 else tuple(said)


def _parts(bound: BoundPlan) -> Iterator[Expression]:
    """All expressions of a question, over the columns of its table."""

    def over_columns(result: Expression) -> Expression:
        return bound.groups[result.position].expression if isinstance(result, KeyAt) else mapped(result, over_columns)

    if bound.where is not None:
        yield bound.where.expression
    yield from (group.expression for group in bound.groups)
    yield from (measure.argument.expression for measure in bound.measures if measure.argument is not None)
    results = [*(column.expression for column in bound.shown), *(sort.expression for sort in bound.order)]
    yield from map(over_columns, results if bound.having is None else [bound.having, *results])


def _compared(expression: Expression) -> Iterator[tuple[str, Literal]]:
    """Columns and constants that are compared for being equal."""
    match expression:
        case Call("equal" | "unequal", (Column(name), Literal() as literal) | (Literal() as literal, Column(name))):
            yield name, literal
        case In(Column(name), items):
            yield from ((name, item) for item in items)
    for child in children(expression):
        yield from _compared(child)


def _is_stranger(literal: Literal, declared: Declared) -> bool:
    if declared.keys is None or literal.value is None or declared.kind in (Kind.BOOLEAN, Kind.TIMESTAMP):
        return False
    if declared.kind is Kind.DATE:
        day = time_of(literal)
        return day.time() != datetime.time() or day.date() not in declared.keys
    return (float(literal.value) if literal.is_number else literal.value) not in declared.keys


def _note(name: str, literal: Literal, keys: tuple[Key, ...]) -> str:
    typed = str(literal.value) if literal.is_text else ""  # among numbers the nearest spelling is not the nearest
    written = repr(literal.value) if literal.is_text else str(literal.value)
    return f"{written} is not a declared key of {name}; {nearest(typed, map(str, islice(keys, _LOOKED_AT)))}"
