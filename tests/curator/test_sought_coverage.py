"""Intervals of quantiles, of numbers of different values and of found keys hold as often as they say.

An interval of a quantile that may lie anywhere says nothing, so the tables here are large enough for narrow ones; where
a limit is bought, a maximum is declared or not.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pytest

from curator.remembered import Remembered
from sfumato.curator.answers.rows import rows_of
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement.measure import measure_all
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.dataset.column import Key, column
from sfumato.dataset.table import Table, table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.engines.engine import Spots
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.share import Share
from sfumato.statistics.steps import ROW
from sources import Seeded

AT_LEAST = 0.93  # of 95 %
QUANTILES = {
    "median": "SELECT r, MEDIAN(x) AS m FROM t GROUP BY r",
    "median of whole numbers": "SELECT r, MEDIAN(whole) AS m FROM t GROUP BY r",
    "median of tens": "SELECT r, MEDIAN(tens) AS m FROM t GROUP BY r",
    "median of many equal": "SELECT r, MEDIAN(price) AS m FROM t GROUP BY r",
    "median without bounds": "SELECT r, MEDIAN(far) AS m FROM t GROUP BY r",
    "nine tenths": "SELECT r, QUANTILE_CONT(x, 0.9) AS m FROM t GROUP BY r",
    "minimum": "SELECT r, MIN(x) AS m FROM t GROUP BY r",
    "maximum": "SELECT r, MAX(whole) AS m FROM t GROUP BY r",
    "medians of found keys": "SELECT town, MEDIAN(x) AS m FROM t GROUP BY town",
    "median of all": "SELECT MEDIAN(x) AS m FROM t",
    "nine tenths of all without bounds": "SELECT QUANTILE_CONT(far, 0.9) AS m FROM t",
    "minimum of all without bounds": "SELECT MIN(far) AS m FROM t",
    "maximum of all tens": "SELECT MAX(tens) AS m FROM t",
}
COUNTS = {
    "different values": "SELECT r, COUNT(DISTINCT whole) AS m FROM t GROUP BY r",
    "different values of all": "SELECT COUNT(DISTINCT x) AS m FROM t",
    "found keys": "SELECT town, COUNT(*) AS m FROM t GROUP BY town",
    "found keys beside public ones": "SELECT town, r, COUNT(DISTINCT pid) AS m FROM t GROUP BY town, r",
}


class Given(NamedTuple):
    """People with up to so many rows, whether the owner says so, the limit that is declared, and the noise."""

    most: int
    closed: bool
    bound: int | None
    noise: str


GIVEN = (
    Given(1, False, 1, "laplace"),
    Given(1, False, 1, "gaussian"),
    Given(10, True, None, "laplace"),
    Given(10, False, None, "gaussian"),
)


@functools.cache
def people(most: int) -> tuple[pd.DataFrame, Table]:
    """4,000 people with up to so many rows each."""
    random = Random(5)
    rows = [
        (person, min(100.0, random.gammavariate(2, 15)), random.choice("aabc"), random.gauss(1, 3))
        for person in range(4_000)
        for _ in range(random.randint(1, most))
    ]
    frame = pd.DataFrame(rows, columns=["pid", "x", "r", "z"])
    frame = frame.assign(tens=frame["x"].round(-1), whole=frame["x"].astype(int), far=frame["z"] ** 3)
    frame["price"] = frame["x"].where(frame["x"] < 20, 1234.56)
    frame["town"] = "t" + (frame["x"] // 5).astype(int).astype(str)
    columns = {name: column(bounds=(0, 100)) for name in ("x", "tens", "whole")}
    columns |= {"price": column(bounds=(0, 200_000)), "r": column(keys=["a", "b", "c"])}
    return frame, table(frame, unit="pid", columns=columns)


@pytest.fixture(autouse=True)
def remembered_noises(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noise of a share is worked out once."""
    monkeypatch.setattr(Share, "noise", functools.cache(Share.noise))


