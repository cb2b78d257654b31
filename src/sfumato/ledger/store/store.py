"""One door to the database: serialized writes, snapshots for reading, and one error for whatever goes wrong.

SQLite writes with BEGIN IMMEDIATE into a write-ahead log that is synchronized at every commit; PostgreSQL takes an
advisory lock for the transaction. Either way a writer sees every entry that was committed before it.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from sqlalchemy import BigInteger, Connection, Engine, Select, Text, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from sfumato.errors import InvalidArgument, LedgerBroken, LedgerUnavailable, SfumatoError
from sfumato.ledger.records.entry import COLUMNS, Entry, Head, Kind, from_row, to_row
from sfumato.ledger.records.payload import Payload
from sfumato.ledger.records.portable import Line, replacing
from sfumato.ledger.store.failure import unavailable
from sfumato.ledger.store.pinned import PINNED, Keepable, Whole, check_pinned, check_place, identity
from sfumato.ledger.store.place import may_write
from sfumato.ledger.store.schema import ENTRY, META, PAYLOAD

_PAGE = 1000
_META = {
    "schema_version": re.compile(r"\d{1,9}"),
    "identity": re.compile("[0-9a-f]{64}"),
    "secret": re.compile("[0-9a-f]{64}"),
    "head": re.compile(r"\d{1,18}-[0-9a-f]{64}"),
}
_ENTRY = [ENTRY.c[name] for name in COLUMNS]
_PAYLOAD = [PAYLOAD.c.salt, PAYLOAD.c.text, PAYLOAD.c.replay]
_AFTER = ENTRY.c.number > bindparam("after", type_=BigInteger)
_ENTRIES = select(*_ENTRY).where(_AFTER).order_by(ENTRY.c.number).limit(_PAGE)
_LINES = (
    select(*_ENTRY, *_PAYLOAD)
    .select_from(ENTRY.outerjoin(PAYLOAD, PAYLOAD.c.number == ENTRY.c.number))
    .where(_AFTER)
    .order_by(ENTRY.c.number)
    .limit(_PAGE)
)
_ANSWERS = (
    select(ENTRY.c.analyst, PAYLOAD.c.text, ENTRY.c.refers, PAYLOAD.c.salt, ENTRY.c.payload_digest)
    .select_from(PAYLOAD.join(ENTRY, ENTRY.c.number == PAYLOAD.c.number))
    .where(PAYLOAD.c.replay == bindparam("key", type_=Text))
    .order_by(PAYLOAD.c.number.desc())
)
_SNAPSHOT = select(*_ENTRY).where(_AFTER, ENTRY.c.kind == Kind.SNAPSHOT.value).order_by(ENTRY.c.number.desc()).limit(1)
_LOOK_BACK = 2000  # entries
_COMMITS, _SECONDS = 8, 1  # a log that has grown by so many commits, or this long, is written into the file
_UNKNOWN = "whether it was written is not known; if it was, it counts as spent"
_POSTGRES_LOCK = "SELECT pg_advisory_xact_lock(1936094573, 'sfumato_entry'::regclass::oid::int)"


class StoreTransaction:
    """What a ledger reads and writes in one go."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.changed = False

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries beyond a number, in order, each with its hash checked."""
        for rows in self._pages(_ENTRIES, after):
            for row in rows:
                yield from_row(tuple(row))

    def lines(self, after: int = 0) -> Iterator[Line]:
        """The entries beyond a number with what is left of their payloads."""
        for rows in self._pages(_LINES, after):
            for row in rows:
                salt, text, replay = row[len(COLUMNS) :]
                payload = None if salt is None else Payload.stored(salt, text, replay, row[0])
                yield from_row(tuple(row[: len(COLUMNS)])), payload

    def _pages(self, query: Select[Any], after: int) -> Iterator[Sequence[Any]]:
        while True:
            rows = self._connection.execute(query, {"after": after}).fetchall()
            yield rows
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]

    def entry(self, number: int) -> Entry | None:
        """One entry."""
        row = self._connection.execute(select(*_ENTRY).where(ENTRY.c.number == number)).fetchone()
        return None if row is None else from_row(tuple(row))

    def holds(self, head: Head) -> bool:
        """Whether an entry is there, or, for number 0, whether it is this ledger's beginning."""
        entry = self.entry(head.number)
        return head.hash == (self.meta()["identity"] if head.number == 0 else getattr(entry, "hash", None))

    def snapshot(self) -> Entry | None:
        """The last snapshot, found by looking back from the end in ever longer steps."""
        last = self._connection.execute(select(func.max(ENTRY.c.number))).scalar() or 0
        steps = _LOOK_BACK
        while True:
            row = self._connection.execute(_SNAPSHOT, {"after": max(0, last - steps)}).fetchone()
            if row is not None:
                return from_row(tuple(row))
            if steps >= last:
                return None
            steps *= 8

    def settled(self, reservation: int) -> int | None:
        """The number of the entry that settled a reservation."""
        query = select(ENTRY.c.number).where(ENTRY.c.refers == reservation, ENTRY.c.kind == Kind.SETTLED.value)
        found = self._connection.execute(query).scalar()
        return None if found is None else int(found)

    def answers(self, replay: str) -> Sequence[tuple[str, str, int]]:
        """Analyst, stored text and reservation of every answer under a replay key, latest first."""
        rows = self._connection.execute(_ANSWERS, {"key": replay}).fetchall()
        for _, text, refers, salt, digest in rows:
            if Payload.stored(salt, text, replay, refers).digest != digest:
                raise LedgerBroken(f"the stored answer to question {refers} was changed; verify the ledger")
        return [(row[0], row[1], row[2]) for row in rows]

    def stored(self, numbers: Iterable[int]) -> list[int]:
        """Those of the entries whose payload is still there."""
        query = select(PAYLOAD.c.number).where(PAYLOAD.c.number.in_(list(numbers))).order_by(PAYLOAD.c.number)
        return [row[0] for row in self._connection.execute(query)]

    def meta(self) -> dict[str, str]:
        """Schema version, identity, secret and head."""
        found = {row[0]: row[1] for row in self._connection.execute(select(META.c.name, META.c.value))}
        if lost := [name for name, shape in _META.items() if not shape.fullmatch(found.get(name, ""))]:
            raise LedgerBroken(f"the ledger has lost its {', '.join(lost)}; restore a backup into a new ledger")
        return found

    def head(self) -> Head:
        """The head that was written last."""
        return Head.read(self.meta()["head"])

    def set_meta(self, **values: str) -> None:
        """Write some of `meta`."""
        for name, value in values.items():
            changed = self._connection.execute(update(META).where(META.c.name == name).values(value=value))
            if not changed.rowcount:
                self._connection.execute(insert(META).values(name=name, value=value))
        self.changed = True

    def append(self, lines: Sequence[Line]) -> None:
        """Write entries and payloads, and the new head."""
        if not lines:
            return
        rows = [dict(zip(COLUMNS, to_row(entry), strict=True)) for entry, _ in lines]
        self._connection.execute(insert(ENTRY), rows)
        kept = [
            {"number": entry.number, "salt": payload.salt, "text": payload.text, "replay": payload.replay}
            for entry, payload in lines
            if payload is not None
        ]
        if kept:
            self._connection.execute(insert(PAYLOAD), kept)
        last = lines[-1][0]
        self.set_meta(head=f"{last.number}-{last.hash}")

    def erase(self, numbers: Sequence[int]) -> None:
        """Remove payloads."""
        if numbers:
            self._connection.execute(delete(PAYLOAD).where(PAYLOAD.c.number.in_(numbers)))
            self.changed = True


