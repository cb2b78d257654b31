"""Where a SQLite ledger lies: one file under one name, made whole, and read from places that cannot be written.

SQLite keeps its write-ahead log beside the file, under the name by which the file was opened. A file with two names has
two logs, and two balances: so hard links are refused, and so is a file that is mounted by itself, as containers do.
Neither a folder that is mounted, nor a symbolic link, makes a second log.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato import mounts
from sfumato.errors import LedgerUnavailable
from sfumato.phrases import Action, Option, Phrase, Setting

WAIT = 30  # seconds for a lock
_PAUSE = 0.01  # seconds between two attempts
LOG, INDEX = "-wal", "-shm"  # what SQLite keeps beside its file
_HARD_LINKS = (
    "the ledger's file must have one name; it has several (hard links), and SQLite would keep a log of its own under "
    "each; remove the other names (find FOLDER -samefile LEDGER lists them); to copy a ledger: sfumato ledger backup "
    "FILE; nothing was charged"
)
_MOUNTED = (
    "the ledger's file must not be mounted by itself: SQLite would keep a log of its own under each name; mount the "
    "folder that holds it instead; to move a ledger into a folder of its own: sfumato ledger backup FILE; nothing was "
    "charged"
)


def check_links(found: os.stat_result) -> None:
    """Refuse a file that has several names."""
    if found.st_nlink > 1:
        raise LedgerUnavailable(_HARD_LINKS)


def check_one_name(path: str) -> None:
    """Refuse a file that is reached, or may be reached, under several names; `path` has no symbolic link in it."""
    try:
        check_links(os.stat(path))
    except FileNotFoundError:
        return
    check_not_mounted(path)


def check_not_mounted(path: str) -> None:
    """Refuse a file that is a mount point."""
    try:
        mounted = mounts.mounted()
    except OSError:
        raise LedgerUnavailable(
            f"the ledger must be seen to have one name; {mounts.MOUNTS}, which tells, cannot be read; mount /proc; "
            "nothing was charged"
        ) from None
    if os.fsencode(path) in mounted:
        raise LedgerUnavailable(_MOUNTED)


def may_write(path: str) -> bool:
    """Whether file and folder may be written; on read-only media root may not either."""
    return all(os.access(each, os.W_OK) for each in (path, os.path.dirname(path)))


def _size(path: str) -> int:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return 0
    if not stat.S_ISREG(found.st_mode):  # SQLite would wait for a pipe without end
        raise LedgerUnavailable(f"the ledger must be a file; {path!r} is none, but a folder, a pipe or a device")
    return found.st_size


def reading(path: str) -> str:
    """How SQLite is told to read a file that it may not write: nothing else changes it, unless there is a log."""
    if not _size(path + LOG):
        return "mode=ro&immutable=1"
    if os.path.exists(path + INDEX):
        return "mode=ro"
    raise LedgerUnavailable(
        f"a ledger with a log must be read where its folder may be written; this one may not; copy the ledger and its "
        f"{LOG} file into a folder of your own, and read it there"
    )


def prepare(path: Path, create: bool | None, build: Callable[[Path], None]) -> bool:
    """Make a ledger where there is none; whether one was made.

    It is built beside its place and appears there whole, so no other process ever meets half a ledger; an empty file
    is one that was emptied. `create`: False if the ledger must be there, True if an empty file may become one.
    """
    try:
        if _size(str(path)):
            return False
        if create is False:
            raise LedgerUnavailable(
                f"No ledger at {str(path)!r} yet.", fix="Check the path. The first question creates a ledger."
            )
        with locked(path.parent):
            if _size(str(path)):
                return False  # another process was faster
            _check_nothing_lost(path, create)
            _build(path, build)
    except OSError as error:
        raise LedgerUnavailable(
            f"the ledger must be writable; {str(path)!r} cannot be created: {error.strerror}",
            fix=Phrase("keep it elsewhere: ", Setting("ledger", "/other/folder/ledger.db")),
        ) from None
    return True


def _check_nothing_lost(path: Path, create: bool | None) -> None:
    if _size(f"{path}{LOG}"):  # SQLite would write it into the new ledger, or remove it
        raise LedgerUnavailable(
            f"the ledger {str(path)!r} must be there with its log; the log ({path.name}{LOG}) is there, but the "
            "ledger is gone or empty; put it back, or move the log away and restore a backup: sfumato ledger "
            "restore FILE"
        )
    if path.exists() and create is not True:
        raise LedgerUnavailable(
            f"the ledger must be a file that Sfumato wrote; {str(path)!r} is there, but it is empty; a new ledger "
            "would forget what was spent",
            fix=Phrase(
                "restore a backup: ",
                Action("Ledger.restore(backup, into)"),
                ", or, if nothing was ever spent, begin a new one: ",
                Option("create", True),
            ),
        )


def _build(path: Path, build: Callable[[Path], None]) -> None:
    draft = path.with_name(f".{path.name}.new")
    check_one_name(str(path))
    try:
        for left in (draft, Path(f"{draft}{LOG}"), Path(f"{draft}{INDEX}")):
            left.unlink(missing_ok=True)  # by a process that was killed
        # Questions may hold names: a new ledger is readable by its owner only.
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        build(draft)
        os.replace(draft, path)
        _synchronize(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _synchronize(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A folder that no other process of ours has at the same time; the system unlocks it when a process ends."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    until = time.monotonic() + WAIT
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return
