"""What Spark writes to local disks for a question: shuffles, spills and copies, with rows of people in them.

Spark makes the folders for it so that every user of a machine can read them, and writes in plain. A driver that is
started for a question encrypts all of it (`spark.io.encryption.enabled`), by a key that is in memory only. Where Spark
was started before, on this machine alone and without encryption, its folders are closed to other users. Where it has
executors elsewhere, nobody can do that from here, and the owner is told.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from typing import Any

ENCRYPTED = "spark.io.encryption.enabled"
OWNER_LOG = logging.getLogger("sfumato.owner")
_BLOCKS = re.compile(r"blockmgr-[0-9a-f-]{36}")
_IN_PLAIN = (
    f"Spark writes rows of private tables to local disks in plain; set {ENCRYPTED} to true where Spark is started, or "
    "make sure that nobody else can read its spark.local.dir"
)
_told: list[str] = []  # once in the life of a process


def protect(session: Any, *, remote: bool) -> None:
    """Close the folders of a Spark on this machine to other users; tell the owner where rows may lie in plain."""
    if str(session.conf.get(ENCRYPTED, "false")).lower() == "true":
        return
    is_here = not remote and session.sparkContext.master.startswith("local")
    if (not is_here or not _close_folders(_places(session))) and not _told:
        _told.append(_IN_PLAIN)
        OWNER_LOG.warning(_IN_PLAIN)


def _places(session: Any) -> list[str]:
    """Where a driver in this process makes its folders."""
    named = os.environ.get("SPARK_LOCAL_DIRS") or session.conf.get("spark.local.dir", "/tmp")
    return [each.strip() for each in named.split(",") if each.strip()]


def _close_folders(places: list[str]) -> bool:
    """Whether there was one; those of this user only, and no link is followed."""
    closed = False
    for place in places:
        with contextlib.suppress(OSError):
            for name in filter(_BLOCKS.fullmatch, os.listdir(place)):
                with contextlib.suppress(OSError):
                    _close(os.path.join(place, name))
                    closed = True
    return closed


def _close(path: str) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(folder).st_uid != os.geteuid():
            raise PermissionError
        os.fchmod(folder, 0o700)
    finally:
        os.close(folder)
