"""Names, keys and measures: what a question means, from its text and the declarations alone."""

from __future__ import annotations

import pandas as pd
import pytest

from plan.people import ROWS, TABLES
from sfumato.dataset.column import column
from sfumato.dataset.kind import Kind
from sfumato.dataset.table import table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.plan import BoundPlan
from sfumato.plan.pricing.price import price
from sfumato.plan.syntax.node import Call, KeyAt, MeasureAt
from sfumato.plan.syntax.parse import parse
from sfumato.statistics.count import Count
from sfumato.statistics.distinct import Distinct
from sfumato.statistics.mean import Mean
from sfumato.statistics.sum import Sum
from sfumato.statistics.units import Units


def bound(question: str) -> BoundPlan:
    return bind(parse(question), TABLES)


def test_every_aggregate_is_priced_once() -> None:
    """Also those that are written twice, in HAVING, in ORDER BY, or under another name of the same column."""
    plan = bound(
        "SELECT s.z AS g, COUNT(*) AS n, COUNT(*) + 1 AS m, SUM(q) AS a FROM (SELECT r AS z, x AS q, x FROM t) AS s "
        "GROUP BY z HAVING COUNT(*) > 1 AND SUM(x) > 0 ORDER BY AVG(q), n"
    )
    assert [measure.statistic for measure in plan.measures] == [Count(), Sum(), Mean()]


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
        ("SELECT d, COUNT(*) AS n FROM t GROUP BY d HAVING d > 'soon'", "DATE 'yyyy-mm-dd'"),
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
    for atom in plan.key_domains:
        size *= len(atom.values)
    assert size == keys


def test_too_many_groups_are_refused() -> None:
    """A million and no more; numbers that no double tells apart are no keys either."""
    wide = {"t": table(ROWS, columns={"k": column(bounds=(0, 999_999)), "x": column(bounds=(0, 2**70))})}
    with pytest.raises(UnsupportedQuery, match="at most 1,000,000 groups"):
        bind(parse("SELECT COUNT(*) AS n FROM t GROUP BY k, b"), wide)
    with pytest.raises(UnsupportedQuery, match="public keys"):
        price(bind(parse("SELECT COUNT(*) AS n FROM t GROUP BY FLOOR(x)"), wide), epsilon=1)
    bind(parse("SELECT COUNT(*) AS n FROM t GROUP BY FLOOR(1e300 * 1e300 + k)"), TABLES)
    narrow = {"t": table(ROWS, columns={"k": column(bounds=(0.2, 0.8))})}
    with pytest.raises(UnsupportedQuery, match="no whole number"):
        bind(parse("SELECT COUNT(*) AS n FROM t GROUP BY k"), narrow)


def test_the_unit_travels_through_sub_queries() -> None:
    """COUNT(DISTINCT unit) knows the unit under another name, and no other column by its name."""
    units = bound("SELECT COUNT(DISTINCT who) AS n FROM (SELECT pid AS who FROM t) AS s")
    assert [each.statistic for each in units.measures] == [Units()]
    for question in (
        "SELECT COUNT(DISTINCT pid) AS n FROM (SELECT k AS pid FROM t) AS s",
        "SELECT COUNT(DISTINCT pid) AS n FROM (SELECT pid + 0 AS pid FROM t) AS s",
    ):
        assert [each.statistic for each in bound(question).measures] == [Distinct()]
    with pytest.raises(UnsupportedQuery, match="of one column, or of the unit"):
        bound("SELECT COUNT(DISTINCT pid, k) AS n FROM t")


def test_a_cte_sees_those_before_it_and_the_tables() -> None:
    """A name means the nearest one before it: an outer CTE inside an inner one of the same name, never itself."""
    where = bound("WITH t AS (SELECT * FROM t WHERE k > 1) SELECT COUNT(*) AS n FROM t").where
    assert where is not None and where.expression.sql() == '("k" > 1)'
    inner = "WITH a AS (SELECT * FROM a WHERE x > 0) SELECT * FROM a"
    nested = bound(f"WITH a AS (SELECT * FROM t WHERE k > 1) SELECT COUNT(*) AS n FROM ({inner}) AS s").where
    assert nested is not None and nested.expression.sql() == '(("k" > 1) AND ("x" > 0))'
    later = "WITH a AS (SELECT * FROM t), t AS (SELECT * FROM t WHERE k > 1) SELECT COUNT(*) AS n FROM a"
    assert bound(later).where is None


