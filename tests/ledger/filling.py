"""A process whose disk is full: a limit on the size of files stands in for it."""

from __future__ import annotations

import resource
import sqlite3
from contextlib import closing
from fractions import Fraction
from multiprocessing.connection import Connection

from ledger.asking import question, reserve
from sfumato.errors import LedgerUnavailable
from sfumato.ledger.ledger import Ledger


def fill_up(report: Connection, path: str) -> None:
    """Try to write while there is room for so many bytes of the log; report which room was too small."""
    short, free = [], resource.getrlimit(resource.RLIMIT_FSIZE)
    ledger = Ledger.open(path)
    for room in range(0, 40_000, 1_000):
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        head = ledger.head
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, free[1]))
        try:
            ledger.reserve(question("x" * 10_000 + str(room), epsilon=Fraction(1, 1000)))
        except LedgerUnavailable as error:
            short.append((room, str(error)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, free)
        written = 0 if short and short[-1][0] == room else 1
        assert ledger.head.number == head.number + written
        reserve(ledger, question(f"goes on {room}", epsilon=Fraction(1, 1000)))
        ledger.verify()
    ledger.close()
    report.send(short)
