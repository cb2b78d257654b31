"""Losses far out, tiny deltas, huge counts: a sound number or a refusal of ours, never a raw error and never NaN."""

import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sfumato.accounting import Filter, advanced, compose, optimal, zcdp_delta, zcdp_epsilon, zcdp_rho
from sfumato.accounting.grid import Masses
from sfumato.accounting.tilted import Stack, _infinite
from sfumato.errors import BudgetExhausted, InvalidArgument, ScaleTooLarge
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.privacy.loss import Loss
from sfumato.privacy.pair import TwoPoint
from sfumato.privacy.sampled import Sampled
from sfumato.privacy.shifts import DiscreteGaussianShift, DiscreteLaplaceShift, GaussianShift, LaplaceShift

SMALL, LARGE = Fraction(1, 10**400), 10**400


def loss_of(pair):
    return Loss(None, None, pair)


def sound(bracket):
    assert 0 <= bracket.low <= bracket.high and not math.isnan(bracket.high)
    return bracket


def laplace_delta(scale, epsilon):
    """1 - exp((epsilon - scale) / 2), for epsilon within the scale."""
    return -math.expm1((epsilon - scale) / 2)


@pytest.mark.parametrize(("scale", "epsilon"), [(800, 799), (650, 640), (610, 605), (590, 580), (300, 299)])
def test_the_lower_end_stays_below_the_truth_for_far_laplace_losses(scale, epsilon):
    for loss in (Laplace(1, scale).loss, loss_of(LaplaceShift(Fraction(scale)))):
        bracket = sound(compose([loss]).delta(epsilon))
        assert bracket.low <= laplace_delta(scale, epsilon) <= bracket.high
        assert scale > 600 or bracket.low > 0.9 * laplace_delta(scale, epsilon)


@pytest.mark.parametrize(("mu", "epsilon"), [(40, 800), (40, 700), (33, 595), (20, 230), (100, 5_000)])
def test_the_lower_end_stays_below_the_truth_for_far_gaussian_losses(mu, epsilon):
    with mpmath.workdps(60):
        z = mpmath.mpf(epsilon) / mu
        truth = mpmath.ncdf(mpmath.mpf(mu) / 2 - z) - mpmath.exp(epsilon) * mpmath.ncdf(-mpmath.mpf(mu) / 2 - z)
        bracket = sound(compose([loss_of(GaussianShift(Fraction(mu)))]).delta(epsilon))
        assert bracket.low <= truth <= bracket.high


def test_the_lower_end_stays_below_the_truth_at_the_end_of_a_table():
    """Variance 1/50, two steps: the loss of x is 100 (1 - x), so at 599.4 only x <= -5 counts."""
    with mpmath.workdps(60):
        weights = {x: mpmath.exp(-25 * x * x) for x in range(-12, 13)}
        total = mpmath.fsum(weights.values())
        truth = mpmath.fsum(
            weights[x] / total * (1 - mpmath.exp(mpmath.mpf("599.4") - 100 * (1 - x))) for x in range(-12, -4)
        )
        bracket = sound(compose([loss_of(DiscreteGaussianShift(Fraction(1, 50), 2))]).delta(599.4))
        assert bracket.low <= truth <= bracket.high


