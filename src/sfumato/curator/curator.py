"""The curator: brings plan, ledger, engine and mechanism together.

Refusals come before the reservation and depend on text, declarations and ledger only. After the reservation everything
is charged.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato import checks
from sfumato.curator.answer import Answer, Receipt, answer_rows
from sfumato.curator.explain import explain, explain_plan, notes
from sfumato.curator.measure import Measured, measure_all
from sfumato.curator.quote import Quote, quote_of
from sfumato.curator.release import NoisyReleaser, Releaser
from sfumato.curator.result import rows_of
from sfumato.dataset.table import Table
from sfumato.engines.duckdb import FAILED, DuckdbEngine
from sfumato.engines.engine import Engine
from sfumato.errors import EngineFailed, InvalidArgument, SourceNotFound
from sfumato.ledger.memory import MemoryLedger
from sfumato.plan.bind import bind
from sfumato.plan.bound import Statistic
from sfumato.plan.node import MeasureAt
from sfumato.plan.parse import parse
from sfumato.plan.price import PricedPlan, price
from sfumato.privacy.guarantee import Guarantee


@dataclass(frozen=True, slots=True)
class Options:
    """What an analyst may say beside the question."""

    delta: checks.Number = 0
    noise: str | None = None
    confidence: checks.Number = 0.95
    shares: Mapping[str, checks.Number] | None = None
    bound: int | None = None
    bounds: str | None = None
    simultaneous: bool = False
    tidy: bool = False


class Curator:
    """Answers questions about declared tables of one population, within one allowance."""

    def __init__(
        self,
        tables: Mapping[str, Table],
        *,
        allowance: Guarantee,
        engine: Engine | None = None,
        releaser: Releaser | None = None,
        ledger: MemoryLedger | None = None,
    ) -> None:
        if not tables or not all(isinstance(table, Table) for table in tables.values()):
            raise InvalidArgument("tables must map names to tables; got something else; make them with sf.table(...)")
        if len({name.lower() for name in tables}) < len(tables):
            raise InvalidArgument("tables must have different names, whatever their case; got two alike; rename one")
        self.tables = dict(tables)
        self.ledger = ledger or MemoryLedger(allowance)
        self._engine = engine or DuckdbEngine()
        self._releaser = releaser or NoisyReleaser()

    def plan(self, question: str, epsilon: checks.Number, options: Options) -> PricedPlan:
        """Understand and price a question; no data is touched."""
        if options.bounds not in (None, "auto"):
            raise InvalidArgument(
                f"bounds must be 'auto' or left out; got {options.bounds!r}; declare others in the table"
            )
        return price(
            bind(parse(question), self.tables),
            epsilon=epsilon,
            delta=options.delta,
            noise=options.noise,
            confidence=options.confidence,
            shares=options.shares,
            limit=options.bound,
            buy_bounds=options.bounds == "auto",
            simultaneous=options.simultaneous,
        )

    def quote(self, question: str | Sequence[str], *, epsilon: checks.Number, **options: Any) -> Quote | list[Quote]:
        """What a question would cost and how accurate it would be; free, and without a look at the data."""
        if not isinstance(question, str):
            return [quote_of(self.plan(one, epsilon, _options(options))) for one in question]
        return quote_of(self.plan(question, epsilon, _options(options)))

    def explain(self, question: str, *, epsilon: checks.Number, **options: Any) -> str:
        """What would happen to a question, step by step; free, and without a look at the data."""
        return explain_plan(self.plan(question, epsilon, _options(options)))

    def ask(self, question: str, *, epsilon: checks.Number, analyst: str = "analyst", **options: Any) -> Answer:
        """A private answer with intervals; it is charged before the data is touched."""
        chosen = _options(options)
        plan = self.plan(question, epsilon, chosen)
        _still_there(plan.bound.table)
        entry = self.ledger.reserve(plan.loss, plan.bound.canonical, analyst)
        found, statements = self._compute(plan)
        rows = rows_of(plan, found)
        names = tuple(column.name for column in plan.bound.shown)
        listed, intervals = answer_rows(rows, names)
        if chosen.tidy:
            _tidy(listed, intervals, plan)
        promise = plan.promise
        receipt = Receipt(str(entry.number), promise, self.ledger.remaining(), notes(plan, found))
        return Answer(
            names, listed, intervals, promise, receipt, float(plan.confidence), explain(plan, found, statements)
        )

    def _compute(self, plan: PricedPlan) -> tuple[list[Measured], tuple[str, ...]]:
        """The private cells, and the SQL that ran; a failure has one constant message and nothing else."""
        with contextlib.suppress(EngineFailed), self._engine.run(plan) as run:
            return measure_all(plan, run, self._releaser), tuple(run.statements)
        raise EngineFailed(FAILED)  # a new one, out here: the engine's own is tied to what failed, and that to values


def _still_there(table: Table) -> None:
    """Refuse before anything is charged if the source is gone; the owner's path stays with the owner."""
    try:
        _ = table.source.identity
    except SourceNotFound:
        raise SourceNotFound(
            f"{table.source.label} must be where it was declared; it is gone; nothing was charged; ask the owner"
        ) from None


def _options(options: Mapping[str, Any]) -> Options:
    try:
        return Options(**options)
    except TypeError:
        known = ", ".join(Options.__dataclass_fields__)
        raise InvalidArgument(f"options must be among {known}; got {', '.join(options)}; check the spelling") from None


def _tidy(listed: list[dict[str, Any]], intervals: dict[str, Any], plan: PricedPlan) -> None:
    """Make counts whole numbers of at least zero, and their intervals begin there."""
    for column in plan.bound.shown:
        place = column.expression.position if isinstance(column.expression, MeasureAt) else None
        if place is None or plan.bound.measures[place].statistic not in (Statistic.COUNT, Statistic.UNITS):
            continue
        for row in listed:
            row[column.name] = max(0, round(row[column.name]))
        intervals[column.name] = [(max(0.0, low), max(0.0, high)) for low, high in intervals[column.name]]
