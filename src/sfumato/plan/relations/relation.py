"""Private rows: how they come about, whose they are, and what is public about their columns.

Every relation carries all columns of the unit, whatever a question selects, and each of its rows comes from rows of one
unit alone. So without a unit it has the same rows but those of the unit: that is all the rest of a plan relies on.
Proof: docs/proofs/relations.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sfumato.dataset.column import Bounds
from sfumato.dataset.column import Column as Declared
from sfumato.dataset.kind import UNSCALED, Kind
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table, Through
from sfumato.plan.expressions.decimals import scale_of
from sfumato.plan.expressions.types import Typed
from sfumato.plan.syntax.node import Column, Expression, How
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.unit import Unit


@dataclass(frozen=True, slots=True)
class Stored:
    """The rows of a declared table."""

    name: str
    table: Table


@dataclass(frozen=True, slots=True)
class Inherited:
    """The rows of a table whose unit is that of the parent's rows with the same key: one copy for each such unit."""

    name: str
    table: Table
    parent: Relation
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Filtered:
    """The rows that pass a condition."""

    source: Relation
    where: Typed


@dataclass(frozen=True, slots=True)
class Inner:
    """An exact aggregate over rows of one unit; no argument: COUNT(*)."""

    function: str
    argument: Typed | None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Grouped:
    """One row for each unit, or for each unit and values of other keys; `keys` and `aggregates` by their names."""

    source: Relation
    keys: tuple[tuple[str, Typed], ...]
    aggregates: tuple[tuple[str, Inner], ...]


@dataclass(frozen=True, slots=True)
class Cap:
    """So many rows of a unit with the same values in some columns are taken, which ones depends on their contents."""

    rows: int
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Joined:
    """Rows of one unit side by side; `on` is what must hold beside the unit, over the columns of both.

    The columns of the right have new names. A cap holds what the owner says of a side: that a unit has few rows there.
    """

    left: Relation
    right: Relation
    how: How
    on: Typed | None
    renamed: tuple[tuple[str, str], ...]
    paired: tuple[int, ...]  # for each unit column of the left, which one of the right it is
    left_cap: Cap | None = None
    right_cap: Cap | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """Rows with the public rows that match; the columns of the public table have new names."""

    left: Relation
    name: str
    public: PublicTable
    how: How
    on: Typed
    renamed: tuple[tuple[str, str], ...]
    matches: int


@dataclass(frozen=True, slots=True)
class Stacked:
    """The rows of several relations, one after the other: expressions are the columns of each, `paired` its unit's."""

    parts: tuple[tuple[Relation, tuple[Expression, ...]], ...]
    paired: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows of units.

    columns    what is public about each
    unit       the names of the unit's columns; an engine carries them apart, so they need not be among `columns`
    stored     the kinds in which these are stored
    means      what they tell apart
    growth     how many rows one row of a table can become on the way, at most
    reads      how many times tables are read for it
    max_rows_per_unit  of a unit, as the owner says or by how the rows came about (`sure`); None: nobody knows

    """

    how: Stored | Inherited | Filtered | Grouped | Joined | Looked | Stacked
    columns: Mapping[str, Declared] = field(hash=False)
    unit: Unit
    stored: tuple[Kind | None, ...]
    neighbors: Neighbors
    max_rows_per_unit: int | None
    sure: bool = False
    means: tuple[str, ...] = ()
    growth: int = 1
    reads: int = 1

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations that it is made of."""
        match self.how:
            case Stored():
                return ()
            case Inherited(parent=parent):
                return (parent,)
            case Filtered(source=source) | Grouped(source=source):
                return (source,)
            case Joined(left=left, right=right):
                return left, right
            case Looked(left=left):
                return (left,)
            case Stacked(parts):
                return tuple(part for part, _ in parts)

    @property
    def tables(self) -> dict[str, Table]:
        """The private tables that are read, by their names, in order."""
        own = {self.how.name: self.how.table} if isinstance(self.how, (Stored, Inherited)) else {}
        found = {name: table for source in self.inputs for name, table in source.tables.items()}
        return dict(sorted({**own, **found}.items()))

    @property
    def public(self) -> dict[str, PublicTable]:
        """The public tables that are read, by their names, in order."""
        own = {self.how.name: self.how.public} if isinstance(self.how, Looked) else {}
        found = {name: table for source in self.inputs for name, table in source.public.items()}
        return dict(sorted({**own, **found}.items()))

    @property
    def aggregates(self) -> bool:
        """Whether something was computed of each unit: nobody can declare bounds of that, so they are bought."""
        return isinstance(self.how, Grouped) or any(source.aggregates for source in self.inputs)

    @property
    def name(self) -> str:
        """The private tables in one word."""
        return " + ".join(self.tables)

    @property
    def version(self) -> str:
        """The label of the data; of all tables where there are several."""
        labels = {name: table.version for name, table in self.tables.items()}
        labels |= {name: table.version for name, table in self.public.items()}
        return next(iter(labels.values())) if len(labels) == 1 else ", ".join(f"{n} {v}" for n, v in labels.items())


