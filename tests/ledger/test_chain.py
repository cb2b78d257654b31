"""Verify finds whatever was changed, removed, moved or added, and is content with what was erased."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ledger.asking import Clock, question, replay, reserve
from ledger.tampering import move, rewrite, tampered
from sfumato.errors import LedgerBroken
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.amount import Amount
from sfumato.ledger.records.entry import COLUMNS, Kind, seal, to_row
from sfumato.privacy.guarantee import Guarantee

SECRET_WORD = "Rumpelstilzchen"


def fill(ledger: Ledger, clock: Clock) -> None:
    """An entry of every kind but two (merged: see test_copies; snapshot: see test_snapshot)."""
    ledger.declare("people", ["visits.csv"])
    for number in range(3):
        clock.move(seconds=1)
        ledger.settle(reserve(ledger, question(f"plan {number}")), f"answer {number}")
    reserve(ledger, question("other", analyst="ben"))
    ledger.fail(reserve(ledger, question("fails")), "engine")
    ledger.resume("ana", "visits")
    ledger.revoke("people", why="an end")
    ledger.grant("people", Guarantee(epsilon=2))
    ledger.renew("people", "new people")
    ledger.erase(reserve_and_settle(ledger))
    reserve(ledger, question("open"))


def reserve_and_settle(ledger: Ledger) -> int:
    reservation = reserve(ledger, question(f"WHERE name = '{SECRET_WORD}'"))
    ledger.settle(reservation, SECRET_WORD)
    return reservation.number


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a ledger with all kinds of entries."""
    path, clock = tmp_path_factory.mktemp("filled") / "ledger.db", Clock()
    with Ledger.open(path, clock=clock) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        fill(ledger, clock)
    return path


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Path:
    """A copy of it to tamper with."""
    return Path(shutil.copy(filled, tmp_path / "copy.db"))


