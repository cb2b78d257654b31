"""Where the ledger is written: one desk per process, at which many threads share transactions.

Everything that touches the database happens under one of two locks, so that a fork can wait until no connection is in
use. Nothing is handed out before it is durable: results leave `run` after the commit has returned.
"""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from sfumato.errors import InvalidArgument, LedgerBroken, NotGranted, Refused, SfumatoError
from sfumato.ledger import operations, snapshot
from sfumato.ledger.backup import copies
from sfumato.ledger.backup.verify import Verified, verify
from sfumato.ledger.backup.witness import Witness
from sfumato.ledger.balance import Balance
from sfumato.ledger.records.entry import Entry, Head, Kind
from sfumato.ledger.records.portable import Copy, Line
from sfumato.ledger.store.combine import Combiner, Ticket
from sfumato.ledger.store.memory import MemoryStore, MemoryTransaction
from sfumato.ledger.transaction import Operation, Policy, Transaction
from sfumato.phrases import Action, Phrase

if TYPE_CHECKING:
    from sfumato.ledger.store.store import Store, StoreTransaction

Result = TypeVar("Result")

_PAGE = 1000
_CHUNK = 500
_NUMBERS = 10**18  # beyond all that a database can count
_LOOK = 1  # seconds until it is seen again which processes still run


