"""What a process has open must be what others find under the ledger's name, at every write.

SQLite finds its write-ahead log, and the index of it on which all locks are, by the name of its file. If the file is
renamed while a process has it open, that process goes on with a log that nobody else will find, and whoever opens the
file under another name, or under the same name later, begins another: two balances. So a connection remembers the three
files that it opened, and nothing is written, and no result handed out, unless they are still there under their names.

A file that was renamed, used under the other name, and renamed back has its old log beside it, which hides what was
written meanwhile. So when the file was touched other than by writing, its own head, read past the log, must be known.

A connection whose log is no longer the one beside the file must not be closed either: SQLite would then write that log
into the file, over what others have written since, and remove theirs. It is kept until the process ends.
"""

from __future__ import annotations

import ctypes
import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from sfumato.errors import LedgerBroken, LedgerUnavailable
from sfumato.ledger.records.entry import Head
from sfumato.ledger.store.place import INDEX, LOG, check_links, check_not_mounted

Identity = tuple[int, int]  # device and number of a file

PINNED = "sfumato_pinned"  # where a connection keeps which files it opened
_HEAD = re.compile(rb"head(\d{1,18}-[0-9a-f]{64})")  # as SQLite writes name and value of a row, one after the other
_ATTEMPTS, _PAUSE = 10, 0.02  # seconds between them
_CHARGED = "nothing was charged"
_GONE = "the ledger must be readable and writable; its file is gone; put it back; {}"
_REPLACED = "the ledger's file was replaced while it was open; open the new one, and merge the old; {}"
_LINKED = (
    "the ledger's file must stay under the name by which it was opened; that name is now a symbolic link, or one of "
    "its folders is: whoever opens the ledger at the other end keeps another log; end all programs that use the "
    "ledger, put the file back under its name, beside its -wal file, and start them again; {}"
)
_PARTED = (
    "the ledger's log must be the one that this process has open; what lies beside the ledger is another, or none: the "
    "ledger was renamed, or another program used its name; end all programs that use it; then look which copy has the "
    "latest entries (sfumato ledger show), keep that one, and merge the others into it: sfumato ledger merge FILE; {}"
)
_parted: set[Identity] = set()  # ledgers that this process must not use any more


class Keepable(sqlite3.Connection):
    """A connection that can be kept open for as long as the process lives, whoever closes it."""

    _kept = False

    def keep(self) -> None:
        """Give its locks back, and never let it be closed, not even when Python ends."""
        if self.in_transaction:
            self.rollback()
        if not self._kept:
            self._kept = True
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))

    def close(self) -> None:
        """Close it, unless it is kept."""
        if not self._kept:
            super().close()


class Pinned(NamedTuple):
    """The files of a ledger: itself, its log, and the log's index with all locks; None: not there."""

    file: Identity | None
    log: Identity | None
    locks: Identity | None


def identity(path: str) -> Identity | None:
    """Which file is there, without following a link."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _there(path: str) -> Pinned:
    return Pinned(identity(path), identity(path + LOG), identity(path + INDEX))


def _held() -> Iterator[tuple[int, Identity]]:
    """The files that this process has open, by their descriptors."""
    for each in os.listdir("/dev/fd"):
        with suppress(OSError):  # that of the listing itself is closed by now
            found = os.fstat(int(each))
            yield int(each), (found.st_dev, found.st_ino)


def pin(path: str) -> Pinned:
    """The files that a new connection has opened; refused if they changed their names meanwhile."""
    pinned = _there(path)
    if not set(pinned) <= {held for _, held in _held()}:
        raise LedgerBroken(_PARTED.format(_CHARGED))
    return pinned


def check_place(path: str, opened: Identity | None, consequence: str = _CHARGED) -> os.stat_result:
    """Refuse a file that is not where it was, or no longer has one name; `path` had no symbolic link in it."""
    try:
        found = os.lstat(path)
    except OSError:
        raise LedgerUnavailable(_GONE.format(consequence)) from None
    if stat.S_ISLNK(found.st_mode) or os.path.realpath(path) != path:
        raise LedgerUnavailable(_LINKED.format(consequence))
    if (found.st_dev, found.st_ino) != opened or not stat.S_ISREG(found.st_mode):
        raise LedgerBroken(_REPLACED.format(consequence))
    if opened in _parted:
        raise LedgerBroken(_PARTED.format(consequence))
    check_links(found)
    check_not_mounted(path)
    return found


def check_pinned(path: str, pinned: Pinned, connection: Keepable, consequence: str = _CHARGED) -> None:
    """Refuse a connection whose files are not those under the ledger's name any more."""
    if _there(path) == pinned:
        return
    connection.keep()
    check_place(path, pinned.file, consequence)
    if pinned.file is not None:
        _parted.add(pinned.file)
    raise LedgerBroken(_PARTED.format(consequence))


class Whole:
    """Whether a file holds nothing that its log hides; looked at anew when it was touched other than by writing."""

    def __init__(self) -> None:
        self._changed = -1  # when the file that was looked at had been touched

    def check(self, found: os.stat_result, knows: Callable[[Head], bool], connection: Keepable) -> None:
        """Refuse a file whose own head is not in the ledger as its log shows it."""
        if found.st_ctime_ns in (found.st_mtime_ns, self._changed) and self._changed >= 0:
            return
        for _ in range(_ATTEMPTS):
            if all(map(knows, _heads((found.st_dev, found.st_ino), connection))):
                self._changed = found.st_ctime_ns
                return
            time.sleep(_PAUSE)  # another process may be writing the log into the file
        connection.keep()
        _parted.add((found.st_dev, found.st_ino))
        raise LedgerBroken(_PARTED.format(_CHARGED))


def _heads(file: Identity, connection: Keepable) -> list[Head]:
    """The head that the file itself holds, whatever is in its log; none if its tables are in the log only.

    Read by a descriptor that SQLite has open: to close another one would give back all locks of this process.
    """
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'sfumato_meta'").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    handle = next(handle for handle, held in _held() if held == file)
    written = os.pread(handle, size, (page - 1) * size)
    return [Head.read(each.decode("ascii")) for each in _HEAD.findall(written)]
