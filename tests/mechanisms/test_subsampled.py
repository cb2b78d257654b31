"""Releases on a secret sample: what they cost, and that the sample has exactly its probability."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from goodness import FALSE_ALARM
from sfumato.accounting import compose
from sfumato.errors import OutsideRange, ScaleTooLarge
from sfumato.mechanisms import Gaussian, Geometric, Laplace, LaplaceThreshold, Subsampled, sample
from sfumato.mechanisms.gaussian_threshold import GaussianThreshold
from sfumato.privacy.pair import hockey_stick
from sfumato.privacy.sampled import amplified_epsilon
from sources import Seeded


def test_a_pure_release_costs_what_the_formula_says() -> None:
    """It is ln(1 + rate (e^epsilon - 1)), rounded up: 0.1 of epsilon 1 costs 0.158565."""
    for epsilon, rate in ((1, 0.1), (0.1, 0.01), (3, 0.5), (1e-15, 0.5)):
        found = Subsampled(Geometric(1, epsilon), rate).epsilon
        wanted = math.log1p(rate * math.expm1(epsilon))
        assert float(found) == pytest.approx(wanted, rel=1e-12)
    assert float(amplified_epsilon(1e-200, 0.5)) == pytest.approx(5e-201, rel=1e-12)
    assert amplified_epsilon(0, 0.5) == 0 and amplified_epsilon(5, 0.999) < 5


def test_one_counted_unit_reaches_the_promised_epsilon() -> None:
    """Tight: a count of one unit against none, far below, has a log-ratio of nearly epsilon'."""
    for rate in (0.1, 0.5, 0.9):
        mechanism = Subsampled(Geometric(1, 1), rate)
        loss = mechanism.log_probability(5, [1]) - mechanism.log_probability(5, [])
        assert loss == pytest.approx(float(mechanism.epsilon), rel=1e-12)


def test_delta_shrinks_with_the_rate() -> None:
    mechanism = Subsampled(LaplaceThreshold(1, 1e-6), 0.25)
    assert mechanism.guarantee.delta == mechanism.loss.delta == Fraction(1, 4 * 10**6)
    assert mechanism.guarantee.epsilon == mechanism.loss.epsilon == amplified_epsilon(1, 0.25)


def test_gaussian_noise_keeps_its_promise_by_its_own_pair() -> None:
    """The amplified (epsilon, delta) is covered by the sampled pair, in both directions."""
    mechanism = Subsampled(Gaussian(1, 1, 1e-6), 0.1)
    promise, pair = mechanism.guarantee, mechanism.loss.pair
    assert pair is not None and promise.delta == Fraction(1, 10**7)
    for either in (pair, pair.reversed()):
        assert hockey_stick(either, float(promise.epsilon)) <= float(promise.delta) * (1 + 1e-6)


def test_many_sampled_releases_compose_to_less_than_many_whole_ones() -> None:
    whole, sampled = Gaussian(1, 1, 1e-6), Subsampled(Gaussian(1, 1, 1e-6), 0.01)
    assert compose([(sampled.loss, 50)]).epsilon(1e-5).high < 0.2 * compose([(whole.loss, 50)]).epsilon(1e-5).high


def test_a_threshold_with_gaussian_noise_keeps_its_delta_beside_the_pair() -> None:
    """What stands beside a pair is no event of the sampled unit alone: it is not amplified in the loss."""
    inner = GaussianThreshold(1, 1e-3)
    assert Subsampled(inner, 0.5).loss.delta == inner.loss.delta
    assert Subsampled(inner, 0.5).guarantee.delta == inner.guarantee.delta / 2


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(99, 100), Fraction(1, 10**6)])
def test_a_sample_has_exactly_its_probability(rate: Fraction) -> None:
    """Binomial, with a false-alarm rate of 1e-7. Power: at rate 1/3 and 100,000 units a rate 3 % off is found."""
    taken = len(sample(range(100_000), rate, Seeded(7)))
    law = binom(100_000, float(rate))
    assert min(law.cdf(taken), law.sf(taken - 1)) > FALSE_ALARM / 2


def test_a_sample_keeps_order_and_units() -> None:
    units = [f"unit {i}" for i in range(100)]
    taken = sample(units, 0.5, Seeded(1))
    assert taken == [unit for unit in units if unit in set(taken)] and 0 < len(taken) < 100


def test_sums_are_exact_whatever_the_order() -> None:
    """Of floats they would not be: a large number would swallow the small ones before it."""
    numbers = [1.0, 2.0**80, -(2.0**80)] * 3
    mechanism = Subsampled(Laplace(1, 1_000, spacing=1), Fraction(10**9 - 1, 10**9))
    assert mechanism.release(numbers, Seeded(4)) == mechanism.release(numbers[::-1], Seeded(4)) == 3.0


def test_a_refusal_does_not_tell_of_the_sample() -> None:
    """Halves are no whole numbers, whichever of them were drawn: also where the sample's sum is whole."""
    mechanism = Subsampled(Geometric(1, 1), 0.5)
    for _ in range(40):  # the sum is whole in three of four samples
        with pytest.raises(OutsideRange, match="must be a whole number"):
            mechanism.release([0.5, 0.5])


def test_an_empty_table_is_released_too() -> None:
    assert isinstance(Subsampled(Geometric(1, 1), 0.5).release([], Seeded(2)), int)


def test_too_many_different_sums_are_refused_in_probabilities_only() -> None:
    mechanism = Subsampled(Laplace(1, 1), 0.5)
    numbers = (2.0 ** -np.arange(1, 25)).tolist()
    mechanism.release(numbers, Seeded(3))
    with pytest.raises(ScaleTooLarge, match=r"at most 65536 different sums.*; got more; give fewer"):
        mechanism.log_probability(0.0, numbers)
