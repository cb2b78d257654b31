"""Every pair of small neighboring data sets, exactly: no output costs more than was promised."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from sfumato.mechanisms import PermuteAndFlip, ProposeTestRelease, Quantile, ReportNoisyMax
from sfumato.privacy.neighbors import Neighbors

POINTS, MOST = 4, 5
SLACK = 1e-9
Data = tuple[int, ...]


def pairs(relation: Neighbors) -> Iterator[tuple[Data, Data]]:
    """All neighbors with at most `MOST` values on the points 0 .. 3; each pair once."""
    for size in range(MOST):
        for data in itertools.combinations_with_replacement(range(POINTS), size):
            if relation is Neighbors.ADD_REMOVE:
                yield from ((data, tuple(sorted((*data, new)))) for new in range(POINTS))
            else:
                for old, new in itertools.product(set(data), range(POINTS)):
                    rest = list(data)
                    rest.remove(old)
                    yield data, tuple(sorted((*rest, new)))


@pytest.mark.parametrize("relation", Neighbors)
@pytest.mark.parametrize("quantile", [0.5, 0.2, 0.75, 1])
def test_a_quantile_costs_at_most_epsilon(quantile: float, relation: Neighbors) -> None:
    mechanism = Quantile(quantile, (0, POINTS - 1), 1, spacing=1, neighbors=relation)
    known = {
        data: np.array([mechanism.log_probability(point, data) for point in range(POINTS)])
        for data in {each for pair in pairs(relation) for each in pair}
    }
    worst = max(np.abs(known[x] - known[y]).max() for x, y in pairs(relation))
    assert 0.4 < worst <= 1 + SLACK


@pytest.mark.parametrize("relation", Neighbors)
@pytest.mark.parametrize(("bound", "epsilon", "delta"), [(1, 4, 0.05), (2, 1, 0.3)])
def test_a_tested_median_keeps_epsilon_and_delta(bound: int, epsilon: float, delta: float, relation: Neighbors) -> None:
    """The exact excess at epsilon, in both directions; and it comes near delta, so the test is not idle."""
    mechanism = ProposeTestRelease(bound, (0, POINTS - 1), epsilon, delta, spacing=1, neighbors=relation)
    outputs = (None, *range(-150, 150))
    known = {
        data: np.exp([mechanism.log_probability(output, data) for output in outputs])
        for data in {each for pair in pairs(relation) for each in pair}
    }
    worst = max(
        np.maximum(0, known[a] - np.exp(epsilon) * known[b]).sum()
        for x, y in pairs(relation)
        for a, b in ((x, y), (y, x))
    )
    assert worst <= delta + SLACK
    assert epsilon < 2 or worst > delta / 100


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("kind", [PermuteAndFlip, ReportNoisyMax])
def test_a_choice_costs_at_most_epsilon(kind: type, monotonic: bool) -> None:
    """Scores of three candidates in 0 .. 3, each moved by -1, 0 or 1, or all up."""
    mechanism = kind(tuple("abc"), 1, 1, monotonic)
    scores = list(itertools.product(range(-1, 5), repeat=3))
    known = {each: np.array([mechanism.log_probability(c, each) for c in "abc"]) for each in scores}
    worst = 0.0
    for base in itertools.product(range(4), repeat=3):
        for moves in itertools.product((0, 1) if monotonic else (-1, 0, 1), repeat=3):
            moved = tuple(b + m for b, m in zip(base, moves, strict=True))
            worst = max(worst, np.abs(known[base] - known[moved]).max())
    assert 0.5 < worst <= 1 + SLACK
