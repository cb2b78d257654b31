"""What may be done to a ledger: each operation decides on a draft's balance, and appends or refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum

from sfumato.dataset.one_file import check_one_file
from sfumato.errors import InvalidArgument, LedgerBroken, Refused
from sfumato.input_files import attempt, parse_json
from sfumato.ledger.admit import check_affordable, check_granted, check_not_paused
from sfumato.ledger.balance import Balance
from sfumato.ledger.records.amount import Amount
from sfumato.ledger.records.budget import Budget
from sfumato.ledger.records.entry import Entry, Kind, canonical
from sfumato.ledger.records.payload import Payload, replay_key
from sfumato.ledger.records.request import Replay, Request, Reservation
from sfumato.ledger.transaction import Transaction
from sfumato.phrases import Action, Phrase

_GRANT = Action("ledger.grant(...)")
_MICROSECOND = timedelta(microseconds=1)


class Reason(StrEnum):
    """Why a reservation ended without an answer."""

    ENGINE = "engine"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"


def declare(transaction: Transaction, population: str, sources: Iterable[str]) -> Entry | None:
    """Say which sources hold a population; what is known already is not said twice."""
    known = transaction.balance.sources
    wanted = sorted(set(sources))
    _check_owners(transaction.balance, population, wanted)
    new = [source for source in wanted if source not in known]
    if not new and population in transaction.balance.populations:
        return None
    return transaction.append(Kind.DECLARED, population=population, detail={"sources": new})


def _check_owners(balance: Balance, population: str, sources: Iterable[str]) -> None:
    for source in sources:
        if (owner := balance.sources.get(source, population)) != population:
            raise InvalidArgument(
                f"a source must belong to one population; got {_called(source)} for {population!r}, but it belongs to "
                f"{owner!r}; the same people would have two budgets; name the table in {owner!r}"
                f"{_as_bound(balance, source)}"
            )


def _as_bound(balance: Balance, source: str) -> str:
    return f", as it was declared there ({balance.units[source]})" if source in balance.units else ""


def bind(
    transaction: Transaction, population: str, unit: str, units: Mapping[str, str], budget: Budget | None = None
) -> Entry | None:
    """Say which sources hold a population, and which unit each protects, for ever; `unit` is what they have in common.

    What was spent before on a source is a loss of that unit, so another one would change what the ledger's sums mean.
    With a budget the population is established as well.
    """
    if budget is not None:
        establish(transaction, population, budget)
    balance = transaction.balance
    _check_owners(balance, population, sorted(units))
    for source, wanted in sorted(units.items()):
        if (bound := balance.units.get(source, wanted)) != wanted:
            raise Refused(
                f"{_called(source)} must keep the unit and the neighbor relation that the ledger holds for it "
                f"({bound}); got another ({wanted}); what was spent does not add up with it; declare it as before, or "
                "begin a new ledger"
            )
    held = balance.population(population).unit
    if held not in (None, unit):
        raise Refused(
            f"population {population!r} must keep the unit and the neighbor relation that the ledger holds for it "
            f"({held}); got another ({unit}); what was spent does not add up with it; declare it as before, or name "
            "another population for tables of other people"
        )
    check_one_file(units, {*balance.sources, *units})  # in the transaction: of two processes the second is refused
    new = {source: wanted for source, wanted in units.items() if source not in balance.units}
    if not new and held is not None:
        return None
    return transaction.append(Kind.DECLARED, population=population, detail={"unit": unit, "units": new})


def _called(source: str) -> str:
    """A source in a message; the token of a frame tells nobody anything."""
    return "this frame" if source.startswith("frame:") else repr(source)


def grant(transaction: Transaction, population: str, analyst: str | None, budget: Budget) -> Entry:
    """Set what may be spent, in place of what was granted before."""
    if budget.ended(transaction.now):
        raise InvalidArgument("until must lie in the future; got a moment that is past; choose a later one")
    promise = {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}
    detail = {**promise, "until": budget.until, "rho": budget.rho}
    return transaction.append(Kind.GRANTED, population=population, analyst=analyst, detail=detail)


def establish(transaction: Transaction, population: str, budget: Budget) -> Entry | None:
    """Grant a population its first budget; a ledger that holds another one keeps it."""
    account = transaction.balance.population(population).account
    if account.revoked:
        raise Refused(f"the budget of population {population!r} was revoked", fix=Phrase("grant a new one: ", _GRANT))
    held = account.budget
    if held is None:
        return grant(transaction, population, None, budget)
    if (held.epsilon, held.delta) != (budget.epsilon, budget.delta):
        raise Refused(
            Phrase(
                Action("Curator(budget=...)"),
                f" says epsilon {_said(budget, held)}, the ledger says {_said(held, budget)}.",
            ),
            fix=Phrase("To use the new value, the owner applies it: ", Action("ledger.grant(population, budget)")),
        )
    return None


def _said(budget: Budget, other: Budget) -> str:
    """The epsilon of a budget, and its delta if another budget has a different one."""
    delta = "" if budget.delta == other.delta else f" and delta {float(budget.delta):g}"
    return f"{float(budget.epsilon):g}{delta}"


def revoke(transaction: Transaction, population: str, analyst: str | None, why: str) -> Entry:
    """End a budget; what was spent stays spent."""
    return transaction.append(Kind.REVOKED, population=population, analyst=analyst, detail={"why": why})


def renew(transaction: Transaction, population: str, why: str) -> Entry:
    """Declare the units of a population new: nobody in it was in it before, so sums begin at zero."""
    if population not in transaction.balance.populations:
        raise InvalidArgument(f"population must be known; got {population!r}; declare it or grant it a budget")
    return transaction.append(Kind.RENEWED, population=population, detail={"why": why})


def _stored_answer(text: str, reservation: int) -> str:
    broken = LedgerBroken(f"the stored answer to question {reservation} cannot be read; verify the ledger")
    answer = attempt(lambda: parse_json(text)["answer"], broken)
    if not isinstance(answer, str):
        raise broken
    return answer


def reserve(transaction: Transaction, request: Request) -> Reservation | Replay:
    """Charge a question, or find that it was answered before."""
    balance, analyst = transaction.balance, request.analyst
    check_granted(balance, request.population, analyst, transaction.now)
    check_not_paused(balance, analyst, request.table)
    key = replay_key(transaction.secret, request, balance.population(request.population).renewed)
    for asker, text, reservation in transaction.archive.answers(key):
        if asker == analyst or transaction.policy.share_answers:
            return Replay(_stored_answer(text, reservation), reservation)
    amount = Amount.of(request.loss)
    check_affordable(balance, request.population, analyst, amount)
    content = {"plan": request.plan, "promise": request.promise, "question": request.question}
    mark = transaction.policy.mark()
    entry = transaction.append(
        Kind.RESERVED,
        Payload.of(content, transaction.policy.entropy),
        population=request.population,
        analyst=analyst,
        table=request.table,
        version=request.version,
        amount=amount,
        mechanisms=canonical(request.mechanisms),
        detail={} if mark is None else {"asker": mark},
    )
    return Reservation(entry, key)


def _end(
    transaction: Transaction, kind: Kind, reserved: Entry, payload: Payload | None = None, **fields: object
) -> Entry:
    return transaction.append(
        kind,
        payload,
        population=reserved.population,
        analyst=reserved.analyst,
        table=reserved.table,
        version=reserved.version,
        refers=reserved.number,
        **fields,
    )


def _open(transaction: Transaction, reservation: Reservation) -> Entry:
    entry = transaction.balance.open.get(reservation.number)
    if entry is None or entry.hash != reservation.entry.hash:
        raise InvalidArgument(
            f"reservation {reservation.number} must be open; it was settled, has failed, or was open for longer than "
            "the lease; it stays spent; ask again, or open the ledger with a longer lease"
        )
    return entry


def settle(transaction: Transaction, reservation: Reservation, answer: str) -> Entry:
    """Keep the answer that a reservation paid for."""
    reserved = _open(transaction, reservation)
    payload = Payload.of({"answer": answer}, transaction.policy.entropy, reservation.replay)
    return _end(transaction, Kind.SETTLED, reserved, payload)


def fail(transaction: Transaction, reservation: Reservation, reason: Reason) -> Entry:
    """Note that a reservation got no answer; it stays spent."""
    return _fail(transaction, _open(transaction, reservation), reason)


def _fail(transaction: Transaction, reserved: Entry, reason: Reason) -> Entry:
    # For one analyst too: that a question failed is a bit about the data, whoever else asks. Whatever the reason is:
    # which one is noted may follow from the data as well.
    return _end(transaction, Kind.FAILED, reserved, detail={"reason": reason.value, "pause": transaction.policy.pause})


def abandon(transaction: Transaction, *, look: bool = True) -> None:
    """Note the failure of reservations that were open for too long, or whose process is gone; they stay spent.

    `look`: whether to see which processes still run.
    """
    for entry in [entry for entry in transaction.balance.open.values() if _is_over(transaction, entry, look)]:
        _fail(transaction, entry, Reason.ABANDONED)


def _is_over(transaction: Transaction, entry: Entry, look: bool) -> bool:
    if lease_ended(entry, transaction.now, transaction.policy.lease):
        return True
    asker = entry.details.get("asker") if look else None
    return isinstance(asker, str) and transaction.policy.gone(asker)


def lease_ended(reserved: Entry, now: int, lease: timedelta) -> bool:
    """Whether a reservation is open for longer than it may."""
    return reserved.at <= now - lease // _MICROSECOND


def end(transaction: Transaction) -> None:
    """Note which budgets have ended, so that they stay ended if the clock is set back."""
    for name, people in transaction.balance.populations.items():
        for analyst in (None, *people.analysts):
            account = people.of(analyst)
            held = account.budget
            if held is not None and not account.ended and held.ended(transaction.now):
                transaction.append(Kind.REVOKED, population=name, analyst=analyst, detail={"ended": held.until})


def looked(transaction: Transaction, analyst: str, table: str) -> Entry | None:
    """Let an analyst ask a table again after a failure."""
    if (analyst, table) not in transaction.balance.paused:
        return None
    return transaction.append(Kind.LOOKED, analyst=analyst, table=table)


def erase(transaction: Transaction, number: int) -> Entry | None:
    """Remove question and answer of a reservation, given its number or that of its settling."""
    entry = transaction.entry(number)
    if entry is not None and entry.kind in (Kind.SETTLED, Kind.FAILED):
        entry = transaction.entry(entry.refers or 0)
    if entry is None or entry.kind is not Kind.RESERVED:
        raise InvalidArgument(
            f"number must be that of a question in the ledger; got {number}",
            fix=Phrase("see the numbers: ", Action("ledger.entries()")),
        )
    if entry.number in transaction.balance.open:
        raise InvalidArgument(f"question {number} is being answered; erase it when it has ended")
    if not (stored := transaction.stored(entry.number)):
        return None
    transaction.erased += stored
    return _end(transaction, Kind.ERASED, entry, detail={"payloads": stored})
