"""Groups of rows without a value, and what names mean after GROUP BY, HAVING, ORDER BY: as in DuckDB, or refused."""

from __future__ import annotations

import datetime
from collections import defaultdict

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from sfumato.curator.curator import Curator
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.errors import UnsupportedQuery
from sfumato.privacy.guarantee import Guarantee

DAY, NOON = datetime.date(1970, 1, 1), datetime.datetime(2026, 2, 1, 12)
ROWS = pd.DataFrame(
    {
        "pid": range(600),
        "r": ["a", None, "b", "none", None, "a"] * 100,
        "s": ["a", None, "b", "c", None, "a"] * 100,
        "k": pd.array([1, 2, None, 4, 3, 1] * 100, dtype="Int64"),
        "b": pd.array([True, None, False, True, True, None] * 100, dtype="boolean"),
        "d": pd.Series([DAY, None, DAY, None, DAY, DAY] * 100, dtype=pd.ArrowDtype(pa.date32())),
        "w": pd.Series([NOON, None, None, NOON, NOON, NOON] * 100, dtype="M8[us]"),
        "odd": ["a", "NULL", None, "NULL_", "zz", "0"] * 100,
    }
)
KEYS = {"r": column(keys=["a", "b", "none"]), "s": column(keys=["a", "b", "c"]), "k": column(bounds=(1, 4)),
        "d": column(keys=[DAY]), "w": column(keys=[NOON]), "odd": column(keys=["a", "NULL"])}  # fmt: skip
ANSWERED = (
    "SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY s",
    "SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY s ORDER BY s DESC",
    "SELECT COALESCE(s, 'none') AS g, COUNT(*) AS n FROM t GROUP BY s HAVING g <> 'a' ORDER BY g",
    "SELECT COALESCE(s, 'none') AS g, COUNT(*) AS n FROM t GROUP BY s, s, COALESCE(s, 'none') ORDER BY g",
    "SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY 1 ORDER BY 1",
    "SELECT COALESCE(k, 0) AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k",
    "SELECT COALESCE(u.s, 'none') AS s, COUNT(*) AS n FROM (SELECT pid, s FROM t) AS u GROUP BY u.s",
    "SELECT s, SUM(c) AS n FROM (SELECT pid, COALESCE(s, '-') AS s, COUNT(*) AS c FROM t GROUP BY pid, s) GROUP BY s",
    "SELECT -k AS k, COUNT(*) AS n FROM t WHERE k > 0 GROUP BY k",
    "SELECT s, COUNT(*) AS n FROM t GROUP BY s HAVING s IS NOT NULL ORDER BY s",
    "SELECT COUNT(*) AS s FROM t WHERE s < 'z' GROUP BY s",
)
WITH_NULL = (  # NULL is one more key, also where its name is another key already
    "SELECT COALESCE(r, 'none') AS r, COUNT(*) AS n FROM t GROUP BY r",
    "SELECT COALESCE(k, 2) AS k, COUNT(*) AS n FROM t GROUP BY k",
    "SELECT s, COALESCE(s, 'none') AS g, COUNT(*) AS n FROM t GROUP BY s ORDER BY s",
    "SELECT s, COALESCE(s, 'none') AS g, COUNT(*) AS n FROM t GROUP BY s ORDER BY g DESC",
    "SELECT COALESCE(s, r, 'none') AS g, COUNT(*) AS n FROM t GROUP BY s, r",
    "SELECT COALESCE(s, 'x') AS g, COALESCE(s, 'y') AS h, COUNT(*) AS n FROM t GROUP BY s ORDER BY s DESC",
    "SELECT s IS NULL AS g, COUNT(*) AS n FROM t GROUP BY s",
    "SELECT CASE WHEN s IS NULL THEN 'none' ELSE s END AS g, COUNT(*) AS n FROM t GROUP BY s",
    "SELECT s, COUNT(*) AS n FROM t GROUP BY s HAVING s IS NULL",
    "SELECT s, k, COUNT(*) AS n FROM t GROUP BY s, k HAVING s IS NULL OR k IS NULL",
    "SELECT COALESCE(s, 'c') AS g, COUNT(*) AS n FROM t GROUP BY s HAVING s = 'a' OR COUNT(*) > 150",
    "SELECT b, COALESCE(b, FALSE) AS g, COUNT(*) AS n FROM t GROUP BY b ORDER BY b DESC",
    "SELECT d, d IS NULL AS g, COUNT(*) AS n FROM t GROUP BY d ORDER BY d",
    "SELECT w, COALESCE(w, TIMESTAMP '2026-01-01 00:00:00') AS g, COUNT(*) AS n FROM t GROUP BY w ORDER BY w",
    "SELECT FLOOR(k / 2) AS f, COALESCE(FLOOR(k / 2), 0) AS g, COUNT(*) AS n FROM t GROUP BY FLOOR(k / 2)",
)
SHOWN_BESIDE = (  # a key, and a COALESCE of it that is a key of its own
    "SELECT s, COALESCE(s, 'none') AS g, COUNT(*) AS n FROM t GROUP BY 1, 2",
    "SELECT r, COALESCE(r, 'none') AS g, COUNT(*) AS n FROM t GROUP BY r, COALESCE(r, 'none')",
    "SELECT k, COALESCE(k > 1, FALSE) AS g, COUNT(*) AS n FROM t GROUP BY g, k",
)
REFUSED = (
    ("SELECT COALESCE(r, 'none') AS g, COUNT(*) AS n FROM t GROUP BY r, COALESCE(r, 'none')", "would miss them"),
    ("SELECT s, COALESCE(s, 'x') AS g, COALESCE(s, 'y') AS h, COUNT(*) AS n FROM t GROUP BY 1, 2", "would miss them"),
    ("SELECT CASE WHEN s IS NULL THEN 'none' ELSE s END AS s, COUNT(*) AS n FROM t GROUP BY s", "is both a column"),
    ("SELECT CASE WHEN s = 'a' THEN 'x' ELSE 'y' END AS s, COUNT(*) AS n FROM t GROUP BY s", "is both a column"),
    (
        "SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY s HAVING s = 'a'",
        "is both a column and an alias",
    ),
    ("SELECT r, COUNT(*) AS s FROM t GROUP BY r HAVING s > 1", "is both a column and an alias"),
    ("SELECT -k AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k", "is both a column and an alias"),
    ("SELECT -k AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k + 0", "is both a column and an alias"),
)


