"""Placeholders become constants of the tree: whatever a value holds, it stays a value."""

from __future__ import annotations

import datetime
import enum
from decimal import Decimal
from typing import Any

import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.people import TABLES
from sfumato.errors import InvalidArgument, SfumatoError, UnknownName, UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.syntax.node import Literal, Query
from sfumato.plan.syntax.parse import parse

DAY = datetime.date(2026, 3, 1)
TIME = datetime.datetime(2026, 3, 1, 10, 30, 0, 500)
VALUES = (
    (7, "7"),
    (-7, "(-7)"),
    (0.5, "0.5"),
    (-0.0, "(-0.0)"),
    (1e22, "1e+22"),
    (5e-10, "5e-10"),
    (Decimal("1.10"), "1.10"),
    (Decimal("-1E+3"), "(-1E+3)"),
    (10**300, "1" + "0" * 300),
    (True, "TRUE"),
    (None, "NULL"),
    ("north", "'north'"),
    ("", "''"),
    (DAY, "CAST('2026-03-01' AS DATE)"),
    (TIME, "CAST('2026-03-01 10:30:00.000500' AS TIMESTAMP)"),
)
HOSTILE = (
    "' OR '1'='1",
    "'; DROP TABLE t; --",
    "'' OR TRUE",
    "\\' OR TRUE --",
    "\\",
    "a\nb\r\t",
    '" OR "x" = "x',
    "/* */ -- ",
    "$$ ? :name $1 {{ x }} {% y %}",
    "E'\\x27'",
    "ʼ OR 1=1",
    "\u202e\u0000"[:1],
    "😀",
    "NULL",
    "CAST('2026-01-01' AS DATE)",
)


class Fruit(enum.IntEnum):
    """Prints as something else than it is."""

    APPLE = 1


def where(value: Any) -> Query:
    """The plan of a question with one placeholder."""
    return parse("SELECT COUNT(*) AS n FROM t WHERE r = ?", [value])


@pytest.mark.parametrize(("value", "written"), VALUES, ids=[written[:40] for _, written in VALUES])
def test_a_value_is_written_as_its_own_kind(value: Any, written: str) -> None:
    """And the plan is the one of the text in which somebody wrote the constant."""
    plan = where(value)
    assert plan.sql() == f'SELECT COUNT(*) AS "n" FROM "t" WHERE ("r" = {written})'
    assert plan == parse(plan.sql()) == parse(f"SELECT COUNT(*) AS n FROM t WHERE r = {written}")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_stays_a_text_whatever_it_holds(text: str) -> None:
    """No quote, comment, escape or placeholder in it is read; the plan has exactly this one constant."""
    for plan in (where(text), parse("SELECT COUNT(*) AS n FROM t WHERE r = :r", {"r": text})):
        assert plan.where is not None and plan.where.arguments[1] == Literal(text)  # type: ignore[union-attr]
        assert parse(plan.sql()) == plan
        bind(plan, TABLES)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
def test_any_text_comes_back_exactly(text: str) -> None:
    """From the printed plan, too, which is what another reader sees."""
    assert parse(where(text).sql()).where.arguments[1].value == text  # type: ignore[union-attr]


@given(st.integers(-(10**300), 10**300) | st.floats(allow_nan=False, allow_infinity=False) | st.decimals())
def test_any_number_comes_back_exactly_or_is_refused(number: Any) -> None:
    """A float as the decimal that it prints as; what is not finite, or beyond what is computed with, is refused."""
    try:
        plan = where(number)
    except SfumatoError:
        assert not Decimal(number).is_finite() or (number != 0 and not 1e-300 <= abs(number) <= 1e300)
        return
    printed = plan.sql().rpartition(" = ")[2].strip("()")
    assert Decimal(printed) == Decimal(str(number)) and parse(plan.sql()) == plan


@pytest.mark.parametrize(
    "value",
    (
        *(float("nan"), float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), 10**400, -(10**5000)),
        *("a\0b", "\ud800", b"north", 1j, [1], (1,), {"a": 1}, {1}, object(), Fruit.APPLE, numpy.int64(1)),
        *(numpy.float64(1), numpy.str_("a"), pandas.NaT, pandas.Timestamp("2026-01-01"), pandas.NA),
        *(datetime.time(1), datetime.timedelta(1), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)),
    ),
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_refused(value: Any) -> None:
    """With what would be taken, and the kind of what came, but not its contents."""
    with pytest.raises(InvalidArgument, match=r"^parameter number 1 must be None, a truth value, .* convert it first$"):
        where(value)


def test_question_marks_are_filled_in_the_order_of_the_text() -> None:
    """Not of the tree, which has its clauses in another; a ? in a text or a comment is none."""
    text = """WITH a AS (SELECT x, r FROM t WHERE x > ? AND r <> '?') -- ?
    SELECT r, SUM(CASE WHEN x < ? THEN ? ELSE x END) AS s FROM a WHERE x BETWEEN ? AND ? AND x IN (?, ?)
    GROUP BY r HAVING COUNT(*) > ? ORDER BY s + ? DESC LIMIT ?"""
    plan = parse(text, list(range(11, 21)))
    numbers = [word.strip("(),") for word in plan.sql().replace("))", "").split() if word.strip("(),").isdecimal()]
    assert numbers == [str(number) for number in range(11, 21)]
    assert parse("FROM t SELECT SUM(x + ?) AS n WHERE x > ?", [1, 2]) == parse(
        "SELECT SUM(x + 1) AS n FROM t WHERE x > 2"
    )


