"""Groups of rows without a value, and what names mean after GROUP BY, HAVING, ORDER BY: as in DuckDB, or refused."""

from __future__ import annotations

import duckdb
import pandas as pd
import pytest

from sfumato.curator.curator import Curator
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.errors import UnsupportedQuery
from sfumato.privacy.guarantee import Guarantee

ROWS = pd.DataFrame(
    {
        "pid": range(600),
        "r": ["a", None, "b", "none", None, "a"] * 100,
        "s": ["a", None, "b", "c", None, "a"] * 100,
        "k": pd.array([1, 2, None, 4, 3, 1] * 100, dtype="Int64"),
    }
)
KEYS = {"r": column(keys=["a", "b", "none"]), "s": column(keys=["a", "b", "c"]), "k": column(bounds=(1, 4))}
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
REFUSED = (
    ("SELECT COALESCE(r, 'none') AS r, COUNT(*) AS n FROM t GROUP BY r", "GROUP BY COALESCE(\"r\", 'none') itself"),
    ("SELECT COALESCE(k, 2) AS k, COUNT(*) AS n FROM t GROUP BY k", 'GROUP BY COALESCE("k", 2) itself'),
    ("SELECT s, COALESCE(s, 'none') AS g, COUNT(*) AS n FROM t GROUP BY s", "would miss them"),
    ("SELECT COALESCE(s, r, 'none') AS g, COUNT(*) AS n FROM t GROUP BY s, r", "would miss them"),
    ("SELECT COALESCE(s, 'x') AS g, COALESCE(s, 'y') AS h, COUNT(*) AS n FROM t GROUP BY s", "would miss them"),
    ("SELECT s IS NULL AS g, COUNT(*) AS n FROM t GROUP BY s", 'GROUP BY ("s" IS NULL) itself'),
    ("SELECT CASE WHEN s IS NULL THEN 'none' ELSE s END AS s, COUNT(*) AS n FROM t GROUP BY s", "is both a column"),
    ("SELECT CASE WHEN s = 'a' THEN 'x' ELSE 'y' END AS s, COUNT(*) AS n FROM t GROUP BY s", "is both a column"),
    ("SELECT COUNT(*) AS n FROM t GROUP BY s HAVING s IS NULL", "would miss them"),
    ("SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY s HAVING s = 'a'", "would miss them"),
    ("SELECT r, COUNT(*) AS s FROM t GROUP BY r HAVING s > 1", "is both a column and an alias"),
    ("SELECT -k AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k", "is both a column and an alias"),
    ("SELECT -k AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k + 0", "is both a column and an alias"),
)


@pytest.fixture(scope="module")
def curator() -> Curator:
    """A table of one row for each person, without noise to speak of."""
    asked = table(ROWS, unit="pid", most_rows=1, columns=KEYS)
    return Curator({"t": asked}, allowance=Guarantee(epsilon=10**9))


@pytest.mark.parametrize("question", ANSWERED)
def test_the_groups_are_those_of_duckdb(curator: Curator, question: str) -> None:
    """All of them, those that the data lacks beside them with 0; intervals hold with probability 1 - 1e-9."""
    with duckdb.connect() as database:
        database.register("t", ROWS)
        expected = database.execute(question).fetchall()
    answer = curator.ask(question, epsilon=10_000, confidence=1 - 1e-9, bounds="auto")
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


@pytest.mark.parametrize(("question", "hint"), REFUSED, ids=[question for question, _ in REFUSED])
def test_what_would_lose_a_group_or_has_two_meanings_is_refused(curator: Curator, question: str, hint: str) -> None:
    with pytest.raises(UnsupportedQuery) as refusal:
        curator.quote(question, epsilon=1)
    assert hint in str(refusal.value)


def test_keys_that_nobody_listed_are_not_mixed_with_the_constant() -> None:
    """A key could be 'none' already; grouped by the COALESCE itself, one group is what the question says."""
    asked = Curator(
        {"t": table(ROWS[["pid", "s"]], unit="pid", most_rows=1)}, allowance=Guarantee(epsilon=100, delta=0.1)
    )
    with pytest.raises(UnsupportedQuery, match="would miss them"):
        asked.quote("SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY s", epsilon=1, delta=1e-6)
    asked.quote("SELECT COALESCE(s, 'none') AS s, COUNT(*) AS n FROM t GROUP BY 1", epsilon=1, delta=1e-6)
