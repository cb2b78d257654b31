"""Someone with the database in his hands: everything a ledger's triggers forbid."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def tampered(path: Path) -> Iterator[sqlite3.Connection]:
    """The database without its triggers and without checks of references."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.commit()
        yield database
        database.commit()


def move(database: sqlite3.Connection, number: int, to: int) -> None:
    """Give an entry and its payload another number."""
    for table in ("sfumato_entry", "sfumato_payload"):
        database.execute(f"UPDATE {table} SET number = ? WHERE number = ?", (to, number))
