"""A CASE of constants in GROUP BY: its keys are the constants, however many conditions there are."""

from __future__ import annotations

import pandas as pd
import pytest

from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.syntax.parse import parse

T = table(
    pd.DataFrame({"x": [1.0], "y": [2.0], "r": ["a"]}), columns={"x": column(bounds=(0, 9)), "r": column(keys=["a"])}
)


def keys(expression: str) -> list[tuple[object, ...]]:
    """The values of the atoms of a key."""
    bound = bind(parse(f"SELECT {expression} AS k, COUNT(*) AS n FROM t GROUP BY 1"), {"t": T})
    return [atom.values for atom in bound.key_domains]


def test_the_keys_of_a_case_are_its_constants_in_order() -> None:
    """Each once, NULL none; also of columns that have neither bounds nor keys."""
    assert keys("CASE WHEN y < 1 THEN 'low' WHEN y < 5 THEN 'middle' WHEN y < 7 THEN 'low' END") == [("low", "middle")]
    assert keys("CASE WHEN x < 1 THEN -1 WHEN x < 5 THEN NULL ELSE 3 END") == [(-1, 3)]
    assert keys("CASE WHEN x < 1 THEN 0 ELSE CASE WHEN y < 1 THEN 1 ELSE 2 END END") == [(0, 1, 2)]
    assert keys("COALESCE(CASE WHEN y < 1 THEN 'low' END, 'none')") == [("low", None)]
    many = " ".join(f"WHEN y < {n} THEN {n}" for n in range(500))
    assert keys(f"CASE {many} END") == [tuple(range(500))]


def test_any_other_case_has_the_combinations_of_its_parts() -> None:
    """A column among the values, numbers with a fraction, kinds that mix."""
    assert len(keys("CASE WHEN y < 1 THEN r ELSE 'b' END")) == 2
    assert keys("CASE WHEN y < 1 THEN 0.5 ELSE 2 END") == [(True, False)]
    assert keys("CASE WHEN y < 1 THEN DATE '2026-01-01' END") == [(True, False)]


def test_a_case_that_is_the_same_for_all_rows_is_refused() -> None:
    """It has no column."""
    with pytest.raises(UnsupportedQuery, match="the same for all rows"):
        keys("CASE WHEN TRUE THEN 1 ELSE 2 END")
