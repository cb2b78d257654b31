"""Privacy from sampling."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import InvalidArgument
from sfumato.privacy.pair import TwoPoint
from sfumato.privacy.sampled import Sampled
from sfumato.privacy.shifts import GaussianShift, LatticeGaussianShift


def curve(pair, epsilon):
    p, q = (float(mass[0]) for mass in pair.above(np.array([epsilon])))
    key_domains = sum(a.p - math.exp(epsilon) * a.q for a in pair.key_domains if a.loss > epsilon)
    return p - math.exp(epsilon) * q + key_domains


@given(st.floats(0.01, 0.99), st.floats(0.01, 3), st.floats(0, 3))
@settings(max_examples=50, deadline=None)
def test_sampling_scales_the_curve_of_the_release(rate, mu, epsilon):
    """delta'(e') = rate * delta(e) where e' = ln(1 + rate (exp(e) - 1)), by Balle, Barthe, Gaboardi 2018."""
    inner = GaussianShift(Fraction(mu))
    sampled = Sampled(inner, Fraction(rate))
    after = math.log1p(rate * math.expm1(epsilon))
    assert math.isclose(curve(sampled, after), rate * curve(inner, epsilon), rel_tol=1e-6, abs_tol=1e-13)


def test_a_sampled_response_is_a_weaker_response():
    """A pure epsilon becomes ln(1 + rate (exp(epsilon) - 1)) when a unit is there to be lost."""
    key_domains = Sampled(TwoPoint(Fraction(1)), Fraction(1, 10)).key_domains
    assert math.isclose(max(atom.loss for atom in key_domains), math.log1p(0.1 * math.expm1(1)))


def test_losses_are_bounded_on_one_side():
    low, _ = Sampled(GaussianShift(Fraction(5)), Fraction(1, 4)).window(1e-30)
    _, high = Sampled(GaussianShift(Fraction(5)), Fraction(1, 4)).reversed().window(1e-30)
    assert low >= math.log(0.75) and high <= -math.log(0.75)


def test_an_envelope_can_be_sampled_in_both_directions():
    sampled = Sampled(LatticeGaussianShift(Fraction(100), Fraction(10), 1), Fraction(1, 5))
    plain = Sampled(GaussianShift(Fraction(1)), Fraction(1, 5))
    for epsilon in (-0.5, -0.1, 0.0, 0.1, 0.5):
        assert curve(sampled, epsilon) >= curve(plain, epsilon)
        assert curve(sampled.reversed(), epsilon) >= curve(plain.reversed(), epsilon)


@pytest.mark.parametrize("rate", [0, 1, -1, 2])
def test_a_rate_is_strictly_between_zero_and_one(rate):
    with pytest.raises(InvalidArgument, match="rate"):
        Sampled(TwoPoint(Fraction(1)), Fraction(rate))
