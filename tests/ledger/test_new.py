"""A new ledger is never silent, and never half there: what begins one, what refuses to, and what a lost log loses."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from ledger.asking import question, reserve
from ledger.opening import open_at_once
from sfumato.errors import InvalidArgument, LedgerBroken, LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.store.connect import read_url
from sfumato.privacy.guarantee import Guarantee

PROCESSES, ROUNDS = 50, 5


def spend(ledger: Ledger, questions: int) -> None:
    ledger.establish("people", Guarantee(epsilon=1))
    for number in range(questions):
        ledger.settle(reserve(ledger, question(f"{number}")), "answer")


def test_fifty_processes_that_begin_one_ledger_at_once_all_get_it(tmp_path: Path) -> None:
    """None fails, and exactly one of them makes it."""
    made, wrong = open_at_once(str(tmp_path), PROCESSES, ROUNDS)
    assert wrong == []
    assert made == ROUNDS
    for file in tmp_path.glob("*.db"):  # two that close at the same moment may both leave the log to the other
        Ledger.open(file, create=False).close()
    assert len(list(tmp_path.iterdir())) == ROUNDS  # no draft, no log, no lock is left


def test_a_new_ledger_is_announced_once_to_its_owner(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As a warning, which Python prints unless told otherwise; one that is there is not announced."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        assert ledger.is_new
    with Ledger.open(path) as ledger:
        assert not ledger.is_new
    said = [(record.name, record.levelno, record.getMessage()) for record in caplog.records]
    assert said == [("sfumato.owner", logging.WARNING, said[0][2])]
    assert said[0][2].startswith(f"new ledger: {path}; nothing is recorded as spent in it")


def test_the_file_alone_lacks_four_questions_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is in use: a copy without the log, or a log that is lost, forgets eight commits and no more."""
    monkeypatch.setattr("sfumato.ledger.store.store._SECONDS", 1e9)  # as if all were asked within a second
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    with Ledger.open(path) as ledger:
        assert path.stat().st_size > 3 * 4096  # from the beginning
        ledger.establish("people", Guarantee(epsilon=1))
        lacks = []
        for number in range(30):
            ledger.settle(reserve(ledger, question(f"{number}", epsilon=Fraction(1, 100))), "answer")
            shutil.copy(path, copy)
            with Ledger.open(copy, create=False) as alone:
                lacks.append(ledger.head.number - alone.verify().entries)
    assert max(lacks) <= 8 and min(lacks) == 0


def test_the_file_alone_holds_what_was_asked_a_second_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And all that a process had written when it ended."""
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    with Ledger.open(path) as ledger:
        spend(ledger, 5)
    shutil.copy(path, copy)
    with Ledger.open(copy, create=False) as alone:
        assert alone.verify().entries == 11
    monkeypatch.setattr("sfumato.ledger.store.store._SECONDS", 0)
    with Ledger.open(path) as ledger:
        for number in range(3):
            head = reserve(ledger, question(f"apart {number}")).head
            shutil.copy(path, copy)
            with Ledger.open(copy, create=False) as alone:
                assert alone.verify(head).head == head


def test_an_emptied_ledger_does_not_begin_anew(tmp_path: Path) -> None:
    """Unless its owner says that nothing was ever spent."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        spend(ledger, 3)
    path.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(LedgerUnavailable, match=r"it is empty.*restore a backup: .*, or.*: create=True"):
            Ledger.open(path)
    assert path.stat().st_size == 0
    with Ledger.open(path, create=True) as ledger:
        assert ledger.is_new and ledger.head.number == 0


@pytest.mark.parametrize("lose", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["gone", "empty"])
def test_a_log_without_its_ledger_is_not_thrown_away(tmp_path: Path, lose: Callable[[Path], object]) -> None:
    """SQLite would remove it, or write it into the new file; it may be all that is left."""
    path, log = tmp_path / "ledger.db", tmp_path / "ledger.db-wal"
    with Ledger.open(path) as ledger:
        spend(ledger, 3)
        kept = log.read_bytes()
    log.write_bytes(kept)
    lose(path)
    for create in (None, True):
        with pytest.raises(LedgerUnavailable, match=r"ledger\.db-wal. is there, but the ledger is gone or empty"):
            Ledger.open(path, create=create)
    assert log.read_bytes() == kept


