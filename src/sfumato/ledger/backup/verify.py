"""Walk a whole ledger and believe nothing: chain, numbers, times, references, payloads, and every decision again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter

from sfumato.errors import LedgerBroken, Refused
from sfumato.input_files import attempt, parse_json
from sfumato.ledger.admit import check_affordable, check_granted
from sfumato.ledger.balance import Balance
from sfumato.ledger.records.entry import Entry, Head, Kind
from sfumato.ledger.records.payload import Payload, key_of


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found to be in order: so many entries up to this head, and the balance that follows from them."""

    entries: int
    erased: int
    head: Head
    balance: Balance


@dataclass
class _Walk:
    """What has to be remembered on the way."""

    missing: dict[int, int] = field(default_factory=dict)  # payloads that are not there -> their reservation
    reserved: set[int] = field(default_factory=set)
    erased: int = 0
    origins: set[str] = field(default_factory=set)
    keys: dict[int, str] = field(default_factory=dict)  # reservation that is not settled -> its replay key


def verify(
    identity: str,
    lines: Iterable[tuple[Entry, Payload | None]],
    *,
    secret: bytes | None = None,
    head: Head | None = None,
    stored: Head | None = None,
    cached: Balance | None = None,
) -> Verified:
    """Check every entry from the first to the last.

    `secret`: that of the replay keys; with it, every stored answer must be found by its question. `head`: one that is
    known from a receipt. `stored`: the one the ledger itself wrote last. `cached`: a balance that was derived earlier
    and must come out again.
    """
    balance, walk = Balance.empty(identity), _Walk()
    heads = [known for known in (stored, head, None if cached is None else cached.head) if known is not None]
    _check_heads(balance, heads)
    for entry, payload in lines:
        after = balance.after(entry)
        _check_entry(balance, entry, walk)
        _check_payload(entry, payload, walk)
        if secret is not None:
            _check_key(secret, balance, entry, payload, walk)
        _check_grant(after, entry)
        balance = after
        _check_heads(balance, heads)
        if cached is not None and balance.head.number == cached.head.number and balance != cached:
            raise LedgerBroken(f"the balance after entry {entry.number} is another than the one derived before")
    for number in walk.missing:
        raise LedgerBroken(f"the payload of entry {number} is gone, and no entry says that it was erased")
    for known in heads:
        if known.number > balance.head.number:
            raise LedgerBroken(
                f"the ledger ends at entry {balance.head.number}, but entry {known.number} is known: it is an older "
                "copy, or its end was cut off; find the later one and merge it"
            )
    if stored is not None and stored.number != balance.head.number:
        raise LedgerBroken(f"entries beyond {stored} were added by something else than a ledger")
    return Verified(balance.head.number, walk.erased, balance.head, balance)


def _check_heads(balance: Balance, heads: list[Head]) -> None:
    for known in heads:
        if balance.head.number == known.number and not balance.head.hash.startswith(known.hash):
            raise LedgerBroken(
                f"entry {known.number} is known as {known}, but the ledger holds {balance.head}: it is another ledger, "
                "or a copy that went its own way; find the right one, or merge the copy"
            )


def _check_entry(balance: Balance, entry: Entry, walk: _Walk) -> None:
    """The decision again, as it was when the entry was written."""
    match entry.kind:
        case Kind.RESERVED:
            walk.reserved.add(entry.number)
            population, analyst = entry.population or "", entry.analyst or ""
            try:
                check_granted(balance, population, analyst, entry.at)
                check_affordable(balance, population, analyst, entry.amount)
            except Refused as refusal:
                raise LedgerBroken(refusal.at(f"entry {entry.number} should have been refused").text) from None
        case Kind.MERGED:
            origin = entry.details["origin"]
            if origin in walk.origins:
                raise LedgerBroken(f"entry {entry.number} merges what was merged before")
            walk.origins.add(origin)
        case Kind.ERASED if entry.refers not in walk.reserved:
            raise LedgerBroken(f"entry {entry.number} erases entry {entry.refers}, which is no reservation")
        case _:
            pass


def _check_grant(balance: Balance, entry: Entry) -> None:
    if entry.kind is Kind.GRANTED:
        people = balance.population(entry.population or "")
        account = people.account if entry.analyst is None else people.analyst(entry.analyst)
        if account.budget is None or not account.budget.sound:
            raise LedgerBroken(f"entry {entry.number} grants more rho than its epsilon and delta allow")


def _check_payload(entry: Entry, payload: Payload | None, walk: _Walk) -> None:
    if payload is not None and payload.digest != entry.payload_digest:
        raise LedgerBroken(f"the payload of entry {entry.number} was changed")
    if payload is None and entry.payload_digest is not None:
        walk.missing[entry.number] = entry.number if entry.kind is Kind.RESERVED else entry.refers or 0
    if entry.kind is Kind.ERASED:
        for number in entry.details["payloads"]:
            if walk.missing.pop(number, None) != entry.refers:
                raise LedgerBroken(f"entry {entry.number} says that payload {number} was erased, but it is there")
            walk.erased += 1


def _check_key(secret: bytes, balance: Balance, entry: Entry, payload: Payload | None, walk: _Walk) -> None:
    """A stored answer under another key would not be found, and its question would be charged a second time."""
    if entry.kind is Kind.RESERVED and payload is not None:
        broken = LedgerBroken(f"the question of entry {entry.number} cannot be read")
        plan, promise = attempt(lambda: itemgetter("plan", "promise")(parse_json(payload.text)), broken)
        renewed = balance.population(entry.population or "").renewed
        same = (renewed, entry.population, entry.table, entry.version, plan, promise, entry.guarantee)
        walk.keys[entry.number] = key_of(secret, same)
    elif entry.kind in (Kind.SETTLED, Kind.FAILED):
        expected = walk.keys.pop(entry.refers or 0, None)
        if payload is not None and None not in (expected, payload.replay) and payload.replay != expected:
            raise LedgerBroken(
                f"the answer of entry {entry.number} is stored under another key than its question has: the secret of "
                "the ledger was changed; restore the ledger from a backup"
            )
