"""The bound for any attacker: what the trade-off curve says, what a linear program says, and where it is reached."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from sfumato.attacks import most_right
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee

EPSILONS = (0.01, 0.1, 0.5, 1, 3)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_of_two_even_values_it_is_the_trade_off_curve(epsilon: float) -> None:
    """The fewest false alarms and misses together, over a fine grid and the corner of the curve."""
    promise = Guarantee(epsilon)
    alphas = [i / 1_000 for i in range(1_001)] + [1 / (1 + math.exp(epsilon))]
    best = max(1 - (alpha + promise.tradeoff(alpha)) / 2 for alpha in alphas)
    assert most_right(promise, "membership") == pytest.approx(best, abs=1e-9)


def test_a_value_counts_twice_under_add_remove() -> None:
    """And once under replace."""
    assert most_right(Guarantee(1), "value") == pytest.approx(most_right(Guarantee(2), "membership"))
    assert most_right(Guarantee(1, neighbors="replace"), "value") == pytest.approx(math.e / (1 + math.e))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    "beliefs", [(0.5, 0.5), (0.7, 0.2, 0.1), (0.25,) * 4, (0.4, 0.3, 0.2, 0.05, 0.05), (0.95, 0.05)]
)
def test_it_is_the_largest_that_the_promise_allows(epsilon: float, beliefs: tuple[float, ...]) -> None:
    """Solved as a linear program of its own: m_v is the chance to be right if v is true."""
    size, r = len(beliefs), math.exp(-epsilon)
    rows = np.full((size, size), r) + np.eye(size) * (1 - r)
    solved = linprog([-each for each in beliefs], A_ub=rows, b_ub=np.ones(size), bounds=(0, 1))
    assert most_right(Guarantee(epsilon), "membership", beliefs) == pytest.approx(-solved.fun, abs=1e-9)


@pytest.mark.parametrize("size", (2, 3, 10))
def test_randomized_response_reaches_it(size: int) -> None:
    """Among so many values that are equally likely, whoever believes what is said is right as often as anybody can."""
    kept = math.exp(1) / (math.exp(1) + size - 1)
    assert most_right(Guarantee(1), "membership", (1 / size,) * size) == pytest.approx(kept, abs=1e-12)


def test_a_promise_with_a_delta_is_refused() -> None:
    """The bound is for pure promises."""
    with pytest.raises(InvalidArgument, match=r"must be pure; got delta 1e-06"):
        most_right(Guarantee(1, 1e-6), "value")


@pytest.mark.parametrize("share", (0.5, 0.7, 0.9))
@pytest.mark.parametrize("epsilon", (0.1, 1))
def test_many_guesses_from_one_release_are_right_no_more_often_than_binomial_ones(share: float, epsilon: float) -> None:
    """The best of all releases about three secrets, by a linear program: t or more are right, also of uneven ones."""
    worlds = list(itertools.product((0, 1), repeat=3))
    likely = np.array([math.prod(share if bit else 1 - share for bit in each) for each in worlds])
    far = np.array([[sum(a != b for a, b in zip(x, y, strict=True)) for y in worlds] for x in worlds])
    near = [(x, y) for x, y in itertools.permutations(range(8), 2) if far[x, y] == 1]
    rows = np.zeros((len(near) * 8, 8, 8))  # a release is a table: the chance of each list of guesses in each world
    for place, ((x, y), said) in enumerate(itertools.product(near, range(8))):
        rows[place, x, said], rows[place, y, said] = 1, -math.exp(epsilon)
    whole = np.repeat(np.eye(8), 8, axis=1)
    bound = most_right(Guarantee(epsilon), "membership", (share, 1 - share))
    for least in (1, 2, 3):
        gain = likely[:, None] * (3 - far >= least)
        best = linprog(-gain.ravel(), rows.reshape(-1, 64), np.zeros(len(rows)), whole, np.ones(8)).fun
        assert -best <= binom.sf(least - 1, 3, bound) + 1e-7
        assert -best >= bound**3 - 1e-7 if least == 3 else -best > bound**3  # reached: not true of any number
