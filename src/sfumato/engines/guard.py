"""The shell around a question on an engine: a limit of time, and one constant message for whatever fails.

What can be missing before a row is read (threads, locks, connections) is refused; what fails later is charged.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from sfumato.engines.engine import FAILED, Run
from sfumato.errors import EngineFailed, EngineTimeout, EngineUnavailable, InvalidArgument, SfumatoError
from sfumato.threads import start

OWNER_LOG = logging.getLogger("sfumato.owner")
NOT_READY = "the engine cannot begin now; nothing was charged; ask again later, or ask the owner to look"
_NO_THREAD = (
    "the engine needs threads; not all could be started; nothing was charged; free memory, raise the limit of "
    "processes, or set fewer threads"
)


class Limit:
    """Interrupts work after some seconds; the thread for it is there before the work begins."""

    def __init__(self, seconds: float | None) -> None:
        self.passed = False
        self._seconds = seconds
        self._interrupt: Callable[[], object] | None = None
        self._begun, self._ended = threading.Lock(), threading.Lock()
        self._begun.acquire()
        self._ended.acquire()
        self._started = self._over = False

    def start(self) -> None:
        """Start the thread, also where no time is limited: where none can be had, no question may begin."""
        if not self._started and not start(self._watch):
            raise EngineUnavailable(_NO_THREAD)
        self._started = True

    def begin(self, interrupt: Callable[[], object]) -> None:
        """The work begins."""
        self.start()
        self._interrupt = interrupt
        self._begun.release()

    def _watch(self) -> None:
        self._begun.acquire()
        if self._interrupt is None or self._seconds is None:
            return
        if not self._ended.acquire(timeout=min(self._seconds, threading.TIMEOUT_MAX)):
            self.passed = True
            self._interrupt()

    def end(self) -> None:
        """The work is done, or never began."""
        if self._over:
            return
        self._over = True
        if self._interrupt is None:
            self._begun.release()
        self._ended.release()


Running = Callable[[Limit], AbstractContextManager[Run]]


class OpenedLater:
    """What is ready where a source is opened by its run: the thread that ends it."""

    def __init__(self, running: Running, limit: Limit) -> None:
        self._running, self._limit = running, limit

    def run(self) -> AbstractContextManager[Run]:
        """Run the question."""
        return self._running(self._limit)


@contextmanager
def limited(seconds: float | None, running: Running) -> Iterator[OpenedLater]:
    """Start the thread that ends a question, before the charge."""
    limit = Limit(seconds)
    try:
        limit.start()
        yield OpenedLater(running, limit)
    finally:
        limit.end()


@contextmanager
def opening() -> Iterator[None]:
    """What fails while an engine is made ready is a refusal; the owner's log has its class."""
    failed = False
    try:
        yield
    except InvalidArgument as error:  # a folder of the owner's, by its name
        OWNER_LOG.error("the engine cannot begin: %s", error)
        failed = True
    except SfumatoError:
        raise
    except Exception as error:
        OWNER_LOG.error("the engine cannot begin: %s", type(error).__name__)
        failed = True
    if failed:  # out here: no context
        raise EngineUnavailable(NOT_READY)


@contextmanager
def failing(within: Limit | float | None) -> Iterator[Limit]:
    """What fails inside has one message; the owner's log has its class, since its own message may hold values."""
    limit = within if isinstance(within, Limit) else Limit(within)
    failed, interrupted = False, False
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
