"""To add an engine takes one module and one line: this is done here, and the engine answers what all others do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import sfumato as sf
from engines import shelf
from engines.asked import COLUMNS, QUESTIONS, ROWS, recorded, world
from sfumato.dataset.server import SERVERS
from sfumato.engines.choose import EngineOfTables
from sfumato.engines.duckdb import DuckdbEngine
from sfumato.errors import InvalidArgument, UnsupportedQuery


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(SERVERS, "shelf:", "engines.shelf")
    shelf.SHELF.update(ROWS)
    yield
    shelf.SHELF.clear()


@pytest.mark.parametrize("question", QUESTIONS)
def test_it_says_what_duckdb_says(question: str) -> None:
    there, here = world(lambda name: f"shelf:{name}"), world(ROWS.__getitem__)
    found = recorded(there, EngineOfTables(), question, "laplace")
    assert found == recorded(here, DuckdbEngine(), question, "laplace")


def test_a_curator_asks_it_and_keeps_places_apart() -> None:
    here = sf.table(ROWS["few"], unit="pid", most_rows=9)
    curator = sf.Curator({"t": sf.table("shelf:t", unit="pid", columns=COLUMNS), "few": here}, allowance=9)
    people = curator.ask("SELECT COUNT(DISTINCT pid) AS n FROM t", epsilon=8).rows[0]["n"]
    assert abs(people - 40) < 20  # of forty people; by chance further off: exp(-160)
    with pytest.raises(UnsupportedQuery, match="must be in one place"):
        curator.quote("SELECT COUNT(*) AS n FROM t JOIN few ON t.pid = few.pid", epsilon=1)


def test_messages_know_it() -> None:
    with pytest.raises(InvalidArgument, match=r"spark:catalog\.table or shelf:table; got an address of 'mysql'"):
        sf.table("mysql://host/db#t", unit="p")
