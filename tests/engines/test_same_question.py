"""The same question is the same on every engine: the same integers before noise, whatever the rows hold.

But for landmarks of quantiles, which units choose by a hash of their own columns, and every engine has its own hash.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engines.loading import load_postgres, postgres_address
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.postgres import PostgresEngine
from sfumato.testing.engine_tables import EXPRESSIONS, QUESTIONS, ROWS, recorded, values, world

Tables = dict[str, Table | PublicTable]
HERE = world(ROWS.__getitem__)


@pytest.fixture(scope="module")
def there(postgres: Callable[[], str]) -> Tables:
    """The world in PostgreSQL."""
    address, schema = postgres_address(postgres())
    load_postgres(address, schema, ROWS)
    return world(lambda name: f"{address}#{schema}.{name}")


@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
@pytest.mark.parametrize("question", QUESTIONS)
def test_postgres_says_what_duckdb_says(question: str, noise: str, there: Tables) -> None:
    """Every release, label by label."""
    assert recorded(there, PostgresEngine(), question, noise) == recorded(HERE, DuckdbEngine(), question, noise)


def test_every_expression_is_total_on_postgres(there: Tables) -> None:
    """All of them on all pairs of odd values: no error, and DuckDB's values."""
    found, expected = values(there, PostgresEngine(), EXPRESSIONS), values(HERE, DuckdbEngine(), EXPRESSIONS)
    wrong = [
        (expression, mine[place], theirs[place])
        for place, expression in enumerate(EXPRESSIONS)
        for mine, theirs in zip(found, expected, strict=True)
        if mine[place] != theirs[place]
    ]
    assert not wrong, wrong[:9]
