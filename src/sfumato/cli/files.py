"""Files that a command writes: before anything is printed, since a reader of what is printed may leave early.

In `sfumato risk people.csv --html risk.html | head -1` the program ends when it prints what nobody reads any more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfumato.errors import InvalidArgument


def write(file: Path, writer: Callable[[Path], Any], hint: str = "choose another") -> None:
    """Let `writer` write the file; what hinders it is said with a hint."""
    try:
        writer(file)
    except OSError as error:
        raise InvalidArgument(f"{str(file)!r} cannot be written: {error.strerror}; {hint}") from None
