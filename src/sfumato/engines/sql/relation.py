"""A relation as SQL: every part of it has its columns under the engine's own names, and the unit's beside them.

Nothing here looks further than one unit's rows: a join compares units, a sub-query groups by them, and which rows a cap
takes is decided by their contents. Sums are of whole numbers, since a sum of doubles depends on the order of rows, and
that on the rows of others. Proof: docs/proofs/relations.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from sfumato.dataset.kind import Kind
from sfumato.dataset.table import Table
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.lower import Lower, read_column, used_columns
from sfumato.engines.sql.session import Session
from sfumato.plan.relations.relation import (
    Cap,
    Filtered,
    Grouped,
    Inherited,
    Inner,
    Joined,
    Looked,
    Relation,
    Stacked,
    Stored,
)
from sfumato.plan.syntax.node import Column, Expression, How, children, quoted

_STEP = 1 << 20  # steps of 1 in the larger part of a value, and of the rest as many as 62 digits
_REST = 1 << 62
_LARGEST = 2.0**58  # 2**48 rows of it, in steps, fit 128 bits


class Sources:
    """The tables of one question, opened on an engine."""

    def __init__(self, session: Session) -> None:
        self._session, self._dialect = session, session.dialect
        self._opened = 0

    def rows(self, relation: Relation, names: Mapping[str, str]) -> str:
        """A query for columns of a relation under the names they get, and its unit's as u0, u1, ...

        Rows with a NULL among the latter are still there, for whoever asks to leave out.
        """
        match relation.how:
            case Stored():
                return self._stored(relation.how, names)
            case Inherited():
                return self._inherited(relation, relation.how, names)
            case Filtered():
                return self._filtered(relation, relation.how, names)
            case Grouped():
                return self._grouped(relation, relation.how, names)
            case Joined():
                return self._joined(relation, relation.how, names)
            case Looked():
                return self._looked(relation, relation.how, names)
            case Stacked():
                return self._stacked(relation, relation.how, names)

    def _stored(self, stored: Stored, names: Mapping[str, str]) -> str:
        return self._read(stored.table, names, unit_names(stored.table.unit.columns))

    def _read(self, table: Table, names: Mapping[str, str], units: Sequence[str]) -> str:
        return self._session.reading(table, names, units, self._free("source"))

    def _lower(self, relation: Relation, known: Mapping[str, str]) -> Lower:
        named: dict[Expression, str] = {Column(name): own for name, own in known.items()}
        return Lower(self._dialect, relation.columns, named)

    def _free(self, name: str) -> str:
        """A name for what is registered, which nothing else has."""
        self._opened += 1
        return name if self._opened == 1 else f"{name}{self._opened}"

    def _inherited(self, relation: Relation, how: Inherited, names: Mapping[str, str]) -> str:
        """Every row once for each unit that has its key in the parent."""
        own = {name: as_name for name, as_name in names.items() if name in how.table.columns}
        both = _numbered([*own, *(one for one, _ in how.on)])
        mine = self._read(how.table, both, ())
        named = dict(zip(relation.unit.columns, how.parent.unit.columns, strict=True))
        theirs = _numbered([*(key for _, key in how.on), *(named[each] for each in names if each not in own)])
        units = unit_names(relation.unit.columns)
        listed = ", ".join(dict.fromkeys([*units, *theirs.values()]))
        parent = f"SELECT DISTINCT {listed} FROM ({self.rows(how.parent, theirs)}) AS those"
        same = " AND ".join(f"mine.{both[one]} = parent.{theirs[other]}" for one, other in how.on)
        chosen = [f"mine.{both[name]} AS {as_name}" for name, as_name in own.items()]
        chosen += [f"parent.{theirs[named[name]]} AS {as_name}" for name, as_name in names.items() if name not in own]
        chosen += [f"parent.{unit} AS {unit}" for unit in units]
        return f"SELECT {', '.join(chosen)} FROM ({mine}) AS mine JOIN ({parent}) AS parent ON {same}"

    def _filtered(self, relation: Relation, how: Filtered, names: Mapping[str, str]) -> str:
        needed = _numbered([*names, *_used([how.where.expression])])
        lower = self._lower(relation, needed)
        chosen = [f"{needed[name]} AS {own}" for name, own in names.items()] + unit_names(relation.unit.columns)
        rows = self.rows(how.source, needed)
        return f"SELECT {', '.join(chosen) or '1 AS one'} FROM ({rows}) AS f WHERE {lower.sql(how.where.expression)}"

    def _grouped(self, relation: Relation, how: Grouped, names: Mapping[str, str]) -> str:
        """The unit's columns by themselves, as they are stored; what is read of them follows from that."""
        source, unit = how.source, {Column(name) for name in how.source.unit.columns}
        keys = [(name, key) for name, key in how.keys if name in names or key.expression not in unit]
        computed = [(names[name], inner) for name, inner in how.aggregates if name in names]
        arguments = [inner.argument.expression for _, inner in computed if inner.argument is not None]
        needed = _numbered(_used([*(key.expression for _, key in keys), *arguments]))
        lower = self._lower(source, needed)
        units, chosen, by = unit_names(relation.unit.columns), [], unit_names(relation.unit.columns)
        for name, key in keys:
            rendered = self._plain(lower.sql(key.expression), key.kind)
            if key.expression in unit:
                rendered = self._dialect.least(rendered, key.kind)
            else:
                by.append(rendered)
            chosen += [f"{rendered} AS {names[name]}"] if name in names else []
        chosen += [f"{self._aggregate(inner, lower)} AS {own}" for own, inner in computed]
        rows = self.rows(source, needed)
        return f"SELECT {', '.join([*chosen, *units])} FROM ({rows}) AS those GROUP BY {', '.join(by)}"

    def _joined(self, relation: Relation, how: Joined, names: Mapping[str, str]) -> str:
        theirs = {new: old for old, new in how.renamed}
        wanted = list(dict.fromkeys([*names, *_used([] if how.on is None else [how.on.expression])]))
        mine = _numbered([name for name in wanted if name not in theirs])
        other = _numbered([theirs[name] for name in wanted if name in theirs])
        left = self._capped(how.left, how.left_cap, mine)
        right = self._capped(how.right, how.right_cap, other)
        units = unit_names(relation.unit.columns)
        same = " AND ".join(
            f"{self._dialect.unit(f'l.{unit}', kind)} = {self._dialect.unit(f'r.{unit_name(place)}', kind)}"
            for unit, kind, place in zip(units, how.left.stored, how.paired, strict=True)
            if kind is not None
        )
        if how.how in (How.SEMI, How.ANTI):
            chosen = [f"l.{mine[name]} AS {own}" for name, own in names.items()] + [f"l.{unit}" for unit in units]
            sought = f"SELECT DISTINCT {', '.join(units)} FROM ({right}) AS those"
            return self._dialect.sought(", ".join(chosen), f"({left}) AS l", how.how, f"({sought}) AS r", same)
        known = {name: f"r.{other[theirs[name]]}" if name in theirs else f"l.{mine[name]}" for name in wanted}
        lower = self._lower(relation, known)
        on = same if how.on is None else f"{same} AND {lower.sql(how.on.expression)}"
        chosen = [f"{known[name]} AS {own}" for name, own in names.items()] + [f"l.{unit} AS {unit}" for unit in units]
        return f"SELECT {', '.join(chosen)} FROM ({left}) AS l {how.how.value} ({right}) AS r ON {on}"

    def _capped(self, side: Relation, cap: Cap | None, names: Mapping[str, str]) -> str:
        """One side of a join; of each unit at most so many rows, in an order that follows from their contents."""
        if cap is None:
            return self.rows(side, names)
        needed = _numbered([*names, *cap.apart])  # those of `names` come first, so they keep their names
        by = ", ".join([*unit_names(side.unit.columns), *(needed[name] for name in cap.apart)])
        order = ", ".join(needed.values())
        mixed = self._dialect.hash(list(needed.values())) if order else ""
        within = f"{mixed}, {order}" if order else self._dialect.any_order
        place = f"row_number() OVER (PARTITION BY {by}{f' ORDER BY {within}' if within else ''})"
        rows = f"SELECT *, {place} AS place FROM ({self.rows(side, needed)}) AS all_rows"
        listed = ", ".join([*needed.values(), *unit_names(side.unit.columns)])
        return f"SELECT {listed} FROM ({rows}) AS placed WHERE place <= {cap.rows}"

    def _looked(self, relation: Relation, how: Looked, names: Mapping[str, str]) -> str:
        theirs = {new: old for old, new in how.renamed}
        wanted = list(dict.fromkeys([*names, *_used([how.on.expression])]))
        mine = _numbered([name for name in wanted if name not in theirs])
        other = _numbered([theirs[name] for name in wanted if name in theirs])
        table, names_of = self._session.public(how.public, self._free("public")), self._dialect.quoted
        public = ", ".join(
            f"{read_column(self._dialect, f'p.{names_of(name)}', how.public.columns[name])} AS {own}"
            for name, own in other.items()
        )
        known = {name: f"r.{other[theirs[name]]}" if name in theirs else f"l.{mine[name]}" for name in wanted}
        lower = self._lower(relation, known)
        units = unit_names(relation.unit.columns)
        chosen = [f"{known[name]} AS {own}" for name, own in names.items()] + [f"l.{unit} AS {unit}" for unit in units]
        return (
            f"SELECT {', '.join(chosen) or '1 AS one'} FROM ({self.rows(how.left, mine)}) AS l {how.how.value} "
            f"(SELECT {public or '1 AS one'} FROM {table} AS p) AS r ON {lower.sql(how.on.expression)}"
        )

    def _stacked(self, relation: Relation, how: Stacked, names: Mapping[str, str]) -> str:
        parts = []
        for (source, expressions), paired in zip(how.parts, how.paired, strict=True):
            columns = dict(zip(relation.columns, expressions, strict=True))
            needed = _numbered(_used([columns[name] for name in names]))
            lower = self._lower(source, needed)
            chosen = [
                f"CAST({lower.sql(columns[name])} AS {self._dialect.type(relation.columns[name].kind or Kind.TEXT)}) "
                f"AS {own}"
                for name, own in names.items()
            ]
            chosen += [
                f"{self._dialect.unit(unit_name(theirs), kind)} AS {unit_name(place)}"
                for place, (theirs, kind) in enumerate(zip(paired, relation.stored, strict=True))
                if kind is not None
            ]
            parts.append(f"SELECT {', '.join(chosen) or '1 AS one'} FROM ({self.rows(source, needed)}) AS part")
        return " UNION ALL ".join(parts)

    def _plain(self, sql: str, kind: Kind | None) -> str:
        """A key in which equal numbers are spelled alike: 0 and -0."""
        return f"({sql} + CAST(0 AS {self._dialect.type(Kind.REAL)}))" if kind is Kind.REAL else sql

    def _aggregate(self, inner: Inner, lower: Lower) -> str:
        """An exact aggregate, whose value does not depend on the order of rows."""
        if inner.argument is None:
            return "count(*)"
        kind, real = inner.argument.kind, self._dialect.type(Kind.REAL)
        value = self._plain(lower.sql(inner.argument.expression), kind)
        if kind is None:
            value = f"CAST(NULL AS {real})"
        if inner.function == "count":
            return f"count({'DISTINCT ' if inner.distinct else ''}{value})"
        if inner.function in ("min", "max"):
            return self._dialect.least(value, kind) if inner.function == "min" else self._dialect.largest(value, kind)
        double = f"CAST({value} AS {real})"
        clipped = _clipped(self._dialect, double, inner)
        present = f"(CASE WHEN {self._dialect.is_number(double)} THEN {clipped} END)"
        if inner.function == "median":
            return self._dialect.median(present)
        small = inner.argument.value_range is not None and inner.argument.value_range.largest <= 1 << 40
        total = _sum(self._dialect, present, small)
        return total if inner.function == "sum" else f"{total} / {self._dialect.nonzero(f'count({present})')}"


