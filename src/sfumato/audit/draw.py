"""Draw outputs of a mechanism that nobody trusts: it may raise, return anything, or never return."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import MechanismFailed, SfumatoError
from sfumato.phrases import Option, Phrase

Outputs = Sequence[Any] | NDArray[Any]
Sample = Callable[[Any, int, Entropy], Outputs]
Progress = Callable[[int, int], None]
CHUNK = 8_192  # always the same sizes, so that a repeatable source gives repeatable outputs


class _TooLong(BaseException):
    """Out of time; no mechanism catches it by `except Exception`."""


@dataclass(frozen=True)
class Patience:
    """The seconds that all draws together may take."""

    seconds: float

    @contextmanager
    def limit(self, drawn: list[int]) -> Iterator[Callable[[], None]]:
        """Stop what takes longer, also a call that never returns; what it gives is to be called now and then."""
        end = time.monotonic() + self.seconds

        def check() -> None:
            if time.monotonic() > end:
                raise _TooLong

        def ring(*_: object) -> None:
            raise _TooLong

        alarms = threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")
        before = signal.signal(signal.SIGALRM, ring) if alarms else None
        try:
            if alarms:
                signal.setitimer(signal.ITIMER_REAL, self.seconds)
            yield check
        except _TooLong:
            raise MechanismFailed(
                f"all samples must be drawn within {self.seconds:g} seconds; got {sum(drawn):,} by then",
                fix=Phrase("take fewer ", Option("samples"), ", or allow more time: ", Option("limit")),
            ) from None
        finally:
            if alarms:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)


def draw(
    sample: Sample, values: Sequence[Any], count: int, entropy: Entropy, patience: Patience, progress: Progress
) -> list[Outputs]:
    """`count` independent outputs for each of the values."""
    drawn: list[int] = []
    with patience.limit(drawn) as check:
        return [_draw_one(sample, value, count, entropy, drawn, check, progress, len(values)) for value in values]


def _draw_one(
    sample: Sample,
    value: Any,
    count: int,
    entropy: Entropy,
    drawn: list[int],
    check: Callable[[], None],
    progress: Progress,
    sides: int,
) -> Outputs:
    pieces: list[Outputs] = []
    left = count
    while left:
        size = min(left, CHUNK, 8 * len(pieces[-1]) if pieces else 1)  # what fails at once is told at once
        check()
        pieces.append(_piece(sample, value, size, entropy))
        left -= size
        drawn.append(size)
        progress(sum(drawn), sides * count)
    if all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate(pieces)
    return [output for piece in pieces for output in piece]


def words(error: BaseException) -> str:
    """An error of somebody else's in one line; it may fail at telling what it is.

    >>> words(ValueError("no number"))
    'ValueError: no number'
    """
    try:
        told = str(error)
    except Exception:
        told = ""
    return f"{type(error).__name__}: {told}".rstrip(": \n").splitlines()[0]


def _piece(sample: Sample, value: Any, size: int, entropy: Entropy) -> Outputs:
    with trying():
        piece = sample(value, size, entropy)
    return checked(piece, size)


@contextmanager
def trying() -> Iterator[None]:
    """Call a mechanism: whatever it raises is told in one line."""
    try:
        yield
    except SfumatoError:
        raise
    except (Exception, SystemExit) as error:  # who ends the program with code 0 would pass for not refuted
        raise MechanismFailed(
            f"the mechanism must return an output for every neighbor; it raised {words(error)}; call it by itself first"
        ) from error


def checked(piece: Outputs, size: int) -> Outputs:
    """As many outputs as were asked for."""
    if not isinstance(piece, np.ndarray | list | tuple) or len(piece) != size:
        got = f"{len(piece)}" if isinstance(piece, np.ndarray | list | tuple) else f"a {type(piece).__name__}"
        raise MechanismFailed(f"many samples at once must be a list or array of {size:,} outputs; got {got}; check it")
    return piece