SPELLED = {
    "Klinik": table(
        pd.DataFrame({"Krankenhaus": ["a"], "Größe in cm": [170.0], "geschlecht": ["w"], "id": [1]}),
        columns={"Krankenhaus": column(keys=["a", "b"]), "Größe in cm": column(bounds=(0, 250))},
    )
}


@pytest.mark.parametrize(
    ("question", "names"),
    (
        ('SELECT "Krankenhaus", COUNT(*) FROM "Klinik" GROUP BY "Krankenhaus"', ["Krankenhaus", "count"]),
        ("SELECT krankenhaus, COUNT(*) AS Zahl FROM klinik GROUP BY KRANKENHAUS", ["Krankenhaus", "Zahl"]),
        ("SELECT AVG(\"größe in CM\") FROM klinik AS K WHERE k.krankenhaus = 'a'", ["avg_Größe in cm"]),
        (
            'SELECT krankenhaus AS "Haus", COUNT(*) AS N FROM Klinik GROUP BY haus HAVING n > 1 ORDER BY HAUS',
            ["Haus", "N"],
        ),
        ("SELECT Ort, COUNT(*) AS n FROM (SELECT Krankenhaus AS ort FROM klinik) AS s GROUP BY s.ORT", ["ort", "n"]),
        ("WITH A AS (SELECT * FROM klinik) SELECT COUNT(*) AS n FROM a", ["n"]),
    ),
)
def test_names_are_found_whatever_their_case_and_shown_as_they_are_spelled(question: str, names: list[str]) -> None:
    """In quotes or not; an alias as the question spells it, a column as its declaration does."""
    assert [column.name for column in bind(parse(question), SPELLED).shown] == names


def test_an_unknown_name_is_refused_with_the_nearest_in_quotes_where_they_are_needed() -> None:
    """What is offered can be copied."""
    with pytest.raises(UnsupportedQuery, match="unknown column 'größe'; did you mean \"Größe in cm\""):
        bind(parse("SELECT AVG(größe) FROM klinik"), SPELLED)
    with pytest.raises(UnsupportedQuery, match="did you mean pid"):
        bound("SELECT COUNT(*) FROM t WHERE pidd > 0")


def test_without_a_unit_distinct_values_are_counted() -> None:
    """Each row is a unit then, with one value."""
    plan = bind(parse("SELECT COUNT(DISTINCT id) AS n FROM klinik"), SPELLED)
    assert [each.statistic for each in plan.measures] == [Distinct()]


@pytest.mark.parametrize(
    ("key", "values"),
    (
        ("COALESCE(r, 'none')", [("a", "b", "c", None)]),
        ("COALESCE(r, 'none'), r", [("a", "b", "c", None)]),
        ("r, COALESCE(r, 'none')", [("a", "b", "c", None)]),
        ("COALESCE(FLOOR(x / 10), 9)", [(-1.0, 0.0, 1.0, None)]),
        ("COALESCE('a', r)", [("a", "b", "c")]),
        ("COALESCE(b, TRUE)", [(False, True)]),
        ("CASE WHEN x > 5 THEN r ELSE 'none' END", [(True, False), ("a", "b", "c")]),
        ("COALESCE(CASE WHEN b THEN r END, 'none')", [(True, False), ("a", "b", "c", None)]),
        ("k + 1", [(0, 1, 2, 3)]),
    ),
)
def test_null_is_a_value_of_a_key_where_a_question_makes_a_key_of_it(
    key: str, values: list[tuple[object, ...]]
) -> None:
    """Under COALESCE; elsewhere a key that is NULL is left out anyway. The TRUE of a CASE comes first."""
    assert [atom.values for atom in bound(f"SELECT COUNT(*) AS n FROM t GROUP BY {key}").key_domains] == values


def test_a_text_that_is_compared_with_a_date_is_a_date() -> None:
    """In WHERE, in keys and in HAVING alike."""
    plan = bound("SELECT d > '2026-01-01' AS late, COUNT(*) AS n FROM t GROUP BY d > DATE '2026-01-01'")
    assert plan.shown[0].expression == KeyAt(0)
    where = bound("SELECT COUNT(*) AS n FROM t WHERE d BETWEEN '2026-01-01' AND '2026-01-31 12:00'").where
    assert where is not None
    assert where.expression.sql() == (
        "(\"d\" BETWEEN CAST('2026-01-01' AS DATE) AND CAST('2026-01-31 12:00' AS TIMESTAMP))"
    )
    case = bound("SELECT COUNT(CASE WHEN b THEN d ELSE '2026-01-01' END) AS n FROM t").measures[0].argument
    assert case is not None and case.kind is Kind.TIMESTAMP
