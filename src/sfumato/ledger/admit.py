"""Whether a question may be asked and afforded; the answer depends on ledger and question only, never on data.

Who may ask: somebody granted the population an allowance that is in force; once any analyst has a grant of his own,
only those with a grant in force; and nobody whose earlier question failed on that table until the owner looked. What
may be spent: what both the population's and the analyst's filter admit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sfumato.errors import BudgetExhausted, NotGranted, Paused
from sfumato.ledger.allowance import Allowance, moment
from sfumato.ledger.amount import DELTA_UNIT, NOTHING, UNIT, Amount, plain
from sfumato.ledger.balance import Account, Balance


class _Limit(NamedTuple):
    """An allowance in force, whose it is, and what was spent of it."""

    whose: str
    allowance: Allowance
    spent: Amount


def _limits(balance: Balance, population: str, analyst: str) -> Iterator[_Limit]:
    everybody = balance.population(population)
    yield from _limit(f"population {population!r}", everybody.account)
    yield from _limit(f"analyst {analyst!r} in population {population!r}", everybody.analyst(analyst))


def _limit(whose: str, account: Account) -> Iterator[_Limit]:
    if account.allowance is not None:
        yield _Limit(whose, account.allowance, account.spent)


def check_granted(balance: Balance, population: str, analyst: str, at: int) -> None:
    """Refuse whom nobody granted an allowance, or whose allowance has ended."""
    everybody = balance.population(population)
    _check_account(everybody.account, f"population {population!r}", at)
    own = everybody.analyst(analyst)
    if everybody.named or own.revoked:
        _check_account(own, f"analyst {analyst!r} in population {population!r}", at)


def _check_account(account: Account, whose: str, at: int) -> None:
    if account.revoked:
        raise NotGranted(f"the allowance of {whose} was revoked; ask the owner for a new one")
    if account.allowance is None:
        raise NotGranted(f"{whose} must have an allowance; none was granted; ask the owner for one")
    if account.ended or account.allowance.ended(at):
        raise NotGranted(
            f"the allowance of {whose} ended on {moment(account.allowance.until or 0)}; ask the owner for a new one"
        )


SEVERAL = " + "  # between the names of the tables of one question


def check_not_paused(balance: Balance, analyst: str, table: str) -> None:
    """Refuse an analyst whose question failed on this table, until the owner looked."""
    named = set(table.split(SEVERAL))
    waiting = [paused for who, paused in balance.paused if who == analyst and named & set(paused.split(SEVERAL))]
    if waiting:
        raise Paused(
            f"analyst {analyst!r} must wait on table {min(waiting)!r}: an earlier question failed after it was charged,"
            " which may itself say something about the data; the owner looks at it and lets the table be asked again"
        )


def check_affordable(balance: Balance, population: str, analyst: str, amount: Amount) -> None:
    """Refuse what costs more than is left to the population or to the analyst."""
    limits = tuple(_limits(balance, population, analyst))
    short = [limit for limit in limits if not limit.allowance.admits(limit.spent.plus(amount))]
    if short:
        raise BudgetExhausted("\n".join((*(_shortage(limit, amount) for limit in short), _advice(limits, amount))))


def left_to(balance: Balance, population: str, analyst: str | None, at: int) -> Amount:
    """What is left to everybody, or to one analyst; nothing where he may not ask."""
    everybody = balance.population(population)
    try:
        _check_account(everybody.account, population, at)
        if analyst is not None:
            check_granted(balance, population, analyst, at)
    except NotGranted:
        return NOTHING
    found = [limit.allowance.left(limit.spent) for limit in _limits(balance, population, analyst or "")]
    return Amount(
        min(each.epsilon or 0 for each in found),
        min(each.rho or 0 for each in found),
        min(each.delta for each in found),
    )


def _shortage(limit: _Limit, amount: Amount) -> str:
    until = "" if limit.allowance.until is None else f", which ends on {moment(limit.allowance.until)}"
    lines = [f"this costs more than is left of the allowance of {limit.whose}{until}"]
    left = limit.allowance.left(limit.spent)
    if amount.epsilon is not None:
        lines.append(_row("epsilon", amount.epsilon, left.epsilon or 0, UNIT))
    if amount.rho is not None and limit.allowance.delta:
        lines.append(_row("rho", amount.rho, left.rho or 0, UNIT))
    if amount.delta:
        lines.append(_row("delta", amount.delta, left.delta, DELTA_UNIT))
    return "\n".join(lines)


def _row(name: str, requested: int, left: int, unit: int) -> str:
    short = max(0, requested - left)
    return (
        f"{name:>8}: requested {plain(requested, unit)}, remaining {plain(left, unit)}, difference {plain(short, unit)}"
    )


def _advice(limits: tuple[_Limit, ...], amount: Amount) -> str:
    """What would fit; the allowances of population and analyst both count."""
    owner = "or ask the owner for a larger allowance"
    epsilon = min(each.allowance.greatest_epsilon(each.spent, amount.delta) for each in limits)
    rho = min(each.allowance.left(each.spent, amount.delta).rho or 0 for each in limits)
    if amount.epsilon is None and rho:
        return f"a rho of at most {plain(rho)} fits; ask for less, {owner}"
    if epsilon:
        kind = "an epsilon" if amount.epsilon is not None else "with noise that has an epsilon, one"
        return f"{kind} of at most {plain(epsilon)} fits; ask for less, {owner}"
    delta = min(each.allowance.left(each.spent).delta for each in limits)
    if 0 < delta < amount.delta:
        return f"a delta of at most {plain(delta, DELTA_UNIT)} fits; ask for less, {owner}"
    if amount.delta and all(each.allowance.greatest_epsilon(each.spent) for each in limits):
        return "no delta is left: ask a question that needs none, or ask the owner for an allowance with delta"
    return "nothing is left; ask the owner for a larger allowance"
