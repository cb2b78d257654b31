"""A sub-query that aggregates: exact, since it has one row for each unit, or for each unit and other keys.

It must group by the whole unit. Grouped by less, one unit's rows would be mixed with another's, and nothing that is
computed from the mixture could be said to be of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.dataset.kind import Kind
from sfumato.errors import UnsupportedQuery
from sfumato.plan.expressions.decimals import exact_key
from sfumato.plan.expressions.types import Typed, dated, expect, typed
from sfumato.plan.relations.relation import Inner, Relation, grouped
from sfumato.plan.relations.scope import Named, Scope, small, written
from sfumato.plan.syntax.node import (
    Aggregate,
    Column,
    Expression,
    Literal,
    Output,
    Query,
    Total,
    aggregates,
    children,
    mapped,
)

EXACT = ("count", "sum", "avg", "min", "max", "median")


def group(query: Query, inner: Scope, label: str) -> Scope:
    """The rows of a sub-query with GROUP BY, HAVING, DISTINCT or aggregates."""
    if query.distinct and (query.groups or query.having):
        raise UnsupportedQuery("DISTINCT after GROUP BY is not supported; leave it out, each group is one row")
    outputs = query.outputs or tuple(Output(Column(each.spelling, each.label)) for each in inner.starred())
    return _Grouping(query, outputs, inner).scope(label)


def output_name(output: Output, own: str | None, before: Sequence[Named]) -> str:
    """The name of a sub-query's column: its alias, or that of the column it is."""
    name = output.alias or own
    if name is None:
        raise UnsupportedQuery(f"name the column of the sub-query: {output.expression.sql()} AS something")
    if name.lower() in {each.spelling.lower() for each in before}:
        raise UnsupportedQuery(f"the sub-query has two columns named {name!r}; name them differently")
    return name