class Writer:
    """A store, what was read of it so far, and the queue of those who want to write."""

    def __init__(
        self, store: Store | MemoryStore, policy: Policy, clock: Callable[[], int], witness: Witness | None = None
    ) -> None:
        self.store = store
        self._witness = witness
        self._policy = policy
        self._clock = clock
        with store.read() as work:
            meta = work.meta()
        self._identity, self._secret = meta["identity"], bytes.fromhex(meta["secret"])
        self._balance = Balance.empty(self._identity)
        self._looked_at = -math.inf
        self._make_locks()
        _desks.add(self)

    def _make_locks(self) -> None:
        self._brief = threading.Lock()  # held for a transaction that decides
        self._long = threading.Lock()  # held while a whole ledger is read
        self._combiner: Combiner[Operation] = Combiner(self._process)

    def run(self, operation: Callable[[Transaction], Result]) -> Result:
        """Have an operation decided and written, together with those of other threads."""
        return cast(Result, self._combiner.submit(operation))

    def _process(self, batch: Sequence[Ticket[Operation]]) -> None:
        with self._brief:
            if self._balance.head.number == 0:
                self._read_up()  # a long ledger is read before it is locked
            with self.store.write() as work:
                balance = self._caught_up(work)
                self._check_witness(balance, work)
                transaction = Transaction(balance, self.now(balance), work, self._identity, self._secret, self._policy)
                operations.abandon(transaction, look=self._looks())
                for ticket in batch:
                    try:
                        ticket.result = transaction.attempt(ticket.work)
                    except (SfumatoError, TypeError, ValueError, OverflowError) as refusal:
                        ticket.error = refusal  # of this operation alone
                if any(isinstance(ticket.error, NotGranted) for ticket in batch):
                    operations.end(transaction)  # whoever was refused for it stays refused
                snapshot.take(transaction)
                work.append(transaction.lines)
                work.erase(transaction.erased)
            self._balance = transaction.balance
            if transaction.lines:
                self.store.committed()
                if self._witness is not None:
                    self._witness.write(self._balance)

    def _check_witness(self, balance: Balance, work: StoreTransaction | MemoryTransaction) -> None:
        if self._witness is not None:
            self._witness.check(balance, self._identity, work.entry)

    def reconcile(self) -> Sequence[Entry]:
        """Count as spent what the witness saw and the ledger lacks; from now on the witness sees this ledger."""
        if self._witness is None:
            raise InvalidArgument(
                "a ledger to be reconciled must have a witness; got none; name the file of its witness where the "
                "ledger is opened (in a project: witness, below [ledger])"
            )
        with self._brief:
            with self.store.write() as work:
                balance = self._caught_up(work)
                transaction = Transaction(balance, self.now(balance), work, self._identity, self._secret, self._policy)
                known = {entry.details["origin"] for entry in work.entries() if entry.kind is Kind.MERGED}
                for lost in self._witness.missing(self._identity, work.entry):
                    if lost.origin not in known:
                        detail = {"origin": lost.origin, "witness": True}
                        transaction.append(Kind.MERGED, **lost.fields, detail=detail)
                work.append(transaction.lines)
            self._balance = transaction.balance
            self._witness.write(self._balance, anew=True)
        return [entry for entry, _ in transaction.lines]

    def peek(self, operation: Callable[[Transaction], Result]) -> Result:
        """What an operation would come to now; nothing is written."""
        with self._brief, self.store.read() as work:
            self._balance = balance = self._caught_up(work)
            transaction = Transaction(balance, self.now(balance), work, self._identity, self._secret, self._policy)
            return operation(transaction)

    def _looks(self) -> bool:
        """Whether to see now which processes still run: at the first transaction, and then once a second."""
        due = time.monotonic() - self._looked_at >= _LOOK
        if due:
            self._looked_at = time.monotonic()
        return due

    def lease_ended(self, reserved: Entry) -> bool:
        """Whether a reservation is open for longer than it may, by the clock alone."""
        return operations.lease_ended(reserved, self.now(self._balance), self._policy.lease)

    def now(self, balance: Balance) -> int:
        """The ledger's time, which never goes back."""
        return max(self._clock(), balance.at)

    def known(self) -> Balance:
        """The balance that this process has seen, with all that it wrote itself."""
        return self._balance

    def balance(self) -> Balance:
        """The balance by everything that was committed until now."""
        with self._brief:
            self._read_up()
            return self._balance

    def _read_up(self) -> None:
        with self.store.read() as work:
            self._balance = self._caught_up(work)

    def _caught_up(self, work: StoreTransaction | MemoryTransaction) -> Balance:
        """The balance with what others wrote since; the last entry that was seen must still be there."""
        balance = self._balance if self._balance.head.number else snapshot.start(self._identity, work)
        seen = balance.head
        entries = work.entries(after=max(0, seen.number - 1))
        if seen.number and getattr(next(entries, None), "hash", None) != seen.hash:
            raise LedgerBroken(
                f"the ledger no longer holds entry {seen}, which was there before: an older copy was put in its place; "
                "find the later one and merge it"
            )
        for entry in entries:
            balance = balance.after(entry)
        if (stored := work.head()) != balance.head:
            raise LedgerBroken(
                f"the ledger ends at entry {balance.head}, but says that {stored} is its last: its end was cut off, or "
                "something else than a ledger wrote to it; restore a backup into a new ledger and merge this one"
            )
        return balance

    def entries(self, after: int) -> Iterator[Entry]:
        """The entries beyond a number; between pages no connection is in use."""
        while True:
            with self._long, self.store.read() as work:
                page = list(islice(work.entries(after), _PAGE))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].number

    def line(self, number: int) -> Line | None:
        """One entry, with what is left of its payload."""
        if not 0 < number < _NUMBERS:
            return None
        with self._long, self.store.read() as work:
            found = next(work.lines(after=number - 1), None)
        return found if found is not None and found[0].number == number else None

    @contextmanager
    def reading(self) -> Iterator[Copy]:
        """The whole ledger, as it is at this moment."""
        with self._long, self.store.read() as work:
            yield Copy(self._identity, self._secret.hex(), work.lines())

    def verify(self, head: Head | None) -> Verified:
        """Walk the whole ledger; what this desk knew before must come out again."""
        cached = self._balance
        with self._long, self.store.read() as work:
            verified = verify(
                self._identity, work.lines(), secret=self._secret, head=head, stored=work.head(), cached=cached
            )
            self._check_witness(verified.balance, work)
        with self._long:
            self.store.check()
        return verified

    def take(self, copy: Copy) -> None:
        """Append what a copy has more, in one transaction that is verified before it counts."""
        if copy.secret is None:
            raise Refused(
                "a backup must hold payloads; got an export without them",
                fix=Phrase("make one: ", Action("ledger.backup(path)")),
            )
        with self._brief:
            with self.store.write() as work:
                head = work.head()
                if head.number == 0:
                    work.set_meta(identity=copy.identity, secret=copy.secret, head=f"0-{copy.identity}")
                elif copy.identity != self._identity:
                    raise Refused("a backup must be of this ledger; got that of another one; restore it into a new one")
                lines = copies.missing(head.number, work.entries(), copy)
                while chunk := list(islice(lines, _CHUNK)):
                    work.append(chunk)
                secret = bytes.fromhex(copy.secret)
                balance = verify(copy.identity, work.lines(), secret=secret, stored=work.head()).balance
            self._identity, self._secret, self._balance = copy.identity, secret, balance
            self.store.committed()

    def backup(self, path: Path) -> None:
        """Copy the database."""
        with self._long:
            self.store.backup(path)

    def scrub(self) -> None:
        """Let erased text leave the disk; a reader would hold it there."""
        with self._long, self._brief:
            self.store.scrub()

    def close(self) -> None:
        """Give the database back."""
        self.store.close()


_desks: weakref.WeakSet[Writer] = weakref.WeakSet()
_held: list[Writer] = []  # while this process forks
_forking = threading.Lock()  # two threads that fork at once do it one after the other


def _before_fork() -> None:
    """A child must not inherit a connection: SQLite would take the parent's locks for its own."""
    _forking.acquire()
    _held[:] = _desks
    for writer in _held:  # all long ones first: who reads one ledger may be waiting to write another
        writer._long.acquire()
    for writer in _held:
        writer._brief.acquire()
        writer.store.close()


def _after_fork_in_parent() -> None:
    for writer in _held:
        writer._brief.release()
        writer._long.release()
    _held.clear()
    _forking.release()


def _after_fork_in_child() -> None:
    global _forking
    _forking = threading.Lock()
    for writer in _desks:
        writer._make_locks()  # the threads that held or awaited the old ones are not in the child
    for writer in _held:
        if not isinstance(writer.store, MemoryStore):  # a copy of one in memory would have its budget a second time
            writer.store.process = os.getpid()
    _held.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
