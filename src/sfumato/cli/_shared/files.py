"""Files that a command writes: before anything is printed, since a reader of what is printed may leave early.

In `sfumato risk people.csv --html risk.html | head -1` the program ends when it prints what nobody reads any more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfumato.errors import InvalidArgument
from sfumato.private_files import owned


def write(file: Path, writer: Callable[[Path], Any], hint: str = "choose another", *, private: bool = False) -> None:
    """Let `writer` write the file; what hinders it is said with a hint. A new one may be for its owner alone."""
    try:
        writer(owned(file) if private else file)
    except OSError as error:
        raise InvalidArgument(f"{str(file)!r} cannot be written: {error.strerror}; {hint}") from None