class _Grouping:
    """Collects keys and aggregates while the parts of one sub-query are understood."""

    def __init__(self, query: Query, outputs: tuple[Output, ...], inner: Scope) -> None:
        self.query, self.outputs, self.inner = query, outputs, inner
        self.aliases = {output.alias.lower(): output.expression for output in outputs if output.alias}
        self.aggregates: dict[Aggregate, tuple[str, Inner]] = {}
        self.titles: dict[Expression, str | None] = {
            output.expression: output.alias for output in outputs if isinstance(output.expression, Aggregate)
        }
        groups = [output.expression for output in outputs] if query.distinct else list(query.groups)
        self.keys: dict[Expression, tuple[str, Typed]] = {}
        for expression in map(self._meant, groups):
            key = typed(exact_key(expression, inner.rows.columns), inner.rows.columns)
            self.keys.setdefault(expression, (self._free(expression), key))
        _check_whole(inner.rows, list(self.keys), query.distinct)

    def scope(self, label: str) -> Scope:
        """The rows, with a meaning for each output, and HAVING as their filter."""
        named: list[Named] = []
        for output in self.outputs:
            own = self.inner.named(output.expression).spelling if isinstance(output.expression, Column) else None
            name = output_name(output, own, named)
            named.append(Named(name, small(self.over(output.expression)), label))
        having = None if self.query.having is None else small(self.over(self.query.having, aliases=True))
        rows = grouped(self.inner.rows, tuple(self.keys.values()), tuple(self.aggregates.values()))
        return Scope.of(rows, named, having)

    def _meant(self, expression: Expression) -> Expression:
        """A GROUP BY item over the columns below: a position, a column, an alias, or an expression."""
        if isinstance(expression, Literal):
            text = str(expression.value)
            if not expression.is_number or not text.isdecimal() or not 1 <= int(text) <= len(self.outputs):
                raise UnsupportedQuery(f"a position from 1 to {len(self.outputs)} was expected; got {expression.sql()}")
            expression = self.outputs[int(text) - 1].expression
        elif isinstance(expression, Column) and not self.inner.knows(expression):
            expression = self.aliases.get(expression.name.lower(), expression)
        if aggregates(expression):
            raise UnsupportedQuery(f"GROUP BY takes columns, not aggregates: {expression.sql()}")
        return dated(small(self.inner.resolve(expression)), self.inner.rows.columns)

    def _free(self, expression: Expression) -> str:
        """A name for a key or an aggregate that no other has."""
        name = expression.name if isinstance(expression, Column) else self.titles.get(expression) or expression.sql()
        taken = {known for known, _ in (*self.keys.values(), *self.aggregates.values())}
        while name in taken:
            name += "'"
        return name

    def over(self, expression: Expression, aliases: bool = False) -> Expression:
        """The same expression over keys and aggregates."""
        if isinstance(expression, Total):
            raise UnsupportedQuery(f"a sub-query has no totals over all units: {expression.sql()}; ask outside of it")
        if isinstance(expression, Aggregate):
            return Column(self._aggregate(expression))
        if aliases and isinstance(expression, Column) and not self.inner.knows(expression):
            return self.over(self.aliases.get(expression.name.lower(), expression))
        if not isinstance(expression, Literal) and not aggregates(expression) and self._over_rows(expression):
            resolved = dated(self.inner.resolve(expression), self.inner.rows.columns)
            if resolved in self.keys:
                return Column(self.keys[resolved][0])
        if isinstance(expression, Column):
            self.inner.named(expression)
            raise UnsupportedQuery(
                f"{expression.sql()} must be in GROUP BY of its sub-query, or inside an aggregate; add it there"
            )
        return mapped(expression, lambda part: self.over(part, aliases))

    def _over_rows(self, expression: Expression) -> bool:
        if isinstance(expression, Column):
            return self.inner.knows(expression)
        return all(map(self._over_rows, children(expression)))

    def _aggregate(self, aggregate: Aggregate) -> str:
        if aggregate not in self.aggregates:
            self.aggregates[aggregate] = (self._free(aggregate), self._inner(aggregate))
        return self.aggregates[aggregate][0]

    def _inner(self, aggregate: Aggregate) -> Inner:
        if aggregate.function not in EXACT or (aggregate.distinct and aggregate.function != "count"):
            raise UnsupportedQuery(
                f"of each unit {', '.join(name.upper() for name in EXACT)} and COUNT(DISTINCT x) are computed; got "
                f"{aggregate.sql()}; ask for it in the outer query"
            )
        if len(aggregate.argument) > 1:
            raise UnsupportedQuery(f"COUNT(DISTINCT x) of a sub-query takes one column; got {aggregate.sql()}")
        columns = self.inner.rows.columns
        inside = [typed(dated(self.inner.resolve(part), columns), columns) for part in aggregate.argument]
        if inside and aggregate.function in ("sum", "avg", "median"):
            expect(inside[0], Kind.INTEGER, Kind.REAL)
        return Inner(aggregate.function, inside[0] if inside else None, aggregate.distinct)


def _check_whole(rows: Relation, keys: Sequence[Expression], distinct: bool) -> None:
    """Refuse a grouping that does not keep units apart."""
    unit = rows.unit.columns
    if not unit:
        raise UnsupportedQuery(
            "a sub-query aggregates rows of each unit; here a row is a unit; aggregate outside of it"
        )
    missing = [name for name in unit if Column(name) not in keys]
    if missing:
        listed, lacking = ", ".join(map(written, unit)), ", ".join(map(written, missing))
        if distinct:
            raise UnsupportedQuery(
                f"SELECT DISTINCT of a sub-query keeps units apart, else it would mix people: it must have {listed}; "
                f"got it without {lacking}; add that, or write COUNT(DISTINCT x) in the outer query"
            )
        raise UnsupportedQuery(
            f"a sub-query aggregates the rows of each unit, else it would mix people: it must GROUP BY {listed}; "
            f"got it without {lacking}; add that, or aggregate in the outer query"
        )