def held(given: Given, question: str, draws: int) -> list[bool]:
    """Whether the truth is in each interval; each also contains its own value."""
    frame, declared = people(given.most)
    declared = replace(declared, max_rows_per_unit=given.most) if given.closed else declared
    options = Options(max_rows_per_unit=given.bound, delta=1e-6, noise=given.noise)
    plan = Curator({"t": declared}, budget=Guarantee(9)).plan(question, 1, options)
    with duckdb.connect() as connection:
        connection.register("t", frame)
        truth = {tuple(key): true for *key, true in connection.execute(question).fetchall()}
    run, releaser = Remembered(plan), NoisyReleaser(Seeded(17))
    found = []
    for _ in range(draws):
        for row in rows_of(plan, measure_all(plan, run, releaser)):
            low, high = row.intervals["m"] or (0, 0)
            assert low <= row.values["m"] <= high
            found.append(low <= truth[row.key] <= high)
    return found


def pooled(question: str, wanted: int) -> float:
    """The share of intervals that hold, among at least so many."""
    draws = -(-wanted // len(GIVEN) // (12 if "town" in question else 3 if " GROUP BY " in question else 1))
    return float(np.mean([each for given in GIVEN for each in held(given, question, draws)]))


@pytest.mark.parametrize("what", QUANTILES)
def test_intervals_of_quantiles_hold_as_often_as_they_say(what: str) -> None:
    """Of 420 intervals of 95 %, 93 % contain the truth; of a minimum or a maximum, whose intervals are wide, 120.

    In truth 98 % of the former do, and all of the latter: fewer than 93 % are seen by chance less than once in a
    million. A coverage of 89 % is found in 99 of 100 cases, among 120 that of 85 %.
    """
    assert pooled(QUANTILES[what], 120 if "imum" in what else 420) >= AT_LEAST


@pytest.mark.parametrize("what", COUNTS)
def test_intervals_of_different_values_and_of_found_keys_hold_as_often_as_they_say(what: str) -> None:
    """Of 3,000 intervals of 95 %, 93 % contain the truth.

    If exactly 95 % do, fewer than 93 % are seen by chance once in a million. A coverage of 91.5 % is found in 99 of 100
    cases.
    """
    assert pooled(COUNTS[what], 3_000) >= AT_LEAST


def listed(found: Mapping[tuple[Key, ...], Spots]) -> dict[tuple[Key, ...], tuple[list[int], list[int]]]:
    return {key: (spots.cells.tolist(), spots.rows.tolist()) for key, spots in found.items()}


def test_what_is_remembered_is_what_the_engine_says() -> None:
    """The engine's rows by cells, all or opened ones, are those of the finest addresses, added up."""
    _, declared = people(10)
    plan = Curator({"t": declared}, budget=Guarantee(9)).plan(QUANTILES["median"], 1, Options(max_rows_per_unit=3))
    remembered, priced = Remembered(plan), plan.measures[0]
    remembered.prepare(plan.measures)
    first, second, *_ = priced.ruler.shifts
    with DuckdbEngine().run(plan) as run:
        run.prepare(plan.measures)
        for limits in ((3 * ROW, 3 * ROW), (3 * ROW, ROW)):
            found = run.spots(0, limits, first, {})
            assert listed(remembered.spots(0, limits, first, {})) == listed(found)
            opened = {("a",): found["a",].cells[:7].tolist(), ("b",): found["b",].cells[-1:].tolist()}
            inside = run.spots(0, limits, second, opened, first)
            assert listed(remembered.spots(0, limits, second, opened, first)) == listed(inside)
        assert remembered.landmarks(0, priced.ruler.coarse) == run.landmarks(0, priced.ruler.coarse)


@pytest.mark.parametrize("bounds", ((0, 200), None))
def test_with_little_noise_a_quantile_has_a_narrow_interval(bounds: tuple[int, int] | None) -> None:
    """Where all edges of the last look lie in one cell, the interval ends where that does; it holds but for 1 in 10^6.

    At epsilon 50 the noise of a look of 4,000 single rows is far less than one row.
    """
    values = np.random.default_rng(8).gamma(2, 7, 4_001)
    columns = {} if bounds is None else {"x": column(bounds=bounds)}
    curator = Curator({"t": table(pd.DataFrame({"x": values}), columns=columns)}, budget=Guarantee(50))
    answer = curator.ask("SELECT MEDIAN(x) AS m FROM t", epsilon=50, estimate_bounds=True, confidence=1 - 1e-6)
    ((low, high),) = answer.intervals["m"]
    assert low <= float(np.median(values)) <= high < 1.05 * low
