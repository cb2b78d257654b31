r"""Files that are mounted by themselves, as containers do: such a file has a second name that no link leads to.

>>> sorted(mount_points(rb"30 29 8:1 /ledger.db /my\040data/ledger.db rw - ext4 /dev/sda rw"))
[b'/my data/ledger.db']
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
_MOUNT_POINT = 4  # the field of a line, see proc(5)
_ESCAPED = re.compile(rb"\\([0-7]{3})")


@lru_cache(maxsize=1)  # the table is read at every write of a ledger, and is seldom another one
def mount_points(table: bytes) -> frozenset[bytes]:
    """The mount points in a table of mounts, as Linux writes it: with blanks and their like as octal numbers."""
    fields = (line.split(b" ") for line in table.splitlines())
    return frozenset(
        _ESCAPED.sub(lambda code: bytes([int(code[1], 8)]), each[_MOUNT_POINT])
        for each in fields
        if len(each) > _MOUNT_POINT
    )


def mounted() -> frozenset[bytes]:
    """The mount points that this process sees; an OSError says that nobody can tell.

    Files are mounted on Linux only; elsewhere only folders are, and nothing is listed.
    """
    return mount_points(MOUNTS.read_bytes()) if sys.platform == "linux" else frozenset()
