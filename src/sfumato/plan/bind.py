"""From a plan to a bound plan: names looked up, kinds checked, keys found, aggregates listed once.

Nothing here looks at data: only at the question and at what the owner declared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.kind import Kind
from sfumato.dataset.table import Table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.bound import Atom, BoundPlan, Group, Measure, Shown, Sort, Statistic
from sfumato.plan.functions import FUNCTIONS, Shape
from sfumato.plan.node import (
    Aggregate,
    Call,
    Case,
    Column,
    Expression,
    In,
    KeyAt,
    Literal,
    MeasureAt,
    Query,
    aggregates,
    children,
    quoted,
)
from sfumato.plan.scope import Scope, scope_of
from sfumato.plan.typed import Typed, expect, typed

MOST_GROUPS = 1_000_000
EXACT = 2**53  # whole numbers below have their own double


def bind(query: Query, tables: Mapping[str, Table]) -> BoundPlan:
    """Understand a question about declared tables, or refuse it."""
    scope = scope_of(query, tables)
    table = tables[scope.table]
    if query.outputs is None:
        raise UnsupportedQuery("rows are private; ask for an aggregate such as COUNT(*), SUM or AVG")
    binder = _Binder(query, scope, table)
    where = None if scope.where is None else typed(scope.where, table.columns)
    if where is not None:
        expect(where, Kind.BOOLEAN)
    shown = tuple(binder.shown())
    if not binder.measures:
        raise UnsupportedQuery("ask for at least one aggregate, such as COUNT(*), SUM or AVG; rows are private")
    having = None if query.having is None else binder.result(query.having, aliases=True)
    order = tuple(Sort(binder.sort_key(key.expression), key.descending) for key in query.order)
    for expression in [column.expression for column in shown] + [sort.expression for sort in order]:
        binder.check(expression)
    if having is not None:
        binder.check(having, Kind.BOOLEAN)
    return BoundPlan(
        scope.table, table, where, tuple(binder.groups), _atoms(binder.groups, table), tuple(binder.measures),
        shown, having, order, query.limit, query.sql(),
    )  # fmt: skip


class _Binder:
    """Collects groups and measures while the parts of one question are understood."""

    def __init__(self, query: Query, scope: Scope, table: Table) -> None:
        self.query, self.scope, self.table = query, scope, table
        self.outputs = query.outputs or ()
        self.aliases = {output.alias: output.expression for output in self.outputs if output.alias}
        self.measures: list[Measure] = []
        self.written: list[str] = []  # the measures as the question writes them
        self.keys = [self._group(expression) for expression in query.groups]
        self.groups = [self._typed_group(expression) for expression in self.keys]

    def _group(self, expression: Expression) -> Expression:
        """A GROUP BY item: a position, an input column, an alias, or an expression."""
        if isinstance(expression, Literal):
            expression = self._output_at(expression)
        elif isinstance(expression, Column) and expression.table is None and expression.name not in self.scope.names:
            expression = self.aliases.get(expression.name, expression)
        if aggregates(expression):
            raise UnsupportedQuery(f"GROUP BY takes columns, not aggregates: {expression.sql()}")
        return self.scope.resolve(expression)

    def _output_at(self, literal: Literal) -> Expression:
        text = literal.value if literal.is_number else None
        if not isinstance(text, str) or not text.isdecimal() or not 1 <= int(text) <= len(self.outputs):
            raise UnsupportedQuery(f"a position from 1 to {len(self.outputs)} was expected; got {literal.sql()}")
        return self.outputs[int(text) - 1].expression

    def _typed_group(self, expression: Expression) -> Group:
        known = typed(expression, self.table.columns)
        if known.kind is None or not _atoms_of(expression, self.table):
            raise UnsupportedQuery(f"GROUP BY {expression.sql()} is the same for all rows; leave it out")
        return Group(expression, known.kind)

    def shown(self) -> list[Shown]:
        """The columns of the answer."""
        listed: list[Shown] = []
        for place, output in enumerate(self.outputs):
            expression = output.expression
            own = expression.name if isinstance(expression, Column) else _spoken(expression, place)
            name = output.alias or own
            if name in {column.name for column in listed}:
                raise UnsupportedQuery(f"two columns of the answer are named {name!r}; give them different names")
            listed.append(Shown(name, self.result(expression)))
        return listed

    def result(self, expression: Expression, aliases: bool = False) -> Expression:
        """The same expression over keys and private values; an alias stands for its output in HAVING and ORDER BY."""
        if aliases and isinstance(expression, Column) and expression.table is None and expression.name in self.aliases:
            meant = self.aliases[expression.name]
            if expression.name in self.scope.names and self.scope.resolve(meant) != self.scope.resolve(expression):
                raise UnsupportedQuery(
                    f"{expression.name!r} is both a column and an alias of something else; rename the alias"
                )
            return self.result(meant)
        if isinstance(expression, Aggregate):
            return MeasureAt(self._measure(expression))
        if not isinstance(expression, Literal) and self._over_rows(expression, aliases):
            resolved = self.scope.resolve(expression)
            if resolved in self.keys:
                return KeyAt(self.keys.index(resolved))
        return self._inside(expression, aliases)

    def _over_rows(self, expression: Expression, aliases: bool) -> bool:
        """Whether an expression has columns of the table only: no aggregate, and no alias where one may stand."""
        if isinstance(expression, Column):
            is_alias = expression.table is None and expression.name in self.aliases
            return not (aliases and is_alias and expression.name not in self.scope.names)
        return not isinstance(expression, Aggregate) and all(
            self._over_rows(child, aliases) for child in children(expression)
        )

    def check(self, result: Expression, *wanted: Kind) -> None:
        """Refuse what cannot be computed from keys and private numbers: of another kind, or answered for rows only."""
        keys = {KeyAt(i).sql(): Declared(group.kind) for i, group in enumerate(self.groups)}
        measures = {MeasureAt(i).sql(): Declared(Kind.REAL) for i in range(len(self.measures))}
        try:
            found = typed(_over_results(result), {**keys, **measures})
            expect(found, *(wanted or Kind))
        except UnsupportedQuery as refusal:
            words = str(refusal)
            for place, group in enumerate(self.groups):
                words = words.replace(quoted(KeyAt(place).sql()), group.expression.sql())
            for place, written in enumerate(self.written):
                words = words.replace(quoted(MeasureAt(place).sql()), written)
            raise UnsupportedQuery(words) from None

    def sort_key(self, expression: Expression) -> Expression:
        """An ORDER BY item: a position, an alias, or an expression."""
        if isinstance(expression, Literal):
            return self.result(self._output_at(expression))
        return self.result(expression, aliases=True)

    def _inside(self, expression: Expression, aliases: bool) -> Expression:
        match expression:
            case Literal():
                return expression
            case Call(_, arguments):
                return replace(expression, arguments=tuple(self.result(part, aliases) for part in arguments))
            case In(value):
                return replace(expression, value=self.result(value, aliases))
            case Case(branches, otherwise):
                parts = tuple((self.result(a, aliases), self.result(b, aliases)) for a, b in branches)
                return Case(parts, None if otherwise is None else self.result(otherwise, aliases))
        raise UnsupportedQuery(f"{expression.sql()} must be in GROUP BY or inside an aggregate; rows are private")

    def _measure(self, aggregate: Aggregate) -> int:
        measure = self._read(aggregate)
        if measure not in self.measures:
            self.measures.append(measure)
            self.written.append(aggregate.sql())
        return self.measures.index(measure)

    def _read(self, aggregate: Aggregate) -> Measure:
        resolved = [self.scope.resolve(argument) for argument in aggregate.argument]
        if aggregate.distinct:
            units = {Column(name) for name in self.table.unit.columns}
            if aggregate.function != "count" or not units or set(resolved) != units:
                named = ", ".join(self.table.unit.columns) or "this table has none"
                raise UnsupportedQuery(f"DISTINCT is answered for COUNT of the unit ({named}); got {aggregate.sql()}")
            return Measure(Statistic.UNITS)
        if not resolved:
            return Measure(Statistic.COUNT)
        argument = typed(resolved[0], self.table.columns)
        if aggregate.function == "count":
            return Measure(Statistic.COUNT, argument)
        expect(argument, Kind.INTEGER, Kind.REAL)
        return Measure(Statistic.SUM if aggregate.function == "sum" else Statistic.MEAN, argument)


def _over_results(result: Expression) -> Expression:
    """The same expression with keys and measures as columns, to check their kinds."""
    match result:
        case KeyAt() | MeasureAt():
            return Column(result.sql())
        case Call(function, arguments):
            inside = tuple(_over_results(argument) for argument in arguments)
            if FUNCTIONS[function].shape in (Shape.DATE_PART, Shape.DATE_NUMBER, Shape.PATTERN):
                raise UnsupportedQuery(f"{Call(function, inside).sql()} is computed of rows; put it into GROUP BY")
            return Call(function, inside)
        case In(value):
            return replace(result, value=_over_results(value))
        case Case(branches, otherwise):
            parts = tuple((_over_results(condition), _over_results(value)) for condition, value in branches)
            return Case(parts, None if otherwise is None else _over_results(otherwise))
    return result


def _spoken(expression: Expression, place: int) -> str:
    if isinstance(expression, Aggregate):
        inside = "_".join(part.name for part in expression.argument if isinstance(part, Column))
        return "_".join(part for part in (expression.function, inside) if part)
    return f"column_{place + 1}"


def _atoms(groups: list[Group], table: Table) -> tuple[Atom, ...]:
    """The parts of all keys whose values are listed in public; their cross product bounds the number of groups."""
    found: dict[Expression, Atom] = {}
    for group in groups:
        for atom in _atoms_of(group.expression, table):
            found.setdefault(atom.expression, atom)
    total = math.prod(len(atom.values) for atom in found.values())
    if total > MOST_GROUPS:
        raise UnsupportedQuery(
            f"at most {MOST_GROUPS:,} groups are answered; these keys make {total:,}; group more coarsely"
        )
    return tuple(found.values())


def _atoms_of(expression: Expression, table: Table) -> list[Atom]:
    if not isinstance(expression, Column) and typed(expression, table.columns).kind is Kind.BOOLEAN:
        return [Atom(expression, Kind.BOOLEAN, (False, True))]
    if isinstance(expression, Column):
        return [_column_atom(expression, table)]
    rounds = isinstance(expression, Call) and FUNCTIONS[expression.function].shape is Shape.ROUNDING
    if rounds:
        known = typed(expression, table.columns)
        if known.interval is not None and known.interval.width < MOST_GROUPS and known.interval.largest < EXACT:
            whole = range(int(known.interval.low), int(known.interval.high) + 1)
            return [Atom(expression, Kind.REAL, tuple(float(number) for number in whole))]
    return [atom for child in children(expression) for atom in _atoms_of(child, table)]


def _column_atom(column: Column, table: Table) -> Atom:
    declared = table.columns[column.name]
    assert declared.kind is not None  # every column of a table knows its kind
    if declared.keys is not None:
        return Atom(column, declared.kind, declared.keys)
    if declared.kind is Kind.BOOLEAN:
        return Atom(column, declared.kind, (False, True))
    bounds = declared.bounds
    if declared.kind is Kind.INTEGER and bounds is not None and bounds.high - bounds.low < MOST_GROUPS:
        whole = range(max(math.ceil(bounds.low), -(2**63)), min(math.floor(bounds.high), 2**63 - 1) + 1)
        if not whole:
            raise UnsupportedQuery(f"GROUP BY {column.name} has no keys: no whole number is within its bounds")
        return Atom(column, declared.kind, tuple(whole))
    raise UnsupportedQuery(
        f"GROUP BY {column.name} needs public keys; declare them for the column"
        + (f", or declare bounds and group by FLOOR({column.name} / 10)" if declared.kind.is_number else "")
    )


def argument_of(measure: Measure) -> Typed:
    """The argument of a sum or a mean."""
    assert measure.argument is not None
    return measure.argument
