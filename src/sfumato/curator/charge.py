"""What a question costs, in the words of the ledger."""

from __future__ import annotations

import hashlib
import json

from sfumato.curator.options import Options
from sfumato.dataset.frame import Frame
from sfumato.ledger.amount import UNIT, plain
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.request import Request
from sfumato.plan.origin import canonical
from sfumato.plan.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.sensitivity import Norm

COUNTING = 10**9  # an allowance of this epsilon is none: the ledger only counts
_NOISE = {Norm.L1: "discrete Laplace", Norm.L2: "discrete Gaussian"}


def promise_of(plan: PricedPlan, options: Options) -> str:
    """All that an answer promises, in one line: the same line, the same answer."""
    said = {
        "epsilon": str(plan.epsilon),
        "delta": str(plan.promise.delta),
        "confidence": str(plan.confidence),
        "simultaneous": plan.simultaneous,
        "shares": [str(measure.share.amount) for measure in plan.measures],
        "keys": None if plan.selection is None else str(plan.selection.share.amount),
        "bound": None if options.bound is None else int(options.bound),
        "bounds": options.bounds,
        "tidy": options.tidy,
    }
    return json.dumps(said)


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
        "from": canonical(bound.table),
        "declared": _declaration(plan),
        "where": None if bound.where is None else repr(bound.where.expression),
        "groups": [repr(group.expression) for group in bound.groups],
        "measures": [
            [
                measure.statistic.value,
                None if measure.argument is None else repr(measure.argument.expression),
                *map(str, measure.points),
            ]
            for measure in bound.measures
        ],
        "shown": [[column.name, repr(column.expression)] for column in bound.shown],
        "having": None if bound.having is None else repr(bound.having),
        "order": [[repr(sort.expression), sort.descending] for sort in bound.order],
        "limit": bound.limit,
    }
    return json.dumps(parts)


def _declaration(plan: PricedPlan) -> str:
    """A short name for all that the owner said of the tables; a change of it makes old answers stale."""
    said: list[object] = [plan.bound.table.neighbours.value]
    for name, table in plan.bound.table.tables.items():
        source = table.source
        said += [name, table.version, table.unit.columns, table.means, table.most_rows, table.inherits]
        said.append(source.serial if isinstance(source, Frame) else sorted(source.identity))
        said += [(column, str(declared)) for column, declared in sorted(table.columns.items())]
    for name, public in plan.bound.table.public.items():
        said += [
            name,
            public.version,
            public.serial,
            *((column, str(each)) for column, each in sorted(public.columns.items())),
        ]
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def _mechanisms(plan: PricedPlan) -> tuple[object, ...]:
    """Names and public parameters: noise, currency and share of every release that the plan may make."""
    listed: list[object] = []
    for look in () if plan.selection is None else plan.selection.rounds:
        said = {"share": str(look.share.amount), "threshold": str(look.threshold), "delta": str(look.delta)}
        listed.append(["keys", _NOISE[plan.norm], said])
    for measure in () if plan.selection is not None and plan.selection.counts else plan.measures:
        shares = {
            "values": measure.share,
            "limit": measure.limit_share,
            "bounds": measure.bounds_share,
            "centre": measure.centre_share,
        }
        parts = {name: str(share.amount) for name, share in shares.items() if share}
        listed.append([measure.measure.statistic.value, _NOISE[plan.norm], parts])
    return tuple(listed)


def said_remaining(ledger: Ledger, population: str, analyst: str, allowance: Guarantee) -> str:
    """What is left after what was charged last, or for a ledger that only counts what was spent, in words."""
    balance = ledger.known()
    if allowance.epsilon >= COUNTING:
        spent = balance.population(population).account.spent.epsilon or 0
        return f"nothing limits this process; it has spent epsilon {plain(spent)} so far"
    left = ledger.remaining(population, analyst or None, balance)
    whole = balance.population(population).account.allowance
    of = "" if whole is None else f" of {float(whole.epsilon):g}"
    return f"epsilon {plain(int(left.epsilon * UNIT))}{of}"
