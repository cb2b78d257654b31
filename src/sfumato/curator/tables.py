"""The tables that a curator is given, checked together: private ones of one population, and public ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sfumato.dataset.one_file import aliases
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors
from sfumato.suggestions import at, find


def read_tables(tables: object) -> tuple[dict[str, Table], dict[str, PublicTable]]:
    """The private and the public ones by their names."""
    if not isinstance(tables, Mapping):
        raise _no_tables(f"a {type(tables).__name__}")
    for name, each in tables.items():
        if not isinstance(each, (Table, PublicTable)):
            raise _no_tables(f"a {type(each).__name__} for {name!r}")
    private = {name: table for name, table in tables.items() if isinstance(table, Table)}
    public = {name: table for name, table in tables.items() if isinstance(table, PublicTable)}
    if not private:
        raise _no_tables("none that is private" if public else "none")
    if len({name.lower() for name in tables}) < len(tables):
        raise InvalidArgument("tables must have different names, whatever their case; got two alike; rename one")
    check_public(private, public)
    for name, table in private.items():
        with at(f"table {name!r}"):
            if table.inherits is not None and table.inherits.table in public:
                raise InvalidArgument(
                    f"through must lead to a private table; got {table.inherits.table!r}, which is public: no unit"
                )
            _check_parent(name, table, private)
    return private, public


def _no_tables(got: str) -> InvalidArgument:
    return InvalidArgument(
        f"tables must map names to tables; got {got}; write {{'people': sf.table('people.parquet', ...)}}"
    )


def check_public(private: Mapping[str, Table], public: Mapping[str, PublicTable]) -> None:
    """Refuse a source that is declared public and private: everybody could read what is to be protected."""
    for name, table in public.items():
        for other, secret in private.items():
            if _shared(table.identity, secret.source.identity):
                raise InvalidArgument(
                    f"a source must be public or private; got {table.label} as public {name!r} and private {other!r}; "
                    "keep it private"
                )


def check_not_public(private: Iterable[str], public: Mapping[str, PublicTable]) -> None:
    """Refuse a public table whose source is private by now, or in another process, as the ledger knows."""
    secret = frozenset(private)
    for name, table in public.items():
        if _shared(table.identity, secret):
            raise InvalidArgument(
                f"a source must be public or private; got {table.label} as public {name!r}, and the ledger has it as "
                "private; keep it private"
            )


def _shared(public: frozenset[str], private: frozenset[str]) -> bool:
    """Whether a source is in both, by one name or by two names of one file."""
    return bool(public & private) or any(aliases(public, private))


def _check_parent(name: str, table: Table, tables: Mapping[str, Table]) -> None:
    """Refuse a unit through a table that is not there, by keys of another kind, or in a circle."""
    seen, here = [name], table
    while here.inherits is not None:
        parent = find(here.inherits.table, tables, what="table", where="this curator")
        if parent in seen:
            raise InvalidArgument(
                f"a unit must come from a table that has one; got a circle: {' -> '.join([*seen, parent])}; "
                "one of them needs a column of its own for a unit"
            )
        for column, key in zip(here.inherits.columns, here.inherits.keys, strict=True):
            mine, theirs = here.kind(column), tables[parent].kind(key)
            if mine is not theirs:
                raise InvalidArgument(
                    f"through must compare columns of one type; got {column} of type {mine} and {parent}.{key} of type "
                    f"{theirs}; declare one type for both"
                )
        seen, here = [*seen, parent], tables[parent]
    if table.inherits is not None and not here.unit.columns:
        raise InvalidArgument(f"through must lead to a table with a unit; got {seen[-1]!r}, in which a row is a unit")


def check_budget(tables: Mapping[str, Table], budget: Guarantee) -> None:
    """A budget is for the tables' relation of neighbors, and for their unit where it names one."""
    relations = {table.neighbors for table in tables.values()}
    if budget.neighbors not in relations and budget.neighbors is not Neighbors.ADD_REMOVE:
        raise InvalidArgument(
            f"the budget must have the tables' neighbors; got {budget.neighbors.value}; declare the tables so"
        )
    units = {table.unit for table in tables.values() if table.inherits is None}
    if budget.unit.columns and units != {budget.unit}:
        raise InvalidArgument(f"the budget must be for the tables' unit; got {budget.unit}; leave it out there")
