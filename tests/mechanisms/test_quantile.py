"""The inverse sensitivity mechanism: known answers of the lectures, and distances against a search."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from goodness import FALSE_ALARM, p_value
from sfumato.entropy import SYSTEM
from sfumato.mechanisms import Exponential, InverseSensitivity, Quantile
from sfumato.mechanisms.samplers import Selection
from sfumato.privacy.neighbors import Neighbors
from sources import Seeded

DOMAIN = (0, 1, 2, 3)
Data = tuple[int, ...]


def true_quantile(data: Data, quantile: Fraction) -> int | None:
    return data[math.ceil(quantile * len(data)) - 1] if data else None


def steps_from(data: Data, relation: Neighbors, most: int) -> Iterator[Data]:
    """All neighbors with at most so many units."""
    for i in range(len(data)):
        for value in DOMAIN if relation is Neighbors.REPLACE else ():
            yield tuple(sorted((*data[:i], value, *data[i + 1 :])))
        if relation is Neighbors.ADD_REMOVE:
            yield (*data[:i], *data[i + 1 :])
    if relation is Neighbors.ADD_REMOVE and len(data) < most:
        yield from (tuple(sorted((*data, value))) for value in DOMAIN)


def searched(data: Data, quantile: Fraction, relation: Neighbors) -> dict[int, int]:
    """For each point the number of steps to the nearest data set whose quantile it is, by breadth-first search."""
    known, todo, found = {data: 0}, deque([data]), dict[int, int]()
    while len(found) < len(DOMAIN):
        here = todo.popleft()
        if (answer := true_quantile(here, quantile)) is not None:
            found.setdefault(answer, known[here])
        for there in steps_from(here, relation, 11):
            if there not in known:
                known[there] = known[here] + 1
                todo.append(there)
    return found


@pytest.mark.parametrize("relation", Neighbors)
@pytest.mark.parametrize("quantile", [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3), Fraction(9, 10), Fraction(1)])
def test_distances_are_those_of_a_search_through_all_data_sets(quantile: Fraction, relation: Neighbors) -> None:
    mechanism = Quantile(quantile, (0, 3), 1, spacing=1, neighbors=relation)
    for size in range(0 if relation is Neighbors.ADD_REMOVE else 1, 5):
        for data in itertools.combinations_with_replacement(DOMAIN, size):
            wanted = searched(data, quantile, relation)
            assert {point: mechanism.distance(point, data) for point in DOMAIN} == wanted, data


def test_a_count_has_the_distance_to_the_true_one() -> None:
    """Lectures: q(z) proportional to exp(-epsilon / 2 |z - f(x)|), the truth is the mode."""
    mechanism = InverseSensitivity(tuple(range(21)), Fraction(1, 2))
    distances = [abs(z - 9) for z in range(21)]
    chances = np.exp([mechanism.log_probability(z, distances) for z in range(21)])
    wanted = np.exp(-0.25 * np.array(distances))
    assert chances == pytest.approx(wanted / wanted.sum(), rel=1e-12)
    assert int(np.argmax(chances)) == 9 and (chances[9] >= chances).all()


def test_the_truth_is_the_likeliest_median() -> None:
    mechanism = Quantile(0.5, (0, 100), 1, spacing=1)
    data = [3, 14, 15, 92, 65, 35, 89]
    chances = {z: mechanism.log_probability(z, data) for z in range(101)}
    assert max(chances, key=chances.__getitem__) == 35 and mechanism.distance(35, data) == 0


def test_equal_values_come_out_as_themselves() -> None:
    """Not as a uniform draw: with 1,000 of them anything else has a chance below 1e-100."""
    mechanism = Quantile(0.5, (0, 1_000), 1)
    assert mechanism.release([250.0] * 1_000) == 250.0
    assert mechanism.log_probability(250.0, [250.0] * 1_000) > -1e-100


def test_runs_of_points_have_the_probabilities_of_all_points_one_by_one() -> None:
    """The fast way and the exponential mechanism on every point agree."""
    for relation, quantile in itertools.product(Neighbors, (Fraction(1, 3), Fraction(1, 2), Fraction(3, 4))):
        fast = Quantile(quantile, (0, 12), 1.5, 0.5, neighbors=relation)
        points, data = [z / 2 for z in range(25)], [0, 2.5, 2.5, 7, 7.5, 12]
        slow = InverseSensitivity(points, 1.5, neighbors=relation)
        distances = [fast.distance(z, data) for z in points]
        for z in points:
            assert fast.log_probability(z, data) == pytest.approx(slow.log_probability(z, distances), abs=1e-12)


def test_samples_from_a_million_points_follow_the_distribution() -> None:
    """Draws are binned by the runs they fall into; a rate of false alarms of 1e-7.

    Power: at 1,500 draws a run whose probability is 0.35 instead of 0.25 is found with near certainty.
    """
    mechanism, source = Quantile(0.5, (0, 1), 2, spacing=2.0**-20), Seeded(11)
    data = np.array([0.25, 0.375, 0.5, 0.5, 0.625, 0.75])
    runs = np.array([mechanism.distance(mechanism.release(data, source), data) for _ in range(1_500)])
    edges = np.array([0, *(data * 2**20).astype(int), 2**20])
    sizes = dict.fromkeys(range(8), 0)
    for low, high in itertools.pairwise(edges):
        if high > low:
            sizes[mechanism.distance((low + high) / 2**21, data)] += int(high - low)
    weights = {d: size * math.exp(-d) + 1e-300 for d, size in sizes.items()}
    assert p_value(runs, lambda d: np.array([math.log(weights.get(int(x), 1e-300)) for x in d]), 7) > FALSE_ALARM


def test_a_hundred_thousand_values_and_a_fine_lattice_are_no_work() -> None:
    """A span of 2**50 points: time grows with the data, not with the points."""
    data = np.random.default_rng(3).normal(0.5, 0.1, 100_000)
    median = Quantile(0.5, (0, 1), 1, spacing=2.0**-50).release(data)
    assert abs(median - np.median(data)) < 0.002


def test_values_beyond_the_bounds_are_moved_onto_them() -> None:
    mechanism = Quantile(0.5, (0, 10), 1, spacing=1)
    assert mechanism.log_probability(10, [1e300, -5, 2**70]) == mechanism.log_probability(10, [10, 0, 10])
    assert mechanism.log_probability(10.5, [3]) == mechanism.log_probability(11, [3]) == -math.inf


def test_bounds_far_from_zero_are_exact() -> None:
    far = 2**70
    mechanism = Quantile(0.5, (far, far + 2**20), 1, spacing=1)
    assert mechanism.release([far + 12] * 500) == float(far + 12)
    assert mechanism.distance(float(far), [far + 12] * 3) == 3
    assert mechanism.distance(float(far), [5, -7, 1e300]) == 0  # beyond the bounds, and of 64 bits


def test_no_data_are_answered_on_every_lattice() -> None:
    """Also where the points' numbers fit no 64 bits: an error would tell that nobody is there."""
    low = 2**70
    for spacing in (1, 2**10):
        assert low <= Quantile(0.5, (low, low + 2**50), 1, spacing=spacing).release([]) <= low + 2**50


