"""When a snapshot of the balance is written, and where the fold starts when a ledger is opened.

A snapshot is an entry like any other: written in a transaction that no other writer overlaps, chained by its hash, and
never changed. Whoever opens the ledger starts with the last snapshot but one and folds what follows. On the way the
fold meets the last snapshot and checks it (see `balance`), so that a single wrong one is noticed. Opening thus reads a
bounded number of entries, however long the ledger is.

An opened ledger trusts a snapshot as it trusts an entry: the hash of each entry that is read is right, and each follows
the one before. What stands before the snapshot is not read. `verify` reads everything from the first entry and checks
every snapshot.
"""

from __future__ import annotations

from typing import Protocol

from sfumato.ledger.balance import Balance
from sfumato.ledger.records.entry import Entry, Kind
from sfumato.ledger.transaction import Transaction

INTERVAL = 1000  # entries between snapshots: opening folds at most twice as many, which takes some 30 milliseconds


class Chain(Protocol):
    """What of a ledger is looked up to find a start."""

    def entry(self, number: int) -> Entry | None:
        """One entry."""

    def snapshot(self) -> Entry | None:
        """The last snapshot."""


def take(transaction: Transaction) -> None:
    """Write a snapshot after the entries of a transaction, if one is due."""
    if _due(transaction.balance):
        last = transaction.balance.snapshot or None
        transaction.append(Kind.SNAPSHOT, refers=last, detail=transaction.balance.details)


def _due(balance: Balance) -> bool:
    """A large balance is written less often, so that snapshots take a bounded share of the ledger."""
    since = balance.head.number - balance.snapshot
    return since >= INTERVAL and 2 * since >= _size(balance)


def _size(balance: Balance) -> int:
    accounts = sum(1 + len(people.analysts) for people in balance.populations.values())
    return accounts + len(balance.sources) + len(balance.open)


def start(identity: str, chain: Chain) -> Balance:
    """The balance from which a ledger that is being opened is folded."""
    last = chain.snapshot()
    before = None if last is None or last.refers is None else chain.entry(last.refers)
    for entry in (before, last):
        if entry is not None and entry.kind is Kind.SNAPSHOT:
            balance = Balance.restored(entry, chain.entry)
            if balance is not None:
                return balance
    return Balance.empty(identity)
