"""How much of the machine DuckDB may use for one question, and where it puts rows that do not fit into memory.

>>> Resources(threads=2, memory_limit="4GB")
Resources(threads=2, memory_limit='4GB', temp_directory=None, max_temp_directory_size=None)
>>> Resources(memory_limit="lots")
Traceback (most recent call last):
    ...
sfumato.errors.InvalidArgument: memory_limit must be a size with its unit; got 'lots'; for example '4GB' or '512MB'
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sfumato import checks
from sfumato.errors import InvalidArgument

MOST_THREADS = 1024
LEAST_MEMORY = 32 * 10**6  # below it DuckDB cannot even read a file, and every question would be charged and fail
_UNITS = {
    "B": 1,
    **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", 1)},
}
_SIZE = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z]{1,3})\s*")
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True, slots=True)
class Resources:
    """What DuckDB may use.

    threads                   threads that work on one question; default: the processors this process may use
    memory_limit              memory for one question, as in '4GB'; default: half of what this process may use
    temp_directory            a folder for rows that do not fit into memory; default: the system's for temporary files
    max_temp_directory_size   the most that may be written there, as in '50GB'; default: 90 % of what is free

    """

    threads: int | None = None
    memory_limit: str | None = None
    temp_directory: str | os.PathLike[str] | None = None
    max_temp_directory_size: str | None = None

    def __post_init__(self) -> None:
        if self.threads is not None:
            checks.whole(1, threads=self.threads)
            if self.threads > MOST_THREADS:
                raise InvalidArgument(
                    f"threads must be at most {MOST_THREADS}; got {self.threads}; choose the number of processors"
                )
        if self.memory_limit is not None and read_size("memory_limit", self.memory_limit) < LEAST_MEMORY:
            raise InvalidArgument(
                f"memory_limit must be 32MB or more; got {self.memory_limit!r}; questions would be charged and fail"
            )
        if self.max_temp_directory_size is not None:
            read_size("max_temp_directory_size", self.max_temp_directory_size)
        if self.temp_directory is not None:
            object.__setattr__(self, "temp_directory", _folder(self.temp_directory))

    def settings(self) -> dict[str, str | bool | int | float | list[str]]:
        """As DuckDB's settings, all but the folder."""
        memory = _memory() // 2 if self.memory_limit is None else read_size("memory_limit", self.memory_limit)
        found: dict[str, str | bool | int | float | list[str]] = {
            "threads": self.threads or _processors(),
            "memory_limit": f"{max(memory, LEAST_MEMORY)}B",
        }
        if self.max_temp_directory_size is not None:
            found["max_temp_directory_size"] = f"{read_size('', self.max_temp_directory_size)}B"
        return found


def read_size(name: str, value: object) -> int:
    """A number of bytes.

    >>> read_size("memory_limit", "1.5GB"), read_size("memory_limit", "512 MiB")
    (1500000000, 536870912)
    """
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    unit = None if found is None else _UNITS.get(found[2][0].upper() + found[2][1:].replace("b", "B"))
    if found is None or unit is None:
        raise InvalidArgument(f"{name} must be a size with its unit; got {value!r}; for example '4GB' or '512MB'")
    return int(Fraction(found[1]) * unit)


def _folder(given: object) -> str:
    if not isinstance(given, (str, os.PathLike)) or not (path := os.fspath(given)) or "\0" in str(path):
        raise InvalidArgument(f"temp_directory must be a folder; got {given!r}; for example '/var/tmp'")
    if not os.path.isdir(path):
        raise InvalidArgument(f"temp_directory must be a folder that is there; got {str(path)!r}; make it first")
    return str(Path(os.fsdecode(path)).resolve())


def _processors() -> int:
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, MOST_THREADS)


def _memory() -> int:
    """What this process may use: of the machine, of its container, by its own limits."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _CGROUPS:
        with contextlib.suppress(OSError, ValueError):  # "max", or no such file
            found.append(int(Path(file).read_text("ascii")))
    limits = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    return min([*found, *(each for each in limits if each != resource.RLIM_INFINITY)])
