"""What a question costs, in the words of the ledger."""

from __future__ import annotations

import json
from fractions import Fraction

from sfumato.curator.options import Options
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.amount import UNIT, plain
from sfumato.ledger.records.request import Request
from sfumato.plan.binding.replay_text import declaration_digest, expression_text, number_text, relation_text
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.sensitivity import Norm

COUNTING = 10**9  # a budget of this epsilon is none: the ledger only counts
_NOISE = {Norm.L1: "discrete Laplace", Norm.L2: "discrete Gaussian"}


def promise_of(plan: PricedPlan, options: Options) -> str:
    """All that an answer promises, in one line: the same line, the same answer."""
    said = {
        "epsilon": number_text(plan.epsilon),
        "delta": number_text(plan.promise.delta),
        "confidence": number_text(plan.confidence),
        "simultaneous": plan.simultaneous,
        "shares": [number_text(_stored_share(measure)) for measure in plan.measures],
        "keys": None if plan.key_discovery is None else number_text(plan.key_discovery.share.amount),
        "bound": None if options.max_rows_per_unit is None else int(options.max_rows_per_unit),
        "bounds": "auto" if options.estimate_bounds else None,
        "tidy": options.tidy,
    }
    return json.dumps(said)


def _stored_share(priced: PricedMeasure) -> Fraction:
    """The share of a measure's values as version 0.1 divided it, which stored answers are found by.

    It took a tenth for the limit and a tenth for the center of every mean and variance.
    """
    if not priced.center_share:
        return priced.share.amount
    parts = (priced.share, priced.limit_share, priced.bounds_share, priced.center_share)
    return sum((part.amount for part in parts), Fraction(0)) * Fraction(7 if priced.bounds_share else 8, 10)


def request_of(plan: PricedPlan, question: str, promise: str, population: str, analyst: str) -> Request:
    """The request for a plan; the same plan of the same declarations is the same question."""
    bound = plan.bound
    return Request(
        population=population,
        analyst=analyst,
        table=bound.name,
        version=bound.table.version,
        plan=_understood(plan),
        promise=promise,
        mechanisms=_mechanisms(plan),
        loss=plan.loss,
        question=question,
    )


def _understood(plan: PricedPlan) -> str:
    """The question as it was understood: the same for all spellings of it, with all that was declared of the table."""
    bound = plan.bound
    parts = {
        "from": relation_text(bound.table),
        "declared": declaration_digest(bound.table),
        "where": None if bound.where is None else expression_text(bound.where.expression),
        "groups": [expression_text(group.expression) for group in bound.groups],
        "measures": [
            [
                measure.statistic.name,
                None if measure.argument is None else expression_text(measure.argument.expression),
                *map(number_text, measure.points),
            ]
            for measure in bound.measures
        ],
        "shown": [[column.name, expression_text(column.expression)] for column in bound.shown],
        "having": None if bound.having is None else expression_text(bound.having),
        "order": [[expression_text(sort.expression), sort.descending] for sort in bound.order],
        "limit": bound.limit,
    }
    return json.dumps(parts)


def _mechanisms(plan: PricedPlan) -> tuple[object, ...]:
    """Names and public parameters: noise, currency and share of every release that the plan may make."""
    listed: list[object] = []
    for look in () if plan.key_discovery is None else plan.key_discovery.rounds:
        public: dict[str, Fraction | int] = {
            "share": look.share.amount,
            "threshold": look.threshold,
            "delta": look.delta,
        }
        said = {name: number_text(amount) for name, amount in public.items()}
        listed.append(["keys", _NOISE[plan.norm], said])
    for measure in () if plan.key_discovery is not None and plan.key_discovery.counts else plan.measures:
        shares = {
            "values": measure.share,
            "limit": measure.limit_share,
            "bounds": measure.bounds_share,
            "center": measure.center_share,
        }
        parts = {name: number_text(share.amount) for name, share in shares.items() if share}
        listed.append([measure.measure.statistic.name, _NOISE[plan.norm], parts])
    return tuple(listed)


def said_remaining(ledger: Ledger, population: str, analyst: str, budget: Guarantee) -> str:
    """What is left after what was charged last, or for a ledger that only counts what was spent, in words."""
    balance = ledger.known()
    if budget.epsilon >= COUNTING:
        spent = balance.population(population).account.spent.epsilon or 0
        return f"nothing limits this process; it has spent epsilon {plain(spent)} so far"
    left = ledger.remaining(population, analyst or None, balance)
    whole = balance.population(population).account.budget
    of = "" if whole is None else f" of {float(whole.epsilon):g}"
    return f"epsilon {plain(int(left.epsilon * UNIT))}{of}"
