"""Reserve and settle with 50 askers at once, beside the disk's own rate: python bench/ledger.py [--json path].

Each asker is a thread of one process with a SQLite ledger that is synchronized at every commit. The yardstick is a bare
SQLite in the same mode that commits one row at a time, measured in turns with the ledger. A pair needs two commits, so
a ledger without shared transactions could reach half of that rate at most.

And how long a process takes to open a long ledger: by all of its entries, as version 0.1 did and as a ledger without
snapshots is read once, and by its snapshots; the ratio of the two in one run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from sfumato.ledger import operations, snapshot
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.request import Request, Reservation
from sfumato.ledger.transaction import Transaction
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss

ASKERS = 50
PAIRS = 100  # of each asker, per repetition
COMMITS = 2_000
REPETITIONS = 5
GOAL = 1_000.0  # pairs per second
ENTRIES, IN_ONE, OPENINGS = 430_000, 1_000, 3  # of the long ledger; questions in one of its transactions
ANSWERS, ROWS, ANSWER_GOAL = 8, 10_000, 100.0  # of each asker; of the table; answers per second

PLAN = "SELECT region, COUNT(*) AS n FROM people WHERE age >= {} GROUP BY region"
ANSWER = json.dumps({"rows": [{"region": f"R{i}", "n": 1234.5} for i in range(10)]})


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def commit_often(database: sqlite3.Connection) -> None:
    for _ in range(COMMITS):
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO t (text) VALUES ('one row')")
        database.execute("COMMIT")


def ask(ledger: Ledger, name: str, repetition: int) -> None:
    for number in range(PAIRS):
        plan = PLAN.format(repetition * PAIRS + number)
        request = Request("people", name, "people", "2026-11", plan, "epsilon 0.001", (), Loss.pure(0.001))
        reservation = ledger.reserve(request)
        assert isinstance(reservation, Reservation)
        ledger.settle(reservation, ANSWER)


def ask_together(ledger: Ledger, repetition: int) -> None:
    threads = [threading.Thread(target=ask, args=(ledger, f"asker {n}", repetition)) for n in range(ASKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure(folder: Path) -> dict[str, float]:
    """Rates per second: medians over the repetitions, and of the whole ledger when it is walked."""
    ledger = Ledger.open(folder / "ledger.db")
    ledger.grant("people", Guarantee(epsilon=10**6))
    with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as bare:
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
        times = [
            (seconds(lambda r=each: ask_together(ledger, r)), seconds(lambda: commit_often(bare)))
            for each in range(REPETITIONS)
        ]
    pairs = statistics.median(ASKERS * PAIRS / ours for ours, _ in times)
    commits = statistics.median(COMMITS / theirs for _, theirs in times)
    ratio = statistics.median(ASKERS * PAIRS / ours / (COMMITS / theirs) for ours, theirs in times)
    entries = ledger.head.number
    assert entries > 2 * ASKERS * PAIRS * REPETITIONS
    verified = entries / seconds(ledger.verify)
    ledger.close()
    return {"pairs": pairs, "commits": commits, "ratio": ratio, "verified": verified}


def opened(path: Path) -> float:
    """Seconds until a ledger can be asked, as each new process takes them."""

    def open_it() -> None:
        with Ledger.open(path) as ledger:
            ledger.balance()

    return statistics.median(seconds(open_it) for _ in range(OPENINGS))


def long_ledger(path: Path, entries: int) -> None:
    """A ledger of so many entries and no snapshot, as version 0.1 wrote it: many questions in each transaction."""
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=10**6))
        for batch in range(entries // 2 // IN_ONE):

            def fill(transaction: Transaction, batch: int = batch) -> None:
                for number in range(IN_ONE):
                    plan, asker = PLAN.format(batch * IN_ONE + number), f"asker {number % ASKERS}"
                    request = Request("people", asker, "people", "2026-11", plan, "epsilon 0.001", (), Loss.pure(0.001))
                    reservation = operations.reserve(transaction, request)
                    assert isinstance(reservation, Reservation)
                    operations.settle(transaction, reservation, ANSWER)

            ledger._writer.run(fill)


def opening(folder: Path, entries: int) -> dict[str, float]:
    """Seconds to open a long ledger by its entries, and after the next question, which writes a snapshot."""
    path, usual = folder / "long.db", snapshot.INTERVAL
    snapshot.INTERVAL = 10 * entries
    long_ledger(path, entries)
    before = opened(path)
    snapshot.INTERVAL = usual
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=10**6))
        written = ledger.head.number
    after = opened(path)
    return {"entries": written, "by_entries": before, "by_snapshot": after, "opening_ratio": before / after}


def answered(folder: Path) -> float:
    """Answers per second for a count by group on a small table, each question another one."""
    import duckdb

    import sfumato as sf

    source = folder / "people.parquet"
    rows = f"SELECT range % 3000 AS person, range % 97 AS age, range % 5 AS region FROM range({ROWS})"
    duckdb.execute(f"COPY ({rows}) TO '{source}' (FORMAT parquet)")
    table = sf.table(source, unit="person", columns={"region": sf.column(keys=range(5))})
    curator = sf.Curator({"people": table}, budget=10**6, ledger=folder / "answers.db")
    number = itertools.count()

    def one() -> None:
        for _ in range(ANSWERS):
            where = f"age < {50 + next(number) / 10_000}"
            curator.ask(f"SELECT region, COUNT(*) AS n FROM people WHERE {where} GROUP BY region", epsilon=1)

    def together() -> None:
        threads = [threading.Thread(target=one) for _ in range(ASKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    one()
    return statistics.median(ASKERS * ANSWERS / seconds(together) for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--entries", type=int, default=ENTRIES, help="how many the long ledger has")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
        figures["answers"] = answered(Path(folder))
        figures |= opening(Path(folder), options.entries)
    met = figures["pairs"] >= GOAL and figures["answers"] >= ANSWER_GOAL
    print(f"{ASKERS} askers, SQLite, synchronous=FULL")
    goal = f"goal {GOAL:,.0f}  {'met' if figures['pairs'] >= GOAL else 'MISSED'}"
    print(f"{'reserve + settle pairs':28}{figures['pairs']:>10,.0f} per second   {goal}")
    print(f"{'bare commits':28}{figures['commits']:>10,.0f} per second   pairs per commit {figures['ratio']:.2f}")
    goal = f"goal {ANSWER_GOAL:,.0f}  {'met' if figures['answers'] >= ANSWER_GOAL else 'MISSED'}"
    print(f"{f'answers, {ROWS:,} rows':28}{figures['answers']:>10,.0f} per second   {goal}")
    print(f"{'entries verified':28}{figures['verified']:>10,.0f} per second")
    print(f"a process opens a ledger of {figures['entries']:,.0f} entries")
    print(f"{'by all entries':28}{figures['by_entries']:>10.3f} seconds")
    print(
        f"{'by its snapshot':28}{figures['by_snapshot']:>10.3f} seconds   {figures['opening_ratio']:,.0f} times as fast"
    )
    if options.json:
        options.json.write_text(json.dumps({**figures, "goal": GOAL, "met": met}, indent=2) + "\n")


if __name__ == "__main__":
    main()
