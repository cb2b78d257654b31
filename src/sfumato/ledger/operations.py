"""What may be done to a ledger: each operation decides on a draft's balance, and appends or refuses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum

from sfumato.errors import InvalidArgument, LedgerBroken, Refused
from sfumato.ledger.admit import check_affordable, check_granted, check_not_paused
from sfumato.ledger.allowance import Allowance
from sfumato.ledger.amount import Amount
from sfumato.ledger.balance import Balance
from sfumato.ledger.draft import Draft
from sfumato.ledger.entry import Entry, Kind, canonical
from sfumato.ledger.payload import Payload, replay_key
from sfumato.ledger.request import Replay, Request, Reservation
from sfumato.reading import attempt, parse_json

_MICROSECOND = timedelta(microseconds=1)


class Reason(StrEnum):
    """Why a reservation ended without an answer."""

    ENGINE = "engine"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"


def declare(draft: Draft, population: str, sources: Iterable[str]) -> Entry | None:
    """Say which sources hold a population; what is known already is not said twice."""
    known = draft.balance.sources
    wanted = sorted(set(sources))
    _check_owners(draft.balance, population, wanted)
    new = [source for source in wanted if source not in known]
    if not new and population in draft.balance.populations:
        return None
    return draft.append(Kind.DECLARED, population=population, detail={"sources": new})


def _check_owners(balance: Balance, population: str, sources: Iterable[str]) -> None:
    for source in sources:
        if (owner := balance.sources.get(source, population)) != population:
            raise InvalidArgument(
                f"a source must belong to one population; got {_called(source)} for {population!r}, but it belongs to "
                f"{owner!r}; the same people would have two allowances; name the table in {owner!r}"
                f"{_as_bound(balance, source)}"
            )


def _as_bound(balance: Balance, source: str) -> str:
    return f", as it was declared there ({balance.units[source]})" if source in balance.units else ""


def bind(
    draft: Draft, population: str, unit: str, units: Mapping[str, str], allowance: Allowance | None = None
) -> Entry | None:
    """Say which sources hold a population, and which unit each protects, for ever; `unit` is what they have in common.

    What was spent before on a source is a loss of that unit, so another one would change what the ledger's sums mean.
    With an allowance the population is established as well.
    """
    if allowance is not None:
        establish(draft, population, allowance)
    balance = draft.balance
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
    new = {source: wanted for source, wanted in units.items() if source not in balance.units}
    if not new and held is not None:
        return None
    return draft.append(Kind.DECLARED, population=population, detail={"unit": unit, "units": new})


def _called(source: str) -> str:
    """A source in a message; the token of a frame tells nobody anything."""
    return "this frame" if source.startswith("frame:") else repr(source)


def grant(draft: Draft, population: str, analyst: str | None, allowance: Allowance) -> Entry:
    """Set what may be spent, in place of what was granted before."""
    if allowance.ended(draft.now):
        raise InvalidArgument("until must lie in the future; got a moment that is past; choose a later one")
    promise = {"epsilon": str(allowance.epsilon), "delta": str(allowance.delta)}
    detail = {**promise, "until": allowance.until, "rho": allowance.rho}
    return draft.append(Kind.GRANTED, population=population, analyst=analyst, detail=detail)


def establish(draft: Draft, population: str, allowance: Allowance) -> Entry | None:
    """Grant a population its first allowance; a ledger that holds another one keeps it."""
    account = draft.balance.population(population).account
    if account.revoked:
        raise Refused(f"the allowance of population {population!r} was revoked; to grant a new one call grant")
    held = account.allowance
    if held is None:
        return grant(draft, population, None, allowance)
    if (held.epsilon, held.delta) != (allowance.epsilon, allowance.delta):
        raise Refused(
            f"the allowance of population {population!r} must be the one in the ledger; got {_said(allowance)}, but "
            f"the ledger holds {_said(held)}; declare that one, or change it by grant"
        )
    return None


def _said(allowance: Allowance) -> str:
    return f"epsilon {float(allowance.epsilon):g}, delta {float(allowance.delta):g}"


def revoke(draft: Draft, population: str, analyst: str | None, why: str) -> Entry:
    """End an allowance; what was spent stays spent."""
    return draft.append(Kind.REVOKED, population=population, analyst=analyst, detail={"why": why})


def renew(draft: Draft, population: str, why: str) -> Entry:
    """Declare the units of a population new: nobody in it was in it before, so sums begin at zero."""
    if population not in draft.balance.populations:
        raise InvalidArgument(f"population must be known; got {population!r}; declare it or grant it an allowance")
    return draft.append(Kind.RENEWED, population=population, detail={"why": why})


def _stored_answer(text: str, reservation: int) -> str:
    broken = LedgerBroken(f"the stored answer to question {reservation} cannot be read; verify the ledger")
    answer = attempt(lambda: parse_json(text)["answer"], broken)
    if not isinstance(answer, str):
        raise broken
    return answer


def reserve(draft: Draft, request: Request) -> Reservation | Replay:
    """Charge a question, or find that it was answered before."""
    balance, analyst = draft.balance, request.analyst
    check_granted(balance, request.population, analyst, draft.now)
    check_not_paused(balance, analyst, request.table)
    key = replay_key(draft.secret, request, balance.population(request.population).renewed)
    for asker, text, reservation in draft.archive.answers(key):
        if asker == analyst or draft.policy.share_answers:
            return Replay(_stored_answer(text, reservation), reservation)
    amount = Amount.of(request.loss)
    check_affordable(balance, request.population, analyst, amount)
    content = {"plan": request.plan, "promise": request.promise, "question": request.question}
    mark = draft.policy.mark()
    entry = draft.append(
        Kind.RESERVED,
        Payload.of(content, draft.policy.entropy),
        population=request.population,
        analyst=analyst,
        table=request.table,
        version=request.version,
        amount=amount,
        mechanisms=canonical(request.mechanisms),
        detail={} if mark is None else {"asker": mark},
    )
    return Reservation(entry, key)


def _end(draft: Draft, kind: Kind, reserved: Entry, payload: Payload | None = None, **fields: object) -> Entry:
    return draft.append(
        kind,
        payload,
        population=reserved.population,
        analyst=reserved.analyst,
        table=reserved.table,
        version=reserved.version,
        refers=reserved.number,
        **fields,
    )


def _open(draft: Draft, reservation: Reservation) -> Entry:
    entry = draft.balance.open.get(reservation.number)
    if entry is None or entry.hash != reservation.entry.hash:
        raise InvalidArgument(
            f"reservation {reservation.number} must be open; it was settled, has failed, or was open for longer than "
            "the lease; it stays spent; ask again, or open the ledger with a longer lease"
        )
    return entry


def settle(draft: Draft, reservation: Reservation, answer: str) -> Entry:
    """Keep the answer that a reservation paid for."""
    reserved = _open(draft, reservation)
    payload = Payload.of({"answer": answer}, draft.policy.entropy, reservation.replay)
    return _end(draft, Kind.SETTLED, reserved, payload)


def fail(draft: Draft, reservation: Reservation, reason: Reason) -> Entry:
    """Note that a reservation got no answer; it stays spent."""
    return _fail(draft, _open(draft, reservation), reason)


def _fail(draft: Draft, reserved: Entry, reason: Reason) -> Entry:
    # For one analyst too: that a question failed is a bit about the data, whoever else asks. Whatever the reason is:
    # which one is noted may follow from the data as well.
    return _end(draft, Kind.FAILED, reserved, detail={"reason": reason.value, "pause": draft.policy.pause})


def abandon(draft: Draft, *, look: bool = True) -> None:
    """Note the failure of reservations that were open for too long, or whose process is gone; they stay spent.

    `look`: whether to see which processes still run.
    """
    for entry in [entry for entry in draft.balance.open.values() if _is_over(draft, entry, look)]:
        _fail(draft, entry, Reason.ABANDONED)


def _is_over(draft: Draft, entry: Entry, look: bool) -> bool:
    if lease_ended(entry, draft.now, draft.policy.lease):
        return True
    asker = entry.details.get("asker") if look else None
    return isinstance(asker, str) and draft.policy.gone(asker)


def lease_ended(reserved: Entry, now: int, lease: timedelta) -> bool:
    """Whether a reservation is open for longer than it may."""
    return reserved.at <= now - lease // _MICROSECOND


def end(draft: Draft) -> None:
    """Note which allowances have ended, so that they stay ended if the clock is set back."""
    for name, people in draft.balance.populations.items():
        for analyst in (None, *people.analysts):
            account = people.of(analyst)
            held = account.allowance
            if held is not None and not account.ended and held.ended(draft.now):
                draft.append(Kind.REVOKED, population=name, analyst=analyst, detail={"ended": held.until})


def looked(draft: Draft, analyst: str, table: str) -> Entry | None:
    """Let an analyst ask a table again after a failure."""
    if (analyst, table) not in draft.balance.paused:
        return None
    return draft.append(Kind.LOOKED, analyst=analyst, table=table)


def erase(draft: Draft, number: int) -> Entry | None:
    """Remove question and answer of a reservation, given its number or that of its settling."""
    entry = draft.entry(number)
    if entry is not None and entry.kind in (Kind.SETTLED, Kind.FAILED):
        entry = draft.entry(entry.refers or 0)
    if entry is None or entry.kind is not Kind.RESERVED:
        raise InvalidArgument(f"number must be that of a question in the ledger; got {number}; see entries()")
    if entry.number in draft.balance.open:
        raise InvalidArgument(f"question {number} is being answered; erase it when it has ended")
    if not (stored := draft.stored(entry.number)):
        return None
    draft.erased += stored
    return _end(draft, Kind.ERASED, entry, detail={"payloads": stored})
