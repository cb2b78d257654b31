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
from sfumato.plan.bins import constants_of
from sfumato.plan.bound import Atom, BoundPlan, Group, Measure, Shown, Sort, Statistic
from sfumato.plan.functions import FUNCTIONS, Shape
from sfumato.plan.node import (
    Aggregate,
    Call,
    Case,
    Column,
    Expression,
    KeyAt,
    Literal,
    MeasureAt,
    Query,
    Total,
    TotalAt,
    aggregates,
    children,
    mapped,
    quoted,
)
from sfumato.plan.scope import Scope, scope_of
from sfumato.plan.typed import Typed, expect, read_dates, typed
from sfumato.plan.window import check_having, check_total

MOST_GROUPS = 1_000_000
_STATISTICS = {
    "sum": Statistic.SUM,
    "avg": Statistic.MEAN,
    "variance": Statistic.VARIANCE,
    "var_pop": Statistic.POPULATION_VARIANCE,
    "stddev": Statistic.DEVIATION,
    "stddev_samp": Statistic.DEVIATION,
    "stddev_pop": Statistic.POPULATION_DEVIATION,
}
EXACT = 2**53  # whole numbers below have their own double


def bind(query: Query, tables: Mapping[str, Table]) -> BoundPlan:
    """Understand a question about declared tables, or refuse it."""
    scope = scope_of(query, tables)
    table = tables[scope.table]
    if query.outputs is None:
        raise UnsupportedQuery("rows are private; ask for an aggregate such as COUNT(*), SUM or AVG")
    binder = _Binder(query, scope, table)
    where = None if scope.where is None else typed(_dated(scope.where, table.columns), table.columns)
    if where is not None:
        expect(where, Kind.BOOLEAN)
    shown = tuple(binder.shown())
    if not binder.measures:
        raise UnsupportedQuery("ask for at least one aggregate, such as COUNT(*), SUM or AVG; rows are private")
    having = None if query.having is None else binder.dated(query.having, aliases=True)
    check_having(query, having)
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
        self.aliases = {output.alias.lower(): output for output in self.outputs if output.alias}
        self.measures: list[Measure] = []
        self.written: list[str] = []  # the measures as the question writes them
        self.keys: list[Expression] = []
        self.groups: list[Group] = []
        for expression in query.groups:
            self.keys.append(self._group(expression))
            self.groups.append(self._typed_group(self.keys[-1]))

    def _group(self, expression: Expression) -> Expression:
        """A GROUP BY item: a position, an input column, an alias, or an expression."""
        if isinstance(expression, Literal):
            expression = self._output_at(expression)
        elif isinstance(expression, Column) and not self.scope.knows(expression):
            expression = self._alias(expression) or expression
        if aggregates(expression):
            raise UnsupportedQuery(f"GROUP BY takes columns, not aggregates: {expression.sql()}")
        return self.resolve(expression)

    def _alias(self, expression: Expression) -> Expression | None:
        """What a name stands for as an alias; None: it is none."""
        if not isinstance(expression, Column) or expression.table is not None:
            return None
        output = self.aliases.get(expression.name.lower())
        return None if output is None else output.expression

    def resolve(self, expression: Expression) -> Expression:
        """An expression over the table's own columns, its dates read."""
        return _dated(self.scope.resolve(expression), self.table.columns)

    def dated(self, expression: Expression, aliases: bool = False) -> Expression:
        """An expression over keys and measures, its dates read."""
        return _dated(self.result(expression, aliases), self._results())

    def _results(self) -> dict[str, Declared]:
        """Keys and measures as if they were columns."""
        keys = {KeyAt(i).sql(): Declared(group.kind) for i, group in enumerate(self.groups)}
        measured = {at(i).sql(): Declared(Kind.REAL) for at in (MeasureAt, TotalAt) for i in range(len(self.measures))}
        return {**keys, **measured}

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
            name = output.alias or self._spoken(output.expression, place)
            if name.lower() in {column.name.lower() for column in listed}:
                raise UnsupportedQuery(f"two columns of the answer are named {name!r}; give them different names")
            listed.append(Shown(name, self.dated(output.expression)))
        return listed

    def _spoken(self, expression: Expression, place: int) -> str:
        """The name of a column of the answer that was given none."""
        if isinstance(expression, Column):
            return self.scope.named(expression).spelling
        if isinstance(expression, Aggregate):
            inside = [self.scope.named(part).spelling for part in expression.argument if isinstance(part, Column)]
            return "_".join((expression.function, *inside))
        return f"column_{place + 1}"

    def result(self, expression: Expression, aliases: bool = False) -> Expression:
        """The same expression over keys and private values; an alias stands for its output in HAVING and ORDER BY."""
        meant = self._alias(expression) if aliases else None
        if isinstance(expression, Column) and meant is not None:
            if self.scope.knows(expression) and self.scope.resolve(meant) != self.scope.resolve(expression):
                raise UnsupportedQuery(
                    f"{expression.name!r} is both a column and an alias of something else; rename the alias"
                )
            return self.result(meant)
        if isinstance(expression, Aggregate):
            return MeasureAt(self._measure(expression))
        if isinstance(expression, Total):
            place = self._measure(expression.aggregate)
            check_total(expression, self.measures[place])
            return TotalAt(place)
        if not isinstance(expression, Literal) and self._over_rows(expression):
            resolved = self.resolve(expression)
            if resolved in self.keys:
                return KeyAt(self.keys.index(resolved))
        if isinstance(expression, Column):
            self.scope.named(expression, [output.alias or "" for output in self.aliases.values()] if aliases else ())
            raise UnsupportedQuery(f"{expression.sql()} must be in GROUP BY or inside an aggregate; rows are private")
        return mapped(expression, lambda part: self.result(part, aliases))

    def _over_rows(self, expression: Expression) -> bool:
        """Whether an expression has columns of the table only: no aggregate and no alias."""
        if isinstance(expression, Column):
            return self.scope.knows(expression)
        return not isinstance(expression, Aggregate) and all(map(self._over_rows, children(expression)))

    def check(self, result: Expression, *wanted: Kind) -> None:
        """Refuse what cannot be computed from keys and private numbers: of another kind, or answered for rows only."""
        try:
            _check_computable(result)
            found = typed(_over_results(result), self._results())
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
        return self.dated(expression, aliases=True)

    def _measure(self, aggregate: Aggregate) -> int:
        measure = self._read(aggregate)
        if measure not in self.measures:
            self.measures.append(measure)
            self.written.append(aggregate.sql())
        return self.measures.index(measure)

    def _read(self, aggregate: Aggregate) -> Measure:
        resolved = [self.resolve(argument) for argument in aggregate.argument]
        if aggregate.distinct:
            self._check_counts_units(aggregate, resolved)
            return Measure(Statistic.UNITS)
        if not resolved:
            return Measure(Statistic.COUNT)
        argument = typed(resolved[0], self.table.columns)
        if aggregate.function == "count":
            return Measure(Statistic.COUNT, argument)
        expect(argument, Kind.INTEGER, Kind.REAL)
        return Measure(_STATISTICS[aggregate.function], argument)

    def _check_counts_units(self, aggregate: Aggregate, resolved: list[Expression]) -> None:
        units = self.table.unit.columns
        if not units:
            names = [part.name for part in resolved if isinstance(part, Column)]
            declared = repr(names[0]) if len(names) == 1 else repr(names)
            raise UnsupportedQuery(
                f"DISTINCT is answered for COUNT of the unit; this table has none, so that each row counts as one; "
                f"declare unit={declared} for the table; got {aggregate.sql()}"
            )
        if aggregate.function != "count" or set(resolved) != {Column(name) for name in units}:
            raise UnsupportedQuery(
                f"DISTINCT is answered for COUNT of the unit ({', '.join(units)}); got {aggregate.sql()}; "
                "for other columns count the rows of each key: GROUP BY"
            )


