"""Bounds closer together than doubles can tell: no row makes a question fail, so a failure tells nothing about rows."""

from __future__ import annotations

import pandas as pd
import pytest

from sfumato.curator.curator import Curator
from sfumato.dataset.table import table
from sfumato.privacy.guarantee import Guarantee

NEAR = "CASE WHEN x > 0.5 THEN 100000000000000008.{} ELSE 100000000000000007.{} END"


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("statistic", ["AVG", "VARIANCE", "STDDEV", "SUM", "MEDIAN"])
@pytest.mark.parametrize("digits", [("01", "99"), ("0000000001", "9999999999")])
def test_no_row_makes_a_question_fail(value: float, statistic: str, digits: tuple[str, str]) -> None:
    """In version 0.1 a person's value decided whether the engine overflowed: one exact bit at any epsilon."""
    frame = pd.DataFrame({"p": range(20), "x": [value] + [0.0] * 19})
    declared = table(frame, unit="p", max_rows_per_unit=1)
    curator = Curator({"t": declared}, budget=Guarantee(1))
    answer = curator.ask(f"SELECT {statistic}({NEAR.format(*digits)}) AS v FROM t", epsilon=1e-6)
    assert len(answer.rows) == 1
