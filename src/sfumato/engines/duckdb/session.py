"""One question on a connection of DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.sources.files import CsvFiles, ParquetFiles
from sfumato.dataset.table import Table
from sfumato.engines.duckdb._source import open_source, reading, signature
from sfumato.engines.engine import FAILED, Integers
from sfumato.engines.sql.dialect import DUCKDB, Dialect
from sfumato.engines.sql.session import Listed
from sfumato.errors import EngineFailed
from sfumato.plan.syntax.node import quoted


class DuckdbSession:
    """Runs SQL, and remembers it for explanations, which do not name files."""

    def __init__(self, connection: Any, tables: Iterable[Table] = ()) -> None:
        self.connection, self._tables = connection, tuple(tables)
        self._opened = signature(self._tables)
        self.dialect: Dialect = DUCKDB
        self.statements: list[str] = []
        self._told: dict[str, str] = {}  # how files are read, and what may be said of it: their names may be people's

    def execute(self, sql: str, values: Sequence[Any] | None = None) -> Any:
        """Run SQL."""
        told = sql
        for source, label in self._told.items():
            told = told.replace(source, label)
        self.statements.append(told)
        return self.connection.execute(sql, values)

    def reading(self, table: Table, names: Mapping[str, str], units: Sequence[str], alias: str) -> str:
        """A query for columns of a table."""
        source = open_source(self.connection, table, names, alias)
        if isinstance(table.source, (ParquetFiles, CsvFiles)):
            self._told[source] = quoted(table.source.label)
        return reading(table, source, names, units)

    def public(self, table: PublicTable, alias: str) -> str:
        """The rows of a public table, which are in memory."""
        self.connection.register(alias, table.rows)
        return alias

    def keep(self, name: str, sql: str, *, again: bool = False) -> None:
        """Keep the rows of a query in a table of this connection's own."""
        self.execute(f"CREATE {'OR REPLACE ' if again else ''}TEMP TABLE {name} AS {sql}")

    def ship(self, name: str, columns: Sequence[Listed]) -> None:
        """A table of listed values."""
        lists = ", ".join(f"unnest(CAST(? AS {each.kind.value}[])) AS {each.name}" for each in columns)
        values = [list(each.values) for each in columns]
        self.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {lists}", values)

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        rows: list[tuple[Any, ...]] = self.execute(sql).fetchall()
        return rows

    def columns(self, sql: str) -> list[Integers]:
        """The columns of a query."""
        return [np.asarray(column) for column in self.execute(sql).fetchnumpy().values()]

    def keys(self) -> DuckdbSession:
        """Keys are worked out where they are used."""
        return self

    def check_unchanged(self) -> None:
        """Files must be as they were."""
        if signature(self._tables) != self._opened:
            raise EngineFailed(FAILED)
