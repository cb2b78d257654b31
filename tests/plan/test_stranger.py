"""Constants that are no declared keys are noted with the nearest key, and all others pass in silence."""

from __future__ import annotations

import pandas as pd
import pytest

from sfumato.dataset.column import column
from sfumato.dataset.keys import dates
from sfumato.dataset.table import table
from sfumato.plan.binding.bind import bind
from sfumato.plan.binding.undeclared import strangers
from sfumato.plan.syntax.parse import parse

FRAME = pd.DataFrame({"p": [1], "r": ["north"], "k": [3], "x": [0.5], "d": ["2026-01-02"], "b": [True], "free": ["a"]})
PEOPLE = table(
    FRAME,
    unit="p",
    columns={
        "r": column(keys=["north", "south"]),
        "k": column(keys=range(1, 6)),
        "x": column(keys=[0.1, 0.5]),
        "d": column(type="date", keys=dates("2026-01-01", "2026-01-31")),
        "b": column(keys=[True, False]),
    },
)
NORTH = "'nort' is not a declared key of r; did you mean 'north'?"


def said(question: str) -> tuple[str, ...]:
    return strangers(bind(parse(question), {"t": PEOPLE}))


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) AS n FROM t WHERE r = 'nort'",
        "SELECT COUNT(*) AS n FROM t WHERE 'nort' <> r AND k = 2",
        "SELECT COUNT(*) AS n FROM t WHERE NOT (r IN ('south', 'nort', 'nort'))",
        "SELECT COUNT(*) AS n FROM (SELECT p, r AS s FROM t) AS u WHERE s = 'nort'",
        "SELECT SUM(CASE WHEN r = 'nort' THEN 1 ELSE 0 END) AS n FROM t",
        "SELECT CASE WHEN r = 'nort' THEN 1 ELSE 0 END AS g, COUNT(*) AS n FROM t GROUP BY 1",
        "SELECT r, COUNT(*) AS n FROM t GROUP BY r HAVING r = 'nort'",
        "SELECT r, COUNT(*) AS n FROM t GROUP BY r ORDER BY CASE WHEN r = 'nort' THEN 1 ELSE 2 END",
    ],
)
def test_a_misspelled_key_is_noted_wherever_it_stands(question: str) -> None:
    """Once, with the nearest one."""
    assert said(question) == (NORTH,)


@pytest.mark.parametrize(
    "condition",
    [
        "r = 'north'", "r IN ('north', 'south')", "r LIKE 'nort%'", "r > 'nort'", "r IS NULL", "r = NULL",
        "k = 3", "k = 3.0", "k > 9", "x = 0.1", "d = '2026-01-31'", "d = DATE '2026-01-01'", "b = TRUE",
        "free = 'z'", "r = free",
    ],
)  # fmt: skip
def test_what_is_a_key_or_no_comparison_with_keys_is_not_noted(condition: str) -> None:
    """Numbers by their value, dates by their day."""
    assert said(f"SELECT COUNT(*) AS n FROM t WHERE {condition}") == ()


@pytest.mark.parametrize(
    ("condition", "note"),
    [
        ("k = 7", "7 is not a declared key of k; known are 1, 2, 3, 4, 5"),
        ("x = 0.25", "0.25 is not a declared key of x; known are 0.1, 0.5"),
        ("d = '2026-02-01'", "2026-02-01 is not a declared key of d; known are 2026-01-01, 2026-01-02"),
        ("r = 'North'", "'North' is not a declared key of r; did you mean 'north'"),
        ("r = ''", "'' is not a declared key of r; known are north, south"),
    ],
)
def test_other_kinds_are_noted_with_what_is_known(condition: str, note: str) -> None:
    """Among numbers and days the nearest spelling is not the nearest, so the first keys are listed."""
    (found,) = said(f"SELECT COUNT(*) AS n FROM t WHERE {condition}")
    assert found.startswith(note)


def test_a_long_list_is_noted_shortly() -> None:
    """Three constants, and the number of the others."""
    listed = ", ".join(f"'z{i}'" for i in range(50))
    found = said(f"SELECT COUNT(*) AS n FROM t WHERE r IN ({listed})")
    assert len(found) == 4 and found[3] == "47 more constants of the question are not declared keys."