def test_no_data_give_any_point() -> None:
    """Under add-remove an empty table is answered: every point is one addition away."""
    mechanism = Quantile(0.5, (0, 7), 1, spacing=1)
    assert [mechanism.distance(z, []) for z in range(8)] == [1] * 8
    assert mechanism.log_probability(3, []) == pytest.approx(-math.log(8))


def test_an_inverse_sensitivity_costs_what_a_choice_costs() -> None:
    for mechanism in (InverseSensitivity(tuple("ab"), 0.5), Quantile(0.5, (0, 1), 0.5)):
        assert mechanism.loss == Exponential(tuple("ab"), 1, 0.5).loss


def test_a_selection_with_counts_is_one_with_as_many_copies() -> None:
    """The cuts are the same, so the same words give the same choice."""
    exponents, counts = [Fraction(0), Fraction(-1, 3), Fraction(-2)], [1, 3, 5]
    copies = [x for x, count in zip(exponents, counts, strict=True) for _ in range(count)]
    owner = [place for place, count in enumerate(counts) for _ in range(count)]
    for seed in range(200):
        one, many = Selection(exponents, counts).draw(Seeded(seed)), Selection(copies).draw(Seeded(seed))
        assert one == owner[many]
    assert Selection([Fraction(0), Fraction(-400)], [1, 2**60]).draw(SYSTEM) == 0
