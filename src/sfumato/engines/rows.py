"""The rows of one question as SQL, with what each gives to every measure, in lattice steps."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from sfumato.dataset.column import Key
from sfumato.dataset.kind import Kind
from sfumato.engines.keys import Keys
from sfumato.engines.lower import Lower, used_columns
from sfumato.engines.relation import Sources, unit_names
from sfumato.engines.session import Session
from sfumato.engines.weights import address, or_zero
from sfumato.plan.bound import Group, Statistic
from sfumato.plan.interval import Interval
from sfumato.plan.node import Column, Expression, children, quoted
from sfumato.plan.price import ROW, PricedMeasure, PricedPlan


class Rows:
    """The data of one question, opened: `counted` are the rows that may count, `kept` those in a group of its keys."""

    def __init__(self, session: Session, plan: PricedPlan) -> None:
        self.session, self.dialect, self.plan, self.bound = session, session.dialect, plan, plan.bound
        self.real = self.dialect.type(Kind.REAL)
        self.table = plan.bound.table
        known_names: dict[Expression, str] = {Column(name): own for name, own in self._names().items()}
        self.lower = Lower(self.dialect, self.table.columns, known_names)
        self.units = unit_names(self.table.unit.columns)
        self.groups = [quoted(f"k{i}") for i in range(len(self.bound.groups))]
        self.place, self.by = ("g", " GROUP BY g") if self.groups else ("1", "")
        self.measures: tuple[PricedMeasure, ...] = plan.measures
        self.source = Sources(session).rows(self.table, self._names())
        known = not self.bound.unknown
        self.listed: list[tuple[Key, ...]] = Keys(session, self.bound, self.groups).listed() if known else []
        self.placed = bool((self.table.inputs or not self.dialect.snapshot) and self.groups and known)
        keeps = self.table.inputs or not self.dialect.snapshot
        self.counted = self._keep() if keeps else self.view("counted", self._counted())

    def view(self, name: str, sql: str) -> str:
        """Rows by a query, for other queries: written into them, which is quicker than a view with a name."""
        return f"({sql}) AS {name}"

    def _keep(self) -> str:
        """The rows that may count, computed once: joins and sub-queries cost more than to keep what comes of them.

        Where keys are known, a row has the place of its group instead: keys are compared once, not in every pass.
        """
        rows = self._counted()
        if self.placed:
            columns = [*self.units, *(f"x{i}" for i in range(len(self.bound.measures))), "keys.place AS g"]
            rows = f"SELECT {', '.join(columns)} FROM ({rows}) AS counted LEFT JOIN keys ON {self._same_key()}"
        self.keep("counted", rows)
        return "counted"

    def _same_key(self) -> str:
        """Keys are listed once each, so a join by it keeps or drops a row, and never doubles it."""
        return " AND ".join(f"counted.{key} = keys.{key}" for key in self.groups)

    @property
    def statements(self) -> Sequence[str]:
        """The SQL that ran so far, for explanations."""
        return self.session.statements

    def keep(self, name: str, sql: str, *, again: bool = False) -> None:
        """Keep the rows of a query inside the engine."""
        self.session.keep(name, sql, again=again)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.session.fetch(sql)

    def _counted(self) -> str:
        """The rows that may count: with a unit, and passing WHERE; with keys and the arguments of all measures."""
        parts = list(self.units)
        parts += [f"{self._key(group)} AS {name}" for group, name in zip(self.bound.groups, self.groups, strict=True)]
        parts += [f"{self._argument(i)} AS x{i}" for i in range(len(self.bound.measures))]
        where = [f"{unit} IS NOT NULL" for unit in self.units]
        where += [self.lower.sql(self.bound.where.expression)] if self.bound.where else []
        rows = f"SELECT {', '.join(parts)} FROM ({self.source}) AS source"
        return rows + (f" WHERE {' AND '.join(where)}" if where else "")

    def _key(self, group: Group) -> str:
        """The key of a row; where keys are found in rows, equal ones are spelled alike.

        Else one unit's -0.0 would show among all others' 0.0. What is no number is no key.
        """
        key = self.lower.sql(group.expression)
        if not self.bound.unknown or group.kind is not Kind.REAL:
            return key
        zero = f"CAST(0 AS {self.real})"
        return f"CASE WHEN {key} = 0 THEN {zero} WHEN {self.dialect.is_number(key)} THEN {key} END"

    @cached_property
    def kept(self) -> str:
        """The rows that count: those in a group; read when its keys are known."""
        return self.view("kept", self._kept())

    @cached_property
    def among(self) -> str:
        """The rows that count, without the place of their group where that is quicker."""
        if self.placed or len(self.groups) != 1 or not 0 < len(self.listed) <= self.dialect.most_listed:
            return self.kept
        (group,), (key,) = self.bound.groups, self.groups
        if group.kind is Kind.REAL or not all(str(value).isprintable() for (value,) in self.listed):
            return self.kept
        listed = ", ".join(self.lower.value(value, group.kind) for (value,) in self.listed)
        return self.view("kept", f"SELECT * FROM {self.counted} WHERE {key} IN ({listed})")

    def _kept(self) -> str:
        if not self.groups:
            return f"SELECT * FROM {self.counted}"
        if self.placed:
            return f"SELECT * FROM {self.counted} WHERE g IS NOT NULL"
        return f"SELECT counted.*, keys.place AS g FROM {self.counted} JOIN keys ON {self._same_key()}"

    def _names(self) -> dict[str, str]:
        """The columns that the question reads, with the names they get here."""
        expressions = [group.expression for group in self.bound.groups]
        expressions += [measure.argument.expression for measure in self.bound.measures if measure.argument]
        expressions += [self.bound.where.expression] if self.bound.where else []
        used = sorted(used_columns(expressions, children))
        return {name: quoted(f"c{i}") for i, name in enumerate(used)}

    def _argument(self, measure: int) -> str:
        """What a row gives to a measure: a number, or for a count whether it counts; NULL and NaN give nothing."""
        argument = self.bound.measures[measure].argument
        if argument is None:
            return "TRUE"
        rendered = self.lower.sql(argument.expression)
        if self.bound.measures[measure].statistic is Statistic.COUNT:
            return f"({rendered} IS NOT NULL)"
        if self.bound.measures[measure].statistic is Statistic.DISTINCT and argument.kind is not Kind.REAL:
            return rendered
        double = f"CAST({rendered} AS {self.real})"
        if self.bound.measures[measure].statistic is Statistic.DISTINCT:  # values that are equal are spelled alike
            return self.dialect.numbers(f"({double} + CAST(0 AS {self.real}))")
        if isinstance(argument.expression, Column) and not self.table.inputs:  # read without what is no number
            return double
        return self.dialect.numbers(double)

    def clipped(self, measure: int, interval: Interval) -> str:
        """The value of a row, cut at the bounds."""
        return f"greatest(least(x{measure}, {self.dialect.real(interval.high)}), {self.dialect.real(interval.low)})"

    def rounded(self, double: str, factor: Fraction) -> str:
        """The nearest lattice step of a double."""
        return f"CAST(floor({self.dialect.scaled(double, factor)} + 0.5) AS BIGINT)"

    def steps(self, measure: int) -> list[str]:
        """The lattice values of a row: one column, or two for a mean, whose absolute values add up to its influence.

        Of a mean's row there is `p{measure}` already: see `halved`.
        """
        priced, x = self.measures[measure], f"x{measure}"
        if priced.measure.statistic is Statistic.COUNT:
            return [f"CASE WHEN {x} THEN CAST({ROW} AS BIGINT) ELSE 0 END"]
        if priced.measure.statistic in (Statistic.QUANTILES, Statistic.DISTINCT):
            return [or_zero(x, f"CAST({ROW} AS BIGINT)")]
        interval = priced.interval
        assert interval is not None
        if priced.measure.statistic is Statistic.SUM:
            return [or_zero(x, self.rounded(self.clipped(measure, interval), 1 / priced.step))]
        row, p, q = priced.row_steps, f"p{measure}", f"q{measure}"
        parts = [q, f"{row} - {p} - {q}", p] if priced.measure.statistic.is_spread else [p, f"{row} - {p}"]
        return [f"coalesce({part}, 0)" for part in parts]

    def address(self, measure: int, x: str = "") -> str:
        """Where the value of a row lies on its ruler; it must have one."""
        return address(self.dialect, self.measures[measure].ruler, x or f"x{measure}")

    def end(self, measure: int, which: str) -> str:
        """Where the least (`min`) or the largest (`max`) value of several rows lies, if they have any."""
        if self.dialect.narrow:
            return f"{which}(a{measure})"
        x = f"{which}(x{measure})"
        return f"CASE WHEN {x} IS NOT NULL THEN {self.address(measure, x)} END"

    def values(self, measure: int) -> str:
        """How many of several rows have a value, for quantiles."""
        return f"count({'a' if self.dialect.narrow else 'x'}{measure})"

    def addressed(self, grouped: bool = True) -> str:
        """The rows that count, with the addresses of their values where there are quantiles of these.

        Unless `grouped`, the place of their group may be left out.
        """
        asked = [i for i, priced in enumerate(self.measures) if priced.measure.points]
        if not asked or not self.dialect.narrow:
            return self.kept if grouped else self.among
        addresses = [f"CASE WHEN x{i} IS NOT NULL THEN {self.address(i)} END AS a{i}" for i in asked]
        return f"(SELECT *, {', '.join(addresses)} FROM {self.kept}) AS addressed"

    def halved(self, grouped: bool = True) -> str:
        """The rows that count, with what is released of y, the distance from the centre in spreads.

        Of a mean (1 + y) / 2 and 1 minus it; rounded towards zero, their absolute values add up to max(1, |y|) at most.
        Of a variance (1 + y)**2 / 4, (1 - y)**2 / 4 and 1 minus both, which have max(1, y**2) together at most.
        """
        halves = []
        for i, priced in enumerate(self.measures):
            row = priced.row_steps if priced.measure.statistic.is_centred else 0
            if priced.measure.statistic is Statistic.MEAN:
                half = self.dialect.over(f"({row} + {self.away(i)})", 2)
                halves.append(f"CASE WHEN x{i} IS NOT NULL THEN {half} END AS p{i}")
            elif priced.measure.statistic.is_spread:
                for name, sign in (("p", "+"), ("q", "-")):
                    side = f"({row} {sign} {self.away(i)})"
                    part = self.dialect.over(f"{side} * {side}", 4 * row)
                    halves.append(f"CASE WHEN x{i} IS NOT NULL THEN {part} END AS {name}{i}")
        if not halves:
            return self.addressed(grouped)
        return f"(SELECT *, {', '.join(halves)} FROM {self.addressed(grouped)}) AS halved"

    def away(self, measure: int) -> str:
        """The distance of a value from the centre in steps, at most 2**30 by the choice of the steps."""
        return f"CAST({self._away(measure)} AS BIGINT)"

    def _away(self, measure: int) -> str:
        """The same as a double, which is a whole number."""
        priced = self.measures[measure]
        assert priced.interval is not None
        assert priced.centre is not None
        distance = f"({self.clipped(measure, priced.interval)} - {self.dialect.real(priced.centre.middle)})"
        return f"floor({self.dialect.scaled(distance, priced.row_steps / priced.centre.spread)} + 0.5)"

    def mean_influence(self, measure: int) -> str:
        """What `row_influence` is for a mean, as a double."""
        row = self.dialect.real(Fraction(self.measures[measure].row_steps))
        return or_zero(f"x{measure}", f"greatest({row}, abs({self._away(measure)}))")

    def row_influence(self, measure: int) -> str:
        """At least the sum of the absolute steps of a row; see `halved` for a mean and a variance."""
        priced = self.measures[measure]
        if priced.measure.statistic.is_centred:
            row, away = priced.row_steps, self.away(measure)
            size = f"abs({away})"
            if priced.measure.statistic.is_spread:
                size = self.dialect.over(f"({away} * {away} + {row - 1})", row)
            influence = f"greatest({row}, {size})"
            return or_zero(f"x{measure}", influence)
        (steps,) = self.steps(measure)
        signed = priced.interval is not None and priced.interval.low < 0
        return f"abs({steps})" if signed else steps

    def check_unchanged(self) -> None:
        """Weights come from one pass and rows from another: had these changed between them, no limit would hold."""
        self.session.check_unchanged()
