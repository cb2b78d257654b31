"""Conversions are rounded up and close to the best, judged with 60 digits."""

from fractions import Fraction

import mpmath
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.accounting import group, group_rho, pure_rho, zcdp_delta, zcdp_epsilon, zcdp_rho

rhos = st.fractions(Fraction(1, 10**6), 20)
epsilons = st.fractions(Fraction(1, 100), 30)
deltas = st.integers(1, 40).map(lambda n: Fraction(1, 10**n))


def real(x):
    return mpmath.mpf(x.numerator) / x.denominator


def best_delta(rho, epsilon):
    """The least bound over alpha, by golden section in many digits."""

    def cost(s):
        alpha = 1 + mpmath.exp(s)
        return (alpha - 1) * (alpha * rho - epsilon) - mpmath.log(alpha - 1) + alpha * mpmath.log(1 - 1 / alpha)

    low, high, ratio = mpmath.mpf(-20), mpmath.mpf(25), (mpmath.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if cost(left) < cost(right) else (left, high)
    least = mpmath.exp(-2000)  # what is below is reported as that
    return min(mpmath.mpf(1), max(least, mpmath.exp(cost((low + high) / 2))))


@given(rhos, epsilons)
@settings(max_examples=25, deadline=None)
def test_the_delta_of_a_rho_is_the_best_over_alpha_rounded_up(rho, epsilon):
    with mpmath.workdps(60):
        best, found = best_delta(real(rho), real(epsilon)), real(zcdp_delta(rho, epsilon))
        assert best * (1 - mpmath.mpf(10) ** -15) <= found <= best * (1 + mpmath.mpf(10) ** -4)


@given(rhos, deltas)
@settings(max_examples=40, deadline=None)
def test_the_epsilon_of_a_rho_holds_and_is_no_larger_than_the_simple_formula(rho, delta):
    found = zcdp_epsilon(rho, delta)
    with mpmath.workdps(60):
        simple = real(rho) + 2 * mpmath.sqrt(real(rho) * mpmath.log(1 / real(delta)))  # Bun and Steinke 2016
        assert real(found) <= simple
    assert zcdp_delta(rho, found) <= delta * (1 + Fraction(1, 10**5))


@given(epsilons, deltas)
@settings(max_examples=8, deadline=None)
def test_rho_and_epsilon_convert_back_and_forth(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(rho * Fraction(1001, 1000), delta) > epsilon


def test_nothing_stays_nothing():
    assert pure_rho(0) == zcdp_delta(0, 1) == zcdp_epsilon(0, Fraction(1, 2)) == 0


def test_a_pure_epsilon_is_half_its_square_in_rho():
    assert pure_rho(0.5) == Fraction(1, 8)


@given(st.fractions(Fraction(1, 10**9), 5), deltas, st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_a_group_costs_its_size_in_epsilon_and_a_geometric_sum_in_delta(epsilon, delta, size):
    e, d = group(epsilon, delta, size)
    assert e == size * epsilon
    with mpmath.workdps(80):
        truth = real(delta) * mpmath.expm1(size * real(epsilon)) / mpmath.expm1(real(epsilon))
        tight = truth * (1 + mpmath.mpf(10) ** -12)
        assert min(mpmath.mpf(1), truth) * (1 - mpmath.mpf(10) ** -70) <= real(d) <= tight


def test_a_group_costs_the_square_of_its_size_in_rho():
    assert group_rho(Fraction(1, 8), 3) == Fraction(9, 8)
    assert group(Fraction(0), Fraction(1, 100), 5) == (0, Fraction(1, 20))
