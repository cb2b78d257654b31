"""A private table: where its rows are, whose they are, and what is public about its columns.

>>> import pandas
>>> frame = pandas.DataFrame({"person_id": [1, 2], "income": [31_000.0, 52_000.0]})
>>> people = table(frame, unit="person_id", columns={"income": column(bounds=(0, 200_000))})
>>> print(people.unit, people.columns["income"].kind)
all rows of one person_id double
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from sfumato import checks
from sfumato.dataset.column import Column, column
from sfumato.dataset.kind import Kind, kind_named, kinds, scale_named, unread, without_parts
from sfumato.dataset.sources.source import Source, read_source
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.phrases import Action, Phrase
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.unit import Unit
from sfumato.suggestions import at, find, nearest, takes

_LONGEST_VERSION = 100


@dataclass(frozen=True, slots=True)
class Through:
    """A unit that is another table's: that of its rows whose `keys` are equal to `columns` here."""

    table: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]


def through(table: str, on: str | Iterable[str], key: str | Iterable[str] | None = None) -> Through:
    """The unit of a table whose rows belong to rows of another private table: items to orders, say, by order_id.

    table   the other table's name
    on      the column here, or several
    key     the column there, if it has another name

    A row belongs to every unit that has its key there; without such a unit it is left out.

    >>> through("orders", on="order_id").keys
    ('order_id',)
    """
    columns = Unit.read(on).columns
    keys = columns if key is None else Unit.read(key).columns
    if not isinstance(table, str) or not table or not columns or len(columns) != len(keys):
        raise InvalidArgument(
            f"through must name a table and as many keys as columns; got {table!r}, {on!r} and {key!r}",
            fix=Phrase("write ", Action("through('orders', on='order_id')")),
        )
    return Through(table, columns, keys)


@dataclass(frozen=True, slots=True)
class Table:
    """A private table as the public may know it; `columns` holds every column, its kind known, in order.

    With `inherits` the unit is another table's, and `unit` names only the columns that lead there. `means` says what
    the unit's columns tell apart: tables in which that is the same can be joined by it; `stored` their kinds in the
    source, whatever is declared of them. `unread` are columns of types that cannot be asked about, and those types.
    """

    source: Source
    unit: Unit
    neighbors: Neighbors
    columns: Mapping[str, Column] = field(hash=False)
    version: str = "1"
    max_rows_per_unit: int | None = None
    inherits: Through | None = None
    means: tuple[str, ...] = ()
    stored: tuple[Kind | None, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)

    def kind(self, name: str) -> Kind:
        """The kind of a column, whatever the case of its name."""
        kind = self.columns[self.find(name)].kind
        assert kind is not None, "a table knows the kinds of its columns"
        return kind

    def find(self, name: str) -> str:
        """The column's name as the source spells it; an unknown one is refused, and the nearest offered."""
        return find(name, self.columns, what="column", where=self.source.label)


@takes("first comes the source, then names: sf.table('people.csv', unit='person')")
def table(
    source: object,
    *,
    unit: Unit | Through | str | Iterable[str] | Mapping[str, str] | None = None,
    columns: Mapping[str, Column | Mapping[str, Any]] | None = None,
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE,
    version: str = "1",
    max_rows_per_unit: int | None = None,
) -> Table:
    """Declare a private table; only its schema is read.

    `unit` names the column or columns whose values tell one protected unit from another; none: a row is a person;
    `through(...)`: the unit of another table's rows. A mapping also says what its columns mean, {"person": "id"}, so
    that tables can be joined in which the same people have another column, {"person": "visitor"}.
    `max_rows_per_unit` declares that no unit has more rows. It is enforced: units with more are scaled down, so a wrong
    declaration costs accuracy, never privacy. `version` is a public label of the data; a new one makes old answers
    stale. A unit column may have keys or bounds like any other, for example the days of (person, day).
    """
    where = read_source(source)
    types = where.types()
    protected = _unit(_columns(unit), types, where)
    declared = {_known(name, types, where): _read(name, given) for name, given in _pairs(columns)}
    if len(declared) < len(columns or ()):
        raise InvalidArgument("columns must be declared once; got one in upper and in lower case; leave one out")
    settled = {
        name: _settle(name, declared.get(name, Column()), kind, types[name], where)
        for name, kind in kinds(types).items()
    }
    return Table(
        where,
        protected,
        Neighbors.read(neighbors),
        MappingProxyType(settled),
        _version(version),
        _rows(max_rows_per_unit, protected),
        replace(unit, columns=protected.columns) if isinstance(unit, Through) else None,
        tuple(str(each).lower() for each in (unit if isinstance(unit, Mapping) else protected.columns)),
        tuple(kind_named(types[name]) for name in protected.columns),
        MappingProxyType(unread(types)),
    )


