"""Which process made a reservation, and whether it still runs.

A process that was killed cannot say that its question failed, and its lease may last for an hour. A mark in the entry
tells other processes of the same machine who made it: machine, number of the process, and when that process began.

>>> asker = mark()
>>> asker is None or not is_gone(asker)
True
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
_STATE, _BEGAN = 0, 19  # fields of a process's line, after its name; see proc(5)


@cache
def _machine() -> str | None:
    """Name this machine since it was started, as far as processes have the same numbers; None where nothing tells."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text()
        space = os.stat(_PROC / "self/ns/pid").st_ino  # containers number their processes anew
    except OSError:
        return None
    return hashlib.sha256(f"{boot} {space}".encode()).hexdigest()[:16]


def _fields(number: int) -> list[str] | None:
    try:
        line = (_PROC / str(number) / "stat").read_text(errors="replace")
    except OSError:
        return None
    return line.rpartition(")")[2].split()  # a name may hold blanks and parentheses


def mark() -> str | None:
    """Name this process; None where it cannot be told."""
    machine, own = _machine(), _fields(os.getpid())
    return None if machine is None or own is None else f"{machine}-{os.getpid()}-{own[_BEGAN]}"


def is_gone(asker: str) -> bool:
    """Whether a process of this machine has ended; of another machine nobody here can tell."""
    try:
        machine, number, began = asker.split("-")
        process = int(number)
    except ValueError:
        return False
    if machine != _machine():
        return False
    found = _fields(process)
    if found is None:
        return not _answers(process)
    return found[_STATE] in "ZX" or found[_BEGAN] != began


def _answers(process: int) -> bool:
    """Whether there is such a process; the system may hide those of other users."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
