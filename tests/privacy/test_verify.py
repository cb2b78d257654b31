"""`verify`: losses and deltas of small mechanisms, by exact fractions and by enumeration of all events."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import rounding
from sfumato.errors import InvalidArgument
from sfumato.privacy.verify import beyond, excess, largest_loss, processed

LAW = settings(deadline=None)
F = Fraction
Masses = dict[int, Fraction]


def normalized(weights: list[int]) -> Masses:
    return {outcome: F(weight, sum(weights)) for outcome, weight in enumerate(weights)}


masses = st.lists(st.integers(0, 30), min_size=4, max_size=4).filter(any).map(normalized)
everywhere = st.lists(st.integers(1, 30), min_size=4, max_size=4).map(normalized)
epsilons = st.fractions(min_value=0, max_value=4, max_denominator=100)


@LAW
@given(everywhere, everywhere)
def test_the_largest_loss_is_bracketed_and_the_same_in_both_orders(p: Masses, q: Masses) -> None:
    low, high = largest_loss(p, q)
    with mpmath.workprec(200):
        truth = max(
            abs(mpmath.log(mpmath.mpf(a.numerator * b.denominator) / (a.denominator * b.numerator)))
            for a, b in ((p[o], q[o]) for o in p)
        )
        assert low <= truth <= high
    assert high - low <= 1e-15 * max(1, high)
    assert largest_loss(q, p) == (low, high)


def test_two_coins_of_a_survey_cost_ln_3() -> None:
    low, high = largest_loss({"yes": F(3, 4), "no": F(1, 4)}, {"yes": F(1, 4), "no": F(3, 4)})
    assert low <= math.log(3) <= high


def test_equal_distributions_lose_nothing() -> None:
    assert largest_loss({0: F(1, 3), 1: F(2, 3)}, {1: F(2, 3), 0: F(1, 3)}) == (0, 0)
    assert excess({0: 1}, {0: 1}, epsilon=0) == (0, 0)


def test_an_outcome_that_nobody_can_get_does_not_count() -> None:
    assert largest_loss({0: 1, 1: 0}, {0: 1}) == (0, 0)


@LAW
@given(masses, masses, epsilons)
def test_the_excess_is_the_largest_over_all_events(p: Masses, q: Masses, epsilon: Fraction) -> None:
    low, high = excess(p, q, epsilon)
    events = [event for size in range(5) for event in combinations(p, size)]
    with mpmath.workprec(200):
        factor = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        truth = max(
            mpmath.mpf(mine.numerator) / mine.denominator - factor * theirs.numerator / theirs.denominator
            for mine, theirs in ((sum((p[o] for o in e), F(0)), sum((q[o] for o in e), F(0))) for e in events)
        )
        slack = mpmath.mpf(2) ** -190  # of mpmath's own rounding
        assert low - slack <= truth <= high + slack
    assert high - low <= 1e-15


@LAW
@given(everywhere, everywhere)
def test_at_the_largest_loss_nothing_exceeds(p: Masses, q: Masses) -> None:
    _, high = largest_loss(p, q)
    epsilon = F(high)
    assert excess(p, q, epsilon)[0] == 0
    assert beyond(p, q, epsilon) == 0


@LAW
@given(masses, masses, epsilons)
def test_post_processing_never_raises_the_excess(p: Masses, q: Masses, epsilon: Fraction) -> None:
    merged, other = processed(p, lambda o: o // 2), processed(q, lambda o: o // 2)
    assert excess(merged, other, epsilon)[0] <= excess(p, q, epsilon)[1]


@LAW
@given(masses, masses, epsilons)
def test_probabilistic_privacy_implies_approximate_privacy(p: Masses, q: Masses, epsilon: Fraction) -> None:
    assert excess(p, q, epsilon)[0] <= beyond(p, q, epsilon)


def test_probabilistic_privacy_is_not_closed_under_post_processing() -> None:
    delta, odds = F(1, 100), 3  # e^epsilon = 3
    most, least = (1 - delta) * F(odds, 1 + odds), (1 - delta) * F(1, 1 + odds)
    k0 = {0: delta, 1: most, 2: least}
    k1 = {3: delta, 2: most, 1: least}
    epsilon = rounding.log_up(F(odds))  # just above ln 3, by less than 2**-80
    assert beyond(k0, k1, epsilon) == beyond(k1, k0, epsilon) == delta

    merged0, merged1 = (processed(k, lambda o: max(o, 1)) for k in (k0, k1))
    assert beyond(merged0, merged1, epsilon) == delta + most  # three of four outputs, not one in a hundred

    for p, q in ((k0, k1), (k1, k0), (merged0, merged1), (merged1, merged0)):
        assert excess(p, q, epsilon)[1] <= rounding.up(delta)  # approximate privacy survives


def test_approximate_privacy_does_not_imply_probabilistic_privacy() -> None:
    """A loss just above epsilon at every output: half of it all, and yet a delta of 1 in 200."""
    p, q = {0: F(3, 4), 1: F(1, 4)}, {0: F(1, 4), 1: F(3, 4)}
    epsilon = rounding.log_down(F(298, 100))  # below ln 3, the loss of either output
    low, high = excess(p, q, epsilon)
    assert low <= F(1, 200) <= high  # 3/4 - 2.98/4
    assert beyond(p, q, epsilon) == 1


def test_no_deterministic_algorithm_is_private_unless_it_ignores_the_data() -> None:
    assert largest_loss({42: 1}, {41: 1}) == (math.inf, math.inf)
    assert excess({42: 1}, {41: 1}, epsilon=10) == (1, 1)


def test_publishing_a_sample_of_rows_costs_its_sampling_rate_as_delta() -> None:
    rate = F(1, 50)
    with_ada, without = {"Ada": rate, "nobody": 1 - rate}, {"nobody": 1}
    assert largest_loss(with_ada, without) == (math.inf, math.inf)
    low, high = excess(with_ada, without, epsilon=5)
    assert F(low) <= rate <= F(high)


def test_what_is_no_distribution_is_refused() -> None:
    for nonsense in ({0: F(1, 2)}, {0: F(3, 2), 1: F(-1, 2)}, {}):
        with pytest.raises(InvalidArgument):
            largest_loss(nonsense, {0: 1})


def test_an_epsilon_beyond_all_promises_is_refused_at_once() -> None:
    with pytest.raises(InvalidArgument, match="at most 1000"):
        excess({0: 1}, {0: 1}, epsilon=10**9)
