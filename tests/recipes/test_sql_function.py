"""A SQL function is added by one entry: what it takes and gives, the range of its result, total SQL per dialect."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.engines.postgres.dialect import PostgresDialect
from sfumato.engines.sql.dialect import DUCKDB as DUCKDB_DIALECT
from sfumato.errors import InvalidArgument, UnsupportedQuery
from sfumato.plan.syntax.functions import (
    FUNCTIONS,
    OUTSIDE,
    POSTGRES,
    Function,
    ResultRange,
    Shape,
    no_number,
    register,
)
from sfumato.plan.syntax.parse import parse
from sfumato.statistics.ranges import Range

X = [math.sin(number) * 5 + 5 for number in range(2_000)]  # within 0 and 10


def squares(x: Range | None) -> Range | None:
    """The range of a square."""
    return None if x is None else x.absolute() * x.absolute()


def exponentials(x: Range | None) -> Range | None:
    """The range of an exponential, outward by more than the library's exp may miss; none beyond what a double holds."""
    if x is None or x.largest > 700:
        return None
    slack = 1 + Fraction(1, 2**40)
    return Range(Fraction(math.exp(x.low)) / slack, Fraction(math.exp(x.high)) * slack)


SQUARE = Function("square", Shape.ARITHMETIC, 1, "SQUARE({0})", squares, {"DuckDB": "({0} * {0})"})
EXP = Function("exp", Shape.ARITHMETIC, 1, "EXP({0})", exponentials)
SIGN = Function(  # sqlglot knows it; whole numbers, so it has keys to group by
    "sign", Shape.ROUNDING, 1, "SIGN({0})", lambda x: Range(Fraction(-1), Fraction(1)),
    {"DuckDB": "CAST(sign({0}) AS DOUBLE)", POSTGRES: "sign({0})"},
)  # fmt: skip
FAR = Function(  # two arguments, and one that is written twice
    "far", Shape.ARITHMETIC, 2, "FAR({0}, {1})", lambda x, y: None if x is None or y is None else (x - y).absolute(),
    {"DuckDB": "greatest({0} - {1}, {1} - {0})"},
)  # fmt: skip


@pytest.fixture(autouse=True)
def added() -> Iterator[None]:
    """The functions, for one test."""
    for function in (SQUARE, EXP, SIGN, FAR):
        register(function)
    yield
    for name in (*OUTSIDE,):
        del FUNCTIONS[name]
        OUTSIDE.remove(name)


@pytest.fixture
def curator(tmp_path: Path) -> sf.Curator:
    """A table with bounds, some of whose rows have no number."""
    path = tmp_path / "people.csv"
    rows = [f"{person},{x!r}" for person, x in enumerate(X)] + [f"{len(X) + more}," for more in range(100)]
    path.write_text("\n".join(["id,x", *rows, ""]))
    table = sf.table(path, unit="id", columns={"x": sf.column(bounds=(0, 10))})
    return sf.Curator({"people": table}, budget=10**6)


@pytest.mark.parametrize(
    ("asked", "exact"),
    [
        ("AVG(SQUARE(x))", sum(x * x for x in X) / len(X)),
        ("SUM(square(x) / 10)", sum(x * x / 10 for x in X)),
        ("AVG(EXP(x))", sum(map(math.exp, X)) / len(X)),  # 8.55 ± 0.0006 while a default stood for its range
        ("AVG(SIGN(x - 5))", sum((x > 5) - (x < 5) for x in X) / len(X)),
        ("AVG(FAR(x, 5))", sum(abs(x - 5) for x in X) / len(X)),
        ("AVG(FAR(SQUARE(x), 2 * x))", sum(abs(x * x - 2 * x) for x in X) / len(X)),
        ("SUM(CASE WHEN SQUARE(x) > 25 THEN 1 ELSE 0 END)", sum(x * x > 25 for x in X)),
    ],
)
def test_it_is_answered_with_a_right_interval(curator: sf.Curator, asked: str, exact: float) -> None:
    """With an epsilon of 10**4 noise is small: the interval of 1 - 1e-6 holds the exact answer, and is narrow."""
    answer = curator.ask(f"SELECT {asked} AS y FROM people", epsilon=10**4, confidence=1 - 1e-6)
    low, high = answer.intervals["y"][0]
    assert low <= exact <= high and high - low < 0.02 * abs(exact) + 0.02


