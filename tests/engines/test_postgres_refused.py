"""What a server says to whom it does not let in, and what is said of it: never a password, a host or a user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import sfumato as sf
from engines.loading import Server
from sfumato.engines.postgres.errors import why
from sfumato.engines.postgres.table import PostgresTable
from sfumato.errors import InvalidArgument, SourceNotFound
from sfumato.privacy.guarantee import Guarantee

SECRET, WRONG = "hunter-2-hunter", "correct-horse"
PASSWORD = "it refused the user or the password, which may have expired"
ROLES = {
    "sfumato_asked": "LOGIN",
    "sfumato_expired": "LOGIN VALID UNTIL '2020-01-01'",
    "sfumato_limited": "LOGIN CONNECTION LIMIT 0",
    "sfumato_rejected": "LOGIN",
    "sfumato_barred": "NOLOGIN",
}
CASES = {
    "a wrong password": ({"username": "sfumato_asked", "password": WRONG}, PASSWORD),
    "no password": ({"username": "sfumato_asked", "password": None}, "it asks for a password, and none was given"),
    "an expired one": ({"username": "sfumato_expired", "password": SECRET}, PASSWORD),
    "no right to log in": ({"username": "sfumato_barred", "password": SECRET}, "this user may not log in"),
    "a limit": ({"username": "sfumato_limited", "password": SECRET}, "it has no connection left for this user"),
    "pg_hba.conf": ({"username": "sfumato_rejected", "password": SECRET}, "its pg_hba.conf rejects this user"),
    "nobody": ({"username": "sfumato_nobody", "password": SECRET}, PASSWORD),
    "no database": ({"username": "sfumato_asked", "password": SECRET, "database": "sfumato_none"}, "no such database"),
    "nobody there": ({"host": "127.0.0.1", "port": 9}, "the server cannot be reached; check host, port"),
}  # fmt: skip


@pytest.fixture
def asked(guarded: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """With a table, and roles that have a password."""
    monkeypatch.delenv("PGPASSWORD", raising=False)
    monkeypatch.setenv("PGPASSFILE", "/nowhere")
    made = [f"CREATE ROLE {role} PASSWORD '{SECRET}' {rights}" for role, rights in ROLES.items()]
    try:
        guarded.run(
            "CREATE TABLE t (p bigint)", *made, *(f"GRANT USAGE ON SCHEMA {guarded.schema} TO {r}" for r in ROLES)
        )
        guarded.run(*(f"GRANT SELECT ON t TO {role}" for role in ROLES))
        yield guarded
    finally:
        guarded.run(*(sql for role in ROLES for sql in (f"DROP OWNED BY {role}", f"DROP ROLE {role}")))


def test_whoever_is_not_let_in_is_told_why(asked: Server) -> None:
    """A server that really rejects them; before, it lets the same role in with its password."""
    assert sf.table(asked.at("t", username="sfumato_asked", password=SECRET), unit="p").columns.keys() == {"p"}
    for case, (changed, expected) in CASES.items():
        with pytest.raises(SourceNotFound) as caught:
            sf.table(asked.at("t", **changed), unit="p")
        said = str(caught.value)
        assert expected in said and "; " in said, case
        hidden: list[Any] = [SECRET, WRONG, "sfumato_as", "127.0.0.1", "socket", changed.get("username", "127.0")]  # type: ignore[attr-defined]
        assert not any(each in said for each in hidden), said
        assert caught.value.__context__ is None and caught.value.__cause__ is None, case


def test_a_password_that_changes_costs_nothing(asked: Server) -> None:
    """Refused before the charge; with the right one again, the next question works."""
    declared = sf.table(asked.at("t", username="sfumato_asked", password=SECRET), unit="p")
    curator = sf.Curator({"t": declared}, budget=Guarantee(1))
    asked.run(f"ALTER ROLE sfumato_asked PASSWORD '{WRONG}'")
    with pytest.raises(SourceNotFound, match="nothing was charged") as caught:
        curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert SECRET not in str(caught.value) and "sfumato_asked" not in str(caught.value)
    assert curator.remaining().epsilon == 1
    asked.run(f"ALTER ROLE sfumato_asked PASSWORD '{SECRET}'")
    assert curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=1).rows


def test_a_user_without_temporary_tables_reads_what_is_public(server: Server) -> None:
    """In a database of its own, since everybody may make them in others."""
    database = role = f"{server.schema}_closed"
    server.run(f"CREATE DATABASE {database}", f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")
    server.run(f"CREATE ROLE {role} LOGIN")
    there = server.at("t", database=database).partition("#")[0]
    try:
        with psycopg.connect(there, autocommit=True) as connection:
            connection.execute(f"CREATE TABLE t (p bigint); GRANT SELECT ON t TO {role}")
        address = server.at("t", database=database, username=role).partition("#")[0] + "#t"
        with pytest.raises(InvalidArgument, match=r"got a user without TEMP; let .* GRANT TEMPORARY"):
            sf.table(address, unit="p")
        assert sf.public(address).size == 0
    finally:
        server.run(f"DROP DATABASE {database} WITH (FORCE)", f"DROP ROLE {role}")


# What PostgreSQL 15 and 18 said over TCP, with and without encryption, where a test has no network.
HEARD = {
    'connection to server at "password.org", port 5 failed: Connection refused': "cannot be reached",
    "failed to resolve host 'role.database.org': [Errno -2] Name or service not known": "cannot be reached",
    'FATAL:  no pg_hba.conf entry for host "::1", user "u", database "role", no encryption': "mend sslmode",
    'FATAL:  password authentication failed for user "u"\nFATAL:  no pg_hba.conf entry, no encryption': PASSWORD,
    "server does not support SSL, but SSL was required": "it has no encryption",
    "channel binding required, but SSL not in use": "the address asks for encryption",
    "SSL error: certificate verify failed": "was not accepted",
    'server certificate for "a.org" does not match host name "b.org"': "was not accepted",
    'root certificate file "/home/u/.postgresql/root.crt" does not exist': "was not accepted",
    'FATAL:  permission denied for database "d"\nDETAIL:  User does not have CONNECT privilege.': "GRANT CONNECT",
    'FATAL:  database "d" is not currently accepting connections': "ALLOW_CONNECTIONS",
    "FATAL:  sorry, too many clients already": "max_connections",
    "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute": "max_connections",
    "FATAL:  the database system is starting up": "try again",
    'FATAL:  Peer authentication failed for user "u"': PASSWORD,
    'FATAL:  unrecognized configuration parameter "nope"': "mend its options",
    'definition of service "nope" not found': "mend its service",
    "FATAL:  Passwort-Authentifizierung fehlgeschlagen": "see its log",
}


@pytest.mark.parametrize("said", HEARD)
def test_what_servers_say_is_said_in_other_words(said: str) -> None:
    """Names in quotes decide nothing, and none is repeated."""
    reason = why(Exception(f"connection failed: {said}"))
    assert HEARD[said] in reason and "; " in reason
    assert not any(name in reason for name in (".org", "FATAL", "root.crt", "::1"))


def test_in_another_language_a_password_is_still_known() -> None:
    class Attempt:
        used_password = True

    class Said(Exception):
        pgconn = Attempt()

    assert why(Said("connection failed: Passwort-Authentifizierung fehlgeschlagen")).startswith(PASSWORD)


class _Place:
    """A server that says what it is."""

    def __init__(self, standby: bool, temporary: bool) -> None:
        self.said = ("7", 1, standby, temporary, 160_000, "UTF8")

    def execute(self, query: str) -> _Place:
        """Whatever is asked."""
        return self

    def fetchone(self) -> tuple[object, ...]:
        """What it is."""
        return self.said


@pytest.mark.parametrize(
    ("standby", "temporary", "message"),
    [
        (False, False, "got a user without TEMP; let the database's owner GRANT TEMPORARY"),
        (True, True, "got a standby; name its"),
    ],
)
def test_where_no_temporary_table_may_be_made_the_missing_right_is_named(
    standby: bool, temporary: bool, message: str
) -> None:
    """A question keeps what lies between its passes in temporary tables; a public table needs none."""
    table = PostgresTable.read("postgresql://u@host/db#t")
    with pytest.raises(InvalidArgument, match=message):
        table._check(_Place(standby, temporary))
    table._check(_Place(False, True))
    table.as_public()._check(_Place(standby, temporary))
