"""PostgreSQL: questions where the tables live; only integers for groups, keys, cells and bins leave it.

One question is one transaction with one snapshot. What reads is read-only; in between, temporary tables are made that
vanish with it. Only the catalog's functions are reached, and texts and times mean the same whatever the settings are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from sfumato.dataset.kind import Kind
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.embedded.database import Database
from sfumato.engines.duckdb.session import DuckdbSession
from sfumato.engines.engine import Integers
from sfumato.engines.guard import Limit, OpenedLater, failing, limited
from sfumato.engines.postgres.dialect import PostgresDialect
from sfumato.engines.postgres.table import PostgresTable
from sfumato.engines.sql.dialect import Dialect
from sfumato.engines.sql.run import SqlRun
from sfumato.engines.sql.server_table import reading
from sfumato.engines.sql.session import Listed
from sfumato.plan.pricing.price import PricedPlan
from sfumato.plan.syntax.node import quoted

HOUR = 3600.0
MEMORY = "64MB"  # of one sort or table of people; what does not fit goes to disk
SAMPLE = 10  # times 300 rows of a temporary table are looked at by the planner
_DIALECT = PostgresDialect()
_BEGIN, _END = "SAVEPOINT reading; SET TRANSACTION READ ONLY", "RELEASE SAVEPOINT reading"


class PostgresEngine:
    """Runs questions on PostgreSQL, each on a connection of its own, for `timeout` seconds at most."""

    def __init__(self, timeout: float | None = HOUR) -> None:
        self._timeout = timeout

    def open(self, plan: PricedPlan) -> AbstractContextManager[OpenedLater]:
        """Start the thread that ends a question; the server was asked for its tables just before."""
        return limited(self._timeout, lambda limit: self._run(plan, limit))

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[SqlRun]:
        """Open the data of one question."""
        with self._run(plan, Limit(self._timeout)) as run:
            yield run

    @contextmanager
    def _run(self, plan: PricedPlan, given: Limit) -> Iterator[SqlRun]:
        table = next(iter(plan.bound.table.tables.values()))
        assert isinstance(table.source, PostgresTable)
        with failing(given) as limit, table.source.connect() as connection:
            limit.begin(connection.cancel)
            if self._timeout is not None:  # also where this process is gone
                connection.execute(f"SET statement_timeout = {round(self._timeout * 1000)}")
            connection.execute(f"SET jit = off; SET work_mem = '{MEMORY}'; SET default_statistics_target = {SAMPLE}")
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE")  # what reads is read-only by itself
            yield SqlRun(PostgresSession(connection), plan)
            connection.execute("ROLLBACK")


class PostgresSession:
    """One question's connection."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.dialect: Dialect = _DIALECT
        self.statements: list[str] = []

    def reading(self, table: Table, names: Mapping[str, str], units: Sequence[str], alias: str) -> str:
        """A query for columns of a table; the unit's as they are stored, text by its letters."""
        assert isinstance(table.source, PostgresTable)
        found = table.source.described(self._connection)
        rows, where = found.rows
        return reading(_DIALECT, table, rows, found.types, names, units, where)

    def public(self, table: PublicTable, alias: str) -> str:
        """The rows of a public table, copied."""
        listed = [
            Listed(quoted(name), column.kind or Kind.TEXT, table.rows.column(name).to_pylist())
            for name, column in table.columns.items()
        ]
        self.ship(alias, listed)
        return alias

    def keep(self, name: str, sql: str, *, again: bool = False) -> None:
        """An empty temporary table, and its rows by a transaction that cannot write elsewhere."""
        self.statements.append(f"CREATE TEMP TABLE {name} AS {sql}")
        gone = f"DROP TABLE IF EXISTS pg_temp.{name}; " if again else ""
        self._connection.execute(
            f"{gone}CREATE TEMP TABLE {name} ON COMMIT DROP AS {sql} WITH NO DATA; {_BEGIN}; "
            f"INSERT INTO pg_temp.{name} {sql}; {_END}; ANALYZE pg_temp.{name}"  # else it is taken for large
        )

    def ship(self, name: str, columns: Sequence[Listed]) -> None:
        """A temporary table, copied."""
        typed = ", ".join(f"{each.name} {_DIALECT.type(each.kind)}{_collated(each.kind)}" for each in columns)
        self.statements.append(f"CREATE TEMP TABLE {name} ({typed})")
        self._connection.execute(
            f"DROP TABLE IF EXISTS pg_temp.{name}; CREATE TEMP TABLE {name} ({typed}) ON COMMIT DROP"
        )
        with self._connection.cursor() as cursor, cursor.copy(f"COPY pg_temp.{name} FROM STDIN") as copy:
            for row in zip(*(each.values for each in columns), strict=True):
                copy.write_row(tuple(map(_storable, row)))
        self._connection.execute(f"ANALYZE pg_temp.{name}")

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self._query(sql)[0]

    def _query(self, sql: str) -> tuple[list[tuple[Any, ...]], int]:
        self.statements.append(sql)
        self._connection.execute(_BEGIN)
        cursor = self._connection.execute(sql)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        self._connection.execute(_END)
        return rows, len(cursor.description)

    def columns(self, sql: str) -> list[Integers]:
        """The columns of a query."""
        rows, width = self._query(sql)
        return list(np.array(rows, dtype=np.int64).reshape(len(rows), width).T)

    def keys(self) -> DuckdbSession:
        """Keys are public, and worked out without the server."""
        return DuckdbSession(Database(settings={"threads": 1}, spills=False).connection)

    def check_unchanged(self) -> None:
        """A transaction sees one state of all tables."""


def _collated(kind: Kind) -> str:
    return ' COLLATE "C"' if kind is Kind.TEXT else ""


def _storable(value: Any) -> Any:
    """A value, or nothing for a text that no row here can have."""
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value)):
        return None
    return value
