"""What names mean: a query over rows is a table, a meaning for each name, and a filter.

Sub-queries and CTEs that only select and filter rows dissolve: each of their columns is an expression over the columns
of the one table below, and their filters are joined by AND. So every row keeps its unit, whatever was selected.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sfumato.dataset.table import Table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.node import (
    Aggregate,
    Call,
    Case,
    Column,
    Expression,
    In,
    Literal,
    Query,
    Subquery,
    TableName,
    aggregates,
    children,
)

NameOf = Mapping[str, Expression]
MOST_NODES = 10_000  # of one expression: sub-queries that double it fifty times would never end
MOST_LEVELS = 150


@dataclass(frozen=True, slots=True)
class Ctes:
    """The queries named by WITH, each with those that were named before it."""

    named: Mapping[str, tuple[Query, Ctes]]

    def __contains__(self, name: str) -> bool:
        return name in self.named

    def __getitem__(self, name: str) -> tuple[Query, Ctes]:
        return self.named[name]


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows of `table` that pass `where`, with a meaning for each name; `label` may qualify the names."""

    table: str
    names: NameOf
    where: Expression | None
    label: str

    def meaning(self, column: Column) -> Expression:
        """The expression that a name stands for."""
        if column.table not in (None, self.label):
            raise unknown("table", str(column.table), [self.label])
        if column.name not in self.names:
            raise unknown("column", column.name, list(self.names))
        return self.names[column.name]

    def resolve(self, expression: Expression) -> Expression:
        """The same expression over the table's own columns."""
        match expression:
            case Column():
                return self.meaning(expression)
            case Call(_, arguments):
                return replace(expression, arguments=tuple(self.resolve(argument) for argument in arguments))
            case In(value):
                return replace(expression, value=self.resolve(value))
            case Case(branches, otherwise):
                resolved = tuple((self.resolve(condition), self.resolve(value)) for condition, value in branches)
                return Case(resolved, None if otherwise is None else self.resolve(otherwise))
            case Aggregate(_, argument):
                return replace(expression, argument=tuple(self.resolve(part) for part in argument))
        return expression


NO_CTES = Ctes({})


def unknown(what: str, name: str, known: list[str]) -> UnsupportedQuery:
    """A refusal that offers the nearest names."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    offer = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(known)[:10]) or 'none'}"
    return UnsupportedQuery(f"unknown {what} {name!r}; {offer}")


def both(first: Expression | None, second: Expression | None) -> Expression | None:
    """Two filters joined by AND."""
    if first is None or second is None:
        return first or second
    return Call("and", (first, second))


def _with(query: Query, ctes: Ctes) -> Ctes:
    """The names of WITH, each seeing those before it: none sees itself, so that nothing recurs."""
    names = [name for name, _ in query.ctes]
    if len(set(names)) < len(names):
        raise UnsupportedQuery("WITH names two queries alike; give them different names")
    for name, named in query.ctes:
        ctes = Ctes({**ctes.named, name: (named, ctes)})
    return ctes


def _small(expression: Expression) -> Expression:
    """The same expression, unless sub-queries made it grow beyond measure."""
    nodes, levels, level = 0, 0, [expression]
    while level:
        nodes, levels = nodes + sum(not isinstance(one, Literal) for one in level), levels + 1
        if nodes > MOST_NODES or levels > MOST_LEVELS:
            raise UnsupportedQuery("the sub-queries make an expression too long; compute it in fewer steps")
        level = [child for one in level for child in children(one)]
    return expression


def scope_of(query: Query, tables: Mapping[str, Table], ctes: Ctes = NO_CTES) -> Scope:
    """The rows that a query's FROM and WHERE speak of."""
    base = _source(query.source, tables, _with(query, ctes))
    if query.where is not None and aggregates(query.where):
        raise UnsupportedQuery("WHERE filters rows, before aggregating; put conditions on aggregates into HAVING")
    where = None if query.where is None else _small(base.resolve(query.where))
    return replace(base, where=both(base.where, where))


def _source(source: TableName | Subquery, tables: Mapping[str, Table], ctes: Ctes) -> Scope:
    if isinstance(source, Subquery):
        return _rows(source.query, source.alias or "", tables, ctes)
    if source.name in ctes:
        query, before = ctes[source.name]
        return _rows(query, source.alias or source.name, tables, before)
    matches = [name for name in tables if name.lower() == source.name.lower()]
    if not matches:
        raise unknown("table", source.name, [*tables, *ctes.named])
    columns = {name.lower(): Column(name) for name in tables[matches[0]].columns}
    return Scope(matches[0], columns, None, source.alias or source.name)


def _rows(query: Query, label: str, tables: Mapping[str, Table], ctes: Ctes) -> Scope:
    """A query in the place of a table: it may select and filter rows, nothing else."""
    listed = query.outputs or ()
    if query.groups or query.having or any(aggregates(output.expression) for output in listed):
        raise UnsupportedQuery("a sub-query may select and filter rows; aggregate in the outer query")
    if query.order or query.limit is not None:
        raise UnsupportedQuery("ORDER BY and LIMIT on private rows are not answered; use them on the result")
    inner = scope_of(query, tables, ctes)
    if query.outputs is None:
        return replace(inner, label=label)
    names: dict[str, Expression] = {}
    for output in query.outputs:
        expression = output.expression
        name = output.alias or (expression.name if isinstance(expression, Column) else None)
        if name is None:
            raise UnsupportedQuery(f"name the column of the sub-query: {expression.sql()} AS something")
        if name in names:
            raise UnsupportedQuery(f"the sub-query has two columns named {name!r}; name them differently")
        names[name] = _small(inner.resolve(expression))
    return Scope(inner.table, names, inner.where, label)
