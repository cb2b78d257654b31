"""From a path or an address to a store whose tables are those of this version."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError

from sfumato.entropy import Entropy
from sfumato.errors import InvalidArgument, LedgerUnavailable
from sfumato.ledger.payload import fresh
from sfumato.ledger.store.failure import unavailable
from sfumato.ledger.store.schema import MIGRATIONS
from sfumato.ledger.store.store import Store, Transaction
from sfumato.owned import owned

WAIT = 30  # seconds for a lock

_SQLITE_SETTINGS = (
    f"PRAGMA busy_timeout = {WAIT * 1000}",
    "PRAGMA journal_mode = WAL",
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
    if "://" not in text:
        return URL.create("sqlite", database=os.path.abspath(text))
    try:
        url = make_url(text)
    except ArgumentError:
        raise InvalidArgument("ledger must be a path or an address; got an address that cannot be read") from None
    match url.drivername:
        case "sqlite" if url.database:
            return URL.create("sqlite", database=os.path.abspath(url.database))
        case "postgresql" | "postgres" | "postgresql+psycopg":
            return url.set(drivername="postgresql+psycopg")
    raise InvalidArgument(
        f"ledger must be a path, sqlite:///file or postgresql+psycopg://...; got an address of {url.drivername!r}"
    )


def connect(where: str | os.PathLike[str], entropy: Entropy, *, create: bool = True) -> Store:
    """Open a ledger's database, create it if it is not there, and bring its tables up to date."""
    url = read_url(where)
    if url.drivername == "sqlite":
        _prepare_file(Path(url.database or ""), create)
    store = Store(_engine(url))
    try:
        with unavailable("nothing was asked"):
            _migrate(store, entropy, create)
    except BaseException:
        store.close()
        raise
    return store


def _prepare_file(path: Path, create: bool) -> None:
    if path.exists():
        return
    if not create:
        raise LedgerUnavailable(f"the ledger must exist; there is none at {str(path)!r}; check the path")
    try:  # questions may hold names: a new ledger is readable by its owner only
        owned(path)
    except OSError as error:
        raise LedgerUnavailable(
            f"the ledger must be writable; {str(path)!r} cannot be created: {error.strerror}; keep it elsewhere"
        ) from None


def _engine(url: URL) -> Engine:
    if url.drivername == "sqlite":
        engine = create_engine(url, hide_parameters=True, connect_args={"timeout": WAIT, "check_same_thread": False})
        event.listen(engine, "connect", _set_up_sqlite)
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


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin as `_begin_sqlite` says, not as the driver guesses
    for setting in _SQLITE_SETTINGS:
        connection.execute(setting).fetchall()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("sfumato_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_up_postgres(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        for setting in _POSTGRES_SETTINGS:
            cursor.execute(setting)
    connection.commit()


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table("sfumato_meta"):
        return 0
    return int(Transaction(connection).meta()["schema_version"])


def _migrate(store: Store, entropy: Entropy, create: bool) -> None:
    with store.engine.connect() as connection, connection.begin():
        version = _version(connection)
    if version == len(MIGRATIONS):
        return
    if version > len(MIGRATIONS):
        raise LedgerUnavailable(
            f"the ledger was written by a newer version (its schema is {version}, {len(MIGRATIONS)} is known here); "
            "update Sfumato; nothing was charged"
        )
    if version == 0 and not create:
        raise LedgerUnavailable("the ledger must exist; this database holds none; check the address")
    with store.engine.connect().execution_options(sfumato_writes=True) as connection, connection.begin():
        if not store.sqlite:
            connection.exec_driver_sql(_POSTGRES_CREATION)
        version = _version(connection)  # another process may have been faster
        for migration in MIGRATIONS[version:]:
            migration(connection)
        work = Transaction(connection)
        if version == 0:
            identity = fresh(entropy).hex()
            work.set_meta(identity=identity, secret=fresh(entropy).hex(), head=f"0-{identity}")
        work.set_meta(schema_version=str(len(MIGRATIONS)))
