"""Accuracy in, epsilon out: how much a question must cost for a wanted half-width.

Where the limits are declared the half-width follows from the text, and so does epsilon. Elsewhere (estimated limits,
means, relative accuracy) a pilot for a fifth of the most that may be spent comes first; its own answer says what the
rest needs, since half-widths fall like one over epsilon. Pilot and answer are two charges, each admitted by the ledger
before its data is touched, and together never more than was said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato import checks
from sfumato.accounting.filter import Remaining
from sfumato.curator.answers.answer import Answer
from sfumato.curator.budgeting.quote import Quote, least_half_width, quote_of
from sfumato.errors import BudgetExhausted, InvalidArgument, OutOfReach
from sfumato.phrases import Option, Phrase
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee

_PILOT = Fraction(1, 5)
_SLACK = Fraction(21, 20)  # the next limit may be an edge larger
_DIGITS = 3

Asks = Callable[[Fraction], Answer]
Plans = Callable[[Fraction], PricedPlan]


@dataclass(frozen=True, slots=True)
class Within:
    """A wanted half-width: a number in the column's own unit, or a share of the value."""

    amount: Fraction
    relative: bool

    @classmethod
    def read(cls, value: object) -> Within:
        """500, or '5%'."""
        if isinstance(value, str) and value.strip().endswith("%"):
            try:
                share = Fraction(value.strip().removesuffix("%").strip()) / 100
            except (ValueError, ZeroDivisionError):
                share = Fraction(0)
            if share > 0:
                return cls(share, relative=True)
        elif isinstance(value, (int, float, Fraction)) and not isinstance(value, bool):
            return cls(checks.positive(within=value), relative=False)
        raise InvalidArgument(f"within must be a positive number or a share such as '5%'; got {value!r}; write one")

    def target(self, value: float) -> float:
        """The half-width that is wanted around a value."""
        return float(self.amount) * abs(value) if self.relative else float(self.amount)

    def __str__(self) -> str:
        """In words."""
        return f"± {float(100 * self.amount):g} %" if self.relative else f"± {float(self.amount):g}"


def ask_within(wanted: Within, cap: Fraction, plan: Plans, ask: Asks, left: Remaining) -> Answer:
    """An answer as accurate as wanted, for at most `cap`; or a refusal that says what could be reached."""
    needed = epsilon_by_text(wanted, plan)
    if needed is not None:
        if needed > cap:
            reached = _widest(plan(cap))
            raise OutOfReach(
                f"{wanted} needs an epsilon of {float(needed):g}, and at most {float(cap):g} may be spent; that "
                f"reaches ± {reached:,.3g}; nothing was charged; ask for less accuracy, or give a larger epsilon"
            )
        return ask(needed)
    first = cap * _PILOT
    _check_reach(wanted, cap, plan)
    if not _delta_for_two(plan, cap, left):
        raise BudgetExhausted(
            "a pilot and the answer need the delta twice, which is more than is left; nothing was charged; give half "
            "of it, or none"
        )
    pilot = ask(first)
    shortfall = _shortfall(wanted, pilot)
    if shortfall <= 1:
        return pilot
    needed = _needed(wanted, pilot, first, cap - first)
    if needed is None or needed > cap - first:
        more = "more than can be told of" if needed is None else f"about {float(needed):,.4g} more"
        raise OutOfReach(
            f"{wanted} is out of reach: the pilot (epsilon {float(first):g}, charged) shows it needs {more} epsilon; "
            f"{float(cap - first):g} is left.",
            fix=Phrase(
                "Ask for less accuracy, give ",
                Option("max_rows_per_unit"),
                ", or allow a larger epsilon. The pilot's own answer is free: ask with ",
                Option("epsilon", float(first)),
                ".",
            ),
        )
    return _together(pilot, ask(needed), wanted)


def _needed(wanted: Within, pilot: Answer, first: Fraction, rest: Fraction) -> Fraction | None:
    """What the answer needs by a pilot that cost `first`; None: it does not tell.

    With too few units to see the largest, intervals of a pilot are open on that side. What the other side needs is then
    not enough, so all that is left for the answer is taken, if it is enough for that side.
    """
    shortfall = _shortfall(wanted, pilot)
    if math.isfinite(shortfall):
        return _rounded_up(first * Fraction(shortfall) * _SLACK)
    seen = _shortfall(wanted, pilot, seen=True)
    return rest if math.isfinite(seen) and first * Fraction(seen) * _SLACK <= rest else None


