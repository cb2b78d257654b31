"""To add a statistic takes its file and one line: every engine then answers `SUM_OF_SQUARES`, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from engines.loading import load_postgres, load_spark, postgres_address
from recipes.sum_of_squares import SumOfSquares
from sfumato import statistics
from sfumato.audit.sql.question import record_plan
from sfumato.curator.options import Options
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.registry import EngineOfTables
from sfumato.errors import InvalidArgument, UnboundedColumn, UnsupportedQuery
from sfumato.statistics.count import Count
from sfumato.statistics.sum import Sum
from sfumato.testing.engine_tables import recorded

PEOPLE = [  # who, where, x; one value lies beyond the bounds, one is missing
    (1, "north", 1.5), (1, "north", -2.0), (2, "south", 8.0), (3, "south", 99.0), (4, "north", None), (5, "north", 3.0),
]  # fmt: skip
ROWS = pa.table(
    {"pid": [who for who, _, _ in PEOPLE], "r": [r for _, r, _ in PEOPLE], "x": [x for _, _, x in PEOPLE]},
    schema=pa.schema([("pid", pa.int64()), ("r", pa.string()), ("x", pa.float64())]),
)
TRUTH = {"north": 1.5**2 + 2.0**2 + 3.0**2, "south": 8.0**2 + 10.0**2}  # 99 counts as 10
Load = Callable[[pytest.FixtureRequest], object]
QUESTION = "SELECT r, SUM_OF_SQUARES(x) AS q, COUNT(*) AS n FROM t GROUP BY r"


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    statistics.register(SumOfSquares())
    yield
    statistics.REGISTERED.remove(SumOfSquares())


def declared(source: object) -> sf.Table:
    columns = {"r": sf.column(keys=["north", "south"]), "x": sf.column(bounds=(-10, 10))}
    return sf.table(source, unit="pid", columns=columns, max_rows_per_unit=4)


def check_interval(source: object) -> None:
    """The interval covers with a probability of 0.999999, and is far narrower than the values differ."""
    curator = sf.Curator({"t": declared(source)}, budget=sf.Guarantee(20_000))
    answer = curator.ask(QUESTION, epsilon=10_000, max_rows_per_unit=4, confidence=0.999999)
    for row, interval in zip(answer.rows, answer.intervals["q"], strict=True):
        assert interval is not None
        low, high = interval
        assert low <= TRUTH[str(row["r"])] <= high and high - low < 3


def in_postgres(request: pytest.FixtureRequest) -> object:
    new: Callable[[], str] = request.getfixturevalue("postgres")
    address, schema = postgres_address(new())
    load_postgres(address, schema, {"t": ROWS})
    return f"{address}#{schema}.t"


def in_spark(request: pytest.FixtureRequest) -> object:
    session: Any = request.getfixturevalue("spark")
    load_spark(session, {"squares": ROWS})
    return "spark:squares"


def test_it_is_answered_on_duckdb_with_an_interval_that_covers() -> None:
    check_interval(ROWS)


@pytest.mark.parametrize("load", [in_postgres, in_spark])
def test_it_is_answered_on_servers(
    load: Callable[[pytest.FixtureRequest], object], request: pytest.FixtureRequest
) -> None:
    source = load(request)
    check_interval(source)
    there, here = {"t": declared(source)}, {"t": declared(ROWS)}
    exact = recorded(there, EngineOfTables(), QUESTION, "laplace")
    assert exact == recorded(here, DuckdbEngine(), QUESTION, "laplace") and len(exact) > 1


def test_a_quote_and_an_explanation_know_it() -> None:
    curator = sf.Curator({"t": declared(ROWS)}, budget=sf.Guarantee(1))
    assert "q" in str(curator.quote(QUESTION, epsilon=1, max_rows_per_unit=4))
    assert "sum of squares" in str(curator.explain(QUESTION, epsilon=1, max_rows_per_unit=4))


@pytest.mark.parametrize("options", [{}, {"max_rows_per_unit": 2}])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_no_unit_moves_its_cells_further_than_is_claimed(noise: str, options: dict[str, Any]) -> None:
    """By the recorder, on made-up tables and all their neighbors."""
    curator = sf.Curator({"t": declared(ROWS)}, budget=sf.Guarantee(1, 1e-6))
    plan = curator.plan(QUESTION, 1, Options(noise=noise, delta=1e-6, **options))
    found = record_plan(plan, tables=3)
    assert found.violations == () and found.pairs >= 6
    assert max(found.used.values()) > 0.5  # the recorder sees units that use most of what is claimed


def test_the_recorder_finds_a_draft_that_claims_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """`row_contribution` below the steps of a row: the inequality that privacy rests on."""
    monkeypatch.setattr(
        SumOfSquares, "row_contribution", lambda self, row, priced: f"({self.steps(row, priced)[0]} // 2)"
    )
    curator = sf.Curator({"t": declared(ROWS)}, budget=sf.Guarantee(1))
    found = record_plan(curator.plan(QUESTION, 1, Options(max_rows_per_unit=1)), tables=3)
    assert any("moved by" in each for each in found.violations)


def test_it_needs_bounds_as_a_sum_does() -> None:
    curator = sf.Curator({"t": sf.table(ROWS, unit="pid", max_rows_per_unit=4)}, budget=sf.Guarantee(1))
    with pytest.raises(UnboundedColumn, match='"x" has no declared bounds'):
        curator.quote("SELECT SUM_OF_SQUARES(x) AS q FROM t", epsilon=1)


def test_without_its_line_it_is_not_answered() -> None:
    statistics.REGISTERED.remove(SumOfSquares())
    try:
        with pytest.raises(UnsupportedQuery, match="SUM_OF_SQUARES"):
            sf.Curator({"t": declared(ROWS)}, budget=sf.Guarantee(1)).quote(QUESTION, epsilon=1)
    finally:
        statistics.register(SumOfSquares())


def test_a_name_or_a_function_that_is_taken_is_refused() -> None:
    class Other(Sum):
        name = "another sum"

    with pytest.raises(InvalidArgument, match="a name and functions of its own; got sum"):
        statistics.register(Other())
    statistics.register(Count())  # the same one again changes nothing
    assert len({each.name for each in statistics.REGISTERED}) == len(statistics.REGISTERED)
