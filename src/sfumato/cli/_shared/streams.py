"""Standard output and standard error while a command runs, and what happens when they cannot be written.

A disk is full (`sfumato ask ... > answer.csv`), or a reader leaves early (`sfumato ledger show | head -1`). Whatever
prints (rich, typer, `print`) then meets `OutputLost`, which nothing below `main` takes for an error of its own: typer
and rich would end the program silently, with the exit code of a defect. Standard error that cannot be written is
passed over, for nobody could be told.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

KEPT = "The answer is stored; ask again for free."


class OutputLost(Exception):
    """Standard output cannot be written; `kept`: an answer was paid for, and the ledger has it."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or type(error).__name__)
        self.is_closed_pipe = error.errno == errno.EPIPE
        self.kept = False


class _Output:
    """A stream whose writes raise `OutputLost` instead of an error of the operating system; the rest is passed on."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._stream, name)
        return _Output(found) if name == "buffer" else found

    def write(self, content: Any) -> Any:
        with _raising():
            return self._stream.write(content)

    def flush(self) -> None:
        with _raising():
            self._stream.flush()


@contextmanager
def _raising() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputLost(error) from None


class _Errors:
    """A stream that passes over what cannot be written."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, content: Any) -> Any:
        try:
            return self._stream.write(content)
        except OSError:
            _silence(self._stream)
            return len(content)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            _silence(self._stream)


class _Closed:
    """The standard output of a program that was started without one."""

    encoding, errors, closed = "utf-8", "strict", False

    @property
    def buffer(self) -> _Closed:
        return self

    def write(self, content: Any) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def flush(self) -> None:
        """Nothing was written."""

    def isatty(self) -> bool:
        return False


@contextmanager
def guarded() -> Iterator[None]:
    """Let the standard streams behave as the head of this module says."""
    before = sys.stdout, sys.stderr
    standard: Any = sys
    standard.stdout = _Output(before[0] if before[0] is not None else _Closed())
    if before[1] is not None:
        standard.stderr = _Errors(before[1])
    try:
        yield
        sys.stdout.flush()  # what is still in memory is lost here, where it can be told, and not after the last line
    except OutputLost:
        _silence(before[0])
        raise
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def keeping() -> Iterator[None]:
    """What is printed inside is an answer that the ledger keeps, should it be lost."""
    try:
        yield
        sys.stdout.flush()
    except OutputLost as lost:
        lost.kept = True
        raise


def _silence(stream: Any) -> None:
    """Let a stream lead nowhere: Python writes what is left in it once more when it ends, and would complain."""
    with suppress(OSError, AttributeError, ValueError):  # some streams have no number
        number = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
        stream.flush()