def test_a_composition_whose_masses_end_in_nothing_is_computed():
    both = compose([(Gaussian(1, 8, 1e-6, spacing=1).loss, 1), (Laplace(1, 0.1).loss, 5)])
    assert sound(both.delta(25)).high < 1e-40
    bracket = sound(both.epsilon(1e-6))
    assert bracket.low > 8 and bracket.high - bracket.low < 0.01


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.5, 0.56])
def test_rare_losses_agree_with_enumeration_down_to_the_least_deltas(epsilon):
    """Twenty sampled responses of rate 1e-6 and two plain ones, in 60 digits, in the worse direction."""
    sampled = Sampled(TwoPoint(Fraction(10)), Fraction(1, 10**6))
    with mpmath.workdps(60):
        rate, grown = mpmath.mpf(10) ** -6, mpmath.exp(10)
        keep, kept = grown / (1 + grown), mpmath.exp(mpmath.mpf(1) / 16) / (1 + mpmath.exp(mpmath.mpf(1) / 16))
        top = (rate * keep + (1 - rate) * (1 - keep), 1 - keep)
        bottom = (rate * (1 - keep) + (1 - rate) * keep, keep)
        deltas = []
        for p, q in ((0, 1), (1, 0)):
            terms = []
            for i in range(21):
                for j in range(3):
                    ways = mpmath.binomial(20, i) * mpmath.binomial(2, j)
                    a = top[p] ** i * bottom[p] ** (20 - i) * kept**j * (1 - kept) ** (2 - j)
                    b = top[q] ** i * bottom[q] ** (20 - i) * kept ** (2 - j) * (1 - kept) ** j
                    terms.append(ways * max(0, a - mpmath.exp(mpmath.mpf(epsilon)) * b))
            deltas.append(mpmath.fsum(terms))
        # the plain responses are symmetric, so turning them with the sampled ones does not matter
        bracket = sound(compose([(loss_of(sampled), 20), (Loss.pure(Fraction(1, 16)), 2)]).delta(epsilon))
        assert bracket.low <= max(deltas) <= bracket.high
        assert bracket.high < 1e-2


def test_two_huge_pure_losses_cost_their_sum():
    bracket = sound(compose([(Loss.pure(Fraction(250)), 2)]).epsilon(1e-6))
    assert bracket.high == 500 and bracket.low > 499
    assert compose([(Loss.pure(Fraction(250)), 2)]).delta(400).high == 1


@pytest.mark.parametrize("pair", [LaplaceShift(Fraction(900)), DiscreteGaussianShift(Fraction(1), 100)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_losses_beyond_the_grid_promise_nothing(pair, count):
    losses = compose([(loss_of(pair), count)])
    assert sound(losses.delta(1)).high >= 1 - 1e-9
    sound(losses.epsilon(1e-6))


def test_infinite_masses_beside_almost_no_finite_one_compose_to_almost_one():
    """Three of (f, i) = (1e-290, 1): their product is 1, although f alone vanishes."""
    assert _infinite([(Masses(0, np.array([1e-290]), 1.0), 3)]) == pytest.approx(1)
    assert _infinite([(Masses(0, np.array([1.0]), 1e-30), 5)]) == pytest.approx(5e-30)


def test_a_moment_generating_function_does_not_depend_on_empty_ends():
    plain = Stack([(Masses(0, np.array([0.5, 0.5]), 0.0), 3)])
    ended = Stack([(Masses(-2000, np.concatenate([np.zeros(2000), [0.5, 0.5], np.zeros(9000)]), 0.0), 3)])
    for rate in (-1.0, -0.1, 0.0, 0.1, 1.0):
        assert ended.cumulants(rate) == pytest.approx(plain.cumulants(rate))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: compose([Loss.pure(1, delta=1)]).delta(1),
        lambda: compose([Loss.pure(1, delta=1), Loss.pure(1)]).epsilon(0.5),
        lambda: compose([Loss.pure(1, delta=1 - SMALL)]).epsilon(0.5),
        lambda: compose([(Loss.pure(0.1), 3)]).epsilon(Decimal("1e-400")),
        lambda: compose([(Loss.pure(0.1), 3)]).delta(LARGE),
        lambda: compose([Loss.pure(0.1)]).delta(LARGE),
        lambda: compose([(Loss.pure(SMALL), 3)]).epsilon(1e-6),
        lambda: compose([Loss.pure(SMALL)]).delta(1e-6),
        lambda: compose([(Loss.pure(LARGE), 3)]).epsilon(1e-6),
        lambda: compose([Loss.pure(LARGE)]).delta(1),
        lambda: compose([(loss_of(Sampled(TwoPoint(Fraction(1)), 1 - Fraction(1, 10**17))), 3)]).epsilon(1e-6),
        lambda: compose([(Loss.pure(Fraction(1)), 10**12)]).epsilon(1e-6),
    ],
)
def test_numbers_too_far_for_a_float_give_a_sound_bracket(ask):
    sound(ask())


