"""Which engine answers a question: the one that has its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from sfumato.dataset.sources.server import ServerTable, module_of
from sfumato.dataset.sources.source import Source
from sfumato.embedded.database import DEFAULT
from sfumato.embedded.resources import Resources
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.engine import Engine, EngineThatOpens, Ready, Run
from sfumato.errors import UnsupportedQuery
from sfumato.plan.pricing.price import PricedPlan


class EngineOfTables:
    """Hands each question to the engine that has its tables; all of them must have the same one."""

    def __init__(self, timeout: float | None = None, resources: Resources = DEFAULT) -> None:
        self._given = {} if timeout is None else {"timeout": timeout}
        self._resources = resources

    def _chosen(self, plan: PricedPlan) -> Engine:
        (source, *_) = (table.source for table in plan.bound.table.tables.values())
        if isinstance(source, ServerTable):
            found: Engine = module_of(source.begins).Engine(**self._given)
            return found
        return DuckdbEngine(**self._given, resources=self._resources)

    def open(self, plan: PricedPlan) -> AbstractContextManager[Ready]:
        """Make all ready for a question, without reading a row."""
        return opened(self._chosen(plan), plan)

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[Run]:
        """Open the data of one question."""
        with self._chosen(plan).run(plan) as run:
            yield run


class _Unopened:
    """An engine that opens nothing beforehand."""

    def __init__(self, engine: Engine, plan: PricedPlan) -> None:
        self._engine, self._plan = engine, plan

    def run(self) -> AbstractContextManager[Run]:
        """Run the question."""
        return self._engine.run(self._plan)


def opened(engine: Engine, plan: PricedPlan) -> AbstractContextManager[Ready]:
    """What an engine needs for a question, before it is charged."""
    return engine.open(plan) if isinstance(engine, EngineThatOpens) else nullcontext(_Unopened(engine, plan))


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
