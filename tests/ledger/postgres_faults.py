"""What can go wrong with a PostgreSQL under a ledger: each fault is brought about, and mended again.

A fault is a context: within it something is wrong. Where a server reports an error that cannot be brought about here (a
full disk, a lost serialization), a trigger reports it with the same code.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psutil
from sqlalchemy import Engine, create_engine, event, make_url

from ledger.wire import Harm, Wire
from sfumato.ledger.ledger import Ledger

ROLE = "keeper"
_PATIENCE = 60  # seconds for a server to come back


class Scene:
    """A server of its own, an administrator, and a ledger's role whose connections go over a wire."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.wire = Wire(str(server.get_postmaster_info().socket_path))
        self.admin = create_engine(
            make_url(server.get_uri()).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
        )
        self.run(f"CREATE ROLE {ROLE} LOGIN", f"CREATE SCHEMA {ROLE} AUTHORIZATION {ROLE}")
        self.address = f"postgresql+psycopg://{ROLE}@127.0.0.1:{self.wire.port}/postgres?options=-csearch_path%3D{ROLE}"

    def run(self, *statements: str) -> None:
        """As the administrator."""
        with self.admin.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def cut(self) -> None:
        """End all connections of the role."""
        self.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{ROLE}'")

    def kill(self) -> None:
        """As a machine that loses power: the server has no time to say anything."""
        server = psutil.Process(self._server.get_pid())
        for process in (server, *server.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # the others end when the first is gone
                process.kill()
        self.admin.dispose()

    def stop(self) -> None:
        """As somebody who restarts the server."""
        self.admin.dispose()
        self._server.stop()

    def start(self) -> None:
        """Start the server again; one that was killed lets go of its memory a moment later."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                for folder in self._server.pgdata.parents[:2] if self._server.system_user else ():
                    folder.chmod(folder.stat().st_mode | 0o055)  # another run of pytest may have closed it
                self._server.ensure_postgres_running()
                self.run("SELECT 1")
                return
            except Exception:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def close(self) -> None:
        """Give everything back."""
        self.wire.close()
        self.admin.dispose()


Context = Callable[[Scene, Ledger], AbstractContextManager[None]]


@dataclass(frozen=True)
class Fault:
    """A fault, what its message says, and whether the question is charged."""

    name: str
    context: Context
    says: str
    charged: int = 0


def _engine(ledger: Ledger) -> Engine:
    return ledger._writer.store.engine


def _when(words: str, *, after: bool = False) -> Callable[[Callable[[Scene], None]], Context]:
    """Something happens once, right before or after a statement that begins with these words."""

    def decorate(happens: Callable[[Scene], None]) -> Context:
        @contextmanager
        def context(scene: Scene, ledger: Ledger) -> Iterator[None]:
            happened = []

            def watch(_: object, __: object, statement: str, *___: object) -> None:
                if statement.lstrip().startswith(words) and not happened:
                    happened.append(statement)
                    happens(scene)

            name = "after_cursor_execute" if after else "before_cursor_execute"
            event.listen(_engine(ledger), name, watch)
            try:
                yield
            finally:
                event.remove(_engine(ledger), name, watch)
            assert happened, f"no statement begins with {words}"

        return context

    return decorate


@contextmanager
def _cut_at_commit(scene: Scene, ledger: Ledger) -> Iterator[None]:
    def watch(_: object) -> None:
        scene.cut()

    event.listen(_engine(ledger), "commit", watch)
    try:
        yield
    finally:
        event.remove(_engine(ledger), "commit", watch)


@contextmanager
def _cut_while_idle(scene: Scene, _: Ledger) -> Iterator[None]:
    scene.cut()
    yield


@contextmanager
def _lock_held(scene: Scene) -> Iterator[None]:
    with scene.admin.connect() as other:
        other.exec_driver_sql(f"SELECT pg_advisory_lock(1936094573, '{ROLE}.sfumato_entry'::regclass::oid::int)")
        try:
            yield
        finally:
            other.exec_driver_sql("SELECT pg_advisory_unlock_all()")


@contextmanager
def _cut_in_the_queue(scene: Scene, ledger: Ledger) -> Iterator[None]:
    """Somebody holds the ledger's lock, and the connection that waits for it is cut."""

    def cut_soon(scene: Scene) -> None:
        threading.Timer(0.3, scene.cut).start()

    with _lock_held(scene), _when("SELECT pg_advisory_xact_lock")(cut_soon)(scene, ledger):
        yield


def _wired(words: bytes, harm: Harm) -> Context:
    @contextmanager
    def context(scene: Scene, _: Ledger) -> Iterator[None]:
        with scene.wire.harming(words, harm):
            yield
        assert scene.wire.harmed, f"no message holds {words!r}"

    return context


@contextmanager
def _killed(scene: Scene, _: Ledger) -> Iterator[None]:
    scene.kill()
    try:
        yield
    finally:
        scene.start()


@contextmanager
def _stopped(scene: Scene, _: Ledger) -> Iterator[None]:
    scene.stop()
    try:
        yield
    finally:
        scene.start()


@contextmanager
def _killed_in_between(scene: Scene, ledger: Ledger) -> Iterator[None]:
    try:
        with _when("INSERT INTO sfumato_entry", after=True)(Scene.kill)(scene, ledger):
            yield
    finally:
        scene.start()


def _changed(wrong: str, right: str) -> Context:
    """Something is set wrongly, and set right afterwards; the role connects anew each time."""

    @contextmanager
    def context(scene: Scene, _: Ledger) -> Iterator[None]:
        scene.run(wrong)
        scene.cut()
        try:
            yield
        finally:
            scene.run(right)
            scene.cut()

    return context


def _altered(wrong: str, right: str) -> Context:
    return _changed(f"ALTER ROLE {ROLE} {wrong}", f"ALTER ROLE {ROLE} {right}")


def _raised(code: str, table: str = "sfumato_entry", *, at_commit: bool = False) -> Context:
    """The server refuses a row of a table, or the commit, with a code."""
    name = f"{ROLE}.fault"
    function = (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'a fault' USING ERRCODE = '{code}'; END $$"
    )
    when = "CONSTRAINT TRIGGER fault AFTER" if at_commit else "TRIGGER fault BEFORE"
    deferred = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""

    @contextmanager
    def context(scene: Scene, _: Ledger) -> Iterator[None]:
        scene.run(
            function,
            f"CREATE {when} INSERT ON {ROLE}.{table} {deferred} FOR EACH ROW EXECUTE FUNCTION {name}()",
        )
        try:
            yield
        finally:
            scene.run(f"DROP FUNCTION {name} CASCADE")

    return context


@contextmanager
def _set(scene: Scene, ledger: Ledger, setting: str) -> Iterator[None]:
    """The ledger's connections have another setting."""

    def set_up(connection: Any, _: object) -> None:
        connection.execute(setting)
        connection.commit()

    event.listen(_engine(ledger), "connect", set_up)
    scene.cut()
    try:
        yield
    finally:
        event.remove(_engine(ledger), "connect", set_up)
        scene.cut()


def _hurried(setting: str) -> Context:
    """The ledger's connections wait for a moment only, and somebody holds the lock."""

    @contextmanager
    def context(scene: Scene, ledger: Ledger) -> Iterator[None]:
        with _set(scene, ledger, setting), _lock_held(scene):
            yield

    return context


@contextmanager
def _idle_for_too_long(scene: Scene, ledger: Ledger) -> Iterator[None]:
    """The process sleeps between two statements of a transaction for longer than the server waits."""
    asleep = _when("INSERT INTO sfumato_entry", after=True)(lambda _: time.sleep(0.5))
    with _set(scene, ledger, "SET idle_in_transaction_session_timeout = '50ms'"), asleep(scene, ledger):
        yield


_COMMIT = b"COMMIT\x00"  # and not READ COMMITTED
_TABLE = f"{ROLE}.sfumato_entry"
_META = f"UPDATE {ROLE}.sfumato_meta SET name = '{{}}' WHERE name = '{{}}'"
_CUT, _LOST = "connection to the database was cut|cannot be reached", "not known; if it was, it counts as spent"
_INSERT = "INSERT INTO sfumato_entry"
FAULTS = (
    Fault("an idle connection is cut", _cut_while_idle, "", 1),
    Fault("cut before the lock", _when("SELECT pg_advisory_xact_lock")(Scene.cut), _CUT),
    Fault("cut while waiting for the lock", _cut_in_the_queue, _CUT),
    Fault("cut before the chain is read", _when("SELECT sfumato_entry")(Scene.cut), _CUT),
    Fault("cut before the entry is written", _when(_INSERT)(Scene.cut), _CUT),
    Fault("cut after the entry was written", _when(_INSERT, after=True)(Scene.cut), _CUT),
    Fault("cut before the payload is written", _when("INSERT INTO sfumato_payload")(Scene.cut), _CUT),
    Fault("cut before the head is written", _when("UPDATE sfumato_meta")(Scene.cut), _CUT),
    Fault("cut before the commit", _cut_at_commit, _LOST),
    Fault("the commit never arrives", _wired(_COMMIT, Harm.LOST), _LOST),
    Fault("the reply to the commit is lost", _wired(_COMMIT, Harm.UNANSWERED), _LOST, 1),
    Fault("half of the reply to the commit arrives", _wired(_COMMIT, Harm.TORN), _LOST, 1),
    Fault("something else arrives in place of the reply", _wired(_COMMIT, Harm.FOULED), _LOST, 1),
    Fault("something else arrives while the entry is written", _wired(_INSERT.encode(), Harm.FOULED), "charged"),
    Fault("the server is killed", _killed, _CUT),
    Fault("the server is killed after the entry was written", _killed_in_between, _CUT),
    Fault("the server is stopped", _stopped, _CUT),
    Fault("read only", _altered("SET default_transaction_read_only = on", "RESET ALL"), "may only be read"),
    Fault("the disk is full", _raised("53100"), "the disk is full"),
    Fault("the disk is full when the payload is written", _raised("53100", "sfumato_payload"), "the disk is full"),
    Fault("the disk is full at the commit", _raised("53100", at_commit=True), "the disk is full"),
    Fault("out of memory", _raised("53200"), "out of memory"),
    Fault("a serialization failure", _raised("40001"), "another transaction was in the way"),
    Fault("a deadlock", _raised("40P01"), "another transaction was in the way"),
    Fault("a lock timeout", _hurried("SET lock_timeout = '100ms'"), "another program keeps it locked"),
    Fault("a statement timeout", _hurried("SET statement_timeout = '100ms'"), "a time limit of the database"),
    Fault("idle in a transaction for too long", _idle_for_too_long, _CUT),
    Fault("the role may not log in", _altered("NOLOGIN", "LOGIN"), "does not let the role in"),
    Fault("too many connections", _altered("CONNECTION LIMIT 0", "CONNECTION LIMIT -1"), "does not let the role in"),
    Fault(
        "the right to write is gone",
        _changed(f"REVOKE INSERT ON {_TABLE} FROM {ROLE}", f"GRANT INSERT ON {_TABLE} TO {ROLE}"),
        "grant it the right",
    ),
    Fault(
        "the table is gone",
        _changed(f"ALTER TABLE {_TABLE} RENAME TO gone", f"ALTER TABLE {ROLE}.gone RENAME TO sfumato_entry"),
        "its tables are not there",
    ),
    Fault(
        "a column is gone",
        _changed(f"ALTER TABLE {_TABLE} RENAME detail TO gone", f"ALTER TABLE {_TABLE} RENAME gone TO detail"),
        "its tables are not there",
    ),
    Fault(
        "the head is gone",
        _changed(_META.format("gone", "head"), _META.format("head", "gone")),
        "has lost its head",
    ),
)
