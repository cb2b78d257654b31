"""The curator: brings plan, ledger, engine and mechanism together.

Refusals come before the reservation and depend on text, declarations and ledger only. After the reservation everything
is charged, whatever becomes of the question, and the owner's log says what became of it, without a value.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato import checks
from sfumato.accounting.filter import Remaining
from sfumato.curator.answers.answer import Answer
from sfumato.curator.answers.explain import explain_plan
from sfumato.curator.asking import Asking
from sfumato.curator.budgeting.planning import BudgetPlan, Questions, plan_questions
from sfumato.curator.budgeting.quote import Quote, quote_of
from sfumato.curator.budgeting.within import Within, ask_within, quote_within
from sfumato.curator.measurement.progress import At, Progress, telling
from sfumato.curator.measurement.release import NoisyReleaser, Releaser
from sfumato.curator.options import Options, need_epsilon
from sfumato.curator.request import COUNTING, promise_of, request_of, said_remaining
from sfumato.curator.sources import Sources
from sfumato.curator.tables import read_tables
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.embedded.database import DEFAULT
from sfumato.embedded.resources import Resources
from sfumato.embedded.spill import sweep
from sfumato.engines.duckdb._matches import most_matches
from sfumato.engines.engine import Engine
from sfumato.engines.registry import EngineOfTables, check_together
from sfumato.entropy import SYSTEM
from sfumato.errors import (
    BudgetExhausted,
    EngineUnavailable,
    InvalidArgument,
)
from sfumato.ledger.ledger import Ledger
from sfumato.phrases import Action
from sfumato.plan.binding.bind import bind
from sfumato.plan.pricing.price import PricedPlan, price
from sfumato.plan.relations.rows import Catalog
from sfumato.plan.syntax.node import Query
from sfumato.plan.syntax.parse import parse
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import takes

_QUOTE = "write quote('SELECT ...', epsilon=0.5)"
EVERYONE = "everyone"  # the population, where the owner names none
_NO_MEMORY = "there is too little memory to begin; nothing was charged; free some, then ask again"


class Curator:
    """Answers questions about declared tables of one population, within one budget.

    tables      names to `sf.table(...)`, and to `sf.public(...)` for public tables that may be joined
    budget      the most that may be spent on the people in them: `sf.Guarantee`, or a number for epsilon
    ledger      a file or an address where every spend is kept; left out: in memory, as long as the process lives
    population  the name of these people in the ledger, for a ledger that holds several
    replay      whether a question that was asked before gets the same answer, free
    resources   threads, memory and disk that DuckDB may use here: `sf.Resources`

    """

    @takes("write sf.Curator({'people': sf.table('people.csv', unit='person')}, budget=1)")
    def __init__(
        self,
        tables: Mapping[str, Table | PublicTable],
        *,
        budget: Guarantee | checks.Number,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        population: str = EVERYONE,
        replay: bool = True,
        resources: Resources | None = None,
        engine: Engine | None = None,
        releaser: Releaser | None = None,
    ) -> None:
        self.tables, self.public = read_tables(tables)
        self.population = population
        self.budget = budget if isinstance(budget, Guarantee) else Guarantee(budget)
        self.ledger = _open(ledger)
        self._replay = replay
        running = engine or EngineOfTables(resources=_resources(resources))
        sweep(None if resources is None else resources.temp_directory)  # what a killed process left
        self._sources = Sources(self.ledger, self.population, self.tables, self.public)
        self._sources.declare_all(self.budget)
        self._asking = Asking(self.ledger, self.budget, running, releaser or NoisyReleaser())

    def plan(self, question: str | Query, epsilon: checks.Number, options: Options) -> PricedPlan:
        """Understand and price a question, as text or parsed; no data is touched."""
        query = question if isinstance(question, Query) else parse(question)
        plan = price(
            bind(query, Catalog(self.tables, self.public, most_matches)),
            epsilon=epsilon,
            delta=options.delta,
            noise=options.noise,
            confidence=options.confidence,
            shares=options.shares,
            limit=options.max_rows_per_unit,
            estimate_bounds=options.estimate_bounds,
            simultaneous=options.simultaneous,
        )
        check_together(plan)
        return plan

    @takes(_QUOTE)
    def quote(
        self,
        question: str | Sequence[str],
        *,
        epsilon: checks.Number | None = None,
        within: checks.Number | str | None = None,
        delta: checks.Number = 0,
        noise: str | None = None,
        confidence: checks.Number = 0.95,
        shares: Mapping[str, checks.Number] | None = None,
        max_rows_per_unit: int | None = None,
        estimate_bounds: bool = False,
        simultaneous: bool = False,
        tidy: bool = False,
        analyst: str | None = None,
    ) -> Any:
        """Say what a question would cost and how accurate it would be. Free; the data is not touched.

        Args:
            question: SQL, or a list of questions, which gets a list of quotes.
            epsilon: as in `ask`.
            within: as in `ask`. Where it needs a pilot, the cost is the most that would be charged.
            delta: the probability with which the guarantee may fail; 0: never.
            noise: 'laplace' or 'gaussian'; left out: the smaller one.
            confidence: how often an interval contains the exact value.
            shares: how to divide epsilon among the columns of the answer.
            max_rows_per_unit: count at most this many rows per unit, instead of estimating a limit.
            estimate_bounds: estimate bounds for columns that declare none; spends 10% of epsilon.
            simultaneous: let all intervals hold at once.
            tidy: round counts to whole numbers of at least zero.
            analyst: whose budget has to suffice; left out: the whole one.

        Returns:
            A `Quote` with the cost and the expected half-width of each column.

        """
        chosen = Options(delta, noise, confidence, shares, max_rows_per_unit, estimate_bounds, simultaneous, tidy)
        if not isinstance(question, str):
            return [self._quote(one, epsilon, within, chosen, analyst) for one in question]
        return self._quote(question, epsilon, within, chosen, analyst)

    def _quote(
        self,
        question: str,
        epsilon: checks.Number | None,
        within: checks.Number | str | None,
        chosen: Options,
        analyst: str | None,
    ) -> Quote:
        if within is not None:
            cap, left = self._cap(epsilon, analyst or "analyst"), self.remaining(analyst)
            return quote_within(Within.read(within), cap, lambda e: self.plan(question, e, chosen), left)
        if epsilon is None:
            raise InvalidArgument(
                "epsilon must be given, or within; got neither", fix=Action("quote(..., epsilon=0.5)")
            )
        return quote_of(self.plan(question, epsilon, chosen), self.remaining(analyst))

    @takes("write plan_budget(['SELECT ...', 'SELECT ...'], epsilon=1)")
    def plan_budget(
        self,
        questions: Questions,
        epsilon: checks.Number | None = None,
        *,
        weights: Sequence[checks.Number] | None = None,
        analyst: str | None = None,
        delta: checks.Number = 0,
        noise: str | None = None,
        confidence: checks.Number = 0.95,
        shares: Mapping[str, checks.Number] | None = None,
        max_rows_per_unit: int | None = None,
        estimate_bounds: bool = False,
        simultaneous: bool = False,
        tidy: bool = False,
    ) -> BudgetPlan:
        """Divide an epsilon among several questions. Free; the data is not touched.

        Args:
            questions: a list of texts, or a mapping from each to the half-width that is wanted.
            epsilon: what all of them may cost; left out: all that is left.
            weights: how to divide it; left out: evenly.
            analyst: whose budget has to suffice; left out: the whole one.
            delta: the probability with which the guarantee may fail; 0: never.
            noise: 'laplace' or 'gaussian'; left out: the smaller one.
            confidence: how often an interval contains the exact value.
            shares: how to divide epsilon among the columns of the answer.
            max_rows_per_unit: count at most this many rows per unit, instead of estimating a limit.
            estimate_bounds: estimate bounds for columns that declare none; spends 10% of epsilon.
            simultaneous: let all intervals hold at once.
            tidy: round counts to whole numbers of at least zero.

        Returns:
            A `BudgetPlan` with the share and the expected half-widths of each question.

        """
        whole = self.remaining(analyst).epsilon if epsilon is None else checks.positive(epsilon=epsilon)
        if not whole:
            raise BudgetExhausted("nothing is left to be planned; ask the owner for a larger budget")
        chosen = Options(delta, noise, confidence, shares, max_rows_per_unit, estimate_bounds, simultaneous, tidy)
        return plan_questions(questions, whole, weights, lambda text, share: self.plan(text, share, chosen))

    @takes("write explain('SELECT ...', epsilon=0.5)")
    def explain(
        self,
        question: str,
        *,
        epsilon: checks.Number,
        delta: checks.Number = 0,
        noise: str | None = None,
        confidence: checks.Number = 0.95,
        shares: Mapping[str, checks.Number] | None = None,
        max_rows_per_unit: int | None = None,
        estimate_bounds: bool = False,
        simultaneous: bool = False,
        tidy: bool = False,
    ) -> str:
        """Describe what would happen to a question, step by step. Free; the data is not touched.

        Args:
            question: SQL.
            epsilon: what the answer would cost.
            delta: the probability with which the guarantee may fail; 0: never.
            noise: 'laplace' or 'gaussian'; left out: the smaller one.
            confidence: how often an interval contains the exact value.
            shares: how to divide epsilon among the columns of the answer.
            max_rows_per_unit: count at most this many rows per unit, instead of estimating a limit.
            estimate_bounds: estimate bounds for columns that declare none; spends 10% of epsilon.
            simultaneous: let all intervals hold at once.
            tidy: round counts to whole numbers of at least zero.

        Returns:
            A text.

        """
        chosen = Options(delta, noise, confidence, shares, max_rows_per_unit, estimate_bounds, simultaneous, tidy)
        return explain_plan(self.plan(question, epsilon, chosen))

    def remaining(self, analyst: str | None = None) -> Remaining:
        """What is left to everybody, or to one analyst."""
        return self.ledger.remaining(self.population, analyst)

    @takes("write ask('SELECT ...', epsilon=0.5)")
    def ask(
        self,
        question: str,
        *,
        epsilon: checks.Number | None = None,
        within: checks.Number | str | None = None,
        delta: checks.Number = 0,
        noise: str | None = None,
        confidence: checks.Number = 0.95,
        shares: Mapping[str, checks.Number] | None = None,
        max_rows_per_unit: int | None = None,
        estimate_bounds: bool = False,
        simultaneous: bool = False,
        tidy: bool = False,
        analyst: str = "analyst",
        parameters: Sequence[object] | Mapping[str, object] = (),
        progress: Progress | None = None,
    ) -> Answer:
        """Answer a question with noise and intervals. The budget is charged before the data is touched.

        Args:
            question: SQL.
            epsilon: what the answer may cost. With `within`: the most it may cost (default: what is left, at most 1).
            within: the half-width that is wanted, 500 or '5%', instead of an epsilon.
            delta: the probability with which the guarantee may fail; 0: never.
            noise: 'laplace' or 'gaussian'; left out: the smaller one for the question's text.
            confidence: how often an interval contains the exact value.
            shares: how to divide epsilon among the columns of the answer, as in {"n": 2, "income": 1}.
            max_rows_per_unit: count at most this many rows per unit, instead of estimating a limit.
            estimate_bounds: estimate bounds for columns that declare none; spends 10% of epsilon.
            simultaneous: let all intervals hold at once; they are wider.
            tidy: round counts to whole numbers of at least zero.
            analyst: who asks, and whose budget is charged.
            parameters: values for `?` or `:name` in the question.
            progress: is called with the name of each phase; `print` will do.

        Returns:
            An `Answer`: rows, intervals and a receipt.

        Raises:
            Refused: the question or its cost is denied; nothing was charged.
            EngineFailed: the engine could not finish; the question is charged.

        """
        chosen = Options(delta, noise, confidence, shares, max_rows_per_unit, estimate_bounds, simultaneous, tidy)
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
        return self._ask(question, query, need_epsilon(epsilon), chosen, analyst, progress)

    def _cap(self, epsilon: checks.Number | None, analyst: str) -> Fraction:
        left = self.remaining(analyst).epsilon
        if epsilon is not None:
            return checks.positive(epsilon=epsilon)
        if not left:
            raise BudgetExhausted("nothing is left to be spent; ask the owner for a larger budget")
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
            self._sources.declare_now(plan)
            promise = promise_of(plan, chosen) + ("" if self._replay else f" {SYSTEM.bits(128):032x}")
            request = request_of(plan, question, promise, self.population, analyst)
            tell(At.RESERVING)
            known = self.ledger.check(request)  # what is kept, or refused, needs no engine
        except MemoryError:
            raise EngineUnavailable(_NO_MEMORY) from None
        return self._asking.answer(plan, chosen, request, known, tell)

    def _said(self, analyst: str) -> str:
        return said_remaining(self.ledger, self.population, analyst, self.budget)

    def __repr__(self) -> str:
        left = "nothing limits it" if self.budget.epsilon >= COUNTING else self._said("")
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
