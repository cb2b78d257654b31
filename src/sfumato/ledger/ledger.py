"""The durable ledger: what is spent is written before the data is touched, and no crash, copy or race undoes it.

>>> import tempfile
>>> from sfumato.privacy.loss import Loss
>>> folder = tempfile.TemporaryDirectory()
>>> ledger = Ledger.open(f"{folder.name}/ledger.db")
>>> _ = ledger.establish("people", Guarantee(epsilon=1))
>>> half = Request("people", "ana", "visits", "2026-11", "COUNT(*)", "epsilon 0.5", (), Loss.pure(0.5))
>>> reservation = ledger.reserve(half)
>>> _ = ledger.settle(reservation, '{"n": 7}')
>>> ledger.reserve(half)                                        # asked before: free
Replay(answer='{"n": 7}', entry=2)
>>> ledger.remaining("people").epsilon
Fraction(1, 2)
>>> ledger.verify().entries
3
>>> ledger.close(); folder.cleanup()
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato import checks
from sfumato.accounting.filter import Remaining
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, LedgerBroken
from sfumato.input_files import attempt, parse_json
from sfumato.ledger import operations
from sfumato.ledger.admit import left_to
from sfumato.ledger.asker import is_gone, mark
from sfumato.ledger.backup import copies
from sfumato.ledger.backup.verify import Verified
from sfumato.ledger.backup.witness import Witness
from sfumato.ledger.balance import Balance
from sfumato.ledger.operations import Reason
from sfumato.ledger.records.amount import DELTA_UNIT, UNIT
from sfumato.ledger.records.budget import EPOCH, Budget
from sfumato.ledger.records.entry import Entry, Head
from sfumato.ledger.records.portable import Copy, Line, read_json, write_csv, write_json
from sfumato.ledger.records.request import Replay, Request, Reservation, name, text
from sfumato.ledger.store.memory import MemoryStore
from sfumato.ledger.transaction import Policy
from sfumato.ledger.writer import Writer
from sfumato.phrases import Action, Phrase
from sfumato.privacy.guarantee import Guarantee

Where = str | os.PathLike[str]

OWNER_LOG = logging.getLogger("sfumato.owner")
_NEW = "new ledger: %s; nothing is recorded as spent in it; if there was an earlier one, stop and restore it"

_JSON_LINES = (".jsonl", ".ndjson")
_SECOND = timedelta(seconds=1)
_MICROSECOND = timedelta(microseconds=1)


def system_clock() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def _product() -> str:
    return str(sys.modules["sfumato"].__version__)  # an import would point up: the package's head imports this module


class Ledger:
    """An append-only record of every spend, safe for many threads, processes and machines."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    @classmethod
    def open(
        cls,
        where: Where,
        *,
        pause: bool = True,
        share_answers: bool = False,
        lease: timedelta = timedelta(hours=1),
        create: bool | None = None,
        witness: Where | None = None,
        clock: Callable[[], int] = system_clock,
        entropy: Entropy = SYSTEM,
    ) -> Ledger:
        """Open 'ledger.db', 'sqlite:///ledger.db' or 'postgresql+psycopg://...'; see `Policy` for the options.

        A file that does not exist becomes a new ledger, and the owner's log says so. An existing file that is empty,
        and a database without a ledger's tables, may have lost what was spent: they are refused unless `create` is
        True. With False nothing is ever created. `witness` is a file elsewhere that keeps the last head and balance: a
        ledger that went back behind it asks nothing until its owner decides; see `reconcile`.
        """
        from sfumato.ledger.store.connect import connect  # SQLAlchemy takes a fifth of a second to import

        if not isinstance(lease, timedelta) or lease < _SECOND:
            raise InvalidArgument(
                f"lease must be a timedelta of at least a second; got {lease!r}; for example one hour"
            )
        policy = Policy(checks.flag(pause=pause), share_answers, lease, entropy, _product(), mark, is_gone)
        watching = None if witness is None else Witness.at(witness)
        store = connect(where, entropy, create=create)
        if store.is_new:
            OWNER_LOG.warning(_NEW, store.label)
        return cls(Writer(store, policy, clock, watching))

    @classmethod
    def in_memory(
        cls, *, pause: bool = True, clock: Callable[[], int] = system_clock, entropy: Entropy = SYSTEM
    ) -> Ledger:
        """A ledger that lasts as long as the process; the same rules, and no file."""
        policy = Policy(checks.flag(pause=pause), False, timedelta(days=36_500), entropy, _product())
        return cls(Writer(MemoryStore(entropy), policy, clock))

    def close(self) -> None:
        """Give the database back."""
        self._writer.close()

    @property
    def is_new(self) -> bool:
        """Whether there was no ledger before this one was opened."""
        return self._writer.store.is_new

    @property
    def label(self) -> str:
        """Where it is, for the owner: a path, or a database without user and password."""
        return self._writer.store.label

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------ the owner

    def declare(self, population: str, sources: Iterable[str]) -> Entry | None:
        """Say which sources hold a population; a source belongs to one population for ever."""
        name(population=population)
        named = [text(source=source) for source in sources]
        return self._writer.run(lambda transaction: operations.declare(transaction, population, named))

    def bind(
        self, population: str, unit: str, sources: Mapping[str, str], *, guarantee: Guarantee | None = None
    ) -> Entry | None:
        """Say which sources hold a population, and the unit of each: what was said first holds for ever.

        Args:
            population: The name of the people.
            unit: What their tables protect, and under which neighbor relation, in the words of
                `dataset.protected.meaning_of`.
            sources: The same for each source, with its columns.
            guarantee: The population's budget, to be established in the same transaction.

        Returns:
            The entry, or None where the ledger holds all of it already.

        Raises:
            Refused: The ledger holds another unit or neighbor relation for the population or for a source, or another
                budget.
            InvalidArgument: A source belongs to another population.

        """
        name(population=population), text(unit=unit)
        named = {text(source=source): text(unit=each) for source, each in sources.items()}
        budget = None if guarantee is None else _budget(guarantee, None)
        return self._writer.run(lambda transaction: operations.bind(transaction, population, unit, named, budget))

    def grant(
        self, population: str, guarantee: Guarantee, *, analyst: str | None = None, until: datetime | None = None
    ) -> Entry:
        """Set what may be spent on a population, or by one analyst within it, in place of an earlier grant."""
        name(population=population)
        if analyst is not None:
            name(analyst=analyst)
        budget = _budget(guarantee, until)
        return self._writer.run(lambda transaction: operations.grant(transaction, population, analyst, budget))

    def establish(self, population: str, guarantee: Guarantee) -> Entry | None:
        """Grant the first budget of a population; refused if the ledger already holds another one."""
        name(population=population)
        budget = _budget(guarantee, None)
        return self._writer.run(lambda transaction: operations.establish(transaction, population, budget))

    def revoke(self, population: str, *, analyst: str | None = None, why: str = "") -> Entry:
        """End the budget of a population, or of one analyst; what was spent stays spent."""
        name(population=population)
        if analyst is not None:
            name(analyst=analyst)
        return self._writer.run(lambda transaction: operations.revoke(transaction, population, analyst, why))

    def renew(self, population: str, why: str) -> Entry:
        """Declare that nobody in a population was in it before: sums begin at zero."""
        name(population=population), text(why=why)
        return self._writer.run(lambda transaction: operations.renew(transaction, population, why))

    def resume(self, analyst: str, table: str) -> Entry | None:
        """Let an analyst ask a table again after a failure that the owner looked at."""
        name(analyst=analyst), name(table=table)
        return self._writer.run(lambda transaction: operations.looked(transaction, analyst, table))

    def erase(self, id: int | str | Head) -> Entry | None:
        """Remove question and answer for good; the chain stays whole, and what was spent stays spent.

        `id` is that of a receipt, or the number of the entry that paid or settled.
        """
        number = self.entry(id).number
        entry = self._writer.run(lambda transaction: operations.erase(transaction, number))
        self._writer.scrub()
        return entry

    def reconcile(self) -> Sequence[Entry]:
        """Count as spent what the witness saw and this ledger lacks, so that it can be asked again."""
        return self._writer.reconcile()

    # ------------------------------------------------------------------------------------------ the curator

    def check(self, request: Request) -> Replay | None:
        """Find the answer that was paid for, or refuse what `reserve` would refuse now; nothing is charged."""
        _check_request(request)
        found = self._writer.peek(lambda transaction: operations.reserve(transaction, request))
        return found if isinstance(found, Replay) else None

    def reserve(self, request: Request) -> Reservation | Replay:
        """Charge a question before the data is touched, or find the answer that was paid for; or refuse."""
        _check_request(request)
        return self._writer.run(lambda transaction: operations.reserve(transaction, request))

    def settle(self, reservation: Reservation, answer: str) -> Entry:
        """Keep the answer, for whoever asks the same again."""
        text(answer=answer)
        _check_reservation(reservation)
        return self._writer.run(lambda transaction: operations.settle(transaction, reservation, answer))

    def fail(self, reservation: Reservation, reason: Reason | str) -> Entry:
        """Note that there was no answer: 'engine', 'timeout', 'cancelled' or 'abandoned'; it stays spent."""
        try:
            known = Reason(reason)
        except ValueError:
            raise InvalidArgument(f"reason must be one of {', '.join(Reason)}; got {reason!r}") from None
        _check_reservation(reservation)
        return self._writer.run(lambda transaction: operations.fail(transaction, reservation, known))

    def lease_ended(self, reservation: Reservation) -> bool:
        """Whether a reservation was open for longer than the lease; then it has failed, and no answer is given."""
        return self._writer.lease_ended(reservation.entry)

    # ------------------------------------------------------------------------------------------ reading

    def balance(self) -> Balance:
        """What was spent and what may be, by everything that was committed until now."""
        return self._writer.balance()

    @property
    def head(self) -> Head:
        """The last entry; print it on receipts, and a ledger that lost entries is found out."""
        return self.balance().head

    def known(self) -> Balance:
        """The balance that this process has seen, with all that it wrote itself; others may have written since."""
        return self._writer.known()

    def remaining(self, population: str, analyst: str | None = None, balance: Balance | None = None) -> Remaining:
        """What is left to a population, or to one analyst in it; by a balance that is given, or by a new one."""
        balance = balance or self.balance()
        left = left_to(balance, population, analyst, self._writer.now(balance))
        return Remaining(
            Fraction(left.epsilon or 0, UNIT), Fraction(left.rho or 0, UNIT), Fraction(left.delta, DELTA_UNIT)
        )

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """All entries in order, or those beyond a number."""
        return self._writer.entries(after)

    def entry(self, id: int | str | Head) -> Entry:
        """One entry, by the id of a receipt, by an id whose hash is cut short, or by its number alone."""
        return self._line(id)[0]

    def stored(self, id: int | str | Head) -> dict[str, Any] | None:
        """What is kept of a question (plan, promise, text) or of its answer; None if it was erased, or never was."""
        entry, payload = self._line(id)
        broken = LedgerBroken(f"the payload of entry {entry.number} cannot be read; verify the ledger")
        return None if payload is None else attempt(lambda: dict(parse_json(payload.text)), broken)

    def _line(self, id: int | str | Head) -> Line:
        wanted = _read_id(id)
        line = self._writer.line(wanted.number)
        if line is None:
            raise InvalidArgument(
                f"id must be that of an entry in the ledger; got {wanted.number}",
                fix=Phrase("see the numbers: ", Action("ledger.entries()")),
            )
        if not line[0].hash.startswith(wanted.hash):
            raise InvalidArgument(
                f"id must be that of an entry in this ledger; got {wanted}, but the ledger holds {line[0].head}: the "
                "receipt is of another ledger, or of a copy that went its own way; find that one"
            )
        return line

    def verify(self, head: Head | str | None = None) -> Verified:
        """Walk the whole chain and decide everything again; a known head finds an older or another ledger."""
        return self._writer.verify(None if head is None else Head.read(head))

    def export(self, path: Where, *, payloads: bool = False) -> None:
        """Write all entries to a .jsonl or .csv file, with questions and answers if asked."""
        target = _target(path, (*_JSON_LINES, ".csv"))
        with self._writer.reading() as copy:
            if target.suffix == ".csv":
                write_csv(target, copy.lines, payloads=payloads)
            else:
                write_json(target, copy.identity, copy.secret if payloads else None, copy.lines)

    # ------------------------------------------------------------------------------------------ copies

    def backup(self, path: Where) -> None:
        """Copy the ledger while it is in use: .jsonl for any ledger, otherwise a SQLite file."""
        target = Path(path)
        if target.suffix in _JSON_LINES:
            self.export(target, payloads=True)
            return
        self._writer.backup(target)

    @classmethod
    def restore(cls, backup: Where, into: Where, **options: Any) -> Ledger:
        """Write a backup into a new ledger, or what it has more into an older one; never forgets an entry.

        An empty file, or an empty database, may take it too, unless `create` says otherwise.
        """
        with _copy_of(backup) as copy:  # a damaged backup must not leave an empty ledger behind
            copy.announce()
            for _ in copies.missing(0, iter(()), copy):
                pass
        ledger = cls.open(into, **{"create": True, **options})
        try:
            with _copy_of(backup) as copy:
                ledger._writer.take(copy)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def merge(self, other: Ledger | Where) -> int:
        """Count what a copy of this ledger spent on its own; how many spends were new. Repeating it adds nothing."""
        with other._writer.reading() if isinstance(other, Ledger) else _copy_of(other) as copy:
            copy.announce()
            return self._writer.run(lambda transaction: copies.merge(transaction, copy))


