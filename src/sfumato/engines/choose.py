"""Which engine answers a question: the one that has its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.dataset.server import ServerTable, module_of
from sfumato.dataset.source import Source
from sfumato.engines.duckdb import DuckdbEngine
from sfumato.engines.engine import Engine, Run
from sfumato.errors import UnsupportedQuery
from sfumato.plan.price import PricedPlan


class EngineOfTables:
    """Hands each question to the engine that has its tables; all of them must have the same one."""

    def __init__(self, timeout: float | None = None) -> None:
        self._given = {} if timeout is None else {"timeout": timeout}

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[Run]:
        """Open the data of one question."""
        (source, *_) = (table.source for table in plan.bound.table.tables.values())
        chosen = module_of(source.begins).Engine if isinstance(source, ServerTable) else DuckdbEngine
        engine: Engine = chosen(**self._given)
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
    return source.place if isinstance(source, ServerTable) else "this machine"