@pytest.fixture(scope="module")
def curator() -> Curator:
    """A table of one row for each person, without noise to speak of."""
    asked = table(ROWS, unit="pid", max_rows_per_unit=1, columns=KEYS)
    return Curator({"t": asked}, budget=Guarantee(epsilon=10**9))


@pytest.mark.parametrize("question", ANSWERED)
def test_the_groups_are_those_of_duckdb(curator: Curator, question: str) -> None:
    """All of them, those that the data lacks beside them with 0; intervals hold with probability 1 - 1e-9."""
    with duckdb.connect() as database:
        database.register("t", ROWS)
        expected = database.execute(question).fetchall()
    answer = curator.ask(question, epsilon=10_000, confidence=1 - 1e-9, estimate_bounds=True)
    *keys, counted = answer.columns
    groups = [tuple(row[name] for name in keys) for row in answer.rows]
    truths = {row[:-1]: row[-1] for row in expected} if keys else {}
    if "ORDER BY" in question:
        assert [group for group in groups if group in truths] == list(truths)
    if not keys:
        truths, groups = (
            {(place,): n for place, (n,) in enumerate(sorted(expected))},
            [(i,) for i in range(len(groups))],
        )
        answer.intervals[counted].sort()
    assert set(truths) <= set(groups)
    for group, (low, high) in zip(groups, answer.intervals[counted], strict=True):
        assert low <= truths.get(group, 0) <= high


@pytest.mark.parametrize("question", WITH_NULL)
def test_null_is_one_more_group_where_the_question_speaks_of_it(curator: Curator, question: str) -> None:
    """The groups of DuckDB with their numbers, in its order, and groups of 0; also several that are shown alike."""
    with duckdb.connect() as database:
        database.register("t", ROWS)
        expected = database.execute(question).fetchall()
    answer = curator.ask(question, epsilon=10_000, confidence=1 - 1e-9)
    groups = [tuple(row[name] for name in answer.columns[:-1]) for row in answer.rows]
    if "ORDER BY" in question:
        assert [group for group in groups if group in [row[:-1] for row in expected]] == [row[:-1] for row in expected]
    truths, found = defaultdict[object, list[int]](list), defaultdict[object, list[tuple[float, float]]](list)
    for *group, number in expected:
        truths[tuple(group)].append(number)
    for shown, interval in zip(groups, answer.intervals["n"], strict=True):
        assert interval is not None
        found[shown].append(interval)
    assert truths.keys() <= found.keys()
    for shown, intervals in found.items():
        numbers = sorted([0] * (len(intervals) - len(truths[shown])) + truths[shown])
        assert len(numbers) == len(intervals)
        for number, (low, high) in zip(numbers, sorted(intervals), strict=True):
            assert low <= number <= high < low + 1


def test_rows_of_an_undeclared_value_are_not_taken_for_null(curator: Curator) -> None:
    """Whatever stands for NULL: 'NULL' is a key, 'NULL_' and 'zz' are not declared, 100 rows have no value."""
    question = "SELECT odd, COALESCE(odd, 'a') AS g, COUNT(*) AS n FROM t GROUP BY odd"
    answer = curator.ask(question, epsilon=10_000, confidence=1 - 1e-9)
    assert [(row["odd"], row["g"], round(row["n"])) for row in answer.rows] == [
        ("a", "a", 100), ("NULL", "NULL", 100), (None, "a", 100),
    ]  # fmt: skip


@pytest.mark.parametrize("question", SHOWN_BESIDE)
def test_a_key_that_is_shown_leaves_out_null_beside_its_coalesce(curator: Curator, question: str) -> None:
    with duckdb.connect() as database:
        database.register("t", ROWS)
        expected = {row[:2]: row[2] for row in database.execute(question).fetchall() if None not in row}
    answer = curator.ask(question, epsilon=10_000, confidence=1 - 1e-9)
    groups = [tuple(row[name] for name in answer.columns[:2]) for row in answer.rows]
    assert expected.keys() <= set(groups)
    assert all(None not in group for group in groups)
    for group, (low, high) in zip(groups, answer.intervals["n"], strict=True):
        assert low <= expected.get(group, 0) <= high


@pytest.mark.parametrize(("question", "hint"), REFUSED, ids=[question for question, _ in REFUSED])
def test_what_would_lose_a_group_or_has_two_meanings_is_refused(curator: Curator, question: str, hint: str) -> None:
    with pytest.raises(UnsupportedQuery) as refusal:
        curator.quote(question, epsilon=1)
    assert hint in str(refusal.value)


def test_keys_that_nobody_listed_are_not_mixed_with_the_constant() -> None:
    """A key could be 'none' already; grouped by the COALESCE itself, one group is what the question says."""
    asked = Curator(
        {"t": table(ROWS[["pid", "s"]], unit="pid", max_rows_per_unit=1)}, budget=Guarantee(epsilon=100, delta=0.1)
    )
    with pytest.raises(UnsupportedQuery, match="would miss them"):
        asked.quote("SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY s", epsilon=1, delta=1e-6)
    asked.quote("SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY 1", epsilon=1, delta=1e-6)