def _check_request(request: Request) -> None:
    if not isinstance(request, Request):
        raise InvalidArgument(f"request must be a Request; got a {type(request).__name__}; make one for the plan")


def _read_id(id: int | str | Head) -> Head:
    if isinstance(id, str) and id.strip().isdecimal():
        id = int(id)
    return Head(id, "") if isinstance(id, int) else Head.read(id)


def _check_reservation(reservation: Reservation) -> None:
    if not isinstance(reservation, Reservation):
        raise InvalidArgument(
            f"reservation must be what reserve returned for a new question; got a {type(reservation).__name__}"
        )


def _budget(guarantee: Guarantee, until: datetime | None) -> Budget:
    if not isinstance(guarantee, Guarantee):
        raise InvalidArgument(f"guarantee must be a Guarantee; got {guarantee!r}; for example Guarantee(epsilon=3)")
    if until is None:
        return Budget(guarantee.epsilon, guarantee.delta)
    if not isinstance(until, datetime) or until.tzinfo is None:
        raise InvalidArgument(f"until must be a datetime with a time zone; got {until!r}; add tzinfo=UTC")
    return Budget(guarantee.epsilon, guarantee.delta, (until - EPOCH) // _MICROSECOND)


def _target(path: Where, suffixes: tuple[str, ...]) -> Path:
    target = Path(path)
    if target.suffix not in suffixes:
        raise InvalidArgument(f"the file's name must end in {' or '.join(suffixes)}; got {target.name!r}; rename it")
    return target


@contextmanager
def _copy_of(where: Where) -> Iterator[Copy]:
    """A backup, whichever way it was made."""
    if Path(where).suffix in _JSON_LINES:
        yield read_json(Path(where))
        return
    with Ledger.open(where, create=False) as ledger, ledger._writer.reading() as copy:
        yield copy