class Store:
    """The database of one ledger."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        self.process = os.getpid()
        self.is_new = False  # made by whoever opened it
        self.read_only = self.sqlite and not may_write(engine.url.database or "")
        self._whole = Whole()
        self._commits, self._whole_at = 0, -math.inf  # since the log was written into the file, and when that was
        self._file = identity(engine.url.database or "") if self.sqlite else None

    @property
    def label(self) -> str:
        """What the owner calls it: a path, or a database without its user and password."""
        url = self.engine.url
        return url.database or "" if self.sqlite else f"postgresql://{url.host or ''}/{url.database or ''}"

    def _connect(self) -> Connection:
        if self.process != os.getpid():  # SQLite would take the parent's locks for this process's own
            raise LedgerUnavailable(
                "the ledger must be opened by the process that uses it; this one was forked in a way that Python did "
                "not notice; open it after the fork; nothing was charged"
            )
        return self.engine.connect()

    @contextmanager
    def write(self) -> Iterator[StoreTransaction]:
        """A transaction that no other writer overlaps; it is durable when this returns without an error."""
        found = self._check_place()
        with unavailable("nothing was charged"), self._connect() as connection:
            connection = connection.execution_options(sfumato_writes=True)
            transaction = connection.begin()
            try:
                work = StoreTransaction(connection)
                self._lock(connection, work, found)
                yield work
                if work.changed:
                    with unavailable(_UNKNOWN):
                        transaction.commit()
                    self._check_pinned(connection, _UNKNOWN)
                else:
                    transaction.rollback()
            except BaseException:
                connection.invalidate()  # whatever state it is in, the next transaction begins afresh
                raise

    def _lock(self, connection: Connection, work: StoreTransaction, found: os.stat_result | None) -> None:
        """Let no other writer in; SQLite has done so when the transaction began."""
        if found is None:
            connection.exec_driver_sql(_POSTGRES_LOCK)
            return
        self._check_pinned(connection, "nothing was charged")
        self._whole.check(found, work.holds, _driver(connection))

    def _check_place(self) -> os.stat_result | None:
        """What is written into a file that was removed, replaced or renamed is lost; None: it is no file."""
        if not self.sqlite:
            return None
        try:
            return check_place(self.label, self._file)
        except SfumatoError:
            if self.engine.pool.checkedin():  # type: ignore[attr-defined]
                with closing(self.engine.raw_connection()) as pooled:
                    cast(Keepable, pooled.driver_connection).keep()
            raise

    def _check_pinned(self, connection: Connection, consequence: str) -> None:
        if self.sqlite and not self.read_only:
            check_pinned(self.label, connection.info[PINNED], _driver(connection), consequence)

    @contextmanager
    def read(self) -> Iterator[StoreTransaction]:
        """A snapshot."""
        with unavailable("nothing was asked"), self._connect() as connection:
            if not self.sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin() as transaction:
                yield StoreTransaction(connection)
                transaction.rollback()

    def backup(self, path: Path) -> None:
        """Copy a SQLite ledger while it is in use; the copy is there in full, and on the disk, or not at all."""
        if not self.sqlite:
            raise InvalidArgument(f"a backup of PostgreSQL must end in .jsonl; got {path.name!r}; rename it")
        if os.path.exists(path) and path.samefile(self.engine.url.database or ""):
            raise InvalidArgument("a backup must be another file than the ledger; got the ledger itself; rename it")
        with (
            replacing(path) as transaction,
            unavailable("no backup was made"),
            self._connect() as connection,
            closing(sqlite3.connect(transaction)) as target,
        ):
            cast(sqlite3.Connection, connection.connection.driver_connection).backup(target)

    def check(self) -> None:
        """Have SQLite look at every page and every index of its file; PostgreSQL has checksums and tools of its own."""
        if self.sqlite:
            with unavailable("nothing was verified"), self._connect() as connection:
                found = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
            if found != "ok":
                raise LedgerBroken("the ledger's file is damaged; restore a backup into a new ledger")

    def committed(self) -> None:
        """Now and then, write SQLite's log into the file itself: a copy of the file, or a lost log, loses little.

        What was committed is safe without it: where a reader is in the way, or the disk is full, the next one does it.
        """
        self._commits += 1
        if not self.sqlite or (self._commits < _COMMITS and time.monotonic() - self._whole_at < _SECONDS):
            return
        with suppress(DBAPIError), self._connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").all()
        self._whole = Whole()
        self._commits, self._whole_at = 0, time.monotonic()

    def scrub(self) -> None:
        """Let erased text also leave SQLite's write-ahead log; PostgreSQL does it when it vacuums."""
        if self.sqlite:
            with (
                unavailable("the text is erased, but may remain in the write-ahead log"),
                self._connect() as connection,
            ):
                busy, *_ = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
                if busy:
                    raise LedgerUnavailable(
                        "the text is erased, but remains in the write-ahead log while another program reads the "
                        "ledger; erase it again when that has ended"
                    )

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()


def _driver(connection: Connection) -> Keepable:
    return cast(Keepable, connection.connection.driver_connection)
