"""A third engine, in one file: tables on a shelf of this process, asked in a dialect of its own.

It takes its rows from memory and its SQL to DuckDB, so it shows what an engine must bring, and no more than that: how
an address is read, what differs in SQL, and a session. `SERVERS` has its one line (in `test_another`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import duckdb
import pyarrow as pa

from sfumato.dataset.sources.server import ServerTable
from sfumato.dataset.table import Table as Declared
from sfumato.engines.duckdb.session import DuckdbSession
from sfumato.engines.guard import failing
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.run import SqlRun
from sfumato.engines.sql.server_table import reading
from sfumato.errors import SourceNotFound
from sfumato.plan.pricing.price import PricedPlan

SHELF: dict[str, pa.Table] = {}


class ShelfDialect(Dialect):
    """Here, what differs is the word for a hash, and that a question copies its rows first."""

    name: ClassVar[str] = "shelf"
    snapshot: ClassVar[bool] = False

    def hash(self, columns: Sequence[str]) -> str:
        """Not DuckDB's own."""
        return f"md5_number_lower({' || '.join(f'chr(31) || {column}' for column in columns)})"


@dataclass(frozen=True, slots=True)
class Table(ServerTable):
    """A table on the shelf."""

    name: str
    begins: ClassVar[str] = "shelf:"
    written: ClassVar[str] = "shelf:table"

    @classmethod
    def read(cls, text: str) -> Table:
        name = text.removeprefix(cls.begins)
        if name not in SHELF:
            raise SourceNotFound(f"no table {name!r} is on the shelf; put one there")
        return cls(name)

    @property
    def label(self) -> str:
        return f"shelf:{self.name}"

    @property
    def place(self) -> str:
        return "the shelf"

    @property
    def identity(self) -> frozenset[str]:
        return frozenset((self.label,))

    def types(self) -> dict[str, str]:
        with duckdb.connect() as connection:
            connection.register("rows", SHELF[self.name])
            return {row[0]: str(row[1]) for row in connection.execute("DESCRIBE rows").fetchall()}


class Session(DuckdbSession):
    """A question on the shelf."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self.dialect = ShelfDialect()

    def reading(self, table: Declared, names: Mapping[str, str], units: Sequence[str], alias: str) -> str:
        assert isinstance(table.source, Table)
        self.connection.register(alias, SHELF[table.source.name])
        return reading(self.dialect, table, alias, table.source.types(), names, units)


class Engine:
    """Runs questions on the shelf."""

    def __init__(self, timeout: float | None = None) -> None:
        self._timeout = timeout

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[SqlRun]:
        with failing(self._timeout) as limit, duckdb.connect() as connection:
            limit.begin(connection.interrupt)
            yield SqlRun(Session(connection), plan)
