"""The tables of a ledger, their triggers, and how a ledger of an older version becomes one of this.

    sfumato_entry     the chain; triggers refuse every change, every removal and every number out of turn
    sfumato_payload   question and answer of an entry; rows may be removed, never changed
    sfumato_meta      schema version, identity, the secret of replay keys, the head

A migration is a function that never changes once a version has used it; a new one is added at the end of `MIGRATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, LargeBinary, column, table

from sfumato.ledger.records.entry import COLUMNS

ENTRY = table("sfumato_entry", *(column(name) for name in COLUMNS))
PAYLOAD = table("sfumato_payload", column("number"), column("salt", LargeBinary), column("text"), column("replay"))
META = table("sfumato_meta", column("name"), column("value"))

_TABLES = (
    "CREATE TABLE sfumato_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """
    CREATE TABLE sfumato_entry (
        number {integer} PRIMARY KEY, at {integer} NOT NULL, kind TEXT NOT NULL, population TEXT, analyst TEXT,
        "table" TEXT, version TEXT, epsilon TEXT, rho TEXT, delta TEXT NOT NULL, mechanisms TEXT NOT NULL,
        refers {integer} REFERENCES sfumato_entry (number), detail TEXT NOT NULL, product TEXT NOT NULL,
        guarantee {integer} NOT NULL, payload_digest TEXT, previous TEXT NOT NULL, hash TEXT NOT NULL
    )
    """,
    "CREATE INDEX sfumato_entry_refers ON sfumato_entry (refers) WHERE refers IS NOT NULL",
    """
    CREATE TABLE sfumato_payload (
        number {integer} PRIMARY KEY REFERENCES sfumato_entry (number), salt {bytes} NOT NULL, text TEXT NOT NULL,
        replay TEXT
    )
    """,
    "CREATE INDEX sfumato_payload_replay ON sfumato_payload (replay) WHERE replay IS NOT NULL",
)

_REFUSALS = {  # trigger name -> when it fires, on which table, what it says
    "sfumato_entry_change": ("UPDATE", "sfumato_entry", "an entry of the ledger is never changed"),
    "sfumato_entry_removal": ("DELETE", "sfumato_entry", "an entry of the ledger is never removed"),
    "sfumato_payload_change": ("UPDATE", "sfumato_payload", "a payload of the ledger is never changed"),
}
_OUT_OF_TURN = "an entry of the ledger has the next number"  # this also stops INSERT OR REPLACE
_NEXT = "NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM sfumato_entry)"


def _sqlite_triggers() -> tuple[str, ...]:
    return (
        *(
            f"CREATE TRIGGER {name} BEFORE {event} ON {on} BEGIN SELECT RAISE(ABORT, '{says}'); END"
            for name, (event, on, says) in _REFUSALS.items()
        ),
        f"CREATE TRIGGER sfumato_entry_turn BEFORE INSERT ON sfumato_entry WHEN {_NEXT} "
        f"BEGIN SELECT RAISE(ABORT, '{_OUT_OF_TURN}'); END",
    )


def _postgres_triggers() -> tuple[str, ...]:
    return (
        "CREATE FUNCTION sfumato_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$",
        *(
            f"CREATE TRIGGER {name} BEFORE {event} ON {on} FOR EACH ROW EXECUTE FUNCTION sfumato_refuse('{says}')"
            for name, (event, on, says) in _REFUSALS.items()
        ),
        "CREATE TRIGGER sfumato_entry_emptying BEFORE TRUNCATE ON sfumato_entry FOR EACH STATEMENT "
        "EXECUTE FUNCTION sfumato_refuse('the ledger is never emptied')",
        f"CREATE FUNCTION sfumato_turn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF {_NEXT} THEN "
        f"RAISE EXCEPTION '{_OUT_OF_TURN}'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER sfumato_entry_turn BEFORE INSERT ON sfumato_entry FOR EACH ROW EXECUTE FUNCTION sfumato_turn()",
    )


def _create(connection: Connection) -> None:
    """Version 1."""
    sqlite = connection.dialect.name == "sqlite"
    types = {"integer": "INTEGER" if sqlite else "BIGINT", "bytes": "BLOB" if sqlite else "BYTEA"}
    for statement in _TABLES:
        connection.exec_driver_sql(statement.format(**types))
    for statement in _sqlite_triggers() if sqlite else _postgres_triggers():
        connection.exec_driver_sql(statement.replace("%", "%%") if not sqlite else statement)


def _allow_snapshots(_: Connection) -> None:
    """Version 2: the tables stay; the number keeps version 0.1, which knows no snapshots, from reading them."""


def forget_functions(connection: Connection) -> None:
    """Remove what PostgreSQL keeps of a ledger whose tables were dropped, so that a new one can be made."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("DROP FUNCTION IF EXISTS sfumato_refuse(), sfumato_turn()")


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_create, _allow_snapshots)
