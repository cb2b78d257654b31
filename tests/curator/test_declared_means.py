"""Means and variances where rows and bounds are declared: nothing is estimated that the declaration implies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from curator.remembered import Remembered
from sfumato.curator.answers.rows import rows_of
from sfumato.curator.curator import Curator
from sfumato.curator.measurement.measure import measure_all
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.curator.options import Options
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.share import Share
from sources import Seeded

DRAWS = 300
AGES = np.clip(np.random.default_rng(0).normal(45, 18, 2_000), 0, 110)


class Listed(NoisyReleaser):
    """Notes what was released, and for which share."""

    def __init__(self) -> None:
        super().__init__()
        self.shares: dict[str, Fraction] = {}

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        self.shares[label.partition(",")[0]] = share.amount  # a histogram may be released in two parts
        return super().release(label, exact, moves, share)


def curator(values: np.ndarray, high: float = 120) -> Curator:
    frame = pd.DataFrame({"p": range(len(values)), "x": values})
    declared = table(frame, unit="p", max_rows_per_unit=1, columns={"x": column(bounds=(0, high))})
    return Curator({"t": declared}, budget=Guarantee(10**6))


@pytest.mark.parametrize("statistic", ["AVG", "VARIANCE", "STDDEV"])
def test_only_a_look_and_the_cells_are_paid_for(statistic: str) -> None:
    """A twentieth looks where values lie; no share goes to a limit, and all of them add up to epsilon."""
    plan = curator(AGES[:100]).plan(f"SELECT {statistic}(x) AS v FROM t", 1, Options())
    listed = Listed()
    with DuckdbEngine().run(plan) as run:
        (found,) = measure_all(plan, run, listed)
    assert listed.shares == {"averages 0": Fraction(1, 20), "cells 0": Fraction(19, 20)}
    assert found.limit.steps == found.priced.row_steps and found.contributions is None


def test_where_bounds_are_far_too_wide_the_look_decides() -> None:
    """Then a limit is worth its price; the shares still add up to epsilon."""
    values = 45 + np.random.default_rng(1).normal(0, 4, 20_000)
    plan = curator(values, 100_000).plan("SELECT AVG(x) AS v FROM t", 4, Options())
    listed = Listed()
    with DuckdbEngine().run(plan) as run:
        (found,) = measure_all(plan, run, listed)
    assert set(listed.shares) == {"averages 0", "contributions 0", "cells 0"} and sum(listed.shares.values()) == 4
    assert found.priced.center is not None and not found.priced.center.is_declared
    (row,) = rows_of(plan, [found])
    assert row.values["v"] == pytest.approx(values.mean(), abs=1)


@pytest.mark.parametrize("people", [100, 1_000])
def test_a_mean_is_as_good_as_two_noisy_sums_can_be(people: int) -> None:
    """The root of the mean squared error is at most 1.1 times 2 h sqrt(1 + m**2) / (n epsilon), intervals hold.

    The draws have fixed seeds, so that nothing here is left to chance. Version 0.1 had 1.9 times this error at 100
    people, and intervals 21 times as wide as it.
    """
    values, half = AGES[:people], 60.0
    plan = curator(values).plan("SELECT AVG(x) AS v FROM t", 1, Options())
    exact, errors, widths, hits = values.mean(), [], [], 0
    run = Remembered(plan)
    for seed in range(DRAWS):
        (row,) = rows_of(plan, measure_all(plan, run, NoisyReleaser(Seeded(seed))))
        low, high = row.intervals["v"] or (math.nan, math.nan)
        errors.append(row.values["v"] - exact)
        widths.append((high - low) / 2)
        hits += low <= exact <= high
    off = (exact - half) / half
    best = 2 * half * math.sqrt(1 + off**2) / people
    root = math.sqrt(float(np.mean(np.square(errors))))
    assert root <= 1.1 * 1.1 * best
    assert 0.93 * DRAWS <= hits <= 0.98 * DRAWS
    assert 1.5 * best <= float(np.median(widths)) <= 2.3 * 1.1 * best
