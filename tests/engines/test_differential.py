"""Without noise and with limits that bind nobody, an answer is DuckDB's own answer to the same SQL.

Where the meaning differs by design, the data or the questions here avoid it: NaN counts as missing in sums and means,
division by zero is NULL, values are clipped to their bounds, a sum of nothing is 0, rows whose key is NULL or was not
declared are left out, and groups without rows are shown.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.curator.answers.rows import rows_of
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement.measure import measure_all
from sfumato.dataset.column import column
from sfumato.dataset.table import Table, table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.share import Share

NEVER_BINDS = 10**6
COLUMNS = {
    "pid": column(type="integer"),
    "x": column(type="double", bounds=(-10, 10)),
    "k": column(type="integer", bounds=(-2, 4)),
    "r": column(keys=["a", "b", "ä'b", "nobody"]),
    "b": column(type="boolean"),
    "d": column(type="timestamp", keys=[datetime.datetime(2026, 1, 28) + datetime.timedelta(days=n) for n in range(8)]),
}


class Silent:
    """Adds no noise; a mean, which buys its limit always, is told that everybody has the largest contribution."""

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        return [0] * (len(exact) - 1) + [10**15] if label.startswith("contributions") else list(exact)


def frame(seed: int, size: int = 300, missing: bool = True) -> pd.DataFrame:
    """Rows of 60 people; some fields missing, some keys not declared."""
    random = Random(seed)

    def some(*values: object) -> object:
        return None if missing and random.random() < 0.1 else random.choice(values)

    days = [datetime.datetime(2026, 1, 28) + datetime.timedelta(days=n) for n in range(8)]
    rows = [
        (
            random.randrange(60), some(*(n / 4 for n in range(-40, 41))), some(*range(-2, 5)),
            some("a", "b", "ä'b", *(["zz"] if missing else [])), some(True, False), some(*days),
        )
        for _ in range(size)
    ]  # fmt: skip
    types = {"x": "float64", "k": "Int64", "r": "str", "b": "boolean", "d": "M8[us]"}
    return pd.DataFrame(rows, columns=["pid", "x", "k", "r", "b", "d"]).astype(types)


def ours(declared: Table, question: str) -> list[dict[str, Any]]:
    """The rows of the answer, without noise and without rounding; the same in both norms."""
    laplace, gaussian = (_answered(declared, question, noise) for noise in ("laplace", "gaussian"))
    assert agree(laplace, gaussian), question
    return laplace


def _answered(declared: Table, question: str, noise: str) -> list[dict[str, Any]]:
    options = Options(max_rows_per_unit=NEVER_BINDS, delta=1e-6, noise=noise)
    plan = Curator({"t": declared}, budget=Guarantee(1)).plan(question, 1, options)
    with DuckdbEngine().run(plan) as run:
        return [row.values for row in rows_of(plan, measure_all(plan, run, Silent()))]


def theirs(rows: pd.DataFrame, question: str) -> list[dict[str, Any]]:
    """DuckDB's own answer."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'; SET pandas_analyze_sample = 0")
        connection.register("t", rows)
        result = connection.execute(question)
        names = [description[0] for description in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def same(a: object, b: object) -> bool:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        return math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-6)
    return a == b


