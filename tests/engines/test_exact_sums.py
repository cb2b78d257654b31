"""What is computed of each unit is exact: it depends on the unit's rows and not on their order, on threads, or others.

A sum of doubles does depend on the order of its parts, by the last digits; so it would on rows of others, which change
the order in which an engine comes upon them.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from sfumato.curator.curator import Curator, Options
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.engines.duckdb import _source as duckdb_source
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.privacy.guarantee import Guarantee

WANTED = ("SUM(x)", "AVG(x)", "MEDIAN(x)", "MIN(x)", "MAX(x)", "COUNT(x)", "COUNT(DISTINCT x)", "SUM(k)", "AVG(k)")
QUESTION = (
    "SELECT "
    + ", ".join(f"SUM(a{place}) AS a{place}" for place in range(len(WANTED)))
    + " FROM (SELECT u, "
    + ", ".join(f"{each} AS a{place}" for place, each in enumerate(WANTED))
    + " FROM t GROUP BY u) AS q"
)
ORDINARY = (0.1, 0.2, 0.3, -0.7, 1e-3, 123456.789, -98765.4321, 1 / 3, 7e9)
ODD = (*ORDINARY, None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1e300, -1e300, 2.0**58, 1e17, 1e-12)


def rows(seed: int, values: tuple[float | None, ...], size: int = 5_000) -> pa.Table:
    random = Random(seed)
    return pa.table(
        {
            "u": pa.array([random.randrange(40) for _ in range(size)], pa.int64()),
            "x": pa.array([random.choice(values) for _ in range(size)], pa.float64()),
            "k": pa.array([random.choice((None, 0, 1, -3, 2**62)) for _ in range(size)], pa.int64()),
        }
    )


def computed(given: pa.Table, bounds: tuple[float, float] | None = None) -> dict[int, tuple[Any, ...]]:
    """Of each unit all that is wanted, by the engine as it is."""
    declared = table(given, unit="u", columns={} if bounds is None else {"x": column(bounds=bounds)})
    plan = Curator({"t": declared}, budget=Guarantee(1)).plan(QUESTION, 1, Options(estimate_bounds=True))
    with DuckdbEngine().run(plan) as run:
        return {unit: tuple(map(repr, values)) for unit, *values in run.fetch(f"SELECT * FROM {run.counted}")}


@pytest.mark.parametrize("bounds", (None, (-10.0, 1e6)))
@pytest.mark.parametrize("threads", (1, 2))
def test_the_order_of_rows_changes_no_bit(
    threads: int, bounds: tuple[float, float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shuffled rows, without and among the rows of many others, on one thread and on two."""
    lock = duckdb_source.lock

    def threaded(database: Any, sources: Any) -> None:
        database.execute(f"SET threads = {threads}")
        lock(database, sources)

    monkeypatch.setattr("sfumato.engines.duckdb._pool.lock", threaded)
    given = rows(1, ODD)
    expected = computed(given, bounds)
    for seed in range(3):
        order = Random(seed).sample(range(given.num_rows), given.num_rows)
        others = rows(seed, ODD, 20_000)
        others = others.set_column(0, "u", pa.array([1000 + u for u in others["u"].to_pylist()], pa.int64()))
        for mixed in (given.take(order), pa.concat_tables([others, given.take(order), others])):
            found = computed(mixed, bounds)
            assert {unit: found[unit] for unit in expected} == expected


def test_a_sum_is_that_of_exact_arithmetic() -> None:
    """To two units in the last place, for ordinary values: of sum and mean, beside math.fsum."""
    given = rows(3, ORDINARY)
    listed: dict[int, list[float]] = {}
    for row in given.to_pylist():
        listed.setdefault(row["u"], []).append(row["x"])
    for unit, (total, mean, *_) in computed(given).items():
        exact = math.fsum(listed[unit])
        assert abs(float(total) - exact) <= 2 * math.ulp(exact)
        assert abs(float(mean) - exact / len(listed[unit])) <= 2 * math.ulp(exact / len(listed[unit]))


@pytest.mark.parametrize("sign", (1, -1))
@pytest.mark.parametrize("scale", (2.0**-60, 2.0**-33, 2.0**-20, 1.0, 2.0**30, 2.0**57))
def test_a_sum_of_small_and_large_values_has_no_more_than_the_last_digits_wrong(scale: float, sign: int) -> None:
    """Of values of any size, both signs: the error is below what a double can say, or 2**-82 of each."""
    random = Random(9)
    values = [sign * scale * random.random() for _ in range(200)]
    given = pa.table({"u": pa.array([1] * 200, pa.int64()), "x": values, "k": pa.array([1] * 200, pa.int64())})
    ((total, *_),) = computed(given).values()
    exact = math.fsum(values)
    assert abs(float(total) - exact) <= max(2 * math.ulp(exact), 200 * 2.0**-82)


def test_plain_sums_of_the_database_do_depend_on_it() -> None:
    """The reason for all this: the database's own sum of the same values changes with their order."""
    given = rows(3, ORDINARY)
    found = set()
    with duckdb.connect(config={"threads": 1}) as connection:
        for seed in range(5):
            connection.register("t", given.take(Random(seed).sample(range(given.num_rows), given.num_rows)))
            found |= {value for (value,) in connection.execute("SELECT sum(x) FROM t").fetchall()}
    assert len(found) > 1
