"""Writes the ledgers that every later version must read: PYTHONPATH=src:tests python -m ledger.keeping.

A new format or schema gets new files beside the old ones; the old ones are never written again.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from unittest import mock

from ledger.asking import NOON, Clock, question, reserve
from sfumato.ledger import snapshot
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.portable import FORMAT
from sfumato.ledger.store.schema import MIGRATIONS
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sources import Seeded

FIXTURES = Path(__file__).parent / "fixtures"
UNITS = Path(__file__).parent.parent / "kept" / "v0_2" / "ledger_units.jsonl"


def fill(ledger: Ledger, clock: Clock, folder: Path) -> None:
    """Every kind of entry, and every currency of loss."""
    ledger.declare("people", ["visits.csv", "wages.csv"])
    ledger.grant("people", Guarantee(epsilon=8, delta=1e-9), until=NOON + timedelta(days=365))
    ledger.grant("people", Guarantee(epsilon=6, delta=1e-9), analyst="ana")
    ledger.grant("people", Guarantee(epsilon=1), analyst="ben")
    clock.move(minutes=1)
    ledger.settle(reserve(ledger, question("COUNT(*)", Fraction(1, 3))), '{"n": 1234}')
    gaussian = question("SUM(income)", loss=Loss.concentrated(Fraction(1, 1000)), mechanisms=(["gaussian", {}],))
    ledger.settle(reserve(ledger, gaussian), '{"income": 5}')
    threshold = question("COUNT(*) BY name", loss=Loss.pure(Fraction(1, 10), delta=Fraction(1, 10**11)), table="wages")
    ledger.settle(reserve(ledger, threshold), '{"Jürgen": 7}')
    ledger.erase(threshold_number(ledger))
    ledger.fail(reserve(ledger, question("AVG(income)", analyst="ben")), "engine")
    ledger.resume("ben", "visits")
    ledger.fail(reserve(ledger, question("AVG(age)", analyst="ben")), "timeout")
    ledger.backup(folder / "copy.db")
    with Ledger.open(folder / "copy.db", clock=clock, entropy=Seeded(3)) as copy:
        reserve(copy, question("asked of a copy", Fraction(1, 4)))
        ledger.merge(copy)
    ledger.revoke("people", analyst="ben", why="left")
    clock.move(minutes=1)
    ledger.grant("staff", Guarantee(epsilon=Fraction(1, 3)))
    ledger.settle(reserve(ledger, question("COUNT(*)", Fraction(1, 5), population="staff")), "9")
    ledger.renew("staff", "a new cohort")
    reserve(ledger, question("COUNT(*)", Fraction(1, 7), population="staff", version="2027-01"))


def fill_with_units(ledger: Ledger, clock: Clock) -> None:
    """Sources and populations that are bound to units: at once, later, with an inherited unit, and a frame."""
    ledger.declare("people", ["visits.csv"])  # as 0.1 did
    ledger.grant("people", Guarantee(epsilon=1))
    ledger.settle(reserve(ledger, question("COUNT(*)", Fraction(1, 4))), '{"n": 1234}')
    clock.move(minutes=1)
    person = 'all rows of one "person" in column "id"; neighbors add-remove'
    lines = f'by "order_id" equal to "order_id" in "orders.csv": {person}'
    units = {"visits.csv": person, "orders.csv": person, "lines.csv": lines, f"frame:{7:032x}": person}
    ledger.bind("people", 'all rows of one "person"; neighbors add-remove', units)
    ledger.bind("shops", "one row; neighbors replace", {"shops.csv": "one row; neighbors replace"})
    ledger.grant("shops", Guarantee(epsilon=2))
    ledger.settle(reserve(ledger, question("SUM(sales)", Fraction(1, 2), population="shops", table="shops")), "9")


def threshold_number(ledger: Ledger) -> int:
    return next(entry.number for entry in ledger.entries() if entry.amount.delta)


def main() -> None:
    clock = Clock()
    snapshot.INTERVAL = 8  # some snapshots, and entries before, between and after them
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Ledger.open(folder / "ledger.db", clock=clock, entropy=Seeded(1)) as ledger:
            fill(ledger, clock, folder)
            ledger.verify()
            ledger.backup(FIXTURES / f"format_{FORMAT}.jsonl")
        with closing(sqlite3.connect(folder / "ledger.db")) as database:
            text = "\n".join(database.iterdump()) + "\n"
    (FIXTURES / f"schema_{len(MIGRATIONS)}.sql").write_text(text)


def keep_units() -> None:
    """The ledger of units: python -c "from ledger.keeping import keep_units; keep_units()"."""
    clock = Clock()
    with (
        tempfile.TemporaryDirectory() as name,
        Ledger.open(f"{name}/ledger.db", clock=clock, entropy=Seeded(5)) as ledger,
    ):
        fill_with_units(ledger, clock)
        ledger.verify()
        ledger.backup(UNITS)


if __name__ == "__main__":
    with mock.patch("sfumato.ledger.ledger.mark", lambda: None):  # no process of the machine that writes them
        main()
