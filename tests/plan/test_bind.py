"""Names, keys and measures: what a question means, from its text and the declarations alone."""

from __future__ import annotations

import pytest

from plan.people import ROWS, TABLES
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.bind import bind
from sfumato.plan.bound import BoundPlan, Statistic
from sfumato.plan.node import Call, KeyAt, MeasureAt
from sfumato.plan.parse import parse


def bound(question: str) -> BoundPlan:
    return bind(parse(question), TABLES)


def test_every_aggregate_is_priced_once() -> None:
    """Also those that are written twice, in HAVING, in ORDER BY, or under another name of the same column."""
    plan = bound(
        "SELECT s.z AS g, COUNT(*) AS n, COUNT(*) + 1 AS m, SUM(q) AS a FROM (SELECT r AS z, x AS q, x FROM t) AS s "
        "GROUP BY z HAVING COUNT(*) > 1 AND SUM(x) > 0 ORDER BY AVG(q), n"
    )
    assert [measure.statistic for measure in plan.measures] == [Statistic.COUNT, Statistic.SUM, Statistic.MEAN]


def test_an_alias_may_stand_inside_having_and_order_by() -> None:
    """HAVING n > 5 is what everybody writes."""
    plan = bound("SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING n > 5 ORDER BY -n, r")
    assert plan.having == Call("greater", (MeasureAt(0), parse("SELECT 5 FROM t").outputs[0].expression))
    assert [sort.expression for sort in plan.order] == [Call("negate", (MeasureAt(0),)), KeyAt(0)]


@pytest.mark.parametrize(
    "question",
    (
        "SELECT r AS x, COUNT(*) AS n FROM t GROUP BY r ORDER BY x",
        "SELECT r, COUNT(*) AS k FROM t GROUP BY r HAVING k > 5",
        "SELECT k AS r, r AS k, COUNT(*) AS n FROM t GROUP BY t.r, t.k ORDER BY r",
    ),
)
def test_an_alias_that_is_also_a_column_is_refused_where_both_could_be_meant(question: str) -> None:
    """No guess about what the analyst meant."""
    with pytest.raises(UnsupportedQuery, match="both a column and an alias"):
        bound(question)


def test_an_alias_of_the_column_itself_is_no_conflict() -> None:
    """SELECT t.r AS r ... ORDER BY r."""
    assert bound("SELECT t.r AS r, COUNT(*) AS n FROM t GROUP BY t.r ORDER BY r").order[0].expression == KeyAt(0)


def test_group_by_prefers_the_column_to_the_alias() -> None:
    """As DuckDB does: k is the column, although something else is shown under its name."""
    plan = bound("SELECT k + 1 AS k, COUNT(*) AS n FROM t GROUP BY k")
    assert plan.groups[0].expression == parse("SELECT k FROM t").outputs[0].expression


@pytest.mark.parametrize(
    ("question", "hint"),
    (
        ("SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING r > 5", 'integer and text: ("r" > 5)'),
        ("SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING n > 'a'", "double and text: (COUNT(*) > 'a')"),
        ("SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING n", "boolean was expected; got double: COUNT(*)"),
        ("SELECT r + 1 AS q, COUNT(*) AS n FROM t GROUP BY r", 'got text: "r"'),
        ("SELECT COUNT(*) + 'a' AS n FROM t", "got text: 'a'"),
        ("SELECT CASE WHEN COUNT(*) > 5 THEN 'many' ELSE 3 END AS q FROM t", "values of one kind"),
        ("SELECT d, EXTRACT(YEAR FROM d) AS y, COUNT(*) AS n FROM t GROUP BY d", "put it into GROUP BY"),
        ("SELECT r, r LIKE 'a%' AS l, COUNT(*) AS n FROM t GROUP BY r", "put it into GROUP BY"),
        ("SELECT d, COUNT(*) AS n FROM t GROUP BY d ORDER BY DATE_TRUNC('year', d)", "put it into GROUP BY"),
        ("SELECT d, COUNT(*) AS n FROM t GROUP BY d HAVING d > '2026-01-01'", "DATE 'yyyy-mm-dd'"),
    ),
)
def test_results_are_checked_before_the_charge(question: str, hint: str) -> None:
    """A comparison of a text with a number would fail when all is paid."""
    with pytest.raises(UnsupportedQuery) as refusal:
        bound(question)
    assert hint in str(refusal.value)


