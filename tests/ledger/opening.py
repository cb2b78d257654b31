"""Many processes that open new ledgers, all at the same moment."""

from __future__ import annotations

import logging
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

from ledger.racing import CONTEXT
from sfumato.ledger.ledger import Ledger

_PATIENCE = 120  # seconds that one process waits for the others


def run(folder: str, rounds: int, start: Barrier, report: Connection) -> None:
    """Open one ledger per round; how often it was made here, and what went wrong."""
    logging.getLogger("sfumato.owner").addHandler(logging.NullHandler())
    made, wrong = 0, []
    for number in range(rounds):
        start.wait(_PATIENCE)
        try:
            with Ledger.open(f"{folder}/{number}.db") as ledger:
                made += ledger.is_new
        except Exception as error:
            wrong.append(repr(error))
    report.send((made, wrong))
    report.close()


def open_at_once(folder: str, processes: int, rounds: int) -> tuple[int, list[str]]:
    """How many ledgers were made, and what went wrong in any process."""
    start = CONTEXT.Barrier(processes)
    running, reports = [], []
    for _ in range(processes):
        ours, theirs = CONTEXT.Pipe(duplex=False)
        process = CONTEXT.Process(target=run, args=(folder, rounds, start, theirs), daemon=True)
        process.start()
        theirs.close()
        running.append(process)
        reports.append(ours)
    found = [report.recv() for report in reports]
    for process in running:
        process.join(_PATIENCE)
    return sum(made for made, _ in found), [error for _, wrong in found for error in wrong]
