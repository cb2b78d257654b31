"""Noise against shifted noise, compared with many digits and with the definition."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import InvalidArgument, ScaleTooLarge
from sfumato.privacy.pair import PRECISION, TwoPoint
from sfumato.privacy.shifts import (
    DiscreteGaussianShift,
    DiscreteLaplaceShift,
    GaussianShift,
    LaplaceShift,
    LatticeGaussianShift,
    discrete_gaussian_shift,
    merged,
)

mpmath.mp.dps = 40


def curve(pair, epsilon):
    """The hockey-stick divergence, straight from the masses."""
    p, q = (float(mass[0]) for mass in pair.above(np.array([epsilon])))
    key_domains = sum(a.p - math.exp(epsilon) * a.q for a in pair.key_domains if a.loss > epsilon)
    return p - math.exp(epsilon) * q + key_domains


def discrete_gaussian_pmf(variance, reach):
    weights = {x: mpmath.exp(-mpmath.mpf(x * x) / (2 * variance)) for x in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def test_one_step_of_discrete_laplace_is_randomized_response():
    discrete, response = DiscreteLaplaceShift(Fraction(1, 2), 1), TwoPoint(Fraction(1, 2))
    assert np.allclose(discrete.key_domains, response.key_domains, rtol=1e-15)
    assert float(discrete.above(np.array([-9.0]))[0][0]) == 0


def test_discrete_laplace_costs_more_than_continuous_and_tends_to_it():
    exact = curve(LaplaceShift(Fraction(1)), 0.25)
    coarse, fine = (curve(DiscreteLaplaceShift(Fraction(1), steps), 0.25) for steps in (2, 2**40))
    assert coarse > exact
    assert math.isclose(fine, exact, rel_tol=1e-9)


@given(st.integers(1, 12), st.fractions(Fraction(1, 50), Fraction(5)), st.floats(-6, 6))
@settings(max_examples=40, deadline=None)
def test_discrete_laplace_masses_are_those_of_its_definition(steps, epsilon, loss):
    t = mpmath.exp(-mpmath.mpf(epsilon.numerator) / epsilon.denominator / steps)
    pair = DiscreteLaplaceShift(epsilon, steps)
    stairs = [(float(epsilon) * (1 - 2 * k / steps), (1 - t) / (1 + t) * t**k) for k in range(1, steps)]
    if any(abs(loss - where) < 1e-9 for where, _ in stairs):
        return
    above = mpmath.fsum(mass for where, mass in stairs if where > loss)
    below = mpmath.fsum(mass for where, mass in stairs if where <= loss)
    at = np.array([loss])
    assert math.isclose(float(pair.above(at)[0][0]), float(above), rel_tol=PRECISION)
    assert math.isclose(float(pair.below(at)[0][0]), float(below), rel_tol=PRECISION)


@given(st.fractions(Fraction(1, 4), Fraction(30)), st.integers(1, 5), st.floats(-0.99, 0.99))
@settings(max_examples=30, deadline=None)
def test_discrete_gaussian_masses_are_those_of_its_definition(variance, steps, part):
    pair = DiscreteGaussianShift(variance, steps)
    reach = math.ceil(20 * math.sqrt(variance)) + steps
    pmf = discrete_gaussian_pmf(mpmath.mpf(variance.numerator) / variance.denominator, reach)
    x = round(part * 8 * math.sqrt(variance))
    loss = (steps * steps - 2 * x * steps) / (2 * float(variance)) + 1e-9  # just above the loss of x
    p, q = (float(mass[0]) for mass in pair.above(np.array([loss])))
    assert math.isclose(p, float(mpmath.fsum(m for y, m in pmf.items() if y < x)), rel_tol=PRECISION)
    assert math.isclose(q, float(mpmath.fsum(m for y, m in pmf.items() if y < x - steps)), rel_tol=PRECISION)


@given(st.fractions(Fraction(1, 100), Fraction(4)), st.floats(-12, 12))
@settings(max_examples=40, deadline=None)
def test_gaussian_masses_agree_with_many_digits(mu, z):
    pair = GaussianShift(mu)
    loss = float(mu * mu / 2) + z * float(mu)
    exact_mu = mpmath.mpf(mu.numerator) / mu.denominator
    exact_z = (mpmath.mpf(loss) - exact_mu**2 / 2) / exact_mu
    p, q = (float(mass[0]) for mass in pair.above(np.array([loss])))
    assert math.isclose(p, float(mpmath.ncdf(-exact_z)), rel_tol=PRECISION)
    assert math.isclose(q, float(mpmath.ncdf(-exact_z - exact_mu)), rel_tol=PRECISION)


def test_a_table_of_the_largest_variance_keeps_the_precision():
    """Its middle is one half and half a step, by symmetry."""
    pair = DiscreteGaussianShift(Fraction(2**28), 2)
    p = float(pair.below(np.array([2 / 2**28]))[0][0])  # Pr[X >= 0]
    assert math.isclose(p, 0.5 + 0.5 / math.sqrt(2 * math.pi * 2**28), rel_tol=PRECISION)


def test_a_larger_shift_of_the_discrete_gaussian_is_worse():
    values = [curve(DiscreteGaussianShift(Fraction(9), steps), 0.5) for steps in range(1, 7)]
    assert values == sorted(values)


@pytest.mark.parametrize("shift", [(1,), (3,), (1, 1), (2, -1, 1)])
@pytest.mark.parametrize("variance", [Fraction(2), Fraction(9)])
def test_the_envelope_lies_above_discrete_gaussian_vectors(shift, variance):
    """Against exact enumeration: coordinates are independent, and the loss is linear in the noise."""
    norm2 = sum(v * v for v in shift)
    envelope = LatticeGaussianShift(variance, Fraction(math.isqrt(norm2 * 10**8) + 1, 10**4), len(shift))
    pmf = discrete_gaussian_pmf(float(variance), 30)
    sums = {0: 1.0}  # of <x, shift>
    for v in shift:
        after: dict[int, float] = {}
        for total, mass in sums.items():
            for x, weight in pmf.items():
                after[total + x * v] = after.get(total + x * v, 0.0) + mass * float(weight)
        sums = after
    for epsilon in (-1.0, 0.0, 0.3, 1.0, 2.0):
        losses = ((norm2 - 2 * total) / (2 * float(variance)) for total in sums)
        truth = sum(m * max(0.0, -math.expm1(epsilon - loss)) for m, loss in zip(sums.values(), losses, strict=True))
        assert truth <= curve(envelope, epsilon) * (1 + 1e-9)


def test_the_closest_pair_is_chosen_by_size():
    assert discrete_gaussian_shift(Fraction(9), Fraction(7, 5), 12) == DiscreteGaussianShift(Fraction(9), 1)
    assert discrete_gaussian_shift(Fraction(9), Fraction(3), 2) == LatticeGaussianShift(Fraction(9), Fraction(3), 2)
    assert discrete_gaussian_shift(Fraction(2**40), Fraction(3)) == LatticeGaussianShift(
        Fraction(2**40), Fraction(3), 1
    )


def test_on_a_fine_lattice_the_envelope_is_nearly_the_continuous_curve():
    envelope = LatticeGaussianShift(Fraction(2**60), Fraction(2**29), 4)
    assert math.isclose(curve(envelope, 1.0), curve(GaussianShift(Fraction(1, 2)), 1.0), rel_tol=1e-6)


def test_equal_pairs_are_counted_together():
    pair = TwoPoint(Fraction(1))
    assert merged([(pair, 2), (LaplaceShift(Fraction(1)), 1), (pair, 3)]) == [(pair, 5), (LaplaceShift(Fraction(1)), 1)]


def test_discrete_gaussians_are_never_merged():
    parts = [(DiscreteGaussianShift(Fraction(9), 1), 2), (DiscreteGaussianShift(Fraction(4), 1), 1)]
    assert merged(parts) == parts


@pytest.mark.parametrize(
    "make",
    [
        lambda: LaplaceShift(Fraction(0)),
        lambda: DiscreteLaplaceShift(Fraction(1), 0),
        lambda: GaussianShift(Fraction(-1)),
        lambda: LatticeGaussianShift(Fraction(1), Fraction(1), 0),
        lambda: DiscreteGaussianShift(Fraction(0), 1),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(make):
    with pytest.raises(InvalidArgument):
        make()


def test_a_discrete_gaussian_too_wide_for_a_table_is_refused():
    with pytest.raises(ScaleTooLarge, match="LatticeGaussianShift"):
        DiscreteGaussianShift(Fraction(2**29), 1)
