"""One file, one name: under a second one, the same people would have a second budget, or be public.

A symbolic link is followed, so it is no second name. Refused are hard links, files that are mounted by themselves, and
two different names that lead to one file here and now, since its folder is mounted twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from sfumato import mounts
from sfumato.errors import InvalidArgument

_File = tuple[int, int, str]  # device and inode of a file, and the table inside


def check_one_name(paths: Iterable[str]) -> None:
    """Refuse a file that has a second name: no link leads from one to the other."""
    real = sorted(map(os.path.realpath, paths))
    try:
        mounted = mounts.mounted()
    except OSError:
        raise InvalidArgument(
            f"a source must be seen to have one name; {mounts.MOUNTS}, which tells, cannot be read; mount /proc"
        ) from None
    for path in real:
        if os.stat(path).st_nlink > 1:
            raise InvalidArgument(
                f"a source must have one name; {os.path.basename(path)} has another (a hard link), under which "
                "the same people might have a second budget; copy the file"
            )
        if os.fsencode(path) in mounted:
            raise InvalidArgument(
                f"a source must have one name; {os.path.basename(path)} is mounted by itself, so it has another name "
                "elsewhere, under which the same people might have a second budget; mount the folder that holds it"
            )


def aliases(names: Iterable[str], others: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of different names, one of each list, that lead to one file; names are those of `Source.identity`."""
    known: dict[_File, list[str]] = {}
    for other in others:
        if (file := _file(other)) is not None:
            known.setdefault(file, []).append(other)
    for name in names if known else ():
        file = _file(name)
        yield from ((name, other) for other in (known.get(file, ()) if file else ()) if other != name)


def check_one_file(names: Iterable[str], others: Iterable[str]) -> None:
    """Refuse a source that is known already, under another name."""
    for name, other in aliases(names, others):
        mine, theirs = os.path.basename(name), os.path.basename(other)
        raise InvalidArgument(
            f"a source must have one name; got {mine}, which is the same file as {theirs} in another folder "
            "(findmnt lists what is mounted twice): the same people might have a second budget; write the name by "
            "which it was declared first"
        )


def _file(name: str) -> _File | None:
    """What a name of a source leads to now; None: no file, but a frame, a server's table, or a file that is gone."""
    if not name.startswith(os.sep):
        return None
    path, _, table = name.rpartition("#")  # of a table in a DuckDB file
    for each, inside in ((name, ""), (path, table)):
        try:
            found = os.stat(each)
        except (OSError, ValueError):
            continue
        return found.st_dev, found.st_ino, inside
    return None