def test_a_database_of_somebody_else_becomes_a_ledger_only_if_that_is_said(tmp_path: Path) -> None:
    """It may be the wrong file; with the word its own tables stay."""
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.commit()
    before = path.read_bytes()
    with pytest.raises(
        LedgerUnavailable, match=r"^No ledger here yet\. Create it with create=True\..*restore a backup"
    ):
        Ledger.open(path)
    with pytest.raises(LedgerUnavailable, match="No ledger here yet"):
        Ledger.open(path, create=False)
    with closing(sqlite3.connect(path)) as other:
        assert [row[0] for row in other.execute("SELECT name FROM sqlite_master")] == ["theirs"]
    assert before[100:] == path.read_bytes()[100:]
    with Ledger.open(path, create=True) as ledger:
        spend(ledger, 1)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM theirs").fetchone() == (0,)


def test_a_database_server_without_a_ledger_becomes_one_only_if_that_is_said(postgres: Callable[[], str]) -> None:
    """It may have been emptied; what PostgreSQL keeps of dropped tables is not in the way."""
    address = postgres()
    with pytest.raises(LedgerUnavailable, match=r"^No ledger here yet\. Create it with create=True\. .*was emptied"):
        Ledger.open(address)
    with Ledger.open(address, create=True) as ledger:
        assert ledger.is_new and "@" not in ledger.label
        spend(ledger, 1)
    with Ledger.open(address) as ledger:
        assert not ledger.is_new and ledger.head.number == 3
    engine = create_engine(read_url(address))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE sfumato_meta")
    with pytest.raises(LedgerBroken, match="lost its table"):
        Ledger.open(address, create=True)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE sfumato_payload, sfumato_entry")
    engine.dispose()
    with pytest.raises(LedgerUnavailable, match="No ledger here yet"):
        Ledger.open(address)
    with Ledger.open(address, create=True) as ledger:
        assert ledger.is_new
        spend(ledger, 1)
        ledger.verify()


def test_a_ledger_without_a_log_is_given_one_though_others_write_to_it(tmp_path: Path) -> None:
    """A file in SQLite's older way, as every new file once was: SQLite itself does not wait for a writer, we do."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        spend(ledger, 1)
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writer.execute("PRAGMA journal_mode = DELETE").fetchall()
    writer.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: writer.execute("COMMIT")).start()
    with Ledger.open(path) as ledger:
        reserve(ledger, question("new"))
    writer.close()


def test_a_damaged_backup_leaves_no_empty_ledger_behind(tmp_path: Path) -> None:
    """It is read through before anything is made."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        spend(ledger, 3)
        ledger.backup(backup := tmp_path / "backup.jsonl")
    backup.write_text(backup.read_text().replace('"epsilon":"100000000"', '"epsilon":"0"', 1))
    (emptied := tmp_path / "emptied.db").touch()
    for into in (tmp_path / "new.db", emptied):
        with pytest.raises(LedgerBroken, match="was changed"):
            Ledger.restore(backup, into)
    assert not (tmp_path / "new.db").exists() and emptied.stat().st_size == 0
    with pytest.raises((LedgerBroken, InvalidArgument)):
        Ledger.restore(tmp_path / "nothing.jsonl", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()


def test_an_emptied_ledger_takes_its_backup_back(tmp_path: Path, address: str) -> None:
    """Which is what its refusal advises."""
    with Ledger.open(address) as ledger:
        spend(ledger, 3)
        ledger.backup(tmp_path / "backup.jsonl")
        head = ledger.head
    (emptied := tmp_path / "emptied.db").touch()
    with Ledger.restore(tmp_path / "backup.jsonl", emptied) as ledger:
        assert ledger.head == head
