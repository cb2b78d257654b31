"""The rows that a question speaks of: its FROM and WHERE, with sub-queries, CTEs, joins and UNION ALL, as one scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.relations.grouping import group, output_name
from sfumato.plan.relations.joins import join, join_public
from sfumato.plan.relations.matching import Matching
from sfumato.plan.relations.relation import Relation, inherited, stored
from sfumato.plan.relations.scope import Named, Scope, both, small, unknown
from sfumato.plan.relations.union import stack
from sfumato.plan.syntax.node import (
    Call,
    Column,
    Exact,
    Expression,
    How,
    In,
    Join,
    Query,
    Rows,
    Source,
    Subquery,
    TableName,
    Union,
    aggregates,
    check_names_differ,
)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tables that a question may name, and how many public rows match a private one, counted beforehand."""

    tables: Mapping[str, Table]
    public: Mapping[str, PublicTable] = field(default_factory=dict)
    matches: Callable[[Matching], int] = lambda matching: matching.public.size


@dataclass(frozen=True, slots=True)
class Ctes:
    """The queries named by WITH, by their names in lower case, each with those that were named before it."""

    named: Mapping[str, tuple[Rows, Ctes]]

    def __contains__(self, name: str) -> bool:
        return name.lower() in self.named

    def __getitem__(self, name: str) -> tuple[Rows, Ctes]:
        return self.named[name.lower()]


NO_CTES = Ctes({})


def _with(query: Query, ctes: Ctes) -> Ctes:
    """The names of WITH, each seeing those before it: none sees itself, so that nothing recurs."""
    check_names_differ(name for name, _ in query.ctes)
    for name, named in query.ctes:
        ctes = Ctes({**ctes.named, name.lower(): (named, ctes)})
    return ctes


def scope_of(query: Query, known: Catalog, ctes: Ctes = NO_CTES) -> Scope:
    """The rows that a query's FROM and WHERE speak of."""
    base = _source(query.source, known, _with(query, ctes))
    if query.where is not None and aggregates(query.where):
        raise UnsupportedQuery("WHERE filters rows, before aggregating; put conditions on aggregates into HAVING")
    where = None if query.where is None else small(base.resolve(query.where))
    return replace(base, where=both(base.where, where))


def _source(source: Source, known: Catalog, ctes: Ctes) -> Scope:
    if isinstance(source, Join):
        return _join(source, known, ctes)
    if isinstance(source, Subquery):
        return _rows(source.query, source.alias or "", known, ctes)
    if source.name in ctes:
        query, before = ctes[source.name]
        return _rows(query, source.alias or source.name, known, before)
    if (public := _public(source, known, ctes)) is not None:
        raise UnsupportedQuery(
            f"{public[0]!r} is public: nothing of it is private; join a private table with it by its name, not with a "
            "sub-query of it, or read it"
        )
    rows = _relation(source.name, known, [*known.tables, *known.public, *ctes.named])
    label = source.alias or source.name
    return Scope.of(rows, [Named(name, Column(name), label) for name in rows.columns])


def _relation(name: str, known: Catalog, others: list[str]) -> Relation:
    """The rows of a table by its name, with its own unit or its parent's."""
    matches = [each for each in known.tables if each.lower() == name.lower()]
    if not matches:
        raise unknown("table", name, others)
    table = known.tables[matches[0]]
    if table.inherits is None:
        return stored(matches[0], table)
    return inherited(matches[0], table, _relation(table.inherits.table, known, list(known.tables)))


def _public(source: Source, known: Catalog, ctes: Ctes) -> tuple[str, PublicTable] | None:
    """A public table by its name, if it is one."""
    if not isinstance(source, TableName) or source.name in ctes:
        return None
    return next((each for each in known.public.items() if each[0].lower() == source.name.lower()), None)


def _join(source: Join, known: Catalog, ctes: Ctes) -> Scope:
    left, right = source.left, source.right
    if _public(left, known, ctes) is not None and isinstance(left, TableName):
        if source.how.value != "JOIN":
            raise UnsupportedQuery("a public table stands on the right; put the private table first")
        if _public(right, known, ctes) is not None:
            raise UnsupportedQuery("two public tables are joined with no private one; put a private table first")
        return _join(replace(source, left=right, right=left), known, ctes)
    scope = _source(left, known, ctes).filtered()
    if (public := _public(right, known, ctes)) is not None:
        label = right.alias or public[0]
        return join_public(scope, source, label, public, known.matches)
    return join(scope, _settled(_source(right, known, ctes).filtered(), source.how), source)


def _settled(right: Scope, how: How) -> Scope:
    """The right side of a LEFT JOIN; what is something beside no row is worked out before, so that it is missing."""
    if how is not How.LEFT or all(_misses(each.meaning) for each in right.listed):
        return right
    return stack([right], right.labels[0])


def _misses(expression: Expression) -> bool:
    """Whether an expression is NULL where all columns are."""
    match expression:
        case Column():
            return True
        case Call("and" | "or" | "coalesce", arguments):
            return all(map(_misses, arguments))
        case Call("between", (value, *_)) | In(value) | Exact(value):
            return _misses(value)
        case Call(function, arguments):
            return function != "is_null" and any(map(_misses, arguments))
    return False


def _with_names(part: Query) -> Query:
    """A later part of UNION ALL, whose columns need no names: those of the first part count."""
    outputs = part.outputs and tuple(
        output if output.alias or isinstance(output.expression, Column) else replace(output, alias=f"column {place}")
        for place, output in enumerate(part.outputs)
    )
    return replace(part, outputs=outputs)


def _rows(query: Rows, label: str, known: Catalog, ctes: Ctes) -> Scope:
    """A query in the place of a table: it selects and filters rows, or aggregates those of each unit."""
    if isinstance(query, Union):
        first, *others = query.parts
        return stack([_rows(part, label, known, ctes) for part in (first, *map(_with_names, others))], label)
    if query.order or query.limit is not None:
        raise UnsupportedQuery("ORDER BY and LIMIT on private rows are not supported; use them on the result")
    inner = scope_of(query, known, ctes)
    listed = query.outputs or ()
    if query.groups or query.having or query.distinct or any(aggregates(output.expression) for output in listed):
        return group(query, inner.filtered(), label)
    if query.outputs is None:
        return Scope.of(inner.rows, [replace(each, label=label) for each in inner.starred()], inner.where)
    named: list[Named] = []
    for output in query.outputs:
        own = inner.named(output.expression).spelling if isinstance(output.expression, Column) else None
        named.append(Named(output_name(output, own, named), small(inner.resolve(output.expression)), label))
    return Scope.of(inner.rows, named, inner.where)
