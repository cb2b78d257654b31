"""Ledgers to test: on SQLite, and on a real PostgreSQL (the fixture `postgres` of all tests)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.asking import Clock
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee

Addresses = Callable[[], str]


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new ledger may be, on each kind of store."""
    if request.param == "sqlite":
        return str(tmp_path / "ledger.db")
    new: Addresses = request.getfixturevalue("postgres")
    there = new()
    Ledger.open(there, create=True).close()  # a database without a ledger is one that may have been emptied
    return there


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
