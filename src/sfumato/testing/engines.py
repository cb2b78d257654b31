"""What every engine promises: it says what DuckDB says, number for number, on the worst of values.

    class TestShelf(EngineTests):
        @pytest.fixture
        def source(self):
            ...                                  # load the tables of `engine_tables.ROWS`
            return lambda name: f"shelf:{name}"  # the address of each

A `Table` and an `Engine` are in the module that `dataset.sources.server.SERVERS` names (see ARCHITECTURE.md). All that
a question releases is recorded before noise and compared with what DuckDB gives for the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import pytest

from sfumato.curator.curator import Curator
from sfumato.dataset.table import table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.registry import EngineOfTables
from sfumato.errors import UnsupportedQuery
from sfumato.privacy.guarantee import Guarantee
from sfumato.testing.engine_tables import COLUMNS, EXPRESSIONS, QUESTIONS, ROWS, recorded, values, world

Source = Callable[[str], object]


class EngineTests:
    """Tests of an engine; `source` gives the address of each table of `ROWS`."""

    questions: ClassVar[Sequence[str]] = QUESTIONS
    expressions: ClassVar[Sequence[str]] = EXPRESSIONS

    @pytest.fixture
    def source(self) -> Source:
        """Load the tables, and return what finds one by its name."""
        raise NotImplementedError("give a fixture `source`: how a table of ROWS is addressed, once it is loaded")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Give each test its question."""
        if "question" in metafunc.fixturenames:
            metafunc.parametrize("question", self.questions)

    def test_it_says_what_duckdb_says(self, source: Source, question: str) -> None:
        """All that the question releases, before noise."""
        found = recorded(world(source), EngineOfTables(), question, "laplace")
        assert found == recorded(world(ROWS.__getitem__), DuckdbEngine(), question, "laplace")

    def test_expressions_have_the_same_values(self, source: Source) -> None:
        """On every row, to fourteen digits."""
        found = values(world(source), EngineOfTables(), self.expressions)
        assert found == values(world(ROWS.__getitem__), DuckdbEngine(), self.expressions)

    def test_a_curator_asks_it(self, source: Source) -> None:
        """With noise: of forty people; by chance the answer is further off with a probability of exp(-160)."""
        curator = Curator({"t": table(source("t"), unit="pid", columns=COLUMNS)}, budget=Guarantee(9))
        people = curator.ask("SELECT COUNT(DISTINCT pid) AS n FROM t", epsilon=8).rows[0]["n"]
        assert abs(people - 40) < 20

    def test_places_are_kept_apart(self, source: Source) -> None:
        """A question asks one place: rows never travel from one engine to another."""
        here = table(ROWS["few"], unit="pid", max_rows_per_unit=9)
        curator = Curator({"t": table(source("t"), unit="pid", columns=COLUMNS), "few": here}, budget=Guarantee(9))
        with pytest.raises(UnsupportedQuery, match="must be in one place"):
            curator.quote("SELECT COUNT(*) AS n FROM t JOIN few ON t.pid = few.pid", epsilon=1)
