"""Someone with the database in his hands: everything a ledger's triggers forbid."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sfumato.ledger.records.entry import COLUMNS, Head, from_row, seal, to_row


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


def rewrite(path: Path, number: int, **changes: object) -> None:
    """Change an entry and seal the whole chain anew, as whoever owns the database can."""
    with tampered(path) as database:
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        rows = database.execute(f"SELECT {names} FROM sfumato_entry ORDER BY number").fetchall()
        identity = dict(database.execute("SELECT name, value FROM sfumato_meta").fetchall())["identity"]
        head = Head(0, identity)
        database.execute("DELETE FROM sfumato_entry")
        for row in rows:
            old = from_row(row)
            fields = {"amount": old.amount, "refers": old.refers, "detail": old.details, "at": old.at}
            fields |= {"payload_digest": old.payload_digest, "analyst": old.analyst, "table": old.table}
            fields |= {"version": old.version, "population": old.population, "mechanisms": old.mechanisms}
            fields |= changes if old.number == number else {}
            new = seal(old.kind, after=head, product=old.product, **fields)  # type: ignore[arg-type]
            head = new.head
            database.execute(f"INSERT INTO sfumato_entry VALUES ({', '.join('?' * len(COLUMNS))})", to_row(new))
        database.execute("UPDATE sfumato_meta SET value = ? WHERE name = 'head'", (f"{head.number}-{head.hash}",))