@pytest.mark.parametrize("group", ("(1 + 1)", "ABS(2)", "COALESCE(NULL, 'a')", "c"))
def test_a_constant_is_no_key(group: str) -> None:
    """It would be one group for all, and a syntax error in the engine."""
    with pytest.raises(UnsupportedQuery, match="the same for all rows"):
        bound(f"SELECT COUNT(*) AS n FROM (SELECT 1 AS c FROM t) AS s GROUP BY {group}")


@pytest.mark.parametrize(
    ("groups", "keys"),
    (
        ("r", 3), ("b", 2), ("k", 4), ("x > 0", 2), ("k > 1, r", 6), ("FLOOR(x / 5)", 5), ("r, r", 3), ("k, k + 1", 4),
        ("CASE WHEN x > 0 THEN r ELSE 'none' END", 6), ("ROUND(x)", 21), ("y IS NULL", 2), ("r IN ('a')", 2),
    ),
)  # fmt: skip
def test_keys_come_from_declarations(groups: str, keys: int) -> None:
    """The cross product of public values bounds the groups, whatever the table holds."""
    plan = bound(f"SELECT COUNT(*) AS n FROM t GROUP BY {groups}")
    size = 1
    for atom in plan.atoms:
        size *= len(atom.values)
    assert size == keys


def test_too_many_groups_are_refused() -> None:
    """A million and no more; numbers that no double tells apart are no keys either."""
    wide = {"t": table(ROWS, columns={"k": column(bounds=(0, 999_999)), "x": column(bounds=(0, 2**70))})}
    with pytest.raises(UnsupportedQuery, match="at most 1,000,000 groups"):
        bind(parse("SELECT COUNT(*) AS n FROM t GROUP BY k, b"), wide)
    with pytest.raises(UnsupportedQuery, match="public keys"):
        bind(parse("SELECT COUNT(*) AS n FROM t GROUP BY FLOOR(x)"), wide)
    bind(parse("SELECT COUNT(*) AS n FROM t GROUP BY FLOOR(1e300 * 1e300 + k)"), TABLES)
    narrow = {"t": table(ROWS, columns={"k": column(bounds=(0.2, 0.8))})}
    with pytest.raises(UnsupportedQuery, match="no whole number"):
        bind(parse("SELECT COUNT(*) AS n FROM t GROUP BY k"), narrow)


def test_the_unit_travels_through_sub_queries() -> None:
    """COUNT(DISTINCT unit) knows the unit under another name, and no other column by its name."""
    bound("SELECT COUNT(DISTINCT who) AS n FROM (SELECT pid AS who FROM t) AS s")
    for question in (
        "SELECT COUNT(DISTINCT pid) AS n FROM (SELECT k AS pid FROM t) AS s",
        "SELECT COUNT(DISTINCT pid) AS n FROM (SELECT pid + 0 AS pid FROM t) AS s",
        "SELECT COUNT(DISTINCT pid, k) AS n FROM t",
    ):
        with pytest.raises(UnsupportedQuery, match="DISTINCT is answered for COUNT of the unit"):
            bound(question)


def test_a_cte_sees_those_before_it_and_the_tables() -> None:
    """A name means the nearest one before it: an outer CTE inside an inner one of the same name, never itself."""
    where = bound("WITH t AS (SELECT * FROM t WHERE k > 1) SELECT COUNT(*) AS n FROM t").where
    assert where is not None and where.expression.sql() == '("k" > 1)'
    inner = "WITH a AS (SELECT * FROM a WHERE x > 0) SELECT * FROM a"
    nested = bound(f"WITH a AS (SELECT * FROM t WHERE k > 1) SELECT COUNT(*) AS n FROM ({inner}) AS s").where
    assert nested is not None and nested.expression.sql() == '(("k" > 1) AND ("x" > 0))'
    later = "WITH a AS (SELECT * FROM t), t AS (SELECT * FROM t WHERE k > 1) SELECT COUNT(*) AS n FROM a"
    assert bound(later).where is None


def test_names_are_found_whatever_their_case() -> None:
    """Unquoted names are folded, and the declared schema is matched."""
    assert bound("SELECT Count(*) AS N FROM T WHERE T.X > 0").shown[0].name == "n"
    with pytest.raises(UnsupportedQuery, match="did you mean"):
        bound("SELECT COUNT(*) FROM t WHERE pidd > 0")
