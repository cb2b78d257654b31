"""Threads that surely begin, or surely do not.

`threading.Thread.start` waits until the new thread says that it began. With no memory left a thread may die before it
can say so, and that wait never ends. Here it ends after some seconds, and the caller can refuse.

>>> done = []
>>> aside(lambda: done.append(1)), done
(True, [1])
"""

from __future__ import annotations

import _thread
import contextlib
import os
import threading
from collections.abc import Callable

PATIENCE = 10.0  # seconds in which a thread must begin; on a loaded machine it takes hundredths of one

Work = Callable[[], object]


def start(work: Work) -> bool:
    """Have a new thread do the work; whether it has begun. What has not begun by then never will."""
    began, turn = threading.Lock(), threading.Lock()  # `turn` is taken once: by the thread, or by who gave up
    began.acquire()

    def body() -> None:
        if turn.acquire(blocking=False):
            began.release()
            work()

    try:
        _thread.start_new_thread(body, ())
    except (RuntimeError, MemoryError):
        return False
    return began.acquire(timeout=PATIENCE) or not turn.acquire(blocking=False)


def aside(work: Work) -> bool:
    """Have another thread do the work, and wait for it; False: there is none, and nothing was done.

    A Ctrl-C ends the wait, never the work. The thread is kept for the next work, so that what was begun with one can
    be ended with it when there is no memory for another.
    """
    done = threading.Lock()
    done.acquire()
    try:
        helper = _idle.pop()
    except IndexError:
        helper = _Helper()
        if not start(helper.serve):
            return False
    helper.task = work, done
    helper.given.release()
    done.acquire()
    return True


class _Helper:
    """A thread that waits for work."""

    __slots__ = ("given", "task")

    def __init__(self) -> None:
        self.task: tuple[Work, threading.Lock] | None = None
        self.given = threading.Lock()
        self.given.acquire()

    def serve(self) -> None:
        """Do what is given, one after the other; whatever happens, nobody waits in vain."""
        while True:
            self.given.acquire()
            assert self.task is not None
            (work, done), self.task = self.task, None
            try:
                with contextlib.suppress(BaseException):  # the work itself tells who waits for it
                    work()
                _idle.append(self)
            finally:
                del work
                done.release()


_idle: list[_Helper] = []
os.register_at_fork(after_in_child=lambda: _idle.clear())  # a child has none of its parent's threads