def test_a_whole_number_has_keys(curator: sf.Curator) -> None:
    """They follow from its range."""
    answer = curator.ask("SELECT SIGN(x - 5) AS s, COUNT(*) AS n FROM people GROUP BY s", epsilon=10**4)
    assert [row["s"] for row in answer.rows] == [-1, 0, 1]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("SELECT SQUARE(AVG(x)) AS y FROM people", "is computed of rows; apply it inside the aggregate"),
        ("SELECT AVG(SQUARE(x, 2)) AS y FROM people", r"write SQUARE\(a\)"),
        ("SELECT AVG(FAR(x)) AS y FROM people", r"write FAR\(a, b\)"),
        ("SELECT AVG(SQUARE(x = 1)) AS y FROM people", "was expected; got"),
        ("SELECT AVG(SQUARE(DISTINCT x)) AS y FROM people", "."),
        ("SELECT AVG(ADD(x, 1)) AS y FROM people", "ADD is not supported yet"),  # an operator's name is no function
    ],
)
def test_what_it_is_not_for_is_refused_free(curator: sf.Curator, question: str, said: str) -> None:
    """By the text alone."""
    with pytest.raises(UnsupportedQuery, match=said):
        curator.ask(question, epsilon=1)
    assert curator.remaining().epsilon == 10**6


def test_each_dialect_has_its_own_sql() -> None:
    """DuckDB's stands for those without one; in PostgreSQL what is written twice is computed once."""
    assert DUCKDB_DIALECT.call("square", ["x"]) == "(x * x)"
    assert PostgresDialect().call("sign", ["x"]) == "sign(x)"
    assert PostgresDialect().call("far", ["x" * 200, "y"]).count("x" * 200) == 1
    assert parse("select avg(Square(x)) as y from t").sql() == 'SELECT AVG(SQUARE("x")) AS "y" FROM "t"'


@pytest.mark.parametrize("result", [None, no_number, Range(Fraction(0), Fraction(1))])
def test_without_a_range_there_is_no_function(result: ResultRange) -> None:
    """Nothing stands in for it."""
    with pytest.raises(InvalidArgument, match="must state the range of its result"):
        Function("cube", Shape.ARITHMETIC, 1, "CUBE({0})", result)
    with pytest.raises(TypeError, match="result"):
        Function("cube", Shape.ARITHMETIC, 1, "CUBE({0})")  # type: ignore[call-arg]


@pytest.mark.parametrize("result", [lambda: None, lambda x: 1, lambda x: Range(x.low, x.high), lambda x: Range(1, 0)])
def test_a_range_that_cannot_be_computed_is_refused(result: Callable[..., Range | None]) -> None:
    """When it is registered, and not when somebody asks."""
    with pytest.raises(InvalidArgument, match="must be a Range or None"):
        register(Function("cube", Shape.ARITHMETIC, 1, "CUBE({0})", result))
    assert "cube" not in FUNCTIONS


@pytest.mark.parametrize(
    "function",
    [
        Function("avg", Shape.ARITHMETIC, 1, "AVG({0})", squares),
        Function("abs", Shape.ARITHMETIC, 1, "ABS({0})", squares),
        Function("Cube", Shape.ARITHMETIC, 1, "CUBE({0})", squares),
        Function("x; DROP", Shape.ARITHMETIC, 1, "X; DROP({0})", squares),
        Function("cube", Shape.ARITHMETIC, 1, "({0} * {0})", squares),
        Function("cube", Shape.ARITHMETIC, 0, "CUBE()", lambda: None),
        Function("cube", Shape.LOGIC, 1, "CUBE({0})", no_number),
    ],
)
def test_other_entries_are_refused(function: Function) -> None:
    """A name that is taken or is none, a way of writing that would not be read again, another shape."""
    with pytest.raises(InvalidArgument):
        register(function)
    assert FUNCTIONS.get(function.name) is not function
