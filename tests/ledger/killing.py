"""A process that asks one question and is killed at a step of its way to the disk."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection

from sqlalchemy import event

from ledger.asking import question
from ledger.racing import CONTEXT
from sfumato.errors import BudgetExhausted
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.request import Reservation

_ENGINE_EVENTS = ("begin", "before_cursor_execute", "after_cursor_execute", "commit", "rollback")
_POOL_EVENTS = ("checkout", "checkin")  # the latter comes after the commit has returned


class Steps:
    """Counts the steps of this process and kills it at one of them; 0: at none."""

    def __init__(self, last: int) -> None:
        self.count = 0
        self._last = last

    def reached(self, *_: object) -> None:
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, ledger: Ledger) -> None:
        engine = ledger._writer.store.engine
        for name in _ENGINE_EVENTS:
            event.listen(engine, name, lambda *_: self.reached())
        for name in _POOL_EVENTS:
            event.listen(engine.pool, name, lambda *_: self.reached())


def ask_once(report: Connection, address: str, population: str, name: str, last: int) -> None:
    """Reserve, run, settle; what was promised is reported at once."""
    ledger, steps = Ledger.open(address, pause=False), Steps(last)
    steps.watch(ledger)
    reservation = ledger.reserve(question(name, population=population))
    assert isinstance(reservation, Reservation)
    report.send("reserved")
    steps.reached()  # the engine runs
    ledger.settle(reservation, "answer")
    report.send("settled")
    report.send(steps.count)


def ask_until_killed(report: Connection, address: str, population: str) -> None:
    """Reserve and settle until nothing is left, then wait for the end."""
    ledger, number = Ledger.open(address, pause=False), 0
    while True:
        number += 1
        try:
            reservation = ledger.reserve(question(f"{number}", population=population))
        except BudgetExhausted:
            report.send(("exhausted", 0))
            signal.pause()
        assert isinstance(reservation, Reservation)
        report.send(("reserved", reservation.number))
        report.send(("settled", ledger.settle(reservation, "answer").number))


def _heard(work: Callable[..., None], said: str, *arguments: object) -> None:
    """Work whose errors are written to a file: the process that forks has its own idea of where they go."""
    with open(said, "ab") as file:
        os.dup2(file.fileno(), 2)
    work(*arguments)


def until_the_end(
    work: Callable[..., None], *arguments: object, delay: float | None = None
) -> tuple[list[object], int]:
    """Run a process, kill it after a delay if one is given; what it reported, and how it ended.

    What it had to say is printed, so that a test that fails shows it.
    """
    ours, theirs = CONTEXT.Pipe(duplex=False)
    reported: list[object] = []
    with tempfile.NamedTemporaryFile() as said:
        process = CONTEXT.Process(target=_heard, args=(work, said.name, theirs, *arguments), daemon=True)
        process.start()
        theirs.close()
        try:
            if delay is not None:
                reported.append(ours.recv())
                process.join(delay)
                process.kill()
            while True:
                reported.append(ours.recv())
        except EOFError:
            process.join()
        print(said.read().decode(errors="replace"), end="")
    return reported, process.exitcode or 0