def agree(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> bool:
    """Row by row, in order."""
    return len(a) == len(b) and all(
        x.keys() == y.keys() and all(same(x[c], y[c]) for c in x) for x, y in zip(a, b, strict=True)
    )


GROUPS = (
    "r", "b", "k", "d", "k + 1", "FLOOR(k / 2)", "FLOOR(x / 5)", "ROUND(x)", "CEIL(x)", "x > 0", "k IN (1, 2)",
    "DATE_TRUNC('month', d)", "DATE_TRUNC('week', d)", "EXTRACT(DAY FROM d)", "EXTRACT(MONTH FROM d)", "r LIKE 'a%'",
    "CASE WHEN b THEN r ELSE 'none' END", "COALESCE(r, 'b')", "ABS(k)", "CASE WHEN x > 1 THEN 1 WHEN b THEN 2 END",
    "COALESCE(r, 'none')", "COALESCE(FLOOR(x / 5), -9)", "COALESCE(k, -5)",
    "ROUND(x, -1)", "CAST(x / 3 AS INTEGER)", "MONTH(d)", "d > '2026-02-01'", "IF(b, r, 'no')", "HOUR(d)",
    "COALESCE(b, x > 0, FALSE)", "CASE k WHEN 1 THEN 'one' WHEN 2 THEN 'two' END",
)  # fmt: skip
VALUES = (
    "x", "k", "x + k", "x - k", "x * 2", "x * k", "x / 4", "-x", "ABS(x)", "FLOOR(x)", "CEIL(x)", "COALESCE(x, 1.5)",
    "3",     "CASE WHEN b THEN x END", "CASE WHEN b THEN x WHEN k > 1 THEN k ELSE -1 END", "x + 0.1",
    "(x + 1) * (k - 1)", "ROUND(x, 1)", "ROUND(x * 7, -1)", "CAST(x AS INTEGER)", "CAST(k AS DOUBLE)", "IF(b, x, k)",
    "COALESCE(x, k, 2)", "DAY(d) * 0 + x",
)  # fmt: skip
TRUTHS = (
    "x > 0", "x <= 2.5", "k = 3", "k <> 3", "x BETWEEN -3 AND k", "NOT x BETWEEN 0 AND 1", "b", "NOT b",
    "r IN ('a', 'zz')",     "r NOT IN ('a', 'b')", "r LIKE '_'", "r NOT LIKE '%b'", "r = 'ä''b'",
    "x IS NULL", "x IS NOT NULL", "r < 'b'",
    "d >= DATE '2026-02-01'", "EXTRACT(YEAR FROM d) = 2026", "DATE_TRUNC('month', d) = DATE '2026-02-01'", "k + x > 1",
    "CASE WHEN b THEN x > 0 ELSE k > 0 END", "COALESCE(b, FALSE)", "b = TRUE", "k IN (1, 2.5, 3)", "x / 2 > k", "d = d",
    "d BETWEEN '2026-01-30' AND '2026-02-01'", "d >= TIMESTAMP '2026-01-31 00:00:00'",
    "d IN ('2026-01-30', '2026-02-02')", "d < '2026-02-01 12:30'", "MONTH(d) = 2",
)  # fmt: skip


def random_question(random: Random) -> tuple[str, int, list[str]]:
    """A question, the number of its keys, and the aggregates."""
    keys = random.sample(GROUPS, random.choice((0, 1, 1, 2)))
    wanted = [
        random.choice(("COUNT(*)", "COUNT({})", "COUNT(DISTINCT pid)", "SUM({})", "SUM({})", "AVG({})")) for _ in "12"
    ]
    wanted = [each.format(random.choice(VALUES)) for each in wanted]
    a, b, c = random.sample(TRUTHS, 3)
    where = random.choice(("", f" WHERE {a}", f" WHERE {a} AND ({b} OR {c})", f" WHERE NOT ({a} OR {b})"))
    source = random.choice(("t", "t AS u", f"(SELECT * FROM t WHERE {c}) AS s", "c"))
    listed = ", ".join(
        [f"{key} AS g{i}" for i, key in enumerate(keys)] + [f"{m} AS m{i}" for i, m in enumerate(wanted)]
    )
    groups = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    cte = f"WITH c AS (SELECT pid, x * 0.5 AS x, k, r, b, d FROM t WHERE {b}) " if source == "c" else ""
    return f"{cte}SELECT {listed} FROM {source}{where}{groups}", len(keys), wanted


@pytest.mark.parametrize("seed", range(6))
def test_random_questions_get_the_databases_own_answers(seed: int) -> None:
    """Counts exactly, sums and means to the lattice's precision; every declared group is there, and no other."""
    random = Random(seed)
    rows = frame(seed)
    declared = table(rows, unit="pid", columns=COLUMNS)
    for _ in range(30):
        question, width, wanted = random_question(random)
        expected = {tuple(list(row.values())[:width]): list(row.values())[width:] for row in theirs(rows, question)}
        found = {tuple(list(row.values())[:width]): list(row.values())[width:] for row in ours(declared, question)}
        for key, values in found.items():
            assert None not in key, question
            for name, mine, true in zip(wanted, values, expected.get(key, [None] * len(wanted)), strict=True):
                if true is None:
                    assert name.startswith("AVG") or mine == 0, (question, key)
                else:
                    assert mine == true if name.startswith("COUNT") else same(mine, true), (question, key, mine, true)
        undeclared = {key for key in expected if None not in key and "zz" not in key} - found.keys()
        assert undeclared == set(), question


IN_ORDER = (
    "SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING COUNT(*) > 0 ORDER BY n DESC, r",
    "SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING n > 70 ORDER BY r",
    "SELECT k, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY k ORDER BY s LIMIT 3",
    "SELECT k, SUM(x) AS s FROM t GROUP BY k ORDER BY 2 DESC, 1",
    "SELECT k, SUM(x) / COUNT(*) AS mean, AVG(x) AS a FROM t GROUP BY k ORDER BY k DESC LIMIT 5",
    "SELECT k * 2 + 1 AS odd, COUNT(*) - COUNT(DISTINCT pid) AS more FROM t GROUP BY k ORDER BY odd",
    "SELECT b, ROUND(SUM(x)) AS s, ABS(-COUNT(*)) AS n FROM t GROUP BY b ORDER BY b",
    "SELECT d, COUNT(*) AS n FROM t GROUP BY d HAVING d > DATE '2026-01-30' ORDER BY d",
    "SELECT d, COUNT(*) AS n FROM t GROUP BY d HAVING d IN (DATE '2026-01-30', DATE '2026-02-01') OR n < 0 ORDER BY 1",
    "SELECT CASE WHEN COUNT(*) > 10 THEN 'many' ELSE 'few' END AS size, k FROM t GROUP BY k ORDER BY k",
    "SELECT COUNT(*) / 0 AS nothing, COALESCE(SUM(x) / 0, -1) AS less FROM t WHERE k > 99",
    "SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING NOT (n / (k - 1) > 3) ORDER BY n / (k - 2), k",
    "SELECT k BETWEEN 0 AND 2 AS g, COUNT(*) AS n FROM t GROUP BY g HAVING g OR g IS NULL",
    "SELECT r, b, COUNT(*) AS n FROM t GROUP BY r, b HAVING n > 0 AND r <> 'b' ORDER BY r DESC, b",
    "SELECT COUNT(*) AS n FROM t WHERE k = 99 HAVING n > 0",
    "SELECT COUNT(*) AS n FROM t LIMIT 0",
    "WITH a AS (SELECT k, x + 1 AS x FROM t), b AS (SELECT k, x * 2 AS x FROM a WHERE x > 0) "
    "SELECT k, SUM(x) AS s FROM b GROUP BY k ORDER BY k",
    "WITH t AS (SELECT * FROM t WHERE k > 1) SELECT COUNT(*) AS n FROM t",
    "WITH a AS (SELECT * FROM t) "
    "SELECT COUNT(*) AS n FROM (WITH a AS (SELECT * FROM a WHERE k > 1) SELECT * FROM a) AS s",
    "SELECT s.k, COUNT(*) AS n FROM (SELECT k FROM t WHERE b) AS s WHERE s.k > 0 GROUP BY s.k HAVING n > 0 ORDER BY 1",
    "SELECT COUNT(*) AS K, SUM(X) AS s FROM T WHERE \"k\" > 0",
    "SELECT \"R\", COUNT(*) AS Zahl FROM t GROUP BY \"r\" HAVING zahl > 0 ORDER BY ZAHL DESC, R",
    "SELECT k, ROUND(SUM(x), 1) AS s, ROUND(SUM(x), -1) AS q, CAST(AVG(x) AS INTEGER) AS a FROM t GROUP BY k "
    "ORDER BY k",
    "SELECT d, COUNT(*) AS n FROM t GROUP BY d HAVING d BETWEEN '2026-01-30' AND '2026-02-01 10:00' ORDER BY d",
    "SELECT COUNT_IF(x > 0) AS n, COUNT(*) FILTER (WHERE b) AS m, SUM(x) FILTER (WHERE k > 1) AS s, MEAN(x) AS a "
    "FROM t",
)  # fmt: skip


@pytest.mark.parametrize("question", IN_ORDER)
def test_results_are_filtered_ordered_and_computed_as_the_database_does(question: str) -> None:
    """HAVING, ORDER BY, LIMIT, arithmetic on results and names of sub-queries, row by row in order."""
    rows = frame(11, missing=False)
    expected = theirs(rows, _whole(question))
    assert agree(ours(table(rows, unit="pid", columns=COLUMNS), question), expected)


def _whole(question: str) -> str:
    """DuckDB divides by zero to infinity; this product to NULL."""
    return (
        question.replace("/ 0", "/ NULLIF(0, 0)")
        .replace("(k - 1)", "NULLIF(k - 1, 0)")
        .replace("(k - 2)", "NULLIF(k - 2, 0)")
    )


def test_groups_without_rows_are_shown_as_zero() -> None:
    """All declared keys, in the declared order, whatever the table holds."""
    declared = table(frame(1).head(0), unit="pid", columns=COLUMNS)
    found = ours(declared, "SELECT r, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a FROM t GROUP BY r")
    assert [row["r"] for row in found] == ["a", "b", "ä'b", "nobody"]
    assert all(row["n"] == 0 and row["s"] == 0 and row["a"] == 0 for row in found)


def test_odd_values_count_as_documented() -> None:
    """NaN and NULL give nothing to a sum, infinities are clipped, a division by zero is NULL."""
    rows = pd.DataFrame({"pid": range(6), "x": [math.nan, None, math.inf, -math.inf, 1e300, 2.5]})
    declared = table(rows, unit="pid", columns={"x": column(bounds=(-10, 10))})
    question = (
        "SELECT SUM(x) AS s, AVG(x) AS a, COUNT(x / 0) AS z, SUM(CASE WHEN x > 100 THEN 1 ELSE 0 END) AS c FROM t"
    )
    ((found),) = ours(declared, question)
    assert same(found["s"], 12.5) and same(found["a"], 3.125) and found["z"] == 0 and same(found["c"], 2)


SOURCES: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "pandas": lambda rows, folder: rows,
    "polars": lambda rows, folder: pl.from_pandas(rows),
    "arrow": lambda rows, folder: pa.Table.from_pandas(rows),
    "parquet": lambda rows, folder: _written(rows, folder, "parquet"),
    "two parquet files": lambda rows, folder: _two(rows, folder),
    "csv": lambda rows, folder: _broken(rows, folder),
    "duckdb": lambda rows, folder: _database(rows, folder),
}
OF_SOURCES = (
    "SELECT COUNT(*) AS n, COUNT(x) AS c, SUM(x) AS s, AVG(k) AS a, COUNT(DISTINCT pid) AS u FROM t",
    "SELECT r, SUM(x) AS s FROM t WHERE r <> 'nobody' GROUP BY r HAVING COUNT(*) > 0 ORDER BY r",
    "SELECT b, COUNT(*) AS n FROM t WHERE d > DATE '2026-01-30' GROUP BY b ORDER BY b",
)