def unit_names(columns: Sequence[str]) -> list[str]:
    """The engine's names for the unit's columns."""
    return [unit_name(place) for place in range(len(columns))]


def unit_name(place: int) -> str:
    """The engine's name for one of them."""
    return quoted(f"u{place}")


def _numbered(columns: Iterable[str]) -> dict[str, str]:
    return {name: quoted(f"c{place}") for place, name in enumerate(dict.fromkeys(columns))}


def _used(expressions: list[Expression]) -> list[str]:
    return sorted(used_columns(expressions, children))


def _clipped(dialect: Dialect, value: str, inner: Inner) -> str:
    value_range = None if inner.argument is None else inner.argument.value_range
    if value_range is None:
        return f"greatest(least({value}, {_LARGEST!r}), {-_LARGEST!r})"
    most = Fraction(_LARGEST)
    low, high = dialect.real(max(value_range.low, -most)), dialect.real(min(value_range.high, most))
    return f"greatest(least({value}, {high}), {low})"


def _sum(dialect: Dialect, value: str, small: bool) -> str:
    """A sum of doubles in two parts of whole numbers, exact for values of up to 2**58 and digits down to 2**-82."""
    real = dialect.type(Kind.REAL)
    step, rest = f"CAST({_STEP} AS {real})", f"CAST({_REST} AS {real})"
    large = dialect.trunc(f"{value} * {step}")  # toward zero: then the rest has no more digits than the value
    left = dialect.trunc(f"({value} * {step} - {large}) * {rest}")
    steps = dialect.steps_of(value, _STEP, small)
    return (
        f"(CAST({dialect.sum(steps)} AS {real}) / {step} + "
        f"CAST({dialect.sum(f'CAST({left} AS BIGINT)')} AS {real}) / {rest} / {step})"
    )
