"""There is one zero among keys that are found: which sign one row spells it with is not to be seen."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import sfumato as sf

PEOPLE = 4_000
KEYS = ("x", "x * 1", "COALESCE(x, 1)", "ROUND(x, 0)", "CASE WHEN x < 1 THEN x END", "-x")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("place", (0, PEOPLE - 1))
def test_nobody_decides_the_sign_of_a_found_zero(key: str, place: int) -> None:
    """Whether one person wrote -0.0 where all others wrote 0.0 does not show, wherever the row stands."""
    values = np.zeros(PEOPLE)
    values[place] = -0.0
    table = sf.table(pd.DataFrame({"person": range(PEOPLE), "x": values}), unit="person", most_rows=1)
    curator = sf.Curator({"t": table}, allowance=sf.Guarantee(epsilon=100, delta=0.01))
    answer = curator.ask(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY 1", epsilon=10, delta=0.001)
    (row,) = answer.rows
    assert math.copysign(1, row["k"]) == 1
    assert row["k"] == 0
