"""The database: triggers that say no, versions that are told apart, files that nobody else may read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from ledger.asking import question, replay, reserve
from sfumato.entropy import SYSTEM
from sfumato.errors import LedgerBroken, LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.store.connect import connect, read_url
from sfumato.privacy.guarantee import Guarantee


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE sfumato_entry SET epsilon = '0'", "never changed"),
        ("DELETE FROM sfumato_entry WHERE number = 3", "never removed"),
        ("UPDATE sfumato_payload SET text = '{}'", "never changed"),
        ("INSERT INTO sfumato_entry SELECT * FROM sfumato_entry WHERE number = 2", "has the next number"),
    ],
)
def test_the_database_itself_refuses_changes(shared: Ledger, address: str, statement: str, says: str) -> None:
    """By triggers, whoever is connected."""
    shared.settle(reserve(shared), "7")
    engine = create_engine(read_url(address))
    with pytest.raises(DBAPIError, match=says), engine.begin() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()
    assert shared.verify().entries == 3


def test_sqlite_refuses_a_replacement_and_postgres_refuses_to_be_emptied(shared: Ledger, address: str) -> None:
    """The two ways around the usual triggers."""
    reserve(shared)
    engine = create_engine(read_url(address))
    statement = (
        "INSERT OR REPLACE INTO sfumato_entry SELECT * FROM sfumato_entry WHERE number = 2"
        if engine.dialect.name == "sqlite"
        else "TRUNCATE sfumato_entry CASCADE"
    )
    with pytest.raises(DBAPIError, match="ledger"), engine.begin() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()
    assert shared.verify().entries == 2


def test_a_ledger_of_a_newer_version_is_refused(shared: Ledger, address: str) -> None:
    """Nothing is guessed."""
    engine = create_engine(read_url(address))
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE sfumato_meta SET value = '99' WHERE name = 'schema_version'")
    engine.dispose()
    with pytest.raises(LedgerUnavailable, match=r"newer version .its schema is 99, 2 is known here.; update Sfumato"):
        Ledger.open(address)


def test_a_ledger_that_must_exist_is_not_created(tmp_path: Path) -> None:
    """A misspelled path would be a fresh budget."""
    for path in (tmp_path / "no.db", tmp_path / "empty.db"):
        if path.name == "empty.db":
            path.touch()
        with pytest.raises(LedgerUnavailable, match=r"No ledger at .* yet"):
            Ledger.open(path, create=False)
    assert not (tmp_path / "no.db").exists()


def test_a_new_ledger_is_for_its_owner_only(tmp_path: Path) -> None:
    """File, log and backup: a question may hold a name."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        ledger.backup(tmp_path / "backup.db")
        ledger.backup(tmp_path / "backup.jsonl")
        for file in tmp_path.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name


def test_sqlite_is_set_to_lose_nothing(tmp_path: Path) -> None:
    """A commit is on the disk before it returns."""
    store = connect(tmp_path / "ledger.db", SYSTEM)
    with store.engine.connect() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "busy_timeout")
        }
    store.close()
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "secure_delete": 1,
        "busy_timeout": 30_000,
    }


def test_every_spelling_of_an_address_means_the_same_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path, a relative path, an address."""
    monkeypatch.chdir(tmp_path)
    for where in ("ledger.db", tmp_path / "ledger.db", "sqlite:///ledger.db", f"sqlite:///{tmp_path}/ledger.db"):
        with Ledger.open(where) as ledger:
            ledger.establish("people", Guarantee(epsilon=1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.db"]
    assert read_url("postgresql://host/db").drivername == "postgresql+psycopg"


def test_a_password_is_in_no_message() -> None:
    """Nor are host and user."""
    with pytest.raises(LedgerUnavailable) as refusal:
        Ledger.open("postgresql://user:Rumpelstilzchen@127.0.0.1:1/nowhere")
    assert "Rumpelstilzchen" not in str(refusal.value) and "127" not in str(refusal.value)
    assert "cannot be reached" in str(refusal.value)


def test_a_file_that_is_no_database_is_broken(tmp_path: Path) -> None:
    """And stays as it is."""
    path = tmp_path / "ledger.db"
    path.write_text("not a database\n" * 100)
    with pytest.raises(LedgerBroken, match="no SQLite database"):
        Ledger.open(path)
    assert path.read_text().startswith("not a database")


def test_a_ledger_that_is_older_than_what_this_process_saw_is_noticed(tmp_path: Path) -> None:
    """Somebody put a backup in its place while it was open."""
    path, backup = tmp_path / "ledger.db", tmp_path / "backup.db"
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        ledger.backup(backup)
        ledger.settle(reserve(ledger), "7")
        assert replay(ledger).answer == "7"
        ledger.close()
        for file in tmp_path.glob("ledger.db-*"):
            file.unlink()
        shutil.copy(backup, path)
        with pytest.raises(LedgerBroken, match="an older copy was put in its place"):
            ledger.reserve(question())


def test_the_database_is_imported_when_a_ledger_is_opened() -> None:
    """Whoever only asks a frame in memory does not wait for it."""
    program = "import sfumato.ledger.ledger, sys; print({'sqlalchemy', 'psycopg', 'sqlite3'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_two_ledgers_have_two_identities(tmp_path: Path) -> None:
    """And two secrets."""
    found = set()
    for name in ("a.db", "b.db"):
        Ledger.open(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name)) as database:
            found |= set(database.execute("SELECT value FROM sfumato_meta WHERE name IN ('identity', 'secret')"))
    assert len(found) == 4
    assert all(len(value) == 64 for (value,) in found)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_ledger_that_may_only_be_read_is_unavailable(tmp_path: Path) -> None:
    """Nothing is charged that cannot be written."""
    path = tmp_path / "ledger.db"
    Ledger.open(path).close()
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    with pytest.raises(LedgerUnavailable):
        Ledger.open(path).grant("people", Guarantee(epsilon=1))
