"""Ledgers of earlier versions are read, verified and folded to the sums that they had then, for ever."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from ledger.asking import Clock, question, replay
from sfumato.errors import Paused
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.amount import Amount
from sfumato.ledger.records.budget import Budget
from sfumato.ledger.records.entry import Kind

FIXTURES = Path(__file__).parent / "fixtures"
HEADS = {
    1: "23-56f170d23822ca9f43858e2c660628e773b73714b6e75384c76784ec84a091b0",
    2: "25-284975a9cce6807e5e305684fa4c410d507b4ed20293e1b85d4d7ea5b1f32cb5",
}
NOT_YET = {1: {Kind.SNAPSHOT}, 2: set()}

kept = pytest.mark.parametrize("file", sorted(FIXTURES.iterdir()), ids=lambda path: path.name)


def opened(file: Path, folder: Path) -> Ledger:
    """A ledger as it was kept: a dump of its database, or a backup."""
    path, clock = folder / "ledger.db", Clock()
    clock.move(hours=2)
    if file.suffix == ".jsonl":
        return Ledger.restore(file, path, clock=clock)
    with closing(sqlite3.connect(path)) as database:
        database.executescript(file.read_text())
    return Ledger.open(path, clock=clock)


@kept
def test_a_kept_ledger_verifies_with_its_head(file: Path, tmp_path: Path) -> None:
    """Every kind of entry is in it."""
    with opened(file, tmp_path) as ledger:
        version = int(file.stem.split("_")[1])
        verified = ledger.verify(HEADS[version])
        assert {entry.kind for entry in ledger.entries()} == set(Kind) - NOT_YET[version]
        assert verified.erased == 2


@kept
def test_a_kept_ledger_folds_to_the_sums_it_had(file: Path, tmp_path: Path) -> None:
    """Population by population, analyst by analyst."""
    with opened(file, tmp_path) as ledger:
        balance = ledger.balance()
    people, staff = balance.population("people"), balance.population("staff")
    assert people.account.spent == Amount(None, 102_805_556, 10**19)
    assert people.analyst("ana").spent == Amount(None, 92_805_556, 10**19)
    assert people.analyst("ben").spent == Amount(200_000_000, 10_000_000, 0)
    assert people.analyst("ben").revoked and people.named
    assert people.account.budget == Budget(Fraction(8), Fraction(1, 10**9), 1826366400000000, 690_519_693)
    assert staff.account.spent == Amount(142_857_143, 10_204_082, 0)
    assert staff.account.budget == Budget(Fraction(1, 3))
    assert balance.sources == {"visits.csv": "people", "wages.csv": "people"}
    assert balance.paused == {("ben", "visits")}
    assert [entry.population for entry in balance.open.values()] == ["staff"]


@kept
def test_a_kept_ledger_goes_on(file: Path, tmp_path: Path) -> None:
    """Old answers are replayed, and a reservation that was left open is abandoned."""
    with opened(file, tmp_path) as ledger:
        with pytest.raises(Paused):  # whoever left it open
            ledger.reserve(question("new"))
        ledger.resume("ana", "visits")
        assert replay(ledger, question("COUNT(*)", Fraction(1, 3))).answer == '{"n": 1234}'
        ledger.settle(ledger.reserve(question("new")), "7")  # type: ignore[arg-type]
        assert not ledger.balance().open
        ledger.verify()