def test_with_a_failure_for_certain_no_epsilon_holds():
    assert compose([Loss.pure(1, delta=1)]).delta(1).high == 1
    assert compose([Loss.pure(1, delta=1)]).epsilon(0.5).high == math.inf


def test_a_tiny_delta_is_answered_by_the_sum():
    bracket = compose([(Loss.pure(0.1), 3)]).epsilon(Decimal("1e-400"))
    assert bracket.low <= 0.3 <= bracket.high < 0.301


@pytest.mark.parametrize("grid", [800, 100.5, Fraction(1, 10**400), 0, -1])
def test_a_grid_that_cannot_be_meant_is_refused(grid):
    with pytest.raises(InvalidArgument, match="grid must"):
        compose([(Loss.pure(0.1), 3)], grid=grid)


def test_a_transform_too_long_for_the_memory_is_refused():
    with pytest.raises(ScaleTooLarge, match="coarser grid"):
        compose([(Loss.pure(Fraction(1)), 3000)], grid=1e-6).epsilon(1e-6)


@pytest.mark.parametrize("count", [2**41, 10**400])
def test_more_releases_than_the_arithmetic_can_carry_are_refused(count):
    for ask in (lambda: compose([(Loss.pure(0.1), count)]), lambda: optimal([(0.1, 0, count)], 1e-6)):
        with pytest.raises(ScaleTooLarge, match=r"must be at most .* releases; got more; "):
            ask()


def test_a_huge_loss_is_refused_by_a_budget_as_any_other():
    with pytest.raises(BudgetExhausted, match="inf requested, 1 left"):
        Filter(1).spend(Loss.pure(LARGE))


@pytest.mark.parametrize("epsilon", [100, 399, 401, 599.5, 650, 750, 799])
def test_far_compositions_agree_with_enumeration(epsilon):
    """Two discrete Laplace shifts by three steps of 400 in all: losses 400, 400/3, -400/3, -400, in 60 digits."""
    bracket = sound(compose([(loss_of(DiscreteLaplaceShift(Fraction(400), 3)), 2)]).delta(epsilon))
    with mpmath.workdps(400):
        t = mpmath.exp(mpmath.mpf(-400) / 3)
        masses = [1 / (1 + t), (1 - t) / (1 + t) * t, (1 - t) / (1 + t) * t**2, t**3 / (1 + t)]
        losses = [mpmath.mpf(400) * (3 - 2 * k) / 3 for k in range(4)]
        truth = mpmath.fsum(
            masses[i] * masses[j] * max(0, 1 - mpmath.exp(epsilon - losses[i] - losses[j]))
            for i in range(4)
            for j in range(4)
        )
        assert bracket.low <= truth <= bracket.high


def test_conversions_take_every_size_of_number():
    assert 0 <= zcdp_epsilon(1e-320, 1e-9) < 1e-15
    assert zcdp_epsilon(SMALL, 1e-9) <= zcdp_epsilon(1e-100, 1e-9) < 1e-15
    assert zcdp_epsilon(LARGE, 1e-9) >= LARGE
    assert 0 < zcdp_delta(1e-320, LARGE) < 1e-300
    assert zcdp_delta(LARGE, 1) == 1
    assert zcdp_rho(LARGE, 1e-9) > 0


def test_an_optimum_of_nothing_is_refused_and_one_of_huge_parts_is_their_sum():
    with pytest.raises(InvalidArgument, match="nothing to compose"):
        optimal([], 1e-3)
    assert optimal([(50, 0, 2000)], 1e-6) == 100_000


def test_an_epsilon_that_promises_nothing_is_not_worth_its_digits():
    with pytest.raises(ScaleTooLarge, match="epsilon must be at most 10000"):
        advanced(1e7, 0, 5, 1e-6)
