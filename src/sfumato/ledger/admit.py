"""Whether a question may be asked and afforded; the answer depends on ledger and question only, never on data.

Who may ask: somebody granted the population a budget that is in force; once any analyst has a grant of his own,
only those with a grant in force; and nobody whose earlier question failed on that table until the owner looked. What
may be spent: what both the population's and the analyst's filter admit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sfumato.errors import BudgetExhausted, NotGranted, Paused
from sfumato.ledger.balance import Account, Balance
from sfumato.ledger.records.amount import DELTA_UNIT, NOTHING, UNIT, Amount, plain
from sfumato.ledger.records.budget import Budget, moment


class _Limit(NamedTuple):
    """A budget in force, whose it is, and what was spent of it."""

    analyst: str  # "" for the whole population's
    budget: Budget
    spent: Amount


def _limits(balance: Balance, population: str, analyst: str) -> Iterator[_Limit]:
    everybody = balance.population(population)
    yield from _limit("", everybody.account)
    yield from _limit(analyst, everybody.analyst(analyst))


def _limit(analyst: str, account: Account) -> Iterator[_Limit]:
    if account.budget is not None:
        yield _Limit(analyst, account.budget, account.spent)


def check_granted(balance: Balance, population: str, analyst: str, at: int) -> None:
    """Refuse whom nobody granted a budget, or whose budget has ended."""
    everybody = balance.population(population)
    _check_account(everybody.account, None, at)
    own = everybody.analyst(analyst)
    if everybody.named or own.revoked:
        _check_account(own, analyst, at)


def _check_account(account: Account, analyst: str | None, at: int) -> None:
    budget = "The budget for this data" if analyst is None else f"The budget of {analyst}"
    if account.revoked:
        raise NotGranted(f"{budget} was revoked.", fix="Ask the owner for a new one.")
    if account.budget is None:
        whose = "There is" if analyst is None else f"{analyst} has"
        raise NotGranted(f"{whose} no budget for this data.", fix="Ask the owner.")
    if account.ended or account.budget.ended(at):
        raise NotGranted(f"{budget} ended on {moment(account.budget.until or 0)}.", fix="Ask the owner for a new one.")


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
    short = [limit for limit in limits if not limit.budget.admits(limit.spent.plus(amount))]
    if short:
        raise BudgetExhausted(" ".join(_shortage(limit, amount) for limit in short), fix=_advice(limits, amount))


def left_to(balance: Balance, population: str, analyst: str | None, at: int) -> Amount:
    """What is left to everybody, or to one analyst; nothing where he may not ask."""
    everybody = balance.population(population)
    try:
        _check_account(everybody.account, None, at)
        if analyst is not None:
            check_granted(balance, population, analyst, at)
    except NotGranted:
        return NOTHING
    found = [limit.budget.left(limit.spent) for limit in _limits(balance, population, analyst or "")]
    return Amount(
        min(each.epsilon or 0 for each in found),
        min(each.rho or 0 for each in found),
        min(each.delta for each in found),
    )


def _shortage(limit: _Limit, amount: Amount) -> str:
    """What was requested and what is left, in each currency that the budget counts; a lone epsilon needs no name."""
    left = limit.budget.left(limit.spent)
    rows = []
    if amount.epsilon is not None:
        rows.append(("epsilon ", amount.epsilon, left.epsilon or 0, UNIT))
    if amount.rho is not None and limit.budget.delta:
        rows.append(("rho ", amount.rho, left.rho or 0, UNIT))
    if amount.delta:
        rows.append(("delta ", amount.delta, left.delta, DELTA_UNIT))
    if len(rows) == 1 and amount.epsilon is not None:
        rows = [("", *rows[0][1:])]
    whose = f" for {limit.analyst}" if limit.analyst else ""
    until = "" if limit.budget.until is None else f" (ends on {moment(limit.budget.until)})"
    said = "; ".join(
        f"{name}{plain(wanted, unit)} requested, {plain(left, unit)} left" for name, wanted, left, unit in rows
    )
    return f"Not enough budget{whose}{until}: {said}."


def _advice(limits: tuple[_Limit, ...], amount: Amount) -> str:
    """What would fit; the budgets of population and analyst both count."""
    owner = "or ask the owner for a larger budget."
    epsilon = min(each.budget.greatest_epsilon(each.spent, amount.delta) for each in limits)
    rho = min(each.budget.left(each.spent, amount.delta).rho or 0 for each in limits)
    if amount.epsilon is None and rho:
        return f"A rho of at most {plain(rho)} fits; ask for less, {owner}"
    if epsilon:
        kind = "An epsilon" if amount.epsilon is not None else "With noise that has an epsilon, one"
        return f"{kind} of at most {plain(epsilon)} fits; ask for less, {owner}"
    delta = min(each.budget.left(each.spent).delta for each in limits)
    if 0 < delta < amount.delta:
        return f"A delta of at most {plain(delta, DELTA_UNIT)} fits; ask for less, {owner}"
    if amount.delta and all(each.budget.greatest_epsilon(each.spent) for each in limits):
        return "No delta is left: ask a question that needs none, or ask the owner for a budget with delta."
    return "Nothing is left; ask the owner for a larger budget."
