"""One unit moves no release on PostgreSQL further than is claimed: every shared question, on the worst of values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engines.loading import load_postgres, postgres_address
from engines.neighbors import WORLDS, Tables, moved
from sfumato.engines.postgres import PostgresEngine
from sfumato.engines.sql.run import SqlRun
from sfumato.testing.engine_tables import QUESTIONS, world


@pytest.fixture(scope="module")
def worlds(postgres: Callable[[], str]) -> dict[str, Tables]:
    """The world and its neighbors, each in a schema."""
    found: dict[str, Tables] = {}
    for name, tables in WORLDS.items():
        address, schema = postgres_address(postgres())
        load_postgres(address, schema, tables)
        found[name] = world(lambda table, at=f"{address}#{schema}": f"{at}.{table}")  # type: ignore[misc]
    return found


@pytest.mark.parametrize("place", range(len(QUESTIONS)))
def test_one_unit_moves_no_release_on_postgres_further_than_claimed(place: int, worlds: dict[str, Tables]) -> None:
    """Both kinds of neighbors, each with one kind of noise, which take turns."""
    noises = ("laplace", "gaussian") if place % 2 else ("gaussian", "laplace")
    for seed, (kind, noise) in enumerate(zip(("add_remove", "replace"), noises, strict=True)):
        assert moved(worlds, PostgresEngine(), QUESTIONS[place], noise, kind, place + 3 * seed) == []


def test_a_unit_that_is_not_weighed_is_found(worlds: dict[str, Tables], monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: here nobody is beyond a limit."""
    monkeypatch.setattr(SqlRun, "_heavy", lambda run, which, limits: "(SELECT *, 1 AS f0 FROM units LIMIT 0) AS heavy")
    assert moved(worlds, PostgresEngine(), "SELECT COUNT(*) AS n FROM t", "laplace", "add_remove", 0) != []
