"""The rows of one question as SQL, with what each gives to every measure, in lattice steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sfumato.dataset.column import Key
from sfumato.dataset.kind import Kind
from sfumato.engines.sql.group_keys import Keys
from sfumato.engines.sql.lower import Lower, used_columns
from sfumato.engines.sql.relation import Sources, unit_names
from sfumato.engines.sql.session import Session
from sfumato.engines.sql.weights import address
from sfumato.plan.plan import Group
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan
from sfumato.plan.syntax.node import Column, Expression, children, quoted
from sfumato.statistics.row_sql import RowSql


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
        known = not self.bound.undeclared
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
        if not self.bound.undeclared or group.kind is not Kind.REAL:
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
        is_number = isinstance(argument.expression, Column) and not self.table.inputs  # read without what is no number
        written, statistic = self.lower.sql(argument.expression), self.bound.measures[measure].statistic
        return statistic.argument(self.row(measure), written, argument.kind, is_number)

    def row(self, measure: int) -> RowSql:
        """The columns of a measure, for its statistic."""
        return RowSql(self.dialect, measure, self.bound.measures[measure].argument is not None)

    def steps(self, measure: int) -> Sequence[str]:
        """The lattice values of a row; see `halved` for columns that they name."""
        priced = self.measures[measure]
        return priced.measure.statistic.steps(self.row(measure), priced)

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
        """The rows that count, with the columns that statistics compute once for each row."""
        parts = [
            f"{sql} AS {letter}{i}"
            for i, priced in enumerate(self.measures)
            for letter, sql in priced.measure.statistic.columns(self.row(i), priced).items()
        ]
        if not parts:
            return self.addressed(grouped)
        return f"(SELECT *, {', '.join(parts)} FROM {self.addressed(grouped)}) AS halved"

    def row_contribution(self, measure: int) -> str:
        """At least the sum of the absolute steps of a row."""
        priced = self.measures[measure]
        return priced.measure.statistic.row_contribution(self.row(measure), priced)

    def check_unchanged(self) -> None:
        """Weights come from one pass and rows from another: had these changed between them, no limit would hold."""
        self.session.check_unchanged()