def test_names_may_be_written_with_a_colon_or_a_dollar_and_used_twice() -> None:
    """Upper and lower case differ."""
    plan = parse("SELECT COUNT(*) AS n FROM t WHERE x > :low AND x < $High AND k > :low", {"low": 1, "High": -2})
    assert plan == parse("SELECT COUNT(*) AS n FROM t WHERE x > 1 AND x < -2 AND k > 1")


def test_a_value_may_be_cast_compared_or_a_pattern() -> None:
    """Wherever a constant may be written as a value, and for LIMIT a whole number."""
    plan = parse(
        "SELECT COALESCE(r, ?) AS g, COUNT(*) AS n FROM t "
        "WHERE r LIKE ? AND d > CAST(? AS DATE) AND b = (?) GROUP BY 1 LIMIT ?",
        ["other", "a%", "2026-01-01", True, 3],
    )
    assert plan.limit == 3
    bind(plan, TABLES)


@pytest.mark.parametrize(
    "text",
    (
        "SELECT COUNT(*) AS n FROM ?",
        "SELECT COUNT(*) AS n FROM (?) AS a",
        "SELECT COUNT(*) AS ? FROM t",
        "SELECT r, COUNT(*) AS n FROM t GROUP BY ?",
        "SELECT r, COUNT(*) AS n FROM t GROUP BY (?)",
        "SELECT r, COUNT(*) AS n FROM t GROUP BY r ORDER BY ?",
        "SELECT r, COUNT(*) AS n FROM t GROUP BY r ORDER BY ((?)) DESC",
        "SELECT COUNT(*) AS n FROM t WHERE r IN ?",
        "SELECT COUNT(*) AS n FROM t WHERE r IS ?",
        "SELECT COUNT(*) AS n FROM t WHERE t.? = 1",
        "SELECT DATE_TRUNC(?, d) AS g, COUNT(*) AS n FROM t GROUP BY 1",
        "SELECT DATE_PART(?, d) AS g, COUNT(*) AS n FROM t GROUP BY 1",
        "SELECT EXTRACT(? FROM d) AS g, COUNT(*) AS n FROM t GROUP BY 1",
        "SELECT ROUND(SUM(x), ?) AS n FROM t",
        "SELECT ?(x) AS n FROM t",
        "SELECT COUNT(DISTINCT ?) AS n FROM t",
        "SELECT COUNT(*) AS n FROM t WHERE x > ?1",
        "SELECT COUNT(*) AS n FROM t WHERE x ? 'a'",
        "SELECT COUNT(*) AS n FROM t WHERE x > $?",
        "SELECT COUNT(*) AS n FROM t WHERE x = INTERVAL ? DAY",
        "SELECT COUNT(*) AS n FROM t WHERE CAST(x AS ?) = 1",
        "?",
    ),
)
@pytest.mark.parametrize("value", (1, "r", "month"))
def test_a_placeholder_stands_for_nothing_but_a_value(text: str, value: Any) -> None:
    """A table, a column, a key by its number, a unit of time, a list: all are refused."""
    with pytest.raises(UnsupportedQuery):
        bind(parse(text, [value]), TABLES)


@pytest.mark.parametrize("value", (-1, 1.5, "1", None, True, Decimal("1.0")))
def test_a_limit_is_a_whole_number(value: Any) -> None:
    """Nothing else is, whatever it is worth."""
    with pytest.raises(UnsupportedQuery, match="LIMIT takes a whole number"):
        parse("SELECT COUNT(*) AS n FROM t LIMIT ?", [value])


@pytest.mark.parametrize(
    ("placeholders", "parameters", "error", "message"),
    (
        ("?", (), UnsupportedQuery, "or write the value into the question"),
        (":a", {}, UnsupportedQuery, "or write the value into the question"),
        ("?", [1, 2], InvalidArgument, "as many as placeholders, 1; got 2"),
        ("? OR x = ?", [1], InvalidArgument, "as many as placeholders, 2; got 1"),
        ("1", [1], InvalidArgument, "as many as placeholders, 0; got 1"),
        ("?", {"a": 1}, InvalidArgument, "a list for placeholders ?, a mapping for :name"),
        (":a", [1], InvalidArgument, "a list for placeholders ?, a mapping for :name"),
        ("$1", [1], InvalidArgument, "a list for placeholders ?, a mapping for :name"),
        ("? OR x = :a", {"a": 1}, InvalidArgument, "a list for placeholders ?, a mapping for :name"),
        ("? OR x = :a", [1, 2], InvalidArgument, "a list for placeholders ?, a mapping for :name"),
        (":age", {"agee": 1}, InvalidArgument, "must have a value for :age; got none; did you mean 'agee'"),
        (":age", {"age": 1, "agee": 2}, UnknownName, "unknown parameter 'agee'; did you mean 'age'"),
        (":age", {"age": 1, 7: 2}, UnknownName, "unknown parameter 7"),
        ("?", "1", InvalidArgument, "a list or a mapping; got a str"),
        ("?", 1, InvalidArgument, "a list or a mapping; got a int"),
        ("?", None, InvalidArgument, "a list or a mapping; got a NoneType"),
    ),
)
def test_values_and_placeholders_must_match(
    placeholders: str, parameters: Any, error: type[Exception], message: str
) -> None:
    """The message says what is missing or too much."""
    with pytest.raises(error, match=message.replace("?", r"\?")):
        parse(f"SELECT COUNT(*) AS n FROM t WHERE x = {placeholders}", parameters)


def test_ten_thousand_values_are_bound() -> None:
    """In one list."""
    plan = parse(f"SELECT COUNT(*) AS n FROM t WHERE k IN ({', '.join('?' * 10_000)})", range(10_000))
    assert [item.value for item in plan.where.items] == [str(k) for k in range(10_000)]  # type: ignore[union-attr]