def check(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.verify()


def is_found(path: Path) -> bool:
    try:
        check(path)
    except LedgerBroken:
        return True
    return False


def test_an_untouched_ledger_is_in_order(copy: Path) -> None:
    """So that the other tests find what was done, and nothing else."""
    check(copy)
    with Ledger.open(copy) as ledger:
        assert {entry.kind for entry in ledger.entries()} == set(Kind) - {Kind.MERGED, Kind.SNAPSHOT}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_changed_field_of_any_entry_is_found(filled: Path, tmp_path: Path, column: str) -> None:
    """Every field of every entry, to another value and to none."""
    with Ledger.open(filled) as ledger:
        count = ledger.head.number
    for number in range(1, count + 1):
        for change in (f"coalesce(\"{column}\", 0) || '1'", "NULL"):
            path = Path(shutil.copy(filled, tmp_path / "changed.db"))
            with tampered(path) as database:
                before = database.execute("SELECT * FROM sfumato_entry").fetchall()
                try:
                    database.execute(f'UPDATE sfumato_entry SET "{column}" = {change} WHERE number = ?', (number,))
                except sqlite3.IntegrityError:  # the database itself says no
                    continue
                changed = before != database.execute("SELECT * FROM sfumato_entry").fetchall()
            assert is_found(path) == changed, (number, change)


@pytest.mark.parametrize("column", ["salt", "text", "replay"])
def test_a_changed_payload_is_found(filled: Path, tmp_path: Path, column: str) -> None:
    """A single bit of salt, text or key."""
    with closing(sqlite3.connect(filled)) as database:
        rows = database.execute(f"SELECT number, {column} FROM sfumato_payload WHERE {column} IS NOT NULL").fetchall()
    assert rows
    for number, value in rows:
        path = Path(shutil.copy(filled, tmp_path / "changed.db"))
        raw = value if isinstance(value, bytes) else value.encode()
        flipped = bytes([raw[0] ^ 1, *raw[1:]])
        with tampered(path) as database:
            new = flipped if isinstance(value, bytes) else flipped.decode()
            database.execute(f"UPDATE sfumato_payload SET {column} = ? WHERE number = ?", (new, number))
        assert is_found(path), number


def test_a_removed_entry_is_found_wherever_it_was(filled: Path, tmp_path: Path) -> None:
    """Also the last one: the ledger keeps its own head beside the chain."""
    with Ledger.open(filled) as ledger:
        count = ledger.head.number
    for number in range(1, count + 1):
        for close_gap in (False, True):
            path = Path(shutil.copy(filled, tmp_path / "removed.db"))
            with tampered(path) as database:
                database.execute("DELETE FROM sfumato_payload WHERE number = ?", (number,))
                database.execute("DELETE FROM sfumato_entry WHERE number = ?", (number,))
                for later in range(number + 1, count + 1) if close_gap else ():
                    move(database, later, later - 1)
            assert is_found(path), number


def test_two_entries_in_each_others_place_are_found(filled: Path, tmp_path: Path) -> None:
    """With their payloads."""
    with Ledger.open(filled) as ledger:
        count = ledger.head.number
    for number in range(1, count):
        path = Path(shutil.copy(filled, tmp_path / "moved.db"))
        with tampered(path) as database:
            move(database, number, 0)
            move(database, number + 1, number)
            move(database, 0, number + 1)
        assert is_found(path), number


def test_an_inserted_entry_is_found(filled: Path, tmp_path: Path) -> None:
    """Even one that is well hashed after the entry before it."""
    with Ledger.open(filled) as ledger:
        entries = list(ledger.entries())
    for before in entries[:-1]:
        path = Path(shutil.copy(filled, tmp_path / "inserted.db"))
        extra = seal(
            Kind.RENEWED, after=before.head, at=before.at, product="1", population="people", detail={"why": "x"}
        )
        with tampered(path) as database:
            for later in range(len(entries), before.number, -1):
                move(database, later, later + 1)
            marks = ", ".join("?" * len(COLUMNS))
            database.execute(f"INSERT INTO sfumato_entry VALUES ({marks})", to_row(extra))
        assert is_found(path), before.number


def test_an_entry_that_was_appended_behind_the_ledgers_back_is_found(copy: Path) -> None:
    """Its own head does not know it."""
    with Ledger.open(copy) as ledger:
        head = list(ledger.entries())[-1]
    extra = seal(Kind.RENEWED, after=head.head, at=head.at, product="1", population="people", detail={"why": "x"})
    with tampered(copy) as database:
        database.execute(f"INSERT INTO sfumato_entry VALUES ({', '.join('?' * len(COLUMNS))})", to_row(extra))
    assert is_found(copy)


def test_a_chain_that_was_sealed_anew_is_found_by_a_known_head(copy: Path) -> None:
    """Whoever can write the database can write another chain, but not one with the head on a receipt."""
    with Ledger.open(copy) as ledger:
        receipt, number = str(ledger.head), 3
    rewrite(copy, number, amount=Amount(1, 1, 0))
    with Ledger.open(copy) as ledger:
        ledger.verify()
        with pytest.raises(LedgerBroken, match="another ledger, or a copy that went its own way"):
            ledger.verify(receipt)


def test_a_reservation_that_should_have_been_refused_is_found(copy: Path) -> None:
    """The decisions are taken again, on the balance of that moment."""
    with Ledger.open(copy) as ledger:
        number = next(entry.number for entry in ledger.entries() if entry.kind is Kind.RESERVED)
    rewrite(copy, number, amount=Amount(10**9 + 1, 10**9, 0))
    with Ledger.open(copy) as ledger, pytest.raises(LedgerBroken, match=f"entry {number} should have been refused"):
        ledger.verify()


def test_a_grant_of_more_rho_than_it_promises_is_found(copy: Path) -> None:
    """The limit that was searched for is in the entry; it is checked against epsilon and delta."""
    granted = {"epsilon": "1", "delta": "1/1000000000", "until": None, "rho": 20_000_000}
    rewrite(copy, 1, detail={**granted, "rho": 10_000_000})
    check(copy)
    rewrite(copy, 1, detail=granted)
    with pytest.raises(LedgerBroken, match="entry 1 grants more rho"):
        check(copy)


def test_a_time_that_goes_back_is_found(copy: Path) -> None:
    """The ledger's clock never does."""
    rewrite(copy, 5, at=1)
    with pytest.raises(LedgerBroken, match="entry 5 is older than the entry before it"):
        check(copy)


def test_erasing_leaves_the_chain_whole_and_nothing_of_the_text(shared: Ledger) -> None:
    """Question, answer, salt and replay key are gone; what was spent stays spent."""
    for number in range(3):
        reserve_and_settle(shared) if number == 1 else shared.settle(reserve(shared, question(f"{number}")), "7")
    erased = next(entry for entry in shared.entries() if entry.number == 4)
    before = shared.remaining("people")
    entry = shared.erase(5)  # the settling stands for the reservation
    assert entry is not None and entry.refers == erased.number and entry.details == {"payloads": [4, 5]}
    assert shared.erase(4) is None
    verified = shared.verify()
    assert verified.erased == 2 and shared.remaining("people") == before
    assert replay(shared, question("2")).answer == "7"


def test_erased_text_is_nowhere_in_the_file(tmp_path: Path) -> None:
    """Neither in the database nor in its write-ahead log."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        number = reserve_and_settle(ledger)
        ledger.settle(reserve(ledger, question("keep")), "kept")
        assert any(SECRET_WORD.encode() in file.read_bytes() for file in tmp_path.iterdir())
        ledger.erase(number)
        assert not any(SECRET_WORD.encode() in file.read_bytes() for file in tmp_path.iterdir())
        assert replay(ledger, question("keep")).answer == "kept"


def test_a_payload_that_is_gone_without_a_word_is_found(copy: Path) -> None:
    """Only an erased entry excuses it."""
    with tampered(copy) as database:
        database.execute("DELETE FROM sfumato_payload WHERE number = (SELECT min(number) FROM sfumato_payload)")
    with pytest.raises(LedgerBroken, match="is gone, and no entry says that it was erased"):
        check(copy)


def test_an_erased_payload_that_is_back_is_found(copy: Path, filled: Path) -> None:
    """What was erased stays erased."""
    with Ledger.open(copy) as ledger:
        erased = next(entry for entry in ledger.entries() if entry.kind is Kind.ERASED)
    rewrite(copy, erased.number, detail={"payloads": [3, 4]})
    with pytest.raises(LedgerBroken, match="was erased, but it is there"):
        check(copy)


def test_the_chain_holds_nothing_of_question_and_answer(shared: Ledger) -> None:
    """Whoever gets an export learns who asked which table, and what it cost."""
    reserve_and_settle(shared)
    assert SECRET_WORD not in json.dumps([to_row(entry) for entry in shared.entries()])