def _over_results(result: Expression) -> Expression:
    """The same expression with keys and measures as columns, to check their kinds."""
    if isinstance(result, (KeyAt, MeasureAt, TotalAt)):
        return Column(result.sql())
    return mapped(result, _over_results)


def _dated(expression: Expression, columns: Mapping[str, Declared]) -> Expression:
    return read_dates(expression, lambda part: typed(_over_results(part), columns).kind)


def _check_computable(result: Expression) -> None:
    """Refuse what is computed of rows only."""
    of_rows = (Shape.DATE_PART, Shape.DATE_NUMBER, Shape.PATTERN)
    if isinstance(result, Call) and FUNCTIONS[result.function].shape in of_rows:
        raise UnsupportedQuery(f"{_over_results(result).sql()} is computed of rows; put it into GROUP BY")
    for child in children(result):
        _check_computable(child)


def _atoms(groups: list[Group], table: Table) -> tuple[Atom, ...]:
    """The parts of all keys whose values are listed in public; their cross product bounds the number of groups."""
    found: dict[Expression, Atom] = {}
    for group in groups:
        for atom in _atoms_of(group.expression, table):
            known = found.setdefault(atom.expression, atom)
            if None in atom.values and None not in known.values:
                found[atom.expression] = replace(known, values=(*known.values, None))
    total = math.prod(len(atom.values) for atom in found.values())
    if total > MOST_GROUPS:
        raise UnsupportedQuery(
            f"at most {MOST_GROUPS:,} groups are answered; these keys make {total:,}; group more coarsely"
        )
    return tuple(found.values())


