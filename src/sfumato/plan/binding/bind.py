"""From a plan to a bound plan: names looked up, kinds checked, keys found, aggregates listed once.

Nothing here looks at data: only at the question and at what the owner declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.column import Key
from sfumato.dataset.kind import Kind
from sfumato.dataset.table import Table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.key_domains import NoKeys, key_domains, key_domains_of
from sfumato.plan.binding.null_keys import KeysWithNull, keys_with_null
from sfumato.plan.binding.window import check_having, check_total
from sfumato.plan.expressions.decimals import exact_key, scale_of, with_decimals
from sfumato.plan.expressions.types import Typed, condition, expect, read_dates, typed
from sfumato.plan.plan import BoundPlan, Group, Measure, Shown, Sort
from sfumato.plan.relations.rows import Catalog, scope_of
from sfumato.plan.relations.scope import Scope
from sfumato.plan.syntax.functions import FUNCTIONS, OUTSIDE
from sfumato.plan.syntax.limits import MAX_MEASURES, at_most, bounded
from sfumato.plan.syntax.node import (
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
from sfumato.statistics import by_function
from sfumato.statistics.count import Count
from sfumato.statistics.distinct import Distinct
from sfumato.statistics.quantile.quantile import Quantiles
from sfumato.statistics.statistic import Gathering
from sfumato.statistics.units import Units


def bind(query: Query, known: Catalog | Mapping[str, Table]) -> BoundPlan:
    """Understand a question about declared tables, or refuse it."""
    with bounded():
        return _bind(query, known if isinstance(known, Catalog) else Catalog(known))


def _bind(query: Query, known: Catalog) -> BoundPlan:
    scope = scope_of(query, known)
    if query.distinct:
        raise UnsupportedQuery("SELECT DISTINCT is not supported; use GROUP BY.")
    if query.outputs is None:
        raise UnsupportedQuery("rows are private; ask for an aggregate such as COUNT(*), SUM or AVG")
    binder, rows = _Binder(query, scope), scope.rows
    where = None if scope.where is None else condition(scope.where, rows.columns)
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
        rows, where, tuple(binder.groups), key_domains(binder.groups, rows), tuple(binder.measures),
        shown, having, order, query.limit, query.sql(),
    )  # fmt: skip


class _Binder:
    """Collects groups and measures while the parts of one question are understood."""

    def __init__(self, query: Query, scope: Scope) -> None:
        self.query, self.scope, self.table = query, scope, scope.rows
        self.outputs = query.outputs or ()
        self.aliases = {output.alias.lower(): output for output in self.outputs if output.alias}
        self.measures: list[Measure] = []  # quantiles of the same values are one measure with several points
        self.places: dict[Measure, int] = {}  # of each measure without its points
        self.written: dict[str, str] = {}  # the measures as the question writes them
        self.results: dict[str, Declared] = {}  # keys and measures as if they were columns
        self.keys: list[Expression] = []
        self.groups: list[Group] = []
        grouped = self._distinct_keys()
        self.meanings = grouped.meanings
        for key in grouped.keys:
            self.keys.append(key)
            self.groups.append(self._typed_group(exact_key(key, self.table.columns)))
            scale, _ = scale_of(key, self.table.columns)
            self.results[KeyAt(len(self.groups) - 1).sql()] = Declared(self.groups[-1].kind, scale=scale)

    def _distinct_keys(self) -> KeysWithNull:
        """The keys of GROUP BY, each once, and one for NULL where the question names it."""
        keys = list(dict.fromkeys(map(self._group, self.query.groups)))
        having = () if self.query.having is None else (self.query.having,)
        order = [key.expression for key in self.query.order if self._alias(key.expression) is None]
        shown = [part for output in self.outputs for part in self._of_rows(output.expression)]
        others = [part for whole in (*having, *order) for part in self._of_rows(whole)]
        return keys_with_null(keys, shown, others, self._public_values)

    def _of_rows(self, expression: Expression) -> list[Expression]:
        """The largest parts of an expression that are computed of rows, not of aggregates, over the table's columns."""
        if self._over_rows(expression):
            return [self.resolve(expression)]
        inside = () if isinstance(expression, (Aggregate, Total)) else children(expression)
        return [part for child in inside for part in self._of_rows(child)]

    def _public_values(self, key: Expression) -> Sequence[Key | None] | None:
        """The values that a key may have, as far as they are public and its own."""
        try:
            found = key_domains_of(key, self.table)
        except UnsupportedQuery:
            return None
        return found[0].values if [atom.expression for atom in found] == [key] else None

    def _group(self, expression: Expression) -> Expression:
        """A GROUP BY item: a position, an input column, an alias, or an expression."""
        if isinstance(expression, Literal):
            expression = self._output_at(expression)
        elif isinstance(expression, Column) and not self.scope.knows(expression):
            expression = self._alias(expression) or expression
        elif isinstance(meant := self._alias(expression), Case) and meant.otherwise is not None:
            raise UnsupportedQuery(
                f"{expression.sql()} is both a column and a CASE that is named so; GROUP BY means the column, whose "
                "rows without a value are left out; name the CASE differently, and group by that name or its position"
            )
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
        return _dated(self.result(expression, aliases), self.results)

    def _output_at(self, literal: Literal) -> Expression:
        text = literal.value if literal.is_number else None
        if not isinstance(text, str) or not text.isdecimal() or not 1 <= int(text) <= len(self.outputs):
            raise UnsupportedQuery(f"a position from 1 to {len(self.outputs)} was expected; got {literal.sql()}")
        return self.outputs[int(text) - 1].expression

    def _typed_group(self, expression: Expression) -> Group:
        known = typed(expression, self.table.columns)
        try:
            constant = known.kind is None or not key_domains_of(expression, self.table)
        except NoKeys as missing:
            assert known.kind is not None  # it has a column
            return Group(expression, known.kind, (missing.message, missing.fix))
        if constant or known.kind is None:
            raise UnsupportedQuery(f"GROUP BY {expression.sql()} is the same for all rows; leave it out")
        return Group(expression, known.kind)

    def shown(self) -> list[Shown]:
        """The columns of the answer."""
        listed: dict[str, Shown] = {}
        for place, output in enumerate(self.outputs):
            name = output.alias or self._spoken(output.expression, place)
            if name.lower() in listed:
                raise UnsupportedQuery(f"two columns of the answer are named {name!r}; give them different names")
            listed[name.lower()] = Shown(name, exact_key(self.dated(output.expression), self.results))
        return list(listed.values())

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
            return self._measure(expression)
        if isinstance(expression, Total):
            place = self._measure(expression.aggregate).position
            check_total(expression, self.measures[place])
            return TotalAt(place)
        if not isinstance(expression, Literal) and self._over_rows(expression):
            resolved = self.resolve(expression)
            if resolved in self.keys:
                return KeyAt(self.keys.index(resolved))
            if resolved in self.meanings:
                return self.meanings[resolved]
        if isinstance(expression, Column):
            self.scope.named(expression, [output.alias or "" for output in self.aliases.values()] if aliases else ())
            raise UnsupportedQuery(
                f"rows are private: {expression.sql()} must be in GROUP BY or inside an aggregate; add GROUP BY "
                f"{expression.sql()}, or ask for COUNT({expression.sql()})"
            )
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
            found = typed(_over_results(result), self.results)
            expect(found, *(wanted or Kind))
        except UnsupportedQuery as refusal:
            raise refusal.reworded(self._as_written) from None

    def _as_written(self, words: str) -> str:
        """Words with keys and results as the analyst wrote them."""
        for place, group in enumerate(self.groups):
            words = words.replace(quoted(KeyAt(place).sql()), group.expression.sql())
        for name, written in self.written.items():
            words = words.replace(quoted(name), written)
        return words

    def sort_key(self, expression: Expression) -> Expression:
        """An ORDER BY item: a position, an alias, or an expression."""
        if isinstance(expression, Literal):
            return self.result(self._output_at(expression))
        match self._alias(expression):
            case Call("coalesce", (first, _)) as meant if first == expression:  # r with a value for NULL, named r again
                return self.dated(meant)
        return self.dated(expression, aliases=True)

    def _measure(self, aggregate: Aggregate) -> MeasureAt:
        measure = self._read(aggregate)
        place = self.places.setdefault(measure, len(self.measures))
        if place == len(self.measures):
            self.measures.append(measure)
            at_most(MAX_MEASURES, self.measures, "different aggregates")
        found = MeasureAt(place)
        if measure.statistic.gathering is Gathering.POSITIONS:
            found = MeasureAt(place, self._point(place, _share(aggregate)))
        self.written.setdefault(found.sql(), aggregate.sql())
        for part in (found, TotalAt(place)):
            self.results[part.sql()] = Declared(Kind.REAL, scale=self._scale(measure, aggregate))
        return found

    def _scale(self, measure: Measure, aggregate: Aggregate) -> int | None:
        """Whether DuckDB has a decimal or a whole number here: then halves are rounded away from zero, of noise too."""
        scale = None if measure.argument is None else scale_of(measure.argument.expression, self.table.columns)[0]
        return measure.statistic.result_scale(aggregate.function, scale)

    def _point(self, place: int, share: Fraction) -> int:
        """The number of a quantile among those of the same values."""
        points = self.measures[place].points
        if share not in points:
            points = (*points, share)
            self.measures[place] = replace(self.measures[place], points=points)
        return points.index(share)

    def _read(self, aggregate: Aggregate) -> Measure:
        resolved = [self.resolve(argument) for argument in aggregate.argument]
        if aggregate.distinct:
            return self._distinct(aggregate, resolved)
        if not resolved:
            return Measure(Count())
        argument = typed(resolved[0], self.table.columns)
        if aggregate.function == "count":
            return Measure(Count(), argument)
        expect(argument, Kind.INTEGER, Kind.REAL)
        statistic = by_function(aggregate.function)
        assert statistic is not None  # the parser knows no others
        return Measure(statistic, argument)

    def _distinct(self, aggregate: Aggregate, resolved: list[Expression]) -> Measure:
        units = self.table.unit.columns
        if aggregate.function != "count":
            raise UnsupportedQuery(f"DISTINCT is answered inside COUNT; got {aggregate.sql()}; leave it out")
        if units and set(resolved) == {Column(name) for name in units}:
            return Measure(Units())
        if len(resolved) != 1:
            whole = f", or of the unit ({', '.join(units)})" if units else ""
            raise UnsupportedQuery(f"COUNT(DISTINCT x) is answered of one column{whole}; got {aggregate.sql()}")
        return Measure(Distinct(), typed(exact_key(resolved[0], self.table.columns), self.table.columns))


def _share(aggregate: Aggregate) -> Fraction:
    """The share of rows below a quantile."""
    return Quantiles.points[aggregate.function] if aggregate.at is None else Fraction(str(aggregate.at.value))


def _over_results(result: Expression) -> Expression:
    """The same expression with keys and measures as columns, to check their kinds."""
    if isinstance(result, (KeyAt, MeasureAt, TotalAt)):
        return Column(result.sql())
    return mapped(result, _over_results)


def _dated(expression: Expression, columns: Mapping[str, Declared]) -> Expression:
    read = read_dates(expression, lambda part: typed(_over_results(part), columns).kind)
    return with_decimals(read, columns)


def _check_computable(result: Expression) -> None:
    """Refuse what is computed of rows only."""
    if isinstance(result, Call) and FUNCTIONS[result.function].of_rows:
        helps = "apply it inside the aggregate" if result.function in OUTSIDE else "put it into GROUP BY"
        raise UnsupportedQuery(f"{_over_results(result).sql()} is computed of rows", fix=helps)
    for child in children(result):
        _check_computable(child)


def argument_of(measure: Measure) -> Typed:
    """The argument of a sum or a mean."""
    assert measure.argument is not None
    return measure.argument
