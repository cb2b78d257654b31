"""Disks that are full, pages that are torn, files that are locked."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event

from ledger.asking import Clock, question, reserve
from ledger.filling import fill_up
from ledger.killing import until_the_end
from sfumato.errors import LedgerBroken, LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.store.connect import read_url
from sfumato.privacy.guarantee import Guarantee

PAGE = 4096
FRAME = PAGE + 24  # of the write-ahead log, after a header of 32 bytes


def test_a_full_disk_is_said_so_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    """However much room there was; and when there is room again the same process goes on."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
    reported, ended = until_the_end(fill_up, str(path))
    assert ended == 0
    short = reported[0]
    assert isinstance(short, list) and 5 < len(short) < 40
    for _, text in short:
        assert "the ledger must be readable and writable" in text
        assert "disk" in text
    with Ledger.open(path) as ledger:
        ledger.verify()


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database and a write-ahead log that holds reservations and settlings."""
    folder = tmp_path_factory.mktemp("logged")
    with Ledger.open(folder / "ledger.db", clock=Clock()) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        with ledger._writer.store.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        ledger._writer.store.committed = lambda: None  # type: ignore[method-assign]  # the log shall hold them all
        for number in range(6):
            ledger.settle(reserve(ledger, question(f"{number}")), "answer " * 200)
        copy = folder / "copy"
        copy.mkdir()
        for name in ("ledger.db", "ledger.db-wal"):
            shutil.copy(folder / name, copy / name)
    return copy


def torn(logged: Path, folder: Path, size: int, junk: bytes = b"") -> Ledger:
    """The ledger as a machine finds it that lost power: the log ends early, perhaps in junk."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(logged, folder)
    log = folder / "ledger.db-wal"
    log.write_bytes(log.read_bytes()[:size] + junk)
    return Ledger.open(folder / "ledger.db", clock=Clock())


def test_a_log_that_is_torn_anywhere_gives_a_whole_ledger_that_goes_on(logged: Path, tmp_path: Path) -> None:
    """Some last transactions are missing, never half of one; a known head tells that they are."""
    with torn(logged, tmp_path / "whole", 10**9) as ledger:
        whole = list(ledger.entries())
    size, lengths, noise = (logged / "ledger.db-wal").stat().st_size, set(), random.Random(1)
    for frame in range((size - 32) // FRAME + 1):
        for offset, junk in ((0, b""), (FRAME // 2, b""), (20, noise.randbytes(FRAME)), (FRAME - 1, b"\0")):
            with torn(logged, tmp_path / "torn", min(size, 32 + frame * FRAME + offset), junk) as ledger:
                entries = list(ledger.entries())
                assert entries == whole[: len(entries)] and entries
                ledger.verify()
                if len(entries) < len(whole):
                    with pytest.raises(LedgerBroken, match="is an older copy"):
                        ledger.verify(whole[-1].head)
                reserve(ledger, question("goes on"))
                lengths.add(len(entries))
    assert lengths == set(range(1, len(whole) + 1))


def test_a_torn_page_of_the_database_is_found_or_harmless(tmp_path: Path) -> None:
    """Half of any page lost: either the ledger says so, or nothing of it is missing."""
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    with Ledger.open(path, clock=Clock()) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        for number in range(8):
            ledger.settle(reserve(ledger, question(f"{number}" * 1000)), "answer")
        whole = ledger.verify()
        ledger.backup(copy)
    raw, found = copy.read_bytes(), 0
    for page in range(len(raw) // PAGE):
        middle = page * PAGE + PAGE // 2
        copy.write_bytes(raw[:middle] + bytes(PAGE // 2) + raw[middle + PAGE // 2 :])
        try:
            with Ledger.open(copy, clock=Clock()) as ledger:
                assert ledger.verify().balance == whole.balance, f"page {page} was lost unnoticed"
        except LedgerBroken:
            found += 1
    assert found > 5
    copy.write_bytes(raw[: -PAGE // 2])
    with pytest.raises(LedgerBroken), Ledger.open(copy) as ledger:
        ledger.verify()


def test_a_locked_ledger_is_said_so_and_nothing_is_charged(address: str) -> None:
    """Another program keeps the lock for longer than one waits."""
    with Ledger.open(address) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        hurry(ledger)
        head = ledger.head
        engine = create_engine(read_url(address))
        with engine.connect() as other:
            if engine.dialect.name == "sqlite":
                other.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                other.exec_driver_sql("SELECT pg_advisory_xact_lock(1936094573, 'sfumato_entry'::regclass::oid::int)")
            with pytest.raises(LedgerUnavailable, match="keeps it locked; try again; nothing was charged"):
                ledger.reserve(question())
            assert ledger.head == head  # reading goes on
            other.rollback()
        engine.dispose()
        reserve(ledger)
        ledger.verify()


def hurry(ledger: Ledger) -> None:
    """Wait for a lock for a moment only."""
    engine = ledger._writer.store.engine
    engine.dispose()
    setting = "PRAGMA busy_timeout = 100" if engine.dialect.name == "sqlite" else "SET lock_timeout = '100ms'"

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _: object) -> None:
        with closing(connection.cursor()) as cursor:
            cursor.execute(setting)
        connection.commit()


def test_a_database_that_is_gone_is_unavailable_until_it_is_back(tmp_path: Path) -> None:
    """Nothing is charged that cannot be written."""
    path, away = tmp_path / "here" / "ledger.db", tmp_path / "away"
    path.parent.mkdir()
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        ledger.close()
        path.parent.rename(away)
        with pytest.raises(LedgerUnavailable, match="its file is gone"):
            ledger.reserve(question())
        away.rename(path.parent)
        reserve(ledger)
        assert ledger.verify().entries == 2


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """To the owner, who opens the ledger."""
    with pytest.raises(LedgerUnavailable, match="cannot be created: No such file or directory"):
        Ledger.open(tmp_path / "nowhere" / "ledger.db")
