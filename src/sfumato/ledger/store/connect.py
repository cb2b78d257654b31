"""From a path or an address to a store whose tables are those of this version."""

from __future__ import annotations

import os
import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError

from sfumato.entropy import Entropy
from sfumato.errors import InvalidArgument, LedgerBroken, LedgerUnavailable
from sfumato.ledger.records.payload import fresh
from sfumato.ledger.store.failure import unavailable
from sfumato.ledger.store.pinned import PINNED, Keepable, pin
from sfumato.ledger.store.place import WAIT, check_one_name, may_write, prepare, reading
from sfumato.ledger.store.schema import MIGRATIONS, forget_functions
from sfumato.ledger.store.store import Store, StoreTransaction
from sfumato.phrases import Action, Option, Phrase

_WAL = "PRAGMA journal_mode = WAL"
_READING_SETTINGS = (f"PRAGMA busy_timeout = {WAIT * 1000}", "PRAGMA query_only = ON")
_SQLITE_SETTINGS = (
    f"PRAGMA busy_timeout = {WAIT * 1000}",
    _WAL,
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # where a plain fsync leaves the data in the disk's cache
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",
    "PRAGMA secure_delete = ON",  # erased text is overwritten
)
_POSTGRES_SETTINGS = (
    f"SET lock_timeout = '{WAIT}s'",
    f"SET idle_in_transaction_session_timeout = '{2 * WAIT}s'",  # a machine that vanished gives its lock back
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
)
_POSTGRES_CREATION = "SELECT pg_advisory_xact_lock(hashtextextended('sfumato ledger ' || current_schema(), 0))"


def read_url(where: str | os.PathLike[str]) -> URL:
    """The address that a path or an address means."""
    text = os.fspath(where)
    if not isinstance(text, str) or not text or ":memory:" in text or text == "sqlite://":
        raise InvalidArgument("ledger must be a path or an address; got none that lasts; write for example 'ledger.db'")
    if "\0" in text:
        raise InvalidArgument("ledger must be a path or an address; got one with a NUL character; rename it")
    if "://" not in text:
        return URL.create("sqlite", database=_real(text))  # one file, one name, whatever links lead to it
    try:
        url = make_url(text)
    except ArgumentError:
        raise InvalidArgument("ledger must be a path or an address; got an address that cannot be read") from None
    match url.drivername:
        case "sqlite" if url.database:
            return URL.create("sqlite", database=_real(url.database))
        case "postgresql" | "postgres" | "postgresql+psycopg":
            return url.set(drivername="postgresql+psycopg")
    raise InvalidArgument(
        f"ledger must be a path, sqlite:///file or postgresql+psycopg://...; got an address of {url.drivername!r}"
    )


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:
        raise InvalidArgument("ledger must be a path or an address; got signs that no file's name has") from None


def connect(where: str | os.PathLike[str], entropy: Entropy, *, create: bool | None = None) -> Store:
    """Open a ledger's database, and bring its tables up to date.

    `create`: None makes a ledger where there is no file; True also in an empty file, and in a database without our
    tables, where None refuses, since they may have been emptied; False never makes one.
    """
    url = read_url(where)
    is_new = False
    if url.drivername == "sqlite":
        with unavailable("nothing was asked"):
            is_new = prepare(Path(url.database or ""), create, lambda draft: _build(draft, entropy))
    store = Store(_engine(url))
    try:
        with unavailable("nothing was asked"):
            store.is_new = _migrate(store, entropy, create) or is_new
    except BaseException:
        store.close()
        raise
    return store


def _build(draft: Path, entropy: Entropy) -> None:
    """A new ledger in a file of its own; closing it leaves nothing in a log."""
    store = Store(_engine(URL.create("sqlite", database=str(draft))))
    try:
        _migrate(store, entropy, create=True)
    finally:
        store.close()


