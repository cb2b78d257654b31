"""Sessions of our own on the Spark that is meant: with a driver here, or over Spark Connect.

A session that is there already is asked for a new one beside it, so that settings, names and views are nobody else's;
over Connect, ours is released in the end.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sfumato.engines.spark._disks import ENCRYPTED, protect
from sfumato.engines.spark._java import HELPS, LEAST, wanting

CONNECT = "sc://"
PACKAGES = ("grpc", "grpc_status", "zstandard", "pandas")  # of its client


class Unreachable(Exception):
    """No session, for a reason that may be told: nothing of an address is in it."""


@contextmanager
def opened(address: str) -> Iterator[Any]:
    """A new session, which is known to answer."""
    with _unheard():
        session = _connected(address) if address.startswith(CONNECT) else _beside(_found(address))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of how often it was tried
                _ = session.version  # over Connect nothing was asked so far
            protect(session, remote=is_remote(session))
            yield session
        finally:
            if is_remote(session):
                _release(session)


def is_remote(session: Any) -> bool:
    """Whether its driver is another process, which is reached by Spark Connect."""
    return ".connect." in type(session).__module__


@contextmanager
def active(session: Any) -> Iterator[None]:
    """The active session of this thread is ours for a moment.

    The client of Connect takes the copy that a server made for one of the active session's, whichever made it
    (pyspark 4.3, `proto_to_remote_cached_dataframe`): another session's server state has no such copy.
    """
    if not is_remote(session):
        yield
        return
    mine = type(session)._active_session
    before = getattr(mine, "session", None)
    mine.session = session
    try:
        yield
    finally:
        mine.session = before


class _Unheard(logging.Filter):
    """Drops what Spark's client says of errors in this thread's session of ours: its words may hold values."""

    def __init__(self) -> None:
        super().__init__()
        self.asking = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(self.asking, "now", False)


_UNHEARD = _Unheard()


@contextmanager
def _unheard() -> Iterator[None]:
    """Errors in a session of ours are not written to the log of Spark's client."""
    from pyspark.logger import PySparkLogger  # whose own class these must have

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_UNHEARD)
    before = getattr(_UNHEARD.asking, "now", False)
    _UNHEARD.asking.now = True
    try:
        yield
    finally:
        _UNHEARD.asking.now = before


def _found(address: str) -> Any:
    """The session that is there, or the one that Spark's settings or a master make."""
    from pyspark.sql import SparkSession

    there = _there(SparkSession)
    if not address:
        return there or _started(SparkSession.builder)
    if there is not None and (is_remote(there) or there.sparkContext.master != address):
        raise Unreachable("this process has another Spark already, and can have one only; write spark:catalog.table")
    return there or _started(SparkSession.builder.master(address))


def _started(builder: Any) -> Any:
    """A new driver on this machine, or what Spark's settings say."""
    if "SPARK_REMOTE" not in os.environ and (wrong := wanting()):
        raise Unreachable(f"Spark's driver needs Java {LEAST} or newer here; {wrong}; {HELPS}")
    return builder.config(ENCRYPTED, "true").getOrCreate()


def _there(sessions: Any) -> Any:
    """The session of this thread or process; none: there is none."""
    with contextlib.suppress(Exception):
        return sessions.active()
    connected = sys.modules.get("pyspark.sql.connect.session")  # one that was made without the usual builder
    with contextlib.suppress(Exception):
        return connected and connected.SparkSession.active()
    return None


def _beside(session: Any) -> Any:
    new = session.newSession()
    return _patient(new) if is_remote(new) else new


def _connected(address: str) -> Any:
    """By its constructor: a builder would make it the session of everybody else here."""
    if missing := [package for package in PACKAGES if importlib.util.find_spec(package) is None]:
        raise Unreachable(f"Spark Connect needs {', '.join(missing)}; pip install 'sfumato[spark]' brings it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is installed beside it
        from pyspark.sql.connect.session import SparkSession

    return _patient(SparkSession(connection=address))


def _patient(session: Any) -> Any:
    """A server that does not answer is asked again for some eight seconds, not for ten minutes."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session.client.set_retry_policies([DefaultPolicy(max_retries=4, initial_backoff=100, max_backoff=5_000)])
    return session


def _release(session: Any) -> None:
    """What a server holds for it; `stop` would also end a server that somebody started on this machine."""
    with contextlib.suppress(Exception):
        session.client.release_session()
    with contextlib.suppress(Exception):
        session.client.close()