def stored(name: str, table: Table) -> Relation:
    """The rows of a table that has its own unit."""
    assert table.inherits is None, "a table that inherits its unit is read through its parent"
    return Relation(
        Stored(name, table),
        table.columns,
        table.unit,
        table.stored,
        table.neighbors,
        table.max_rows_per_unit,
        not table.unit.columns,
        table.means,
    )


def inherited(name: str, table: Table, parent: Relation) -> Relation:
    """The rows of a table whose unit is its parent's; the parent's unit columns can be named too."""
    assert table.inherits is not None
    spelled = {each.lower(): each for each in parent.columns}
    inherits = replace(table.inherits, keys=tuple(spelled[key.lower()] for key in table.inherits.keys))
    on = tuple(zip(inherits.columns, inherits.keys, strict=True))
    unit = Unit(tuple(_here(column, table, inherits) for column in parent.unit.columns))
    theirs = {new: parent.columns[old] for new, old in zip(unit.columns, parent.unit.columns, strict=True)}
    how = Inherited(name, table, parent, on)
    return replace(
        parent,
        how=how,
        columns={**theirs, **table.columns},
        unit=unit,
        max_rows_per_unit=table.max_rows_per_unit,
        sure=False,
        reads=parent.reads + 1,
    )


def _here(column: str, table: Table, inherits: Through) -> str:
    """The name of a parent's unit column; where a column here has it, that which is equal to it, or one of its own."""
    taken = {name.lower() for name in table.columns}
    if column.lower() not in taken:
        return column
    leads = dict(zip(inherits.keys, inherits.columns, strict=True))
    name = leads.get(column, f"{inherits.table}.{column}")
    while name not in leads.values() and name.lower() in taken:
        name += "'"
    return name


def filtered(source: Relation, where: Typed | None) -> Relation:
    """The rows that pass."""
    return source if where is None else replace(source, how=Filtered(source, where))


def grouped(
    source: Relation, keys: tuple[tuple[str, Typed], ...], aggregates: tuple[tuple[str, Inner], ...]
) -> Relation:
    """One row for each unit and values of the other keys; the unit's columns are among the keys."""
    names = {typed.expression: name for name, typed in keys}
    columns = {name: _declared(typed, source.columns) for name, typed in keys}
    columns |= {
        name: _with_scale(_aggregated(inner, source.max_rows_per_unit), inner, source) for name, inner in aggregates
    }
    unit = Unit(tuple(names[Column(name)] for name in source.unit.columns))
    alone = len(keys) == len(unit.columns)
    most, sure = (1, True) if alone else (source.max_rows_per_unit, source.sure)
    how = Grouped(source, keys, aggregates)
    return replace(source, how=how, columns=columns, unit=unit, max_rows_per_unit=most, sure=sure)


def on_tables(relation: Relation, tables: Mapping[str, Table]) -> Relation:
    """The same rows of other tables, by their names: for whoever runs a question on tables that are made up."""
    how = relation.how
    match how:
        case Stored():
            how = replace(how, table=tables[how.name])
        case Inherited():
            how = replace(how, table=tables[how.name], parent=on_tables(how.parent, tables))
        case Filtered() | Grouped():
            how = replace(how, source=on_tables(how.source, tables))
        case Joined():
            how = replace(how, left=on_tables(how.left, tables), right=on_tables(how.right, tables))
        case Looked():
            how = replace(how, left=on_tables(how.left, tables))
        case Stacked():
            how = replace(how, parts=tuple((on_tables(part, tables), columns) for part, columns in how.parts))
    return replace(relation, how=how)


def _declared(typed: Typed, columns: Mapping[str, Declared]) -> Declared:
    if isinstance(typed.expression, Column):
        return columns[typed.expression.name]
    bounds = None if typed.value_range is None else Bounds(typed.value_range.low, typed.value_range.high)
    return Declared(typed.kind, bounds, None, *scale_of(typed.expression, columns))


def _with_scale(declared: Declared, inner: Inner, source: Relation) -> Declared:
    """The digits that an exact aggregate has in DuckDB; an average, and a median of whole numbers, is a double."""
    if inner.argument is None or inner.function == "count":
        return declared
    scale, misses = scale_of(inner.argument.expression, source.columns)
    match inner.function:
        case "sum":
            return replace(declared, scale=scale, misses=True)
        case "min" | "max":
            return replace(declared, scale=scale, misses=misses)
        case "median" if scale is not None and scale >= 0:
            return replace(declared, scale=UNSCALED)
    return declared


def _aggregated(inner: Inner, most: int | None) -> Declared:
    """What is public about an exact aggregate; bounds only where the number of rows is bounded."""
    if inner.function == "count":
        least = 1 if inner.argument is None else 0
        return Declared(Kind.INTEGER, None if most is None else Bounds(Fraction(least), Fraction(most)))
    assert inner.argument is not None
    value_range, kind = inner.argument.value_range, inner.argument.kind or Kind.REAL
    bounds = None if value_range is None else Bounds(value_range.low, value_range.high)
    if inner.function in ("min", "max"):
        return Declared(kind, bounds)
    if inner.function == "sum" and value_range is not None:
        times = most or 0
        ends = Bounds(min(value_range.low, times * value_range.low), max(value_range.high, times * value_range.high))
        bounds = None if most is None else ends
    return Declared(Kind.REAL, bounds)
