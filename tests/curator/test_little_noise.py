"""With little noise every answer is nearly exact, and its interval holds: what is left is lattice, limit and clipping.

Where noise is large it hides such errors from all other tests of intervals. Intervals are asked to hold but for once in
10^7, so that no test here fails by chance more often than once in 10^6 runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sfumato.curator.curator import Curator
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.privacy.guarantee import Guarantee

RANDOM = np.random.default_rng(11)
SIZE = 6_000
FRAME = pd.DataFrame(
    {
        "p": RANDOM.integers(0, 2_000, SIZE),
        "x": np.round(RANDOM.gamma(2, 15, SIZE), 2),
        "g": RANDOM.choice(["a", "b"], SIZE, p=[0.8, 0.2]),
        "c": RANDOM.integers(0, 200, SIZE),
    }
)
STATISTICS: dict[str, Callable[[Any], float]] = {
    "COUNT(*)": len,
    "COUNT(DISTINCT p)": lambda rows: rows.p.nunique(),
    "COUNT(DISTINCT c)": lambda rows: rows.c.nunique(),
    "SUM(x)": lambda rows: rows.x.sum(),
    "AVG(x)": lambda rows: rows.x.mean(),
    "VARIANCE(x)": lambda rows: rows.x.var(),
    "VAR_POP(x)": lambda rows: rows.x.var(ddof=0),
    "STDDEV(x)": lambda rows: rows.x.std(),
    "MEDIAN(x)": lambda rows: rows.x.median(),
    "QUANTILE_CONT(x, 0.9)": lambda rows: rows.x.quantile(0.9),
    "QUANTILE_CONT(x, 0.05)": lambda rows: rows.x.quantile(0.05),
}
DECLARED = {
    "bounds and a maximum": (True, 16),
    "bounds": (True, None),
    "a maximum": (False, 16),
    "nothing": (False, None),
}


def asked(what: str, question: str, epsilon: float = 200) -> Any:
    bounds, most = DECLARED[what]
    columns = {"g": column(keys=["a", "b"])} | ({"x": column(bounds=(0, 400))} if bounds else {})
    declared = table(FRAME, unit="p", columns=columns, most_rows=most)
    curator = Curator({"t": declared}, allowance=Guarantee(epsilon))
    return curator.ask(question, epsilon=epsilon, bounds="auto", confidence=1 - 1e-7)


@pytest.mark.parametrize("what", DECLARED)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_an_answer_with_little_noise_is_nearly_exact(statistic: str, what: str) -> None:
    """At epsilon 200 the value is off by 4 % at most, inside its interval, and so is the truth, in each group."""
    answer = asked(what, f"SELECT g, {statistic} AS v FROM t GROUP BY g")
    for row, (low, high) in zip(answer.rows, answer.intervals["v"], strict=True):
        exact = STATISTICS[statistic](FRAME[FRAME.g == row["g"]])
        assert low <= exact <= high and low <= row["v"] <= high
        assert abs(row["v"] - exact) <= 0.04 * exact


@pytest.mark.parametrize("what", DECLARED)
@pytest.mark.parametrize("epsilon", (0.5, 5, 200))
def test_a_maximum_is_not_beyond_the_largest_value(what: str, epsilon: float) -> None:
    """Few rows lie beyond it, and none of the values is as large as it would be where nobody is; so of a minimum.

    At epsilon 0.5 noise alone puts it above the largest value less often than once in 10^6: it is five deviations away.
    """
    answer = asked(what, "SELECT MAX(x) AS v, MIN(x) AS w FROM t", epsilon)
    (row,) = answer.rows
    assert row["v"] <= FRAME.x.max() and row["w"] >= FRAME.x.min() - 1e-9
    assert answer.intervals["v"][0][1] >= FRAME.x.max() and answer.intervals["w"][0][0] <= FRAME.x.min()
    if epsilon == 200:
        assert row["v"] >= 0.6 * FRAME.x.max() and row["w"] <= FRAME.x.quantile(0.1)
