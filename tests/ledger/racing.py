"""Many processes that are started once and then ask round after round, all at the same moment."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import NamedTuple

from ledger.asking import question
from sfumato.errors import BudgetExhausted, LedgerUnavailable, Refused
from sfumato.ledger import snapshot
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.request import Reservation
from sfumato.privacy.guarantee import Guarantee

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["sfumato.ledger.ledger", "sfumato.ledger.store.connect", "psycopg", "multiprocessing"])

_PATIENCE = 600  # seconds that one process waits for the others, one of which may find the ledger locked


def population(number: int) -> str:
    return f"round {number}"


class Outcome(NamedTuple):
    """What one process has to say: where it was admitted, how often it found the ledger locked, and its error."""

    admitted: list[int]
    locked: int
    error: str | None


class Racer:
    """One process: it asks once per round and settles what was admitted.

    Where fifty processes wait for one lock on a busy machine, one may wait for longer than the ledger does. It is then
    told to try again, and does.
    """

    def __init__(self, address: str, name: str) -> None:
        self._ledger = Ledger.open(address)
        self._name = name
        self.admitted: list[int] = []
        self.locked = 0

    def ask(self, number: int) -> None:
        request = question(plan=self._name, analyst=self._name, population=population(number))
        try:
            reservation = self._patiently(lambda: self._ledger.reserve(request))
        except BudgetExhausted:
            return
        assert isinstance(reservation, Reservation)
        self.admitted.append(number)
        self._patiently(lambda: self._ledger.settle(reservation, "answer"))

    def _patiently(self, work: Callable[[], object]) -> object:
        while True:
            try:
                return work()
            except LedgerUnavailable as error:
                if "keeps it locked; try again; nothing was charged" not in str(error):
                    raise
                self.locked += 1


def run(address: str, name: str, rounds: int, every: int, start: Barrier, report: Connection) -> None:
    """What a process does; an error is reported, and ends the race for all."""
    snapshot.INTERVAL = every
    racer, error = Racer(address, name), None
    try:
        for number in range(rounds):
            start.wait(_PATIENCE)
            racer.ask(number)
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
        start.abort()
    report.send(Outcome(racer.admitted, racer.locked, error))
    report.close()


def race(address: str, processes: int, rounds: int, every: int) -> Sequence[Outcome]:
    """What each process says; a snapshot is written after `every` so many entries."""
    start = CONTEXT.Barrier(processes)
    running, reports = [], []
    for number in range(processes):
        ours, theirs = CONTEXT.Pipe(duplex=False)
        name = f"analyst {number}"
        process = CONTEXT.Process(target=run, args=(address, name, rounds, every, start, theirs), daemon=True)
        process.start()
        theirs.close()
        running.append(process)
        reports.append(ours)
    outcomes: list[Outcome] = [report.recv() for report in reports]
    for process in running:
        process.join(_PATIENCE)
        assert process.exitcode == 0
    return outcomes


def bind(address: str, unit: str, rounds: int, start: Barrier, report: Connection) -> None:
    """What one process does: declare a source of its own round with its unit, and say whether that was admitted."""
    ledger, became = Ledger.open(address), []
    for number in range(rounds):
        start.wait(_PATIENCE)
        try:
            ledger.bind(population(number), unit, {f"round {number}.csv": unit}, guarantee=Guarantee(epsilon=1))
            became.append([unit])
        except Refused:
            became.append([None])
    ledger.close()
    report.send(became)
    report.close()


def race_to_bind(address: str, processes: int, rounds: int) -> Sequence[Sequence[Sequence[str | None]]]:
    """What became of each process in each round; half of them say one unit, half another."""
    units = ("one row; neighbors add-remove", 'all rows of one "person"; neighbors add-remove')
    start = CONTEXT.Barrier(processes)
    running, reports = [], []
    for number in range(processes):
        ours, theirs = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=bind, args=(address, units[number % 2], rounds, start, theirs), daemon=True)
        process.start()
        theirs.close()
        running.append(process)
        reports.append(ours)
    became = [report.recv() for report in reports]
    for process in running:
        process.join(_PATIENCE)
        assert process.exitcode == 0
    return became
