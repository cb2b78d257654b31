"""What names mean: a query over rows is a table, a meaning for each name, and a filter.

Sub-queries and CTEs that only select and filter rows dissolve: each of their columns is an expression over the columns
of the one table below, and their filters are joined by AND. So every row keeps its unit, whatever was selected. Names
are matched whatever their case, in quotes or not, and shown as they were declared.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sfumato.dataset.table import Table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.functions import FUNCTIONS, Shape
from sfumato.plan.node import (
    Call,
    Column,
    Expression,
    Literal,
    Query,
    Subquery,
    TableName,
    aggregates,
    children,
    mapped,
    quoted,
    text_literal,
)

MOST_NODES = 10_000  # of one expression: sub-queries that double it fifty times would never end
MOST_LEVELS = 150


@dataclass(frozen=True, slots=True)
class Ctes:
    """The queries named by WITH, by their names in lower case, each with those that were named before it."""

    named: Mapping[str, tuple[Query, Ctes]]

    def __contains__(self, name: str) -> bool:
        return name.lower() in self.named

    def __getitem__(self, name: str) -> tuple[Query, Ctes]:
        return self.named[name.lower()]


@dataclass(frozen=True, slots=True)
class Named:
    """What a name stands for, and how it is spelt."""

    spelling: str
    meaning: Expression


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows of `table` that pass `where`; `names` in lower case have a meaning, and `label` may qualify them."""

    table: str
    names: Mapping[str, Named]
    where: Expression | None
    label: str

    def knows(self, column: Column) -> bool:
        """Whether a column's name has a meaning."""
        return column.name.lower() in self.names

    def named(self, column: Column, others: Iterable[str] = ()) -> Named:
        """What a column's name stands for; `others` are names that could have been meant as well."""
        if column.table is not None and column.table.lower() != self.label.lower():
            raise unknown("table", column.table, [self.label])
        if not self.knows(column):
            raise unknown("column", column.name, [*(each.spelling for each in self.names.values()), *others])
        return self.names[column.name.lower()]

    def resolve(self, expression: Expression) -> Expression:
        """The same expression over the table's own columns."""
        if isinstance(expression, Column):
            return self.named(expression).meaning
        if isinstance(expression, Call) and FUNCTIONS[expression.function].shape in (Shape.COMPARISON, Shape.PATTERN):
            self._refuse_texts_as_names(expression.arguments)
        return mapped(expression, self.resolve)

    def _refuse_texts_as_names(self, compared: tuple[Expression, ...]) -> None:
        """Two columns are compared by city = "München", and hardly ever meant."""
        columns = [each for each in compared if isinstance(each, Column) and each.table is None]
        strange = [column for column in columns if not self.knows(column)]
        if strange and len(columns) > len(strange):
            name = strange[0].name
            refusal = unknown("column", name, [each.spelling for each in self.names.values()])
            raise UnsupportedQuery(f"{refusal}; a text goes in single quotes: {text_literal(name)}")


NO_CTES = Ctes({})


def unknown(what: str, name: str, known: Iterable[str]) -> UnsupportedQuery:
    """A refusal that offers the nearest names, in quotes where SQL needs them."""
    written = {each.lower(): each if each.isidentifier() else quoted(each) for each in known}
    near = difflib.get_close_matches(name.lower(), written, n=3, cutoff=0.5)
    listed = ", ".join(sorted(written.values())[:10]) or "none"
    offer = f"did you mean {' or '.join(written[each] for each in near)}?" if near else f"known: {listed}"
    return UnsupportedQuery(f"unknown {what} {name!r}; {offer}")


def both(first: Expression | None, second: Expression | None) -> Expression | None:
    """Two filters joined by AND."""
    if first is None or second is None:
        return first or second
    return Call("and", (first, second))


def _with(query: Query, ctes: Ctes) -> Ctes:
    """The names of WITH, each seeing those before it: none sees itself, so that nothing recurs."""
    names = [name.lower() for name, _ in query.ctes]
    if len(set(names)) < len(names):
        raise UnsupportedQuery("WITH names two queries alike; give them different names")
    for name, (_, named) in zip(names, query.ctes, strict=True):
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
    columns = {name.lower(): Named(name, Column(name)) for name in tables[matches[0]].columns}
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
    names: dict[str, Named] = {}
    for output in query.outputs:
        expression = output.expression
        own = inner.named(expression).spelling if isinstance(expression, Column) else None
        name = output.alias or own
        if name is None:
            raise UnsupportedQuery(f"name the column of the sub-query: {expression.sql()} AS something")
        if name.lower() in names:
            raise UnsupportedQuery(f"the sub-query has two columns named {name!r}; name them differently")
        names[name.lower()] = Named(name, _small(inner.resolve(expression)))
    return Scope(inner.table, names, inner.where, label)
