"""DuckDB: questions on files and frames of one machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sfumato.embedded.database import DEFAULT
from sfumato.embedded.resources import Resources
from sfumato.engines.duckdb._pool import Databases, Lent
from sfumato.engines.duckdb.session import DuckdbSession
from sfumato.engines.guard import Limit, failing, opening
from sfumato.engines.sql.run import SqlRun
from sfumato.plan.pricing.price import PricedPlan

_DATABASES = Databases()


class DuckdbEngine:
    """Runs questions on DuckDB, each on a connection of its own, for `timeout` seconds at most."""

    def __init__(self, timeout: float | None = None, resources: Resources = DEFAULT) -> None:
        self._timeout, self._resources = timeout, resources

    @contextmanager
    def open(self, plan: PricedPlan) -> Iterator[DuckdbReady]:
        """Start threads and attach databases, whose locks are held until the end; no row is read."""
        limit = Limit(self._timeout)
        with ExitStack() as stack:
            stack.callback(limit.end)
            with opening():
                tables = list(plan.bound.table.tables.values())
                lent = stack.enter_context(_DATABASES.lend(tables, self._resources))
                limit.start()  # the last of all threads: DuckDB makes do with fewer of its own, and says nothing
            yield DuckdbReady(plan, lent, limit)

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[SqlRun]:
        """Open the data of one question."""
        with self.open(plan) as ready, ready.run() as run:
            yield run


class DuckdbReady:
    """A connection, and a thread to interrupt it."""

    def __init__(self, plan: PricedPlan, lent: Lent, limit: Limit) -> None:
        self._plan, self._lent, self._limit = plan, lent, limit

    @contextmanager
    def run(self) -> Iterator[SqlRun]:
        """Open the data."""
        tables = list(self._plan.bound.table.tables.values())
        with failing(self._limit) as limit, self._lent.used() as connection:
            limit.begin(connection.interrupt)
            yield SqlRun(DuckdbSession(connection, tables), self._plan)
