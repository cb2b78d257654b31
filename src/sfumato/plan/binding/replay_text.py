"""The text by which a stored answer is found: a question as it was understood, in words that never change.

A ledger finds an earlier answer by a hash over this text. If the text of a question changes, its stored answer is not
found and the question is charged again. So nothing here is printed by Python's `repr` of a class or by the value of an
enum: each word is written out below, as version 0.1 wrote it, and stays when a class, a field or an enum is renamed.

To add an expression, a relation or a kind, give it words of its own here. A new field is left out of the text while it
has its default, so that older questions keep theirs. `tests/kept` asks the questions of version 0.1 again.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable, Mapping
from fractions import Fraction

from sfumato.dataset.column import Bounds
from sfumato.dataset.column import Column as Declared
from sfumato.dataset.keys import Key
from sfumato.dataset.kind import Kind
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.sources.frame import Frame
from sfumato.dataset.table import Table, Through
from sfumato.plan.relations.relation import Cap, Filtered, Grouped, Inherited, Joined, Looked, Relation, Stacked, Stored
from sfumato.plan.syntax.node import (
    Aggregate,
    Call,
    Case,
    Column,
    Exact,
    Expression,
    How,
    In,
    KeyAt,
    Literal,
    MeasureAt,
    Total,
    TotalAt,
)
from sfumato.privacy.neighbors import Neighbors

NEIGHBORS: Mapping[Neighbors, str] = {Neighbors.ADD_REMOVE: "add-remove", Neighbors.REPLACE: "replace"}
_JOINS: Mapping[How, str] = {
    How.INNER: "JOIN",
    How.LEFT: "LEFT JOIN",
    How.SEMI: "SEMI JOIN",
    How.ANTI: "ANTI JOIN",
}
_KINDS: Mapping[Kind, str] = {
    Kind.INTEGER: "<Kind.INTEGER: 'BIGINT'>",
    Kind.REAL: "<Kind.REAL: 'DOUBLE'>",
    Kind.TEXT: "<Kind.TEXT: 'VARCHAR'>",
    Kind.BOOLEAN: "<Kind.BOOLEAN: 'BOOLEAN'>",
    Kind.DATE: "<Kind.DATE: 'DATE'>",
    Kind.TIMESTAMP: "<Kind.TIMESTAMP: 'TIMESTAMP'>",
}


def number_text(number: Fraction | int) -> str:
    """An exact number: digits, and a denominator unless it is 1.

    >>> number_text(Fraction(3, 10)), number_text(Fraction(2))
    ('3/10', '2')
    """
    exact = Fraction(number)
    return f"{exact.numerator}" + (f"/{exact.denominator}" if exact.denominator != 1 else "")


def relation_text(relation: Relation) -> list[object]:
    """How the rows come about; the same for all spellings of it."""
    match relation.how:
        case Stored(name=name):
            return ["table", name]
        case Inherited(name=name, parent=parent, on=on):
            return ["inherits", name, relation_text(parent), list(map(list, on))]
        case Filtered(source=source, where=where):
            return ["where", relation_text(source), expression_text(where.expression)]
        case Grouped(source=source, keys=keys, aggregates=aggregates):
            computed = [
                [name, inner.function, inner.distinct, inner.argument and expression_text(inner.argument.expression)]
                for name, inner in aggregates
            ]
            listed = [[name, expression_text(key.expression)] for name, key in keys]
            return ["group", relation_text(source), listed, computed]
        case Joined(left=left, right=right, how=how, on=on, renamed=renamed, left_cap=first, right_cap=second):
            beside = ["None" if on is None else expression_text(on.expression), _cap(first), _cap(second)]
            return [_JOINS[how], relation_text(left), relation_text(right), beside, list(map(list, renamed))]
        case Looked(left=left, name=name, how=how, on=on, renamed=renamed):
            matched = [expression_text(on.expression)]
            return [_JOINS[how], relation_text(left), ["public", name], matched, list(map(list, renamed))]
        case Stacked(parts=parts):
            stacked = ([relation_text(part), list(map(expression_text, columns))] for part, columns in parts)
            return ["stack", list(relation.columns), *stacked]


def expression_text(expression: Expression) -> str:
    """An expression, each part by its class and its fields."""
    match expression:
        case Column(name, table):
            return f"Column(name={_plain(name)}, table={_plain(table)})"
        case Literal(value, is_number, is_date, is_time):
            kinds = f"is_number={is_number}, is_date={is_date}, is_time={is_time}"
            return f"Literal(value={_plain(value)}, {kinds})"
        case Call(function, arguments):
            return f"Call(function={_plain(function)}, arguments={_all(arguments)})"
        case Exact(value, scale):
            return f"Exact(value={expression_text(value)}, scale={scale})"
        case In(value, items):
            return f"In(value={expression_text(value)}, items={_all(items)})"
        case Case(branches, otherwise):
            listed = _tuple(_all(branch) for branch in branches)
            return f"Case(branches={listed}, otherwise={_maybe(otherwise)})"
        case Aggregate(function, argument, distinct, at):
            inside = f"argument={_all(argument)}, distinct={distinct}, at={_maybe(at)}"
            return f"Aggregate(function={_plain(function)}, {inside})"
        case Total(aggregate):
            return f"Total(aggregate={expression_text(aggregate)})"
        case KeyAt(position):
            return f"KeyAt(position={position})"
        case MeasureAt(position, point):
            return f"MeasureAt(position={position}, point={point})"
        case TotalAt(position):
            return f"TotalAt(position={position})"


def declaration_digest(relation: Relation) -> str:
    """A short name for all that the owner declared of the tables; a change of it makes old answers stale."""
    parts = [_plain(NEIGHBORS[relation.neighbors])]
    for name, table in relation.tables.items():
        parts += [_plain(name), *_table(table)]
    for name, public in relation.public.items():
        parts += [_plain(name), *_public(public)]
    return hashlib.sha256(f"[{', '.join(parts)}]".encode()).hexdigest()[:16]


def _table(table: Table) -> Iterable[str]:
    source = table.source
    yield from (_plain(table.version), _texts(table.unit.columns), _texts(table.means), _plain(table.max_rows_per_unit))
    yield _through(table.inherits)
    yield _plain(source.serial) if isinstance(source, Frame) else f"[{', '.join(map(_plain, sorted(source.identity)))}]"
    yield from _columns(table.columns)


def _public(public: PublicTable) -> Iterable[str]:
    yield from (_plain(public.version), _plain(public.serial), *_columns(public.columns))


def _columns(columns: Mapping[str, Declared]) -> Iterable[str]:
    """Each column with its declaration, which is a text within a text."""
    return (_tuple((_plain(name), _plain(_declared(column)))) for name, column in sorted(columns.items()))


def _declared(column: Declared) -> str:
    kind = "None" if column.kind is None else _KINDS[column.kind]
    keys = "None" if column.keys is None else _tuple(map(_key, column.keys))
    return f"Column(kind={kind}, bounds={_bounds(column.bounds)}, keys={keys})"


def _bounds(bounds: Bounds | None) -> str:
    return "None" if bounds is None else f"Bounds(low={_fraction(bounds.low)}, high={_fraction(bounds.high)})"


def _fraction(number: Fraction) -> str:
    return f"Fraction({number.numerator}, {number.denominator})"


def _key(key: Key) -> str:
    match key:
        case datetime.datetime():
            fields = [key.year, key.month, key.day, key.hour, key.minute, key.second, key.microsecond]
            while len(fields) > 5 and fields[-1] == 0:  # trailing zeros of seconds are not written
                fields.pop()
            return f"datetime.datetime({', '.join(map(str, fields))})"
        case datetime.date():
            return f"datetime.date({key.year}, {key.month}, {key.day})"
    return _plain(key)


def _through(through: Through | None) -> str:
    if through is None:
        return "None"
    return f"Through(table={_plain(through.table)}, columns={_texts(through.columns)}, keys={_texts(through.keys)})"


def _cap(cap: Cap | None) -> str:
    return "None" if cap is None else f"Cap(rows={cap.rows}, apart={_texts(cap.apart)})"


def _maybe(expression: Expression | None) -> str:
    return "None" if expression is None else expression_text(expression)


def _all(expressions: Iterable[Expression]) -> str:
    return _tuple(map(expression_text, expressions))


def _texts(names: Iterable[str]) -> str:
    return _tuple(map(_plain, names))


def _tuple(parts: Iterable[str]) -> str:
    listed = list(parts)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def _plain(value: str | bool | int | float | None) -> str:
    """A text in quotes, a number, a truth value or nothing, as the language itself writes them."""
    assert value is None or isinstance(value, (str, bool, int, float)), "only what Python itself fixes for ever"
    return repr(value)
