"""What fails in Spark with ANSI on some value, and that no question does: see what-fails-in-a-database.md."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sfumato.engines.spark import SparkDialect, SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "what-fails-in-a-database.md"
FAILS = (
    "9223372036854775807L + 1L", "9223372036854775807L * 2L", "abs(-9223372036854775807L - 1L)", "1L div 0L", "1L % 0L",
    "1D / 0D", "CAST(1e19D AS BIGINT)", "CAST(CAST('NaN' AS DOUBLE) AS BIGINT)", "CAST(1e40D AS DECIMAL(38, 0))",
    "(SELECT sum(v) FROM (VALUES (9223372036854775807L), (1L)) AS t(v))",
    "(SELECT sum(v) FROM (VALUES (CAST('9e37' AS DECIMAL(38, 0))), (CAST('9e37' AS DECIMAL(38, 0)))) AS t(v))",
    "CAST('9e37' AS DECIMAL(38, 0)) * CAST('9e37' AS DECIMAL(38, 0))", "CAST('x' AS DOUBLE)", "CAST('x' AS BIGINT)",
    "CAST('perhaps' AS BOOLEAN)", "CAST('2026-02-30' AS DATE)", "CAST('soon' AS TIMESTAMP_NTZ)",
    "make_date(2026, 2, 30)", "element_at(array(1, 2), 3)", "element_at(array(1, 2), 0)", "array(1, 2)[2]",
    "'ab' LIKE concat('a', chr(92))", "raise_error('always')",
)  # fmt: skip
OPERATIONS = {"add": 2, "subtract": 2, "multiply": 2, "divide": 2, "round": 1, "floor": 1, "ceil": 1, "as_integer": 1}


@pytest.fixture(scope="module")
def asking(spark: Any) -> Iterator[Any]:
    """A session with the settings of a question."""
    session = spark.newSession()
    SparkSession(session)
    yield session


def test_the_list_is_of_what_fails(asking: Any) -> None:
    """Each of them does, in this version, and each is on the page."""
    page, passing = PAGE.read_text(), []
    for expression in FAILS:
        try:
            asking.sql(f"SELECT {expression} AS found").collect()
            passing.append(expression)
        except Exception as error:
            assert "SQLSTATE" in str(error), expression
    assert not passing
    assert not [expression for expression in FAILS if f"`{expression}`" not in page]


def odd_doubles(random: Random, number: int) -> list[float]:
    """Of all exponents alike, with those near both ends, and what is no ordinary number."""
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1.7976931348623157e308, 2.0**63, -(2.0**63),
               2.0**53, 2.0**52 + 0.5, 1.0, -1.0, 0.5, -0.5, 2.5, 2.0**-1022, 1 - 2.0**-53]  # fmt: skip
    some = [struct.unpack("<d", random.randbytes(8))[0] for _ in range(number)]
    return [random.choice(special) if random.random() < 0.4 else each for each in some]


def test_no_pair_of_doubles_fails(asking: Any) -> None:
    """Ten thousand pairs through every operation: what Python computes, and NULL for a quotient by zero."""
    random, dialect = Random(5), SparkDialect()
    x, y = odd_doubles(random, 10_000), odd_doubles(random, 10_000)
    asking.createDataFrame(pa.table({"x": x, "y": y})).createOrReplaceTempView("pairs")
    calls = [dialect.call(name, ["x", "y"][:arity]) for name, arity in OPERATIONS.items()]
    found = asking.sql(f"SELECT x, y, {', '.join(f'{call} AS c{i}' for i, call in enumerate(calls))} FROM pairs")
    wrong = []
    for a, b, *those in found.collect():
        for name, value in zip(OPERATIONS, those, strict=True):
            if not _same(value, _expected(name, a, b)):
                wrong.append((name, a, b, value, _expected(name, a, b)))
    assert not wrong, wrong[:9]


def _expected(name: str, a: float, b: float) -> float | None:
    """By IEEE 754; a half goes away from zero by ROUND, to the even number by CAST."""
    match name:
        case "add":
            return a + b
        case "subtract":
            return a - b
        case "multiply":
            return a * b
        case "divide":
            return a / b if b else None
    if not math.isfinite(a):
        return a
    if name == "round":
        whole = math.floor(abs(a))
        return math.copysign(whole + (abs(a) - whole >= 0.5), a)
    return float({"floor": math.floor, "ceil": math.ceil, "as_integer": round}[name](a))


def _same(value: float | None, expected: float | None) -> bool:
    if value is None or expected is None:
        return value is expected
    return value == expected or (math.isnan(value) and math.isnan(expected))
