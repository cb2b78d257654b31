"""A table of a server as a query, whichever engine it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.dataset.table import Table
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.lower import read_column


def reading(
    dialect: Dialect,
    table: Table,
    rows: str,
    types: Mapping[str, str],
    names: Mapping[str, str],
    units: Sequence[str],
    where: str = "",
) -> str:
    """The columns under the engine's names for them, as their kinds, and the unit's columns, if there are `units`.

    `rows` stands after FROM, `where` after WHERE.
    """
    read = [
        f"{read_column(dialect, f's.{dialect.quoted(name)}', table.columns[name], types[name])} AS {own}"
        for name, own in names.items()
    ]
    if units:
        for name, kind, own in zip(table.unit.columns, table.stored, units, strict=True):
            read.append(f"{dialect.stored_unit(f's.{dialect.quoted(name)}', kind, types[name])} AS {own}")
    return f"SELECT {', '.join(read) or '1 AS one'} FROM {rows} AS s{f' WHERE {where}' if where else ''}"
