"""The least noise that keeps a promise, for any way of pricing noise."""

import math
from fractions import Fraction

import pytest

from sfumato.accounting import compose, keeps, least_noise
from sfumato.errors import InvalidArgument
from sfumato.privacy.loss import Loss
from sfumato.privacy.shifts import DiscreteLaplaceShift, GaussianShift


def laplace(scale):
    return Loss.pure(1 / scale)


def gaussian(sigma):
    return Loss.concentrated(1 / (2 * sigma * sigma), GaussianShift(1 / sigma))


def geometric(scale):
    return Loss.pure(1 / scale, pair=DiscreteLaplaceShift(1 / scale, 1))


def test_pure_noise_follows_the_sum():
    found = least_noise(laplace, epsilon=1, uses=10)
    assert 10 <= found <= 10 * (1 + Fraction(1, 1 << 15))


def test_one_gaussian_gets_the_analytic_noise():
    """Balle and Wang 2018: sigma 3.7304 for epsilon 1, delta 1e-5."""
    found = least_noise(gaussian, epsilon=1, delta=1e-5)
    assert keeps(gaussian(found), 1, Fraction(1), Fraction(1, 10**5))
    assert not keeps(gaussian(found * Fraction(999, 1000)), 1, Fraction(1), Fraction(1, 10**5))
    assert math.isclose(found, 3.7304, rel_tol=1e-3)


def test_with_a_delta_many_uses_need_less_noise_than_the_sum():
    found = least_noise(geometric, epsilon=1, delta=1e-6, uses=100, precision=Fraction(1, 200))
    assert found < 50
    assert compose([(geometric(found), 100)]).epsilon(1e-6).high <= 1


def test_what_no_noise_can_keep_is_refused():
    with pytest.raises(InvalidArgument, match="larger delta"):
        least_noise(gaussian, epsilon=1, delta=0)
    with pytest.raises(InvalidArgument, match="larger delta"):
        least_noise(lambda scale: Loss.pure(1 / scale, delta=Fraction(1, 100)), epsilon=1, delta=1e-6)


def test_the_start_does_not_matter():
    results = {float(least_noise(laplace, epsilon=0.5, start=start)) for start in (Fraction(1, 1000), 1, 1000)}
    assert max(results) <= min(results) * 1.0001
