"""One priced question from its charge to its answer.

Whatever is missing for a question is found out before the charge. After it, everything is spent, whatever becomes of
the question; the owner's log says what became of it, without a value.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import dataclass, replace
from typing import Any

from sfumato.curator.answers.answer import Answer, Receipt, answer_rows
from sfumato.curator.answers.compare import basis_of
from sfumato.curator.answers.explain import explain, notes
from sfumato.curator.answers.rows import rows_of
from sfumato.curator.answers.stored_answer import read_answer, write_answer
from sfumato.curator.measurement.measure import Measured, measure_all
from sfumato.curator.measurement.progress import At, Tell
from sfumato.curator.measurement.release import Releaser
from sfumato.curator.options import Options
from sfumato.curator.request import said_remaining
from sfumato.engines.engine import FAILED, Engine, Ready
from sfumato.engines.registry import opened
from sfumato.errors import EngineFailed, EngineTimeout, InvalidArgument, SfumatoError
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.request import Replay, Request, Reservation
from sfumato.plan.pricing.price import PricedPlan
from sfumato.plan.syntax.node import MeasureAt
from sfumato.privacy.guarantee import Guarantee

OWNER_LOG = logging.getLogger("sfumato.owner")
_NOT_KEPT = "This answer could not be kept in the ledger: to ask it again costs again."


@dataclass(frozen=True, slots=True)
class Asking:
    """What all questions of a curator need: its ledger and budget, an engine for exact numbers, and noise."""

    ledger: Ledger
    budget: Guarantee
    engine: Engine
    releaser: Releaser

    def answer(self, plan: PricedPlan, chosen: Options, request: Request, known: Replay | None, tell: Tell) -> Answer:
        """The stored answer where there is one; else charge, then answer."""
        if known is not None:
            return self._again(known, request)
        with opened(self.engine, plan) as ready:
            held = self.ledger.reserve(request)
            if isinstance(held, Replay):
                return self._again(held, request)
            try:
                answer = self._answer(plan, chosen, held, request, tell, ready)
            except BaseException as error:
                self._failed(held, error)
                if isinstance(error, MemoryError):
                    raise EngineFailed(FAILED) from None
                raise
        kept = self._kept(held, answer)
        if kept is None:
            del answer  # an error leads to whatever was at hand when it was raised
            raise EngineTimeout(FAILED)
        return kept

    def _again(self, held: Replay, request: Request) -> Answer:
        """The stored answer; the receipts of version 0.1 had their ids cut short."""
        answer = read_answer(held.answer, self._left(request))
        if not answer.receipt.id.endswith("…"):
            return answer
        return replace(answer, receipt=replace(answer.receipt, id=self.ledger.entry(held.entry).head.id))

    def _answer(
        self, plan: PricedPlan, chosen: Options, held: Reservation, request: Request, tell: Tell, ready: Ready
    ) -> Answer:
        found, statements = self._compute(plan, tell, ready)
        rows = rows_of(plan, found)
        names = tuple(column.name for column in plan.bound.shown)
        listed, intervals = answer_rows(rows, names)
        if chosen.tidy:
            _tidy(listed, intervals, plan)
        noted = notes(plan, found)
        receipt = Receipt(held.head.id, plan.promise, self._left(request), noted)
        how = explain(plan, found, noted, statements)
        basis = basis_of(plan, found, rows)
        return Answer(names, listed, intervals, plan.promise, receipt, float(plan.confidence), how, basis)

    def _compute(self, plan: PricedPlan, tell: Tell, ready: Ready) -> tuple[list[Measured], tuple[str, ...]]:
        """The private cells, and the SQL that ran; a failure has one constant message and nothing else."""
        failure: type[EngineFailed] = EngineFailed
        try:
            tell(At.OPENING)
            with ready.run() as run:
                return measure_all(plan, run, self.releaser, tell), tuple(run.statements)
        except EngineFailed as error:
            failure = type(error)
        raise failure(FAILED)  # a new one, out here: the engine's own is tied to what failed, and that to values

    def _failed(self, held: Reservation, error: BaseException) -> None:
        reason = "cancelled"
        if isinstance(error, Exception):
            reason = "timeout" if isinstance(error, EngineTimeout) else "engine"
        OWNER_LOG.error("question %s of %r on %r has no answer: %s", held.number, *held.who, reason)
        with contextlib.suppress(SfumatoError, MemoryError):  # then the lease will end it; it is spent either way
            self.ledger.fail(held, reason)

    def _kept(self, held: Reservation, answer: Answer) -> Answer | None:
        """The answer, once the ledger has it; it was paid for, so it is given also if the ledger cannot keep it.

        None: the question outlived its lease, so it has failed, whatever it found, and nothing of it is given.
        """
        try:
            self.ledger.settle(held, write_answer(answer))
        except (SfumatoError, MemoryError) as error:
            if isinstance(error, InvalidArgument) or self.ledger.lease_ended(held):
                OWNER_LOG.error("question %s of %r on %r outlived its lease", held.number, *held.who)
                return None
            OWNER_LOG.error("question %s of %r on %r was answered, but not kept", held.number, *held.who)
            return replace(answer, receipt=replace(answer.receipt, notes=(*answer.receipt.notes, _NOT_KEPT)))
        return answer

    def _left(self, request: Request) -> str:
        return said_remaining(self.ledger, request.population, request.analyst, self.budget)


def _tidy(listed: list[dict[str, Any]], intervals: dict[str, Any], plan: PricedPlan) -> None:
    """Make counts whole numbers of at least zero, and their intervals begin there."""
    for column in plan.bound.shown:
        place = column.expression.position if isinstance(column.expression, MeasureAt) else None
        if place is None:
            continue
        tidy, name = plan.bound.measures[place].statistic.tidy, column.name
        for number, row in enumerate(listed):
            row[name], intervals[name][number] = tidy(row[name], intervals[name][number])
