"""What copies of one ledger have in common, and how one takes up what another has: by restoring, or by merging."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.errors import LedgerBroken, Refused
from sfumato.ledger.balance import Balance
from sfumato.ledger.operations import bind, declare
from sfumato.ledger.records.entry import Entry, Kind
from sfumato.ledger.records.portable import Copy, Line
from sfumato.ledger.transaction import Transaction
from sfumato.phrases import Action

_MERGE = Action("restore it into a new ledger, or merge it: ledger.merge(backup)")


def _origin(entry: Entry) -> str | None:
    """The hash of the reservation that an entry stands for, in whichever copy it was first written."""
    match entry.kind:
        case Kind.RESERVED:
            return entry.hash
        case Kind.MERGED:
            return str(entry.details["origin"])
    return None


def missing(head: int, ours: Iterator[Entry], copy: Copy) -> Iterator[Line]:
    """The lines of a copy that follow our last entry; refused unless the copy continues what we have."""
    theirs = Balance.empty(copy.identity)
    for entry, payload in copy.lines:
        theirs = theirs.after(entry)
        if payload is not None and payload.digest != entry.payload_digest:
            raise LedgerBroken(f"the payload of entry {entry.number} was changed in the backup")
        if entry.number > head:
            yield entry, payload
        elif (mine := next(ours)).hash != entry.hash:
            raise Refused(
                f"a backup must continue the ledger it is restored into; from entry {mine.number} on they differ",
                fix=_MERGE,
            )
    if theirs.head.number < head:
        raise Refused(
            f"the backup must not be older than the ledger; it ends at entry {theirs.head.number}, the ledger "
            f"at {head}: restoring it would forget what was spent",
            fix=_MERGE,
        )


def _take_over(transaction: Transaction, entry: Entry) -> None:
    """What a copy forbade holds here too: whose a source is, by which unit, and who may not ask any more."""
    population, detail = entry.population or "", entry.details
    if entry.kind is Kind.DECLARED:
        if "units" in detail:
            bind(transaction, population, detail["unit"], detail["units"])
        else:
            declare(transaction, population, detail["sources"])
        return
    people = transaction.balance.population(population)
    account = people.account if entry.analyst is None else people.analyst(entry.analyst)
    if "ended" in entry.details and (account.budget is None or account.budget.until != entry.details["ended"]):
        return  # what ended there is not what is granted here
    if not (account.revoked or account.ended):
        transaction.append(Kind.REVOKED, population=population, analyst=entry.analyst, detail=entry.details)


def merge(transaction: Transaction, copy: Copy) -> int:
    """Count what a copy spent since it went its own way; what was counted before is not counted again."""
    if copy.identity != transaction.identity:
        raise Refused(
            "only copies of one ledger can be merged; this is another ledger; keep both, each with its tables"
        )
    ours, theirs, spends = transaction.archive.entries(), Balance.empty(copy.identity), []
    mine: Entry | None = None
    shared = True
    for entry, _ in copy.lines:
        theirs = theirs.after(entry)
        if shared:
            mine = next(ours, None)
            shared = mine is not None and mine.hash == entry.hash
        if not shared and _origin(entry) is not None:
            spends.append(entry)
        elif not shared and entry.kind in (Kind.DECLARED, Kind.REVOKED):
            _take_over(transaction, entry)
    known = {_origin(entry) for entry in (*([] if mine is None else [mine]), *ours)}
    new = [entry for entry in spends if _origin(entry) not in known]
    for entry in new:
        transaction.append(
            Kind.MERGED,
            population=entry.population,
            analyst=entry.analyst,
            table=entry.table,
            version=entry.version,
            amount=entry.amount,
            mechanisms=entry.mechanisms,
            detail={"origin": _origin(entry), "number": entry.number, "at": entry.at},
        )
    return len(new)
