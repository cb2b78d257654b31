"""Files and texts that come from outside: whatever is wrong with one becomes an error of this package.

Python's readers raise much more than they document: a NUL in a path is a ValueError, a number of 5,000 digits another
one that no parser names, deep nesting a RecursionError, and a pipe that nobody writes to waits forever. Whoever reads a
file goes through here, or is listed with its reasons in tests/fuzz/test_readers.py.

>>> parse_json('{"a": 1}')
{'a': 1}
"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

from sfumato.errors import InvalidArgument, SourceNotFound

# What a parser raises, or what is made of its result, where the text is not what it should be.
MALFORMED = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError)
_Made = TypeVar("_Made")
_STREAMS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # opened already: to open one waits for nobody


@contextmanager
def opened(path: str | Path, missing: str, *, newline: str | None = None, pipes: bool = False) -> Iterator[TextIO]:
    """A text file in UTF-8, with or without a byte order mark; `missing` is what to say where there is none.

    `pipes`: one that the shell opened, as in `--file <(generate)`, is read too.
    """
    file = Path(path)
    name = printable(file.name)
    try:
        if not (pipes and str(file).startswith(_STREAMS)):
            _check_regular(file, name)
        with file.open(encoding="utf-8-sig", newline=newline) as text:
            yield text
    except FileNotFoundError:
        raise SourceNotFound(missing) from None
    except UnicodeDecodeError:
        raise InvalidArgument(
            f"{name} must be written in UTF-8; got another encoding; save it anew, in Excel as 'CSV UTF-8'"
        ) from None
    except OSError as error:
        raise InvalidArgument(f"{name} cannot be read: {error.strerror}; choose another file") from None


def read_text(path: str | Path, missing: str, *, most: int | None = None, pipes: bool = False) -> str:
    """A whole text file, or its first `most` characters."""
    with opened(path, missing, pipes=pipes) as text:
        return text.read(-1 if most is None else most)


def holds(path: str | Path, text: str) -> bool:
    """Whether a file has this text and no other; what cannot be read has not."""
    try:
        return read_text(path, "") == text
    except InvalidArgument:
        return False


def read_toml(path: str | Path, missing: str) -> dict[str, Any]:
    """A TOML file."""
    return parse_toml(read_text(path, missing), printable(Path(path).name))


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The values of a TOML text; `name` is that of its file, for messages."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument(f"{name} is not TOML: {error}; correct the line") from None
    except RecursionError:
        raise InvalidArgument(f"{name} must not nest values hundreds of levels deep; got that; simplify it") from None
    except ValueError:  # Python refuses to read whole numbers of more than 4,300 digits
        raise InvalidArgument(f"{name} must have numbers of ordinary size; got one of thousands of digits") from None


def parse_json(text: str, **options: Any) -> Any:
    """The value of a JSON text; whatever is wrong with it is a ValueError, deep nesting too."""
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def attempt(make: Callable[[], _Made], error: Exception) -> _Made:
    """What is made of a file's content; where the content does not allow it, this error."""
    try:
        return make()
    except MALFORMED:
        raise error from None


def printable(text: str) -> str:
    """A name as a message may show it."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _check_regular(file: Path, name: str) -> None:
    try:
        mode = os.stat(file).st_mode
    except ValueError:  # a NUL, or half a character
        raise InvalidArgument(f"{name!r} must be the name of a file; got signs that no name has; correct it") from None
    if stat.S_ISREG(mode):
        return
    what = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
    raise InvalidArgument(f"{name} must be a file; got {what}; choose another")
