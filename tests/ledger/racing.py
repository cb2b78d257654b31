"""Many processes that are started once and then ask round after round, all at the same moment."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

from ledger.asking import question
from sfumato.errors import BudgetExhausted, Refused
from sfumato.ledger import snapshot
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.request import Reservation
from sfumato.privacy.guarantee import Guarantee

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["sfumato.ledger.ledger", "sfumato.ledger.store.connect", "psycopg", "multiprocessing"])

_PATIENCE = 120  # seconds that one process waits for the others


def population(number: int) -> str:
    return f"round {number}"


def run(address: str, name: str, rounds: int, every: int, start: Barrier, report: Connection) -> None:
    """What one process does: ask once per round, settle what was admitted, and say in which rounds that was."""
    snapshot.INTERVAL = every
    ledger, admitted = Ledger.open(address), []
    for number in range(rounds):
        start.wait(_PATIENCE)
        try:
            reservation = ledger.reserve(question(plan=name, analyst=name, population=population(number)))
        except BudgetExhausted:
            continue
        assert isinstance(reservation, Reservation)
        admitted.append(number)
        ledger.settle(reservation, "answer")
    ledger.close()
    report.send(admitted)
    report.close()


def race(address: str, processes: int, rounds: int, every: int) -> Sequence[Sequence[int]]:
    """The rounds in which each process was admitted; a snapshot is written after `every` so many entries."""
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
    admitted = [report.recv() for report in reports]
    for process in running:
        process.join(_PATIENCE)
        assert process.exitcode == 0
    return admitted


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
