"""The curator: brings plan, ledger, engine and mechanism together.

Refusals come before the reservation and depend on text, declarations and ledger only. After the reservation everything
is charged, whatever becomes of the question, and the owner's log says what became of it, without a value.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato import checks
from sfumato.accounting.filter import Remaining
from sfumato.curator.answer import Answer, Receipt, answer_rows
from sfumato.curator.charge import COUNTING, promise_of, request_of, said_remaining
from sfumato.curator.compare import basis_of
from sfumato.curator.explain import explain, explain_plan, notes
from sfumato.curator.measure import Measured, measure_all
from sfumato.curator.options import Options
from sfumato.curator.phases import At, Progress, Tell, telling
from sfumato.curator.planning import AllowancePlan, Questions, plan_questions
from sfumato.curator.quote import Quote, quote_of
from sfumato.curator.release import NoisyReleaser, Releaser
from sfumato.curator.result import rows_of
from sfumato.curator.stored import read_answer, write_answer
from sfumato.curator.tables import check_allowance, check_not_public, read_tables
from sfumato.curator.within import Within, ask_within, quote_within
from sfumato.dataset.files import CsvFiles
from sfumato.dataset.protected import bindings_of, check_one_unit, meaning_of
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.embedded.database import DEFAULT
from sfumato.embedded.resources import Resources
from sfumato.embedded.spill import sweep
from sfumato.engines.choose import EngineOfTables, check_together, opened
from sfumato.engines.duckdb_matches import most_matches
from sfumato.engines.engine import FAILED, Engine, Ready
from sfumato.entropy import SYSTEM
from sfumato.errors import (
    BudgetExhausted,
    EngineFailed,
    EngineTimeout,
    EngineUnavailable,
    InvalidArgument,
    Refused,
    SfumatoError,
    SourceNotFound,
)
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.request import Replay, Reservation
from sfumato.plan.bind import bind
from sfumato.plan.node import MeasureAt, Query
from sfumato.plan.parse import parse
from sfumato.plan.price import PricedPlan, price
from sfumato.plan.rows import Catalogue
from sfumato.privacy.guarantee import Guarantee

EVERYONE = "everyone"  # the population, where the owner names none
OWNER_LOG = logging.getLogger("sfumato.owner")
_BROKEN_ROWS = "%s: rows that cannot be read are left out, and fields of another type are missing"
_NO_MEMORY = "there is too little memory to begin; nothing was charged; free some, then ask again"
_NOT_KEPT = "This answer could not be kept in the ledger: to ask it again costs again."
_ANOTHER_SOURCE = (
    "a table must have the sources that it was declared with; it now has one that the ledger does not admit to it; "
    "nothing was charged; the owner's log says which"
)
_GONE = "{} must be where it was declared; it is gone; nothing was charged; ask the owner"


class Curator:
    """Answers questions about declared tables of one population, within one allowance.

    tables       names to `sf.table(...)`, and to `sf.public(...)` for public tables that may be joined
    allowance    the most that may be spent on the people in them: `sf.Guarantee`, or a number for epsilon
    ledger       a file or an address where every spend is kept; left out: in memory, as long as the process lives
    population   the name of these people in the ledger, for a ledger that holds several
    replay       whether a question that was asked before gets the same answer, free
    resources    threads, memory and disk that DuckDB may use here: `sf.Resources`

    """

    def __init__(
        self,
        tables: Mapping[str, Table | PublicTable],
        *,
        allowance: Guarantee | checks.Number,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        population: str = EVERYONE,
        replay: bool = True,
        resources: Resources | None = None,
        engine: Engine | None = None,
        releaser: Releaser | None = None,
    ) -> None:
        self.tables, self.public = read_tables(tables)
        self.population = population
        self.allowance = allowance if isinstance(allowance, Guarantee) else Guarantee(allowance)
        self.ledger = _open(ledger)
        self._replay = replay
        self._engine = engine or EngineOfTables(resources=_resources(resources))
        sweep(None if resources is None else resources.temp_directory)  # what a killed process left
        self._releaser = releaser or NoisyReleaser()
        bindings = {name: bindings_of(name, self.tables) for name in self.tables}
        check_one_unit(self.tables, bindings)
        check_allowance(self.tables, self.allowance)
        for table in self.tables.values():
            if isinstance(table.source, CsvFiles):  # said of every such file, so that it says nothing of its rows
                OWNER_LOG.info(_BROKEN_ROWS, table.source.label)
        self._meaning = meaning_of(next(iter(self.tables)), self.tables)
        self._declared: frozenset[str] = frozenset()
        self._declare({source: unit for bound in bindings.values() for source, unit in bound.items()}, self.allowance)
        check_not_public(self.ledger.balance().sources if self.public else (), self.public)

    def _declare(self, units: Mapping[str, str], allowance: Guarantee | None = None) -> None:
        """Tell the ledger whose these sources are, and by which unit; it refuses others than it knows."""
        if new := {source: unit for source, unit in units.items() if source not in self._declared}:
            check_not_public(new, self.public)
            self.ledger.bind(self.population, self._meaning, new, guarantee=allowance)
            self._declared |= new.keys()

    def _declare_now(self, plan: PricedPlan) -> None:
        """Declare what a glob finds by now; an analyst reads no name of a file, which may be a person's."""
        for name in plan.bound.table.tables:
            refused: Refused | SourceNotFound
            try:
                self._declare(bindings_of(name, self.tables))
                continue
            except SourceNotFound:
                refused = SourceNotFound(_GONE.format(self.tables[name].source.label))
            except (Refused, InvalidArgument) as error:
                OWNER_LOG.error("table %r cannot be asked: %s", name, error)
                refused = Refused(_ANOTHER_SOURCE)
            raise refused  # out here: no context, which would hold the name

    def plan(self, question: str | Query, epsilon: checks.Number, options: Options) -> PricedPlan:
        """Understand and price a question, as text or parsed; no data is touched."""
        query = question if isinstance(question, Query) else parse(question)
        plan = price(
            bind(query, Catalogue(self.tables, self.public, most_matches)),
            epsilon=epsilon,
            delta=options.delta,
            noise=options.noise,
            confidence=options.confidence,
            shares=options.shares,
            limit=options.bound,
            buy_bounds=options.bounds == "auto",
            simultaneous=options.simultaneous,
        )
        check_together(plan)
        return plan

    def quote(self, question: str | Sequence[str], *, epsilon: checks.Number | None = None, **options: Any) -> Any:
        """What a question would cost and how accurate it would be; free, and without a look at the data.

        A list of questions gets a list of quotes. The options are those of `ask`; where `within` needs a pilot, the
        cost is the most that would be charged, and `pilot` what it begins with.
        """
        if not isinstance(question, str):
            return [self._quote(one, epsilon, options) for one in question]
        return self._quote(question, epsilon, options)

    def _quote(self, question: str, epsilon: checks.Number | None, options: Mapping[str, Any]) -> Quote:
        given = dict(options)
        analyst, within = given.pop("analyst", None), given.pop("within", None)
        chosen = Options.read(given)
        if within is not None:
            cap, left = self._cap(epsilon, analyst or "analyst"), self.remaining(analyst)
            return quote_within(Within.read(within), cap, lambda e: self.plan(question, e, chosen), left)
        if epsilon is None:
            raise InvalidArgument("epsilon must be given, or within; got neither; quote(..., epsilon=0.5)")
        return quote_of(self.plan(question, epsilon, chosen), self.remaining(analyst))

    def plan_allowance(
        self,
        questions: Questions,
        epsilon: checks.Number | None = None,
        *,
        weights: Sequence[checks.Number] | None = None,
        analyst: str | None = None,
        **options: Any,
    ) -> AllowancePlan:
        """How many questions of which accuracy an epsilon buys, or all that is left; free, no data is touched.

        `questions` is a list of texts, or maps each to the half-width that is wanted. Epsilon is shared evenly, or by
        `weights`. The options are those of `ask`.
        """
        whole = self.remaining(analyst).epsilon if epsilon is None else checks.positive(epsilon=epsilon)
        if not whole:
            raise BudgetExhausted("nothing is left to be planned; ask the owner for a larger allowance")
        chosen = Options.read(options)
        return plan_questions(questions, whole, weights, lambda text, share: self.plan(text, share, chosen))

    def explain(self, question: str, *, epsilon: checks.Number, **options: Any) -> str:
        """What would happen to a question, step by step; free, and without a look at the data."""
        return explain_plan(self.plan(question, epsilon, Options.read(options)))

    def remaining(self, analyst: str | None = None) -> Remaining:
        """What is left to everybody, or to one analyst."""
        return self.ledger.remaining(self.population, analyst)

    def ask(
        self,
        question: str,
        *,
        epsilon: checks.Number | None = None,
        within: checks.Number | str | None = None,
        analyst: str = "analyst",
        parameters: Sequence[object] | Mapping[str, object] = (),
        progress: Progress | None = None,
        **options: Any,
    ) -> Answer:
        """A private answer with intervals; it is charged before the data is touched.

        `within` is a wanted half-width, 500 or '5%'; then `epsilon` is the most that may be spent: what is left, but
        not above 1, unless it is given. `parameters` are values for `?` or `:name` in the question. `progress` is
        called with each phase, whose name follows from the plan; print will do. Options: delta, noise, confidence,
        shares, bound, bounds, simultaneous, tidy; see `Options`.
        """
        chosen = Options.read(options)
        query = parse(question, parameters) if parameters else None
        question = question if query is None else query.sql()  # printed from our own nodes, never pasted
        if within is not None:
            cap = self._cap(epsilon, analyst)
            return ask_within(
                Within.read(within),
                cap,
                lambda e: self.plan(query or question, e, chosen),
                lambda e: self._ask(question, query, e, chosen, analyst, progress),
                self.remaining(analyst),
            )
        if epsilon is None:
            raise InvalidArgument(
                "epsilon must be given, or within; got neither; for example epsilon 0.5, or within 5%"
            )
        return self._ask(question, query, epsilon, chosen, analyst, progress)

    def _cap(self, epsilon: checks.Number | None, analyst: str) -> Fraction:
        left = self.remaining(analyst).epsilon
        if epsilon is not None:
            return checks.positive(epsilon=epsilon)
        if not left:
            raise BudgetExhausted("nothing is left to be spent; ask the owner for a larger allowance")
        return min(left, Fraction(1))

    def _ask(
        self,
        question: str,
        query: Query | None,
        epsilon: checks.Number,
        chosen: Options,
        analyst: str,
        progress: Progress | None,
    ) -> Answer:
        try:
            plan = self.plan(query or question, epsilon, chosen)
            tell = telling(plan, progress)
            self._declare_now(plan)
            promise = promise_of(plan, chosen) + ("" if self._replay else f" {SYSTEM.bits(128):032x}")
            request = request_of(plan, question, promise, self.population, analyst)
            tell(At.RESERVING)
            known = self.ledger.check(request)  # what is kept, or refused, needs no engine
        except MemoryError:
            raise EngineUnavailable(_NO_MEMORY) from None
        if known is not None:
            return self._again(known, analyst)
        with opened(self._engine, plan) as ready:  # what is missing for a question is found out before it is charged
            held = self.ledger.reserve(request)
            if isinstance(held, Replay):
                return self._again(held, analyst)
            try:
                answer = self._answer(plan, chosen, held, analyst, tell, ready)
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

    def _again(self, held: Replay, analyst: str) -> Answer:
        """The stored answer; the receipts of version 0.1 had their ids cut short."""
        answer = read_answer(held.answer, self._said(analyst))
        if not answer.receipt.id.endswith("…"):
            return answer
        return replace(answer, receipt=replace(answer.receipt, id=self.ledger.entry(held.entry).head.id))

    def _answer(
        self, plan: PricedPlan, chosen: Options, held: Reservation, analyst: str, tell: Tell, ready: Ready
    ) -> Answer:
        found, statements = self._compute(plan, tell, ready)
        rows = rows_of(plan, found)
        names = tuple(column.name for column in plan.bound.shown)
        listed, intervals = answer_rows(rows, names)
        if chosen.tidy:
            _tidy(listed, intervals, plan)
        noted = notes(plan, found)
        receipt = Receipt(held.head.id, plan.promise, self._said(analyst), noted)
        how = explain(plan, found, noted, statements)
        basis = basis_of(plan, found, rows)
        return Answer(names, listed, intervals, plan.promise, receipt, float(plan.confidence), how, basis)

    def _compute(self, plan: PricedPlan, tell: Tell, ready: Ready) -> tuple[list[Measured], tuple[str, ...]]:
        """The private cells, and the SQL that ran; a failure has one constant message and nothing else."""
        failure: type[EngineFailed] = EngineFailed
        try:
            tell(At.OPENING)
            with ready.run() as run:
                return measure_all(plan, run, self._releaser, tell), tuple(run.statements)
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

    def _said(self, analyst: str) -> str:
        return said_remaining(self.ledger, self.population, analyst, self.allowance)

    def __repr__(self) -> str:
        left = "nothing limits it" if self.allowance.epsilon >= COUNTING else self._said("")
        return f"Curator(tables: {', '.join(self.tables)}; {left})"


def _open(ledger: Ledger | str | os.PathLike[str] | None) -> Ledger:
    if ledger is None:
        return Ledger.in_memory()
    return ledger if isinstance(ledger, Ledger) else Ledger.open(ledger)


def _resources(given: object) -> Resources:
    if given is None:
        return DEFAULT
    if not isinstance(given, Resources):
        raise InvalidArgument(
            f"resources must be sf.Resources(...); got a {type(given).__name__}; for example "
            "sf.Resources(threads=2, memory_limit='4GB')"
        )
    return given


def _tidy(listed: list[dict[str, Any]], intervals: dict[str, Any], plan: PricedPlan) -> None:
    """Make counts whole numbers of at least zero, and their intervals begin there."""
    for column in plan.bound.shown:
        place = column.expression.position if isinstance(column.expression, MeasureAt) else None
        if place is None or not plan.bound.measures[place].statistic.is_count:
            continue
        for row in listed:
            row[column.name] = max(0, round(row[column.name]))
        intervals[column.name] = [(max(0.0, low), max(0.0, high)) for low, high in intervals[column.name]]