def _written(rows: pd.DataFrame, folder: Path, kind: str) -> str:
    path = folder / f"t.{kind}"
    rows.to_parquet(path) if kind == "parquet" else rows.to_csv(path, index=False)
    return str(path)


def _two(rows: pd.DataFrame, folder: Path) -> str:
    rows.head(100).to_parquet(folder / "t1.parquet")
    rows.tail(len(rows) - 100).to_parquet(folder / "t2.parquet")
    return str(folder / "t*.parquet")


BROKEN = {
    "7,1.5,1,a,true,2026-01-28,too,many": (7, 1.5, 1, "a", True, "2026-01-28"),
    "8,abc,1.5e9999,b,maybe,2026-02-31": (8, None, None, "b", None, None),
    "not a number,1,1,a,true,2026-01-28": (99, 1, 1, "a", True, "2026-01-28"),  # still somebody
    ",1,1,a,true,2026-01-28": None,  # nobody's
    "9,2": (9, 2, None, None, None, None),
    "": None,
}


def _broken(rows: pd.DataFrame, folder: Path) -> str:
    """A CSV file with rows that are too long, fields that cannot be read, and an empty person."""
    path = folder / "t.csv"
    rows.to_csv(path, index=False)
    with open(path, "a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in BROKEN)
    return str(path)


def _database(rows: pd.DataFrame, folder: Path) -> str:
    with duckdb.connect(str(folder / "t.db")) as connection:
        connection.register("given", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return f"duckdb:///{folder}/t.db#people"


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_answers(source: str, tmp_path: Path) -> None:
    """Files, frames and databases; rows of a CSV that cannot be read are left out, and nothing fails."""
    rows = frame(5)
    rows.loc[rows["r"] == "zz", "r"] = "b"
    declared = table(SOURCES[source](rows, tmp_path), unit="pid", columns=COLUMNS)
    if source == "csv":
        more = pd.DataFrame([row for row in BROKEN.values() if row], columns=rows.columns)
        rows = pd.concat([rows, more.astype(rows.dtypes)], ignore_index=True)
    for question in OF_SOURCES:
        expected = theirs(rows, question)
        expected = [row for row in expected if None not in row.values()]
        assert agree(ours(declared, question), expected), question