def _engine(url: URL) -> Engine:
    if url.drivername == "sqlite":
        path = url.database or ""
        writes = may_write(path)
        engine = create_engine(url, hide_parameters=True, creator=lambda: _open_sqlite(path, writes))
        event.listen(engine, "connect", partial(_set_up_sqlite, path) if writes else _set_up_reading)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        engine = create_engine(url, hide_parameters=True, isolation_level="READ COMMITTED", pool_pre_ping=True)
    except ModuleNotFoundError:
        raise InvalidArgument(
            "a ledger in PostgreSQL must have its driver, psycopg; it is not installed; pip install 'sfumato[postgres]'"
        ) from None
    event.listen(engine, "connect", _set_up_postgres)
    return engine


def _open_sqlite(path: str, writes: bool) -> sqlite3.Connection:
    check_one_name(path)
    options = "mode=rw" if writes else reading(path)
    address = f"file:{quote(path)}?{options}"
    return sqlite3.connect(address, uri=True, timeout=WAIT, check_same_thread=False, factory=Keepable)


def _set_up_reading(connection: Any, _: object) -> None:
    connection.isolation_level = None
    for setting in _READING_SETTINGS:
        connection.execute(setting).fetchall()


def _set_up_sqlite(path: str, connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions begin as `_begin_sqlite` says, not as the driver guesses
    for setting in _SQLITE_SETTINGS:
        _set(connection, setting)
    connection.execute("SELECT 1 FROM sqlite_schema").fetchone()  # it has its log open from now on
    record.info[PINNED] = pin(path)


def _set(connection: Any, setting: str) -> None:
    """Change a setting; to begin a log SQLite needs the file for itself, and does not wait for that on its own."""
    until = time.monotonic() + WAIT
    while True:
        try:
            connection.execute(setting).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("sfumato_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_up_postgres(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        for setting in _POSTGRES_SETTINGS:
            cursor.execute(setting)
    connection.commit()


def _version(connection: Connection) -> int:
    tables = inspect(connection)
    if tables.has_table("sfumato_meta"):
        return int(StoreTransaction(connection).meta()["schema_version"])
    if tables.has_table("sfumato_entry"):
        raise LedgerBroken("the ledger has lost its table of names; restore a backup into a new ledger")
    return 0


def _migrate(store: Store, entropy: Entropy, create: bool | None) -> bool:
    """Bring the tables up to date; whether there were none."""
    with store.engine.connect() as connection, connection.begin():
        version = _version(connection)
    if version == len(MIGRATIONS) or (version == 1 and store.read_only):  # the tables of 1 are those of 2
        return False
    if version > len(MIGRATIONS):
        raise LedgerUnavailable(
            f"the ledger was written by a newer version (its schema is {version}, {len(MIGRATIONS)} is known here); "
            "update Sfumato; nothing was charged"
        )
    if version == 0 and not create:
        raise _absent()
    with store.engine.connect().execution_options(sfumato_writes=True) as connection, connection.begin():
        if not store.sqlite:
            connection.exec_driver_sql(_POSTGRES_CREATION)
        version = _version(connection)  # another process may have been faster
        if version == 0:
            forget_functions(connection)
        for migration in MIGRATIONS[version:]:
            migration(connection)
        work = StoreTransaction(connection)
        if version == 0:
            identity = fresh(entropy).hex()
            work.set_meta(identity=identity, secret=fresh(entropy).hex(), head=f"0-{identity}")
        work.set_meta(schema_version=str(len(MIGRATIONS)))
    return version == 0


def _absent() -> LedgerUnavailable:
    """Also of a database that was emptied, or of the wrong one: a new ledger would forget what was spent."""
    return LedgerUnavailable(
        "No ledger here yet.",
        fix=Phrase(
            "Create it with ",
            Option("create", True),
            ". If something was spent already, the address is wrong or the database was emptied, and a new ledger "
            "would forget it: check the address, or restore a backup: ",
            Action("Ledger.restore(backup, into)"),
        ),
    )
