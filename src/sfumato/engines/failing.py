"""The shell around a question on an engine: a limit of time, and one constant message for whatever fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sfumato.engines.engine import FAILED
from sfumato.errors import EngineFailed, EngineTimeout

OWNER_LOG = logging.getLogger("sfumato.owner")


class Limit:
    """Interrupts work after some seconds."""

    def __init__(self, seconds: float | None) -> None:
        self.passed = False
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    def begin(self, interrupt: Callable[[], object]) -> None:
        """The work begins."""
        if self._seconds is not None:
            self._timer = threading.Timer(self._seconds, self._pass, [interrupt])
            self._timer.daemon = True
            self._timer.start()

    def _pass(self, interrupt: Callable[[], object]) -> None:
        self.passed = True
        interrupt()

    def end(self) -> None:
        """The work is done."""
        if self._timer is not None:
            self._timer.cancel()


@contextmanager
def failing(seconds: float | None) -> Iterator[Limit]:
    """What fails inside has one message; the owner's log has its class, since its own message may hold values."""
    failed, interrupted, limit = False, False, Limit(seconds)
    try:
        yield limit
    except RuntimeError as error:
        if "interrupted" in str(error).lower() and not limit.passed:  # DuckDB's way to say Ctrl-C
            interrupted = True
        else:
            OWNER_LOG.error("the engine failed: %s", type(error).__name__)
        failed = True
    except Exception as error:
        OWNER_LOG.error("the engine failed: %s", type(error).__name__)
        failed = True
    finally:
        limit.end()
    # Raised out here: what failed may hold values or paths, also as the context of another error.
    if interrupted:
        raise KeyboardInterrupt
    if failed:
        raise EngineTimeout(FAILED) if limit.passed else EngineFailed(FAILED)