def _atoms_of(expression: Expression, table: Table, caught: bool = False) -> list[Atom]:
    """The atoms of a key; `caught`: a COALESCE around may turn NULL into a key, so that NULL is one of the values."""
    if (atom := _atom(expression, table)) is not None:
        return [replace(atom, values=(*atom.values, None))] if caught else [atom]
    match expression:
        case Call("coalesce", (first, second)):
            return [*_atoms_of(first, table, caught=True), *_atoms_of(second, table, caught)]
        case Case(branches, otherwise):
            # A condition that is NULL does not hold, as FALSE does not; TRUE first: keys in the order of the branches.
            tests = [atom for condition, _ in branches for atom in _atoms_of(condition, table)]
            tests = [replace(atom, values=(True, False)) if atom.kind is Kind.BOOLEAN else atom for atom in tests]
            values = [*(value for _, value in branches), *(() if otherwise is None else (otherwise,))]
            return [*tests, *(atom for value in values for atom in _atoms_of(value, table, caught))]
    return [atom for child in children(expression) for atom in _atoms_of(child, table, caught)]


def _atom(expression: Expression, table: Table) -> Atom | None:
    """A part of a key whose values are known in public; None: look at what it is computed of."""
    if isinstance(expression, Column):
        return _column_atom(expression, table)
    known = typed(expression, table.columns)
    if known.kind is Kind.BOOLEAN:
        return None if isinstance(expression, Literal) else Atom(expression, Kind.BOOLEAN, (False, True))
    if isinstance(expression, Case) and known.kind is not None and (listed := constants_of(expression)):
        return Atom(expression, known.kind, listed)
    if not isinstance(expression, Call) or known.interval is None:
        return None
    whole = range(int(known.interval.low), int(known.interval.high) + 1)
    if FUNCTIONS[expression.function].shape is Shape.ROUNDING and known.interval.largest < EXACT:
        return Atom(expression, Kind.REAL, tuple(map(float, whole))) if len(whole) <= MOST_GROUPS else None
    if FUNCTIONS[expression.function].shape is Shape.DATE_NUMBER and _is_periodic(expression, table):
        return Atom(expression, Kind.INTEGER, tuple(whole))
    return None


def _is_periodic(part: Call, table: Table) -> bool:
    """Whether the part of a date has all its values for keys: hours, since keys are days; others without such keys."""
    (date,) = part.arguments
    if part.function == "extract_hour":
        return typed(date, table.columns).kind is Kind.TIMESTAMP
    return part.function != "extract_year" and isinstance(date, Column) and table.columns[date.name].keys is None


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
    raise UnsupportedQuery(f"GROUP BY {column.name} {_why_no_keys(column.name, declared.kind, table)}")


def _why_no_keys(name: str, kind: Kind, table: Table) -> str:
    if table.unit.columns == (name,):
        return "would show single people, since each group is one unit; group by something else"
    advice = "needs public keys; declare them for the column"
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        return f"{advice}: keys=sf.dates('2026-01-01', '2026-12-31')"
    return advice + (f", or declare bounds and group by FLOOR({name} / 10)" if kind.is_number else "")


def argument_of(measure: Measure) -> Typed:
    """The argument of a sum or a mean."""
    assert measure.argument is not None
    return measure.argument
