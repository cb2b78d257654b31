"""Folders for rows that do not fit into memory: their owner's alone, and gone with the process.

DuckDB writes such rows in plain, readable by everybody, into `.tmp` of the working directory, where they stay if the
process is killed. Here each process has one folder that nobody else can enter (0700), in a place for temporary files,
and in it one for each database. The process holds a lock on its folder (flock) for as long as it lives; so a folder
without that lock is left over from a process that was killed, and whoever starts next removes it. A lock, unlike the
number of a process, holds across containers that share a disk. Cleaners of /tmp (systemd-tmpfiles) respect it too.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

from sfumato.errors import InvalidArgument
from sfumato.phrases import Phrase, Setting

_PREFIX = "sfumato-spill"
_SYSTEM = ("/var/tmp", "/tmp")  # where others than the first choice may have left something
_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class _Root:
    """The folder of this process, and the descriptor that holds its lock."""

    path: str
    lock: int


class _Here(NamedTuple):
    """What this process has: folders by where they are, and which places were swept."""

    roots: dict[str, _Root]
    swept: set[str]


_here, _mutex = _Here({}, set()), threading.Lock()
_numbers = count(1)


def fresh(parent: str | os.PathLike[str] | None = None) -> str | None:
    """A new folder for one database, inside `parent` if one is named.

    None: nothing can be written in any usual place, and a database must do with its memory.
    """
    sweep(parent)
    if parent is not None:
        return _inside(os.path.realpath(parent))
    for each in _places():
        with contextlib.suppress(InvalidArgument):
            return _inside(each)
    return None


@contextlib.contextmanager
def temporary(parent: str | os.PathLike[str] | None = None) -> Iterator[str]:
    """A new folder for files with private rows, which is removed at the end of the context."""
    folder = fresh(parent)
    if folder is None:
        raise InvalidArgument(
            "private rows must be written to a folder that is this user's alone; none can be made; set TMPDIR to one"
        )
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: str | None) -> None:
    """Remove the folder of a database, with all that is in it."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: str | os.PathLike[str] | None = None) -> None:
    """Remove what killed processes of this user left over; once for each place in the life of a process."""
    wanted = [*_places(), *_SYSTEM, *([] if parent is None else [os.path.realpath(parent)])]
    with _mutex:
        new = [each for each in dict.fromkeys(wanted) if each not in _here.swept]
        _here.swept.update(new)
    for each in new:
        with contextlib.suppress(OSError):
            _sweep(each)


def _places() -> list[str]:
    """Where a folder may be, the best first: not in the working directory, which may be shared, copied or published."""
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    every = [os.path.realpath(each) for each in (*named, "/tmp", "/var/tmp") if each]
    with contextlib.suppress(OSError):  # a working directory that is gone
        here = os.path.realpath(os.getcwd())
        apart = [each for each in every if os.path.commonpath([each, here]) != here]
        return list(dict.fromkeys(apart or every))  # from / there is no other place
    return list(dict.fromkeys(every))


def _inside(parent: str) -> str:
    """A new folder in this process's own one."""
    with _mutex:
        for _ in range(_ATTEMPTS):
            root = _here.roots.get(parent) or _make_root(parent)
            if root is None:
                continue  # swept away by another process before it was locked
            _here.roots[parent] = root
            path = os.path.join(root.path, str(next(_numbers)))
            try:
                if _same(os.stat(root.path, follow_symlinks=False), os.fstat(root.lock)):
                    os.mkdir(path, 0o700)
                    return path
                os.close(_here.roots.pop(parent).lock)  # another folder has its name by now
            except FileNotFoundError:  # somebody cleaned up
                os.close(_here.roots.pop(parent).lock)
            except OSError as error:
                raise _refusal(parent, error.strerror or "it cannot be written") from None
    raise _refusal(parent, "it is being cleaned all the time")


def _make_root(parent: str) -> _Root | None:
    _check_safe(parent)
    try:
        path = tempfile.mkdtemp(prefix=f"{_PREFIX}-{os.geteuid()}-", dir=parent)  # 0700
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise _refusal(parent, error.strerror or "it cannot be written") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _same(os.stat(path, follow_symlinks=False), os.fstat(lock)):
            return _Root(path, lock)
    except (BlockingIOError, FileNotFoundError):  # another process found it without a lock, and removes it
        pass
    except OSError as error:  # a disk without locks: what lives there could not be told from what is left over
        with contextlib.suppress(OSError):
            os.rmdir(path)
        os.close(lock)
        raise _refusal(parent, f"it cannot be locked ({error.strerror})") from None
    os.close(lock)
    return None


def _check_safe(parent: str) -> None:
    """Refuse a place in which somebody else could put another folder under the name of ours, or of one above it.

    In a folder with the sticky bit only the owner of what is in it can rename that; so each folder has a safe owner.
    """
    for folder in (Path(parent), *Path(parent).parents):
        try:
            found = os.stat(folder, follow_symlinks=False)  # `parent` had no link in it when it was resolved
        except OSError as error:
            raise _refusal(parent, error.strerror or "it cannot be read") from None
        where = "it" if folder == Path(parent) else f"the folder {str(folder)!r} around it"
        if not stat.S_ISDIR(found.st_mode):
            raise _refusal(parent, f"{where} is no folder")
        if found.st_uid not in (0, os.geteuid()):
            raise _refusal(parent, f"{where} belongs to another user, who can rename what is in it")
        if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
            raise _refusal(parent, f"others can rename what is in {where}; chmod go-w, or chmod +t, mends that")


def _refusal(parent: str, reason: str) -> InvalidArgument:
    return InvalidArgument(
        f"temp_directory must be a folder in which this process can keep private rows to itself; got {parent!r}: "
        f"{reason}",
        fix=Phrase("choose another, for example ", Setting("temp_directory", "/var/tmp")),
    )


def _sweep(parent: str) -> None:
    ours = re.compile(rf"{_PREFIX}-{os.geteuid()}-[a-z0-9_]+")
    place = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in [each for each in os.listdir(place) if ours.fullmatch(each)]:
            with contextlib.suppress(OSError):
                _remove_dead(place, name)
    finally:
        os.close(place)


def _remove_dead(place: int, name: str) -> None:
    """Remove a folder of this user's whose process is gone. No link is followed, on the way or inside."""
    lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
    try:
        found = os.fstat(lock)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) != 0o700:
            return
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises where its process lives
        if _same(os.stat(name, dir_fd=place, follow_symlinks=False), found):
            shutil.rmtree(name, ignore_errors=True, dir_fd=place)
    finally:
        os.close(lock)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def _roots() -> Iterator[_Root]:
    while _here.roots:
        yield _here.roots.popitem()[1]


def _remove_all() -> None:
    """At the end of the process; databases were closed before, since their closing was registered later."""
    with _mutex:
        for root in _roots():
            shutil.rmtree(root.path, ignore_errors=True)
            os.close(root.lock)


def _leave_behind() -> None:
    """A child has folders of its own. The lock stays its parent's: closing a copy of the descriptor keeps it."""
    global _mutex
    _mutex = threading.Lock()
    for root in _roots():
        os.close(root.lock)


atexit.register(_remove_all)
os.register_at_fork(after_in_child=_leave_behind)
