"""What a mean is measured by: whose averages are looked at, and how much each unit counts, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from engines.loading import load_postgres, postgres_address
from sfumato.curator.curator import Curator, Options
from sfumato.dataset.column import column
from sfumato.dataset.table import Table, table
from sfumato.engines.engine import Among
from sfumato.engines.postgres.dialect import PostgresDialect
from sfumato.engines.registry import EngineOfTables
from sfumato.engines.sql.dialect import Dialect
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.statistic import Center
from sfumato.statistics.variance import Spread

LOW, HIGH = -3.0, 1000.0
PEOPLE = 500
CENTERS = (
    Center(Fraction(40), Fraction(30)),
    Center(Fraction(1, 3), Fraction(1, 7)),
    Center(Fraction(700), Fraction(1003)),  # from which nobody is far
)
UNITS: tuple[tuple[str, ...], ...] = (("p",), ("t",), ("p", "t"), ("d",))


def rows() -> pa.Table:
    """People with one to nine rows: ordinary values, far ones, missing ones, and those at and beside the kinks."""
    random = Random(5)
    kinks = [float(each.middle + sign * each.spread) for each in CENTERS for sign in (-1, 1)]
    beside = [math.nextafter(kink, way) for kink in kinks for way in (-math.inf, math.inf)]
    people = [person for person in range(PEOPLE) for _ in range(random.randrange(1, 10))]
    values = [
        random.choice((random.lognormvariate(3, 1), random.choice(kinks), random.choice(beside), 1e9, -1e9, None, 40.0))
        for _ in people
    ]
    columns = {"p": people, "t": [f"é{person}" for person in people], "x": values}
    return pa.table({**columns, "d": pa.array([person // 2 for person in people], pa.date32())})


GIVEN = rows()


@pytest.fixture(scope="module", params=("DuckDB", "PostgreSQL"))
def source(request: pytest.FixtureRequest) -> Iterator[object]:
    """Where the rows are."""
    if request.param == "DuckDB":
        yield GIVEN
        return
    start: Callable[[], str] = request.getfixturevalue("postgres")
    address, schema = postgres_address(start())
    load_postgres(address, schema, {"t": GIVEN})
    yield f"{address}#{schema}.t"


def asked(source: object, unit: tuple[str, ...], question: str = "AVG(x)") -> PricedPlan:
    declared: Table = table(source, unit=unit, columns={"x": column(bounds=(LOW, HIGH))})
    return Curator({"t": declared}, budget=Guarantee(9)).plan(f"SELECT {question} AS a FROM t", 1, Options())


def units_with_a_value(unit: tuple[str, ...]) -> int:
    return len({tuple(row[name] for name in unit) for row in GIVEN.to_pylist() if row["x"] is not None})


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_everybody_is_in_the_sample_or_outside(source: object, unit: tuple[str, ...]) -> None:
    """Once, and in the bin of the unit's own average; about one of twelve is in the sample."""
    plan = asked(source, unit)
    with EngineOfTables().run(plan) as run:
        every, sample, others = (run.averages(0, plan.measures[0], among) for among in Among)
    assert [a + b for a, b in zip(sample, others, strict=True)] == every
    assert sum(every) == units_with_a_value(unit)
    assert sum(every) / 30 < sum(sample) < sum(every) / 9  # fixed rows and hashes: no chance is left


def test_a_unit_whose_rows_hash_differently_is_in_one_look(source: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a hash were to differ between rows of one unit, as if it saw the value: nobody would be in both looks."""
    plan = asked(source, ("p",))
    for dialect in (Dialect, PostgresDialect):
        monkeypatch.setattr(dialect, "sampled", lambda *_: "x0 > 20")
    with EngineOfTables().run(plan) as run:
        _, sample, others = (run.averages(0, plan.measures[0], among) for among in Among)
    assert sum(sample) + sum(others) == units_with_a_value(("p",))


@pytest.mark.parametrize("values", ([2**52] * 900 + [1] * 999, [2**30] * 3, [2**53 - 2, 1], [2**53 - 2, 1, 1], [0]))
def test_a_sum_of_a_units_doubles_is_exact_or_larger(source: object, values: list[int]) -> None:
    """Exact below 2**53; above it a sum of doubles may lose small ones, so that it counts twice."""
    listed = ", ".join(f"(CAST({value} AS DOUBLE PRECISION))" for value in values)
    with EngineOfTables().run(asked(source, ("p",))) as opened:
        run: Any = opened
        ((found,),) = run.fetch(f"SELECT {run.dialect.unit_total('v')} FROM (VALUES {listed}) AS those(v)")
    assert int(found) == sum(values) if sum(values) < 2**53 else sum(values) <= int(found) <= 2.001 * sum(values)


def away(priced: PricedMeasure, x: float) -> int:
    """In doubles, as engines have it."""
    assert priced.center is not None
    distance = max(min(x, HIGH), LOW) - float(priced.center.middle)
    return math.floor(distance * float(priced.row_steps / priced.center.spread) + 0.5)


@pytest.mark.parametrize("question", ("AVG(x)", "VARIANCE(x)"))
@pytest.mark.parametrize("center", CENTERS)
def test_a_unit_has_the_contribution_of_its_rows(source: object, question: str, center: Center) -> None:
    """In whole numbers, neither less nor more: max(row, |away|), or the square of it in rows, rounded up."""
    plan = asked(source, ("p",), question)
    priced = plan.measures[0].around(center)
    row, spread = priced.row_steps, isinstance(priced.measure.statistic, Spread)
    expected = dict.fromkeys(range(PEOPLE), 0)
    for each in GIVEN.to_pylist():
        if each["x"] is not None:
            size = abs(away(priced, each["x"]))
            expected[each["p"]] += max(row, -(-size * size // row) if spread else size)
    with EngineOfTables().run(plan) as opened:
        run: Any = opened
        run.prepare([priced])
        found = {unit: int(n) for unit, n in run.fetch("SELECT u0, n0 FROM units")}
        parts = " + ".join(f"sum(abs({step}))" for step in run.steps(0))
        summed = run.fetch(f"SELECT u0, {parts} FROM {run.halved()} GROUP BY u0")
    assert found == expected
    assert all(int(steps) <= found[unit] for unit, steps in summed)
    some = sum(value is not None for value in GIVEN["x"].to_pylist())
    assert (sum(found.values()) > some * row) == (center is not CENTERS[-1])
