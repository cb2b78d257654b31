"""What a question costs and what is left, in words, and as bars."""

from __future__ import annotations

import bisect
from fractions import Fraction

from sfumato.ledger.balance import Account
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.amount import UNIT, Amount, plain
from sfumato.privacy.guarantee import Guarantee

_MANY = 1_000_000
_BAR = 30


def said_cost(cost: Guarantee) -> str:
    """A cost in words, and whose it is."""
    delta = f" with delta {float(cost.delta):g}" if cost.delta else ""
    return f"epsilon {float(cost.epsilon):g}{delta} (protected: {cost.unit})"


def said_amount(units: int | None) -> str:
    """A number of units to read: six digits say enough."""
    return "unbounded" if units is None else f"{float(Fraction(units, UNIT)):.6g}"


def accounts(ledger: Ledger, population: str, analyst: str | None) -> list[Account]:
    """The accounts that both have to admit a question."""
    people = ledger.balance().population(population)
    return [people.account] if analyst is None else [people.account, people.analyst(analyst)]


def said_left(ledger: Ledger, population: str, analyst: str | None) -> str:
    """What is left to an analyst, in the currency that still has something."""
    left = ledger.remaining(population, analyst)
    if left.epsilon == 0 and left.rho > 0:
        return f"rho {plain(int(left.rho * UNIT))}, for questions with delta"
    granted = [account.budget for account in accounts(ledger, population, analyst) if account.budget]
    of = f" of {float(granted[-1].epsilon):g}" if granted else ""  # an analyst's own, where there is one
    return f"epsilon {plain(int(left.epsilon * UNIT))}{of}"


def said_more(ledger: Ledger, population: str, analyst: str | None, amount: Amount) -> str:
    """How many more questions of this cost fit, in words."""
    found = how_many(accounts(ledger, population, analyst), amount)
    if found >= _MANY:
        return "at least a million more such questions fit"
    if found == 0:
        return "no more such questions fit"
    return "one more such question fits" if found == 1 else f"{found:,} more such questions fit"


def how_many(limits: list[Account], amount: Amount) -> int:
    """How many questions of one cost all accounts still admit, by their own decision."""
    known = [account for account in limits if account.budget is not None]

    def is_too_much(number: int) -> bool:
        return not all(
            account.budget is not None and account.budget.admits(account.spent.plus(_times(amount, number)))
            for account in known
        )

    if not known:
        return 0
    return bisect.bisect_left(range(1, _MANY + 1), True, key=is_too_much)


def _times(amount: Amount, number: int) -> Amount:
    return Amount(
        None if amount.epsilon is None else number * amount.epsilon,
        None if amount.rho is None else number * amount.rho,
        number * amount.delta,
    )


def used(account: Account, amount: Amount | None = None) -> Fraction:
    """Which part of a budget is spent, or an amount of it would be: by the arm of the filter that has more left."""
    budget, spent = account.budget, account.spent
    if budget is None:
        return Fraction(0)
    pairs = [(spent.epsilon, amount.epsilon if amount else None, int(budget.epsilon * UNIT))]
    pairs += [(spent.rho, amount.rho if amount else None, budget.rho)] if budget.rho else []
    parts = [
        (Fraction(whole, limit), Fraction((whole if amount is None else part) or 0, limit))
        for whole, part, limit in pairs
        if whole is not None
    ]
    return min(parts, default=(Fraction(1), Fraction(1)))[1]


def bar(part: Fraction, width: int = _BAR) -> str:
    """A part of a whole, drawn; what is not nothing is seen."""
    full = min(width, max(round(width * part), 1 if part > 0 else 0))
    return "█" * full + "░" * (width - full)
