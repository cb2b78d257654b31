"""Threads that cannot be had: nobody waits for them without end."""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sfumato import threads


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread is left over from others."""
    monkeypatch.setattr(threads, "_idle", [])


def refusing(*_: Any) -> int:
    raise RuntimeError("can't start new thread")


def dying(body: Callable[[], None], arguments: tuple[()]) -> int:
    """The thread is made and dies before its first step, as with no memory left."""
    return 7


@pytest.mark.parametrize("broken", (refusing, dying))
def test_a_thread_that_does_not_begin_is_no_thread(monkeypatch: pytest.MonkeyPatch, broken: Any) -> None:
    """Python's own start waits for ever for the second kind."""
    monkeypatch.setattr(threads, "PATIENCE", 0.01)
    monkeypatch.setattr(_thread, "start_new_thread", broken)
    done: list[int] = []
    assert threads.start(lambda: done.append(1)) is False
    assert threads.aside(lambda: done.append(1)) is False
    assert done == []


def test_a_thread_that_begins_too_late_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asked for it was told that nothing would be done."""
    late: list[Callable[[], None]] = []

    def kept(body: Callable[[], None], arguments: tuple[()]) -> int:
        late.append(body)
        return 7

    monkeypatch.setattr(threads, "PATIENCE", 0.01)
    monkeypatch.setattr(_thread, "start_new_thread", kept)
    done: list[int] = []
    assert threads.start(lambda: done.append(1)) is False
    late[0]()
    assert done == []


def test_work_aside_is_done_by_one_thread_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """So who could begin can also end, when there is no other thread to be had."""
    seen: list[int] = []
    assert threads.aside(lambda: seen.append(threading.get_ident()))
    monkeypatch.setattr(_thread, "start_new_thread", refusing)
    assert threads.aside(lambda: seen.append(threading.get_ident()))
    assert len(set(seen)) == 1 and seen[0] != threading.get_ident() and len(seen) == 2


def test_work_that_fails_lets_nobody_wait() -> None:
    """And the thread goes on."""

    def broken() -> None:
        raise MemoryError

    assert threads.aside(broken)
    done: list[int] = []
    assert threads.aside(lambda: done.append(1)) and done == [1]


def test_work_that_is_under_way_keeps_no_other_waiting() -> None:
    """After a Ctrl-C its thread is busy: the next work has another one."""
    held, done = threading.Lock(), []
    held.acquire()
    waiting = threading.Thread(target=threads.aside, args=(held.acquire,), daemon=True)
    waiting.start()
    assert threads.aside(lambda: done.append(1)) and done == [1]
    held.release()
    waiting.join(60)
    assert not waiting.is_alive()


def test_a_child_does_not_wait_for_its_parents_threads() -> None:
    """It has none of them, and starts its own."""
    threads.aside(lambda: None)
    child = os.fork()
    if not child:
        done: list[int] = []
        os._exit(0 if threads.aside(lambda: done.append(1)) and done == [1] else 1)
    assert os.waitpid(child, 0)[1] == 0
