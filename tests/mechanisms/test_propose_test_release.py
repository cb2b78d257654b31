"""Propose-test-release: its distance against a search, its constants, and the lecture's constants refuted."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from sfumato.mechanisms import ProposeTestRelease
from sfumato.mechanisms._noise.noise import LaplaceNoise
from sfumato.privacy.neighbors import Neighbors
from sources import Seeded

POINTS = 5
Data = tuple[int, ...]


@cache
def around(data: Data, relation: Neighbors, most: int) -> tuple[Data, ...]:
    """All neighbors with at most so many units."""

    def found() -> Iterator[Data]:
        for i in range(len(data)):
            if relation is Neighbors.REPLACE:
                yield from (tuple(sorted((*data[:i], value, *data[i + 1 :]))) for value in range(POINTS))
            else:
                yield (*data[:i], *data[i + 1 :])
        if relation is Neighbors.ADD_REMOVE and len(data) < most:
            yield from (tuple(sorted((*data, value))) for value in range(POINTS))

    return tuple(found())


def median(data: Data) -> int:
    return data[(len(data) - 1) // 2] if data else 0


def searched(data: Data, bound: int, relation: Neighbors) -> int:
    """Steps to the nearest data set where one more step moves the median by more than the bound."""
    known, todo = {data: 0}, deque([data])
    while True:
        here = todo.popleft()
        if any(abs(median(there) - median(here)) > bound for there in around(here, relation, 12)):
            return known[here]
        for there in around(here, relation, 11):
            if there not in known:
                known[there] = known[here] + 1
                todo.append(there)


@pytest.mark.parametrize("relation", Neighbors)
@pytest.mark.parametrize("bound", [1, 2, 3])
def test_the_distance_is_that_of_a_search_through_all_data_sets(bound: int, relation: Neighbors) -> None:
    mechanism = ProposeTestRelease(bound, (0, POINTS - 1), 1, 1e-6, spacing=1, neighbors=relation)
    for size in range(0 if relation is Neighbors.ADD_REMOVE else 1, 6):
        for data in itertools.combinations_with_replacement(range(POINTS), size):
            assert mechanism.distance(data) == searched(data, bound, relation), data


def exceeds(scale: float, bar: float) -> float:
    """Pr[Lap(scale) > bar] of continuous noise, bar >= 0."""
    return math.exp(-bar / scale) / 2


def test_the_lectures_constants_are_not_private() -> None:
    """Threshold log(2/delta) / (2 epsilon): at distance 0 it passes 354 times as often as delta = 1e-6 allows."""
    epsilon, delta = 1.0, 1e-6
    passes = exceeds(1 / epsilon, math.log(2 / delta) / (2 * epsilon))
    assert passes == pytest.approx(math.sqrt(delta / 2) / 2)
    assert passes / delta == pytest.approx(353.55, abs=0.01)
    assert exceeds(1 / epsilon, math.log(1 / (2 * delta)) / epsilon) == pytest.approx(delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-9), (5, 1e-3), (20, 1e-12), (1, 0.4), (0.01, 0.9)])
def test_the_threshold_is_the_least_that_keeps_delta(epsilon: float, delta: float) -> None:
    """Recomputed for discrete noise: at distance 0 the test passes with probability at most delta."""
    mechanism = ProposeTestRelease(1, (0, 8), epsilon, delta, share=Fraction(1, 2))
    noise = LaplaceNoise(Fraction(2) / Fraction(str(epsilon)))

    def passes(threshold: int) -> float:
        return math.exp(noise.log_at_most(-threshold - 1))

    assert passes(mechanism.threshold) <= delta * (1 + 1e-12)
    assert mechanism.threshold == 0 or passes(mechanism.threshold - 1) > delta


def test_the_budget_is_split_between_test_and_release() -> None:
    """Each costs its share, and both together epsilon: noise 2 b / epsilon for even shares."""
    mechanism = ProposeTestRelease(4, (0, 64), 1, 1e-6, spacing=1)
    assert mechanism._noise.scale == 8 and mechanism._test.scale == 2
    other = ProposeTestRelease(4, (0, 64), 1, 1e-6, share=0.25, spacing=1)
    assert other._test.scale == 4 and other._noise.scale == Fraction(16, 3)


def test_concentrated_values_pass_and_scattered_ones_do_not() -> None:
    """1,000 values within 1 of each other need 500 steps to be unstable; two far apart none."""
    mechanism, source = ProposeTestRelease(1, (0, 1_000), 1, 1e-9), Seeded(5)
    calm = np.random.default_rng(2).uniform(400, 401, 1_000)
    assert mechanism.distance(calm) >= 499
    assert abs(mechanism.release(calm, source) - np.median(calm)) < 60  # noise of scale 2: beyond, exp(-29)
    assert mechanism.distance([0, 1_000]) == 0 and mechanism.release([0, 1_000], source) is None


def test_an_empty_table_is_answered_by_silence() -> None:
    assert ProposeTestRelease(1, (0, 8), 1, 1e-6).distance([]) == 0


def test_an_empty_table_is_silent_on_every_lattice() -> None:
    """Also where the points' numbers fit no 64 bits: an error would tell that nobody is there."""
    assert ProposeTestRelease(2, (2**70, 2**70 + 2**50), 1, 1e-9, spacing=1).release([]) is None


def test_a_million_values_take_a_sort() -> None:
    data = np.random.default_rng(3).normal(0, 1, 1_000_000)
    assert ProposeTestRelease(0.5, (-100, 100), 1, 1e-9).distance(data) > 100_000


def test_what_is_no_point_has_no_probability() -> None:
    mechanism = ProposeTestRelease(1, (0, 8), 1, 1e-6, spacing=1)
    assert mechanism.log_probability(0.5, [3]) == mechanism.log_probability("a", [3]) == -math.inf  # type: ignore[arg-type]
