"""DuckDB: questions on files and frames of one machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.engines.duckdb_pool import Databases
from sfumato.engines.duckdb_session import DuckdbSession
from sfumato.engines.failing import failing
from sfumato.engines.run import SqlRun
from sfumato.plan.price import PricedPlan

_DATABASES = Databases()


class DuckdbEngine:
    """Runs questions on DuckDB, each on a connection of its own, for `timeout` seconds at most."""

    def __init__(self, timeout: float | None = None) -> None:
        self._timeout = timeout

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[SqlRun]:
        """Open the data of one question."""
        tables = list(plan.bound.table.tables.values())
        with failing(self._timeout) as limit, _DATABASES.connect(tables) as connection:
            limit.begin(connection.interrupt)
            yield SqlRun(DuckdbSession(connection, tables), plan)
