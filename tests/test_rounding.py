"""`rounding` against mpmath at 600 bits: every bracket holds the truth, and is as narrow as promised."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import rounding
from sfumato.rounding import Real

LAW = settings(deadline=None)

CONTEXT = mpmath.mp.clone()
CONTEXT.prec = 600

exponents = st.fractions(min_value=-60, max_value=60, max_denominator=10**9)
tiny = st.builds(lambda x, k: x / 2**k, exponents, st.integers(0, 200))
positives = st.builds(
    lambda a, b, k: Fraction(a, b) * Fraction(2) ** k,
    st.integers(1, 10**30),
    st.integers(1, 10**30),
    st.integers(-90, 90),
)
anything = st.builds(
    lambda a, b, k: Fraction(a, b) * Fraction(2) ** k,
    st.integers(-(10**30), 10**30),
    st.integers(1, 10**30),
    st.integers(-1200, 1200),
)
bits = st.integers(0, 200)


def real(x: Fraction) -> mpmath.mpf:
    return CONTEXT.mpf(x.numerator) / x.denominator


def exact(x: mpmath.mpf) -> Fraction:
    """The binary number x as a fraction; the truth is within a relative 2**-590 of it."""
    man, exp = CONTEXT.frexp(x)
    return Fraction(int(CONTEXT.ldexp(man, 600))) * Fraction(2) ** (int(exp) - 600)


@LAW
@given(exponents | tiny, bits)
def test_exp_bounds_hold_the_exponential_within_three_units(x: Fraction, precision: int) -> None:
    low, high = rounding.exp_bounds(x, precision)
    truth = CONTEXT.ldexp(CONTEXT.exp(real(x)), precision)
    assert low <= truth <= high
    assert high - low <= 3


@LAW
@given(positives, bits)
def test_log_bounds_hold_the_logarithm_within_three_units(x: Fraction, precision: int) -> None:
    low, high = rounding.log_bounds(x, precision)
    truth = CONTEXT.ldexp(CONTEXT.log(real(x)), precision)
    assert low <= truth <= high
    assert high - low <= 3


@pytest.mark.parametrize("x", [Fraction(1), Fraction(1, 2), Fraction(2) ** 500, Fraction(1) + Fraction(1, 2**300)])
def test_log_bounds_hold_at_powers_of_two_and_next_to_one(x: Fraction) -> None:
    low, high = rounding.log_bounds(x, 400)
    assert low <= CONTEXT.ldexp(CONTEXT.log(real(x)), 400) <= high


@pytest.mark.parametrize("x", [-1, -3, -4, -50, -2_000, 400, 2_000])
def test_exp_bounds_hold_far_out_and_with_few_bits(x: int) -> None:
    for precision in (0, 1, 2, 48, 1_000):
        low, high = rounding.exp_bounds(Fraction(x), precision)
        assert low <= CONTEXT.ldexp(CONTEXT.exp(x), precision) * (1 + CONTEXT.mpf(2) ** -590)
        assert high >= CONTEXT.ldexp(CONTEXT.exp(x), precision) * (1 - CONTEXT.mpf(2) ** -590)


@LAW
@given(exponents, st.integers(0, 150))
def test_digits_of_an_exponential_are_its_integer_part(x: Fraction, precision: int) -> None:
    assert Real.exp(x).digits(precision) == int(CONTEXT.floor(CONTEXT.ldexp(CONTEXT.exp(real(x)), precision)))


@LAW
@given(exponents, st.integers(0, 150))
def test_digits_of_a_logistic_are_its_integer_part(x: Fraction, precision: int) -> None:
    truth = CONTEXT.ldexp(1 / (1 + CONTEXT.exp(-real(x))), precision)
    assert Real.logistic(x).digits(precision) == int(CONTEXT.floor(truth))


@LAW
@given(anything, st.integers(0, 150))
def test_digits_of_a_fraction_are_its_integer_part(x: Fraction, precision: int) -> None:
    assert Real.exactly(x).digits(precision) == math.floor(x * 2**precision)


@LAW
@given(exponents, st.lists(st.integers(0, 150), min_size=2, max_size=4))
def test_digits_asked_in_any_order_agree(x: Fraction, precisions: list[int]) -> None:
    number = Real.exp(x)
    most = max(precisions)
    assert all(number.digits(p) == number.digits(most) >> (most - p) for p in precisions)


@LAW
@given(anything)
def test_up_is_the_least_float_not_below(x: Fraction) -> None:
    near = rounding.up(x)
    assert near == math.inf or Fraction(near) >= x
    before = math.nextafter(near, -math.inf)
    assert before == -math.inf or Fraction(before) < x


@LAW
@given(anything)
def test_down_is_the_greatest_float_not_above(x: Fraction) -> None:
    near = rounding.down(x)
    assert near == -math.inf or Fraction(near) <= x
    after = math.nextafter(near, math.inf)
    assert after == math.inf or Fraction(after) > x


@LAW
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_own_up_and_down(x: float) -> None:
    assert rounding.up(Fraction(x)) == rounding.down(Fraction(x)) == x


@pytest.mark.parametrize("x", [Fraction(0), Fraction(-1, 10**400), Fraction(1, 10**400)])
def test_a_zero_is_never_printed_with_a_sign(x: Fraction) -> None:
    assert "-0.0" not in (repr(rounding.up(x)), repr(rounding.down(x)))


@LAW
@given(exponents | tiny, st.integers(1, 150))
def test_exp_up_and_down_bracket_within_their_relative_error(x: Fraction, precision: int) -> None:
    truth = exact(CONTEXT.exp(real(x)))
    slack = truth / 2**590
    low, high = rounding.exp_down(x, precision), rounding.exp_up(x, precision)
    assert truth * (1 - Fraction(1, 2**precision)) - slack <= low <= truth + slack
    assert truth - slack <= high <= truth * (1 + Fraction(1, 2**precision)) + slack


@LAW
@given(positives, st.integers(1, 150))
def test_log_up_and_down_bracket_within_their_absolute_error(x: Fraction, precision: int) -> None:
    truth = exact(CONTEXT.log(real(x)))
    slack = Fraction(1, 2**580)
    low, high = rounding.log_down(x, precision), rounding.log_up(x, precision)
    assert truth - Fraction(1, 2**precision) - slack <= low <= truth + slack
    assert truth - slack <= high <= truth + Fraction(1, 2**precision) + slack


@LAW
@given(positives, st.integers(1, 150))
def test_sqrt_up_is_above_the_root_within_its_relative_error(x: Fraction, precision: int) -> None:
    root = rounding.sqrt_up(x, precision)
    assert x <= root**2
    assert root**2 <= x * (1 + Fraction(1, 2**precision)) ** 2


@LAW
@given(positives)
def test_sqrt_up_is_exact_for_squares_of_fractions(x: Fraction) -> None:
    assert rounding.sqrt_up(x * x) == x


@LAW
@given(anything, positives)
def test_ceiling_is_the_least_multiple_not_below(x: Fraction, unit: Fraction) -> None:
    multiple = rounding.ceiling(x, unit)
    assert (multiple / unit).denominator == 1
    assert x <= multiple < x + unit


def test_exponential_and_logarithm_are_exact_where_the_truth_is_a_fraction() -> None:
    assert rounding.exp_up(Fraction(0)) == rounding.exp_down(Fraction(0)) == 1
    assert rounding.log_down(Fraction(1)) <= 0 <= rounding.log_up(Fraction(1))
