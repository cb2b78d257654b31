"""Kinds of expressions from declarations only, and the intervals of their numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from plan.people import TABLES
from sfumato.dataset.kind import Kind
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.syntax.parse import parse
from sfumato.statistics.ranges import Range


def argument(expression: str, aggregate: str = "COUNT"):
    (measure,) = bind(parse(f"SELECT {aggregate}({expression}) AS n FROM t"), TABLES).measures
    return measure.argument


@pytest.mark.parametrize(
    ("expression", "kind"),
    (
        ("x", Kind.REAL), ("k", Kind.INTEGER), ("r", Kind.TEXT), ("b", Kind.BOOLEAN), ("d", Kind.TIMESTAMP),
        ("k + 1", Kind.REAL), ("k > 1", Kind.BOOLEAN), ("COALESCE(k, 1)", Kind.INTEGER),
        ("COALESCE(k, 1.5)", Kind.REAL),         ("COALESCE(k, NULL)", Kind.INTEGER), ("NULL", None),
        ("CASE WHEN b THEN 'a' END", Kind.TEXT),
        ("CASE WHEN b THEN d ELSE DATE '2026-01-01' END", Kind.TIMESTAMP), ("DATE '2026-01-01'", Kind.DATE),
        ("EXTRACT(YEAR FROM d)", Kind.INTEGER), ("DATE_TRUNC('year', d)", Kind.TIMESTAMP), ("x IS NULL", Kind.BOOLEAN),
        ("r LIKE 'a'", Kind.BOOLEAN), ("9007199254740993", Kind.REAL), ("1e3", Kind.INTEGER), ("0.5", Kind.REAL),
    ),
)  # fmt: skip
def test_every_expression_has_one_kind(expression: str, kind: Kind | None) -> None:
    """Numbers mix, dates and times mix, NULL is of any kind."""
    assert argument(expression).kind is kind


@pytest.mark.parametrize(
    ("expression", "low", "high"),
    (
        ("x", -10, 10), ("k", 0, 3), ("x + k", -10, 13), ("x - k", -13, 10), ("x * k", -30, 30), ("x * x", -100, 100),
        ("x / 4", -2.5, 2.5), ("-k", -3, 0), ("ABS(x)", 0, 10), ("FLOOR(x / 4)", -3, 3), ("7", 7, 8),
        ("k / -2", -1.5, 0),         ("COALESCE(x, 50)", -10, 50),
        ("CASE WHEN b THEN 1 WHEN x > 0 THEN k ELSE -1 END", -1, 3),
        ("ROUND(x, 1)", -10, 10), ("ROUND(x / 3, -1)", -10, 10), ("CAST(x / 4 AS INTEGER)", -3, 3),
        ("CAST(k AS DOUBLE)", 0, 3), ("MONTH(d) * 0 + 1", 1, 1),
        ("CASE WHEN b THEN x END", -10, 10), ("COALESCE(NULL, k)", 0, 3), ("(x + 10) * (k + 1)", 0, 80),
    ),
)  # fmt: skip
def test_bounds_of_columns_bound_what_is_computed_of_them(expression: str, low: float, high: float) -> None:
    """By interval arithmetic in exact fractions; a constant has a width, too."""
    value_range = argument(expression, "SUM").value_range
    wanted = Range(Fraction(low), Fraction(high))
    assert value_range == wanted or (value_range.width == 0 and value_range.low == wanted.low)


@pytest.mark.parametrize(
    "expression", ("y", "x / k", "x + y", "CASE WHEN b THEN x ELSE y END", "COALESCE(x, y)", "NULL")
)
def test_without_bounds_nothing_is_known(expression: str) -> None:
    """A column without bounds, or a divisor that may be zero."""
    assert argument(expression, "SUM").value_range is None


@pytest.mark.parametrize(
    "date",
    (
        "2026-W01-1",
        "20260101",
        "2026-13-01",
        "2026-02-30",
        "0000-01-01",
        "26-01-01",
        "２０２６-01-01",
        "",
        "now",
        "infinity",
    ),
)
def test_a_date_is_a_day_of_the_calendar(date: str) -> None:
    """What Python reads and an engine does not would fail after the charge."""
    with pytest.raises(UnsupportedQuery, match="yyyy-mm-dd"):
        argument(f"DATE '{date}'")