def quote_within(wanted: Within, cap: Fraction, plan: Plans, left: Remaining) -> Quote:
    """What a wanted half-width would cost: by the text exactly, else the pilot and the most of both together."""
    needed = epsilon_by_text(wanted, plan)
    if needed is not None:
        return replace(quote_of(plan(needed), left), wanted=str(wanted))
    _check_reach(wanted, cap, plan)
    pilot, rest = plan(cap * _PILOT).promise, quote_of(plan(cap - cap * _PILOT))
    fits = quote_of(plan(cap), left).fits and _delta_for_two(plan, cap, left)
    return replace(rest, cost=_both(pilot, rest.cost), fits=fits, wanted=str(wanted), pilot=pilot)


def _delta_for_two(plan: Plans, cap: Fraction, left: Remaining) -> bool:
    """Whether what is left has room for the delta of a pilot and of an answer."""
    delta = plan(cap).promise.delta
    return not delta or 2 * delta <= left.delta


def _check_reach(wanted: Within, cap: Fraction, plan: Plans) -> None:
    """Refuse, before a pilot is charged, what could not be reached if every unit had one row."""
    least = least_half_width(plan(cap - cap * _PILOT))
    if not wanted.relative and least > wanted.amount:
        raise OutOfReach(
            f"{wanted} is not within reach: if every unit had one row only, an epsilon of {float(cap):g} would give "
            f"± {least:,.3g}; nothing was charged; ask for less accuracy, or give a larger epsilon"
        )


def epsilon_by_text(wanted: Within, plan: Plans) -> Fraction | None:
    """The least epsilon, to three digits, if the half-widths follow from the text; None: they depend on data."""
    if wanted.relative or not _follows_from_text(plan(Fraction(1))):
        return None
    needed = _rounded_up(Fraction(_widest(plan(Fraction(1)))) / wanted.amount)
    while _widest(plan(needed)) > wanted.amount:
        needed = _rounded_up(needed * Fraction(1001, 1000))
    return needed


def _follows_from_text(plan: PricedPlan) -> bool:
    expected = quote_of(plan).expected.values()
    return bool(expected) and all(each.half_width is not None and not each.of for each in expected)


def _widest(plan: PricedPlan) -> float:
    return max((each.half_width or 0.0 for each in quote_of(plan).expected.values()), default=0.0)


def _shortfall(wanted: Within, answer: Answer, seen: bool = False) -> float:
    """How many times wider than wanted the widest interval is; relative: of values that are surely not zero.

    `seen`: of intervals with an open side the other one.
    """
    ratios = []
    for value, half in _halves(answer, seen):
        if wanted.relative and half >= abs(value):
            continue
        ratios.append(half / wanted.target(value))
    return max(ratios, default=math.inf)


def _halves(answer: Answer, seen: bool) -> Iterator[tuple[float, float]]:
    for name in answer.columns:
        for row, pair in zip(answer.rows, answer.intervals[name], strict=True):
            if pair is not None and row[name] is not None:
                sides = (row[name] - pair[0], pair[1] - row[name])
                yield row[name], min(sides) if seen and math.isinf(max(sides)) else max(sides)


def _rounded_up(epsilon: Fraction) -> Fraction:
    """A number of three digits, not below epsilon."""
    step = Fraction(10) ** (math.floor(math.log10(epsilon)) - _DIGITS + 1)
    return Fraction(math.ceil(epsilon / step)) * step


def _together(pilot: Answer, answer: Answer, wanted: Within) -> Answer:
    """The answer with the cost of both, and whether it is as accurate as wanted."""
    cost = _both(pilot.guarantee, answer.guarantee)
    said = f"A pilot (epsilon {float(pilot.guarantee.epsilon):g}) ran first; the cost includes it."
    if _shortfall(wanted, answer) > 1:
        said += f" Some intervals are still wider than {wanted}, by chance; slightly more epsilon helps."
    receipt = replace(answer.receipt, cost=cost, notes=(*answer.receipt.notes, said))
    return replace(answer, guarantee=cost, receipt=receipt)


def _both(one: Guarantee, two: Guarantee) -> Guarantee:
    return Guarantee(one.epsilon + two.epsilon, min(one.delta + two.delta, Fraction(1, 2)), two.neighbors, two.unit)
