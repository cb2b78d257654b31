"""Which engine answers a question: the one that has its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.dataset.postgres_table import PostgresTable
from sfumato.dataset.source import Source
from sfumato.dataset.spark_table import SparkTable
from sfumato.engines.duckdb import DuckdbEngine
from sfumato.engines.engine import Engine, Run
from sfumato.engines.postgres import PostgresEngine
from sfumato.engines.spark import SparkEngine
from sfumato.errors import UnsupportedQuery
from sfumato.plan.price import PricedPlan

SERVERS: dict[type, type] = {  # sources that have an engine of their own; others: DuckDB
    PostgresTable: PostgresEngine,
    SparkTable: SparkEngine,
}


class EngineOfTables:
    """Hands each question to the engine that has its tables; all of them must have the same one."""

    def __init__(self, timeout: float | None = None) -> None:
        self._given = {} if timeout is None else {"timeout": timeout}

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[Run]:
        """Open the data of one question."""
        (source, *_) = (table.source for table in plan.bound.table.tables.values())
        engine: Engine = SERVERS.get(type(source), DuckdbEngine)(**self._given)
        with engine.run(plan) as run:
            yield run


def check_together(plan: PricedPlan) -> None:
    """Refuse a question about tables in several places."""
    sources = [table.source for table in plan.bound.table.tables.values()]
    if len({_place(source) for source in sources}) > 1:
        raise UnsupportedQuery(
            f"the tables of one question must be in one place; got {' and '.join(source.label for source in sources)}; "
            "copy one of them there, or, if it is the same place, write its address the same way"
        )


def _place(source: Source) -> str:
    if isinstance(source, (PostgresTable, SparkTable)):
        return f"{type(source).__name__} {source.address}"
    return "this machine"