def _known(name: object, types: Mapping[str, str], source: Source) -> str:
    if not isinstance(name, str):
        raise InvalidArgument(f"names of columns must be texts; got a {type(name).__name__}; write it in quotes")
    spelled = find(name, types, what="column", where=source.label)
    if kind_named(types[spelled]) is None:
        raise InvalidArgument(
            f"{source.label}: column {spelled!r} must be a number, a text, a truth value, a date or a time; "
            f"got {without_parts(types[spelled])}; convert it, or leave it out"
        )
    return spelled


def _columns(
    unit: Unit | Through | str | Iterable[str] | Mapping[str, str] | None,
) -> Unit | str | Iterable[str] | None:
    match unit:
        case Through():
            return Unit(unit.columns)
        case Mapping():
            if len({str(name).lower() for name in unit}) < len(unit):
                raise InvalidArgument(f"unit must have a name for each column; got {', '.join(unit)}; rename one")
            return tuple(unit.values())
    return unit


def _unit(unit: Unit | str | Iterable[str] | None, types: Mapping[str, str], source: Source) -> Unit:
    named = Unit() if unit is None else Unit.read(unit)
    if not named.columns and unit is not None and unit != Unit():
        raise InvalidArgument("unit must name at least one column; got none; leave it out if a row is a person")
    columns = tuple(_known(name, types, source) for name in named.columns)
    if len(set(columns)) < len(columns):
        raise InvalidArgument(f"unit must name each column once; got {', '.join(columns)}; leave one out")
    return Unit(columns)


def _pairs(columns: object) -> Iterable[tuple[str, Any]]:
    if columns is None:
        return ()
    if not isinstance(columns, Mapping):
        raise InvalidArgument(
            f"columns must map names to columns; got a {type(columns).__name__}; "
            "for example {'age': column(bounds=(0, 120))}"
        )
    return columns.items()


def _read(name: str, given: object) -> Column:
    if isinstance(given, Column):
        return given
    known = tuple(inspect.signature(column).parameters)
    with at(f"column {name!r}"):
        if not isinstance(given, Mapping):
            raise InvalidArgument(f"a declaration must be column(...); got a {type(given).__name__}; write one")
        for word in given:
            if word not in known:
                raise UnknownName(f"unknown declaration {word!r}; {nearest(str(word), known)}")
        return column(**given)


def _settle(name: str, declared: Column, stored: Kind, type: str, source: Source) -> Column:
    with at(f"column {name!r}"):
        return declared.stored_as(stored, scale_named(type)) if source.typed else declared.untyped()


def _version(version: object) -> str:
    if not isinstance(version, str) or not 0 < len(version) <= _LONGEST_VERSION or not version.isprintable():
        raise InvalidArgument(f"version must be a short text; got {version!r}; for example '2026-11'")
    return version


def _rows(max_rows_per_unit: int | None, unit: Unit) -> int | None:
    if max_rows_per_unit is not None:
        checks.whole(1, max_rows_per_unit=max_rows_per_unit)
    if unit.columns:
        return max_rows_per_unit
    if max_rows_per_unit not in (None, 1):
        raise InvalidArgument(
            f"max_rows_per_unit must be 1 where a row is a person; got {max_rows_per_unit}; name the unit's column"
        )
    return 1
