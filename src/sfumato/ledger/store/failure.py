"""What a database says when it fails, as an error of ours: whether the ledger is broken, and what helps."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError

from sfumato.errors import LedgerBroken, LedgerUnavailable


@contextmanager
def unavailable(consequence: str) -> Iterator[None]:
    """Turn what a database says into `LedgerUnavailable` or `LedgerBroken`; no path, host or value gets into it."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        broken, reason = _reason(error.orig if isinstance(error, DBAPIError) else error)
        if broken:
            raise LedgerBroken(f"the ledger cannot be read: {reason}; restore a backup into a new ledger") from error
        raise LedgerUnavailable(f"the ledger must be readable and writable; {reason}; {consequence}") from error
    except UnicodeDecodeError:  # SQLite's own message repeats what it cannot read
        raise LedgerBroken(
            "the ledger cannot be read: its file is damaged; restore a backup into a new ledger"
        ) from None


_LOCKED = (False, "another program keeps it locked; try again")
_FULL = (False, "the disk is full; make room and try again")
_CUT = (False, "the connection to the database was cut; try again")
_IN_THE_WAY = (False, "another transaction was in the way; try again")
_CHANGED = (False, "its tables are not there, or are not as Sfumato made them; check the address and its search_path")

_SQLITE = {  # the beginning of SQLite's name of an error -> whether the ledger is broken, what to say
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_FULL": _FULL,
    "SQLITE_IOERR": (False, "the disk refuses to read or write, perhaps for want of room; try again"),
    "SQLITE_READONLY": (False, "it may only be read; allow writing to its file and folder"),
    "SQLITE_CANTOPEN": (False, "its file cannot be opened; see that its folder exists and may be written to"),
    "SQLITE_CORRUPT": (True, "its file is damaged"),
    "SQLITE_NOTADB": (True, "its file is no SQLite database"),
}
_POSTGRES = {  # the beginning of an SQLSTATE -> the same
    "55P03": _LOCKED,
    "53100": _FULL,
    "53200": (False, "the database is out of memory; try again later"),
    "53300": (False, "the database has too many connections; try again later"),
    "57014": (False, "a time limit of the database ended the transaction; try again, or allow more time"),
    "57P": _CUT,
    "08": _CUT,
    "25P03": _CUT,
    "40": _IN_THE_WAY,
    "25006": (False, "it may only be read; allow the role to write"),
    "28": (False, "the database does not let the role in; check its login"),
    "42501": (False, "the role may not read or write its tables; grant it the right"),
    "42P01": _CHANGED,
    "42703": _CHANGED,
    "3F000": _CHANGED,
}


def _reason(error: Any) -> tuple[bool, str]:
    name = getattr(error, "sqlite_errorname", None) or ""
    found = _starting(_SQLITE, name) or _starting(_POSTGRES, getattr(error, "sqlstate", None) or "")
    if found is not None:
        return found
    if not name and "OperationalError" in type(error).__name__:
        return False, "the database cannot be reached, or does not let the role in; try again"
    return False, "the database refuses; the cause is in the traceback"


def _starting(table: Mapping[str, tuple[bool, str]], code: str) -> tuple[bool, str] | None:
    return next((found for beginning, found in table.items() if code.startswith(beginning)), None)
