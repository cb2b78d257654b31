"""The bracket contains the truth: against closed forms, exact rationals and exact convolutions."""

import math
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.accounting import compose, optimal
from sfumato.errors import InvalidArgument
from sfumato.mechanisms import Laplace
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.pair import KeyDomain, Pair, TwoPoint
from sfumato.privacy.sampled import Sampled
from sfumato.privacy.shifts import (
    DiscreteGaussianShift,
    DiscreteLaplaceShift,
    GaussianShift,
    LaplaceShift,
    LatticeGaussianShift,
)
from sfumato.privacy.unit import Unit


def loss_of(pair, delta=0):
    return Loss(None, None, pair, Fraction(delta))


def inside(bracket, truth, width=None):
    assert bracket.low <= truth <= bracket.high
    assert width is None or bracket.high - bracket.low <= width


@dataclass(frozen=True)
class Plain:
    """A pair whose kind cannot be seen, so that nothing is merged and the transform has to do the work."""

    pair: Pair

    @property
    def key_domains(self):
        return self.pair.key_domains

    def window(self, tail):
        return self.pair.window(tail)

    def below(self, losses):
        return self.pair.below(losses)

    def above(self, losses):
        return self.pair.above(losses)

    def reversed(self):
        return self


def gaussian_delta(mu, epsilon):
    with mpmath.workdps(60):
        mu, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def gaussian_epsilon(mu, delta):
    low, high = 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > delta else (low, middle)
    return high


def test_a_thousand_gaussians():
    mu = math.sqrt(1000) / 20
    inside(compose([(loss_of(GaussianShift(Fraction(1, 20))), 1000)]).epsilon(1e-6), gaussian_epsilon(mu, 1e-6), 1e-9)
    assert math.isclose(gaussian_epsilon(mu, 1e-6), 8.306225050, abs_tol=1e-9)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12, 1e-15, 1e-30])
def test_the_transform_stays_sound_down_to_tiny_deltas(delta):
    """Gaussians that are not merged, so that tilt, window and rounding are all at work."""
    mu = math.sqrt(1000) / 20
    parts = [(loss_of(Plain(GaussianShift(Fraction(1, 20)))), 1000)]
    inside(compose(parts, grid=1e-3).epsilon(delta), gaussian_epsilon(mu, delta), 2e-3)


@pytest.mark.parametrize("epsilon", [0, 0.5, 3, 8.3, 12])
def test_deltas_of_given_epsilons_lie_in_the_bracket(epsilon):
    mu = math.sqrt(400) / 20
    bracket = compose([(loss_of(Plain(GaussianShift(Fraction(1, 20)))), 400)], grid=2e-3).delta(epsilon)
    inside(bracket, float(gaussian_delta(mu, epsilon)))
    assert bracket.high <= 1.1 * bracket.low


def test_a_thousand_discrete_gaussians_cost_more_than_continuous_ones():
    bracket = compose([(loss_of(DiscreteGaussianShift(Fraction(400), 1)), 1000)], grid=1e-4).epsilon(1e-6)
    inside(bracket, 8.30622607, 3e-4)


@pytest.mark.parametrize(("variance", "count"), [(1, 3), (4, 8), (Fraction(1, 4), 5)])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10])
def test_discrete_gaussians_agree_with_exact_convolution(variance, count, delta):
    """Their loss is linear in the sum of the noise, so the sum's own distribution gives the truth."""
    with mpmath.workdps(40):
        x = range(-30, 31)
        weights = np.array([mpmath.exp(-mpmath.mpf(k * k) / (2 * mpmath.mpf(float(variance)))) for k in x])
        pmf = weights / weights.sum()
        total = pmf
        for _ in range(count - 1):
            total = np.convolve(total, pmf)
        sums = np.arange(len(total)) - len(total) // 2
        losses = [(count - 2 * int(s)) / (2 * float(variance)) for s in sums]
    bracket = compose([(loss_of(DiscreteGaussianShift(Fraction(variance), 1)), count)]).epsilon(delta)
    low, high = (
        sum(m * max(0, 1 - mpmath.exp(e - loss)) for m, loss in zip(total, losses, strict=True))
        for e in (bracket.low, bracket.high)
    )
    assert high <= delta * (1 + 1e-9)
    assert low >= delta * (1 - 1e-9) or bracket.low == 0
    assert bracket.high - bracket.low < 0.02 * bracket.high


def test_a_hundred_laplace():
    inside(compose([(loss_of(LaplaceShift(Fraction(1, 10))), 100)], grid=1e-4).epsilon(1e-6), 4.6926674, 1e-6)


def test_a_hundred_pure_releases():
    inside(compose([(Loss.pure(Fraction(1, 10)), 100)], grid=1e-4).epsilon(1e-6), 4.774567588, 1e-6)


@given(st.fractions(Fraction(1, 1000), Fraction(2)), st.integers(2, 60), st.sampled_from([1e-2, 1e-5, 1e-9]))
@settings(max_examples=25, deadline=None)
def test_pure_releases_agree_with_the_exact_optimum(epsilon, count, delta):
    exact = float(optimal([(epsilon, 0, count)], delta))
    bracket = compose([(loss_of(TwoPoint(epsilon)), count)]).epsilon(delta)
    assert bracket.low <= exact * (1 + 1e-12) and exact <= bracket.high * (1 + 1e-12)
    assert bracket.high - bracket.low <= 1e-3 * float(epsilon) * count


@given(st.lists(st.tuples(st.floats(0.01, 1.5), st.integers(1, 4)), min_size=1, max_size=3), st.floats(0, 3))
@settings(max_examples=25, deadline=None)
def test_mixed_responses_agree_with_enumeration(kinds, epsilon):
    parts = [(loss_of(TwoPoint(Fraction(e))), n) for e, n in kinds]
    outcomes = {0.0: 1.0}
    for e, n in kinds:
        for _ in range(n):
            keep = 1 / (1 + math.exp(-e))
            outcomes = _spread(outcomes, ((e, keep), (-e, 1 - keep)))
    truth = sum(mass * max(0.0, -math.expm1(epsilon - loss)) for loss, mass in outcomes.items())
    bracket = compose(parts).delta(epsilon)
    assert bracket.low <= truth + 1e-12 and truth <= bracket.high + 1e-12
    assert bracket.high - bracket.low <= 0.01


def _spread(outcomes, steps):
    after: dict[float, float] = {}
    for loss, mass in outcomes.items():
        for step, weight in steps:
            after[loss + step] = after.get(loss + step, 0.0) + mass * weight
    return after


def test_brackets_of_coarse_and_fine_grids_overlap():
    """For sampled Gaussians, which have no closed form: all brackets contain the one true value."""
    part = [(loss_of(Sampled(GaussianShift(Fraction(1)), Fraction(1, 100))), 1000)]
    brackets = [compose(part, grid=grid).epsilon(1e-6) for grid in (2e-3, 5e-4, 1e-4)]
    assert max(b.low for b in brackets) <= min(b.high for b in brackets)
    widths = [b.high - b.low for b in brackets]
    assert widths == sorted(widths, reverse=True)


def test_both_directions_of_an_asymmetric_pair_count():
    pair = Sampled(GaussianShift(Fraction(1)), Fraction(1, 10))
    forward, backward = (compose([(loss_of(p), 50)], grid=1e-3).epsilon(1e-5) for p in (pair, pair.reversed()))
    assert forward == backward


def test_one_release_is_read_straight_from_its_masses():
    bracket = compose([(loss_of(LaplaceShift(Fraction(1))), 1)]).delta(0.5)
    inside(bracket, -math.expm1(-0.25), 1e-10)


def test_more_releases_cost_more():
    values = [compose([(Loss.pure(Fraction(1, 5)), n)]).epsilon(1e-5).high for n in (1, 2, 5, 10, 40)]
    assert values == sorted(values)


def test_the_probability_of_failure_is_added():
    parts = [(loss_of(TwoPoint(Fraction(1, 10)), Fraction(1, 10**6)), 10)]
    without = compose([(loss_of(TwoPoint(Fraction(1, 10))), 10)]).delta(0.2)
    failed = 1 - (1 - 1e-6) ** 10
    bracket = compose(parts).delta(0.2)
    assert bracket.low <= without.high * (1 - failed) + failed
    assert bracket.high >= without.low + failed
    assert compose(parts).epsilon(1e-6).high == math.inf
    assert compose(parts).epsilon(2e-5).high < 1


@dataclass(frozen=True)
class Leak(Plain):
    """A pair that gives everything away with some probability."""

    chance: float

    @property
    def key_domains(self):
        shrunk = tuple(
            KeyDomain(loss, p * (1 - self.chance), q * (1 - self.chance)) for loss, p, q in self.pair.key_domains
        )
        return (*shrunk, KeyDomain(math.inf, self.chance, 0.0), KeyDomain(-math.inf, 0.0, self.chance))


def test_masses_at_infinity_are_composed():
    leak = Leak(TwoPoint(Fraction(1, 100)), 1e-5)
    bracket = compose([(loss_of(leak), 20)]).delta(1)
    assert bracket.low <= 1 - (1 - 1e-5) ** 20 <= bracket.high <= 2.001e-4


@pytest.mark.parametrize("count", [1, 2, 100])
@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0, 50.0])
@pytest.mark.parametrize("kind", [TwoPoint, LaplaceShift, GaussianShift, lambda e: DiscreteLaplaceShift(e, 3)])
def test_tiny_and_huge_losses_give_sound_numbers(kind, scale, count):
    pair = kind(Fraction(scale))
    losses = compose([(loss_of(pair), count)])
    bracket = losses.epsilon(1e-6)
    assert 0 <= bracket.low <= bracket.high and not math.isnan(bracket.high)
    if kind is GaussianShift:
        truth = gaussian_epsilon(scale * math.sqrt(count), 1e-6) if scale < 50 else bracket.low
        assert bracket.low <= truth * (1 + 1e-9) + 1e-15 and truth <= bracket.high * (1 + 1e-9) + 1e-15
    else:
        assert bracket.low <= scale * count * (1 + 1e-9)
    assert 0 <= losses.delta(1).low <= losses.delta(1).high <= 1


def test_a_tiny_epsilon_is_not_swamped_by_rounding():
    exact = float(optimal([(1e-9, 0, 1000)], 1e-10))
    bracket = compose([(loss_of(TwoPoint(Fraction(1, 10**9))), 1000)]).epsilon(1e-10)
    inside(bracket, exact, 0.01 * exact)
    laplace = compose([(loss_of(LaplaceShift(Fraction(1, 10**9))), 1000)]).epsilon(1e-10)
    assert laplace.high <= bracket.high * 1.01


def test_nothing_to_lose_costs_nothing():
    bracket = compose([(Loss.pure(Fraction(0)), 7)]).epsilon(1e-9)
    assert bracket.low == 0 and bracket.high < 1e-9
    assert compose([(Loss.pure(Fraction(0)), 7)]).delta(0).high < 1e-9


def test_a_pure_promise_is_the_sum():
    bracket = compose([(Loss.pure(Fraction(1, 4)), 4)]).epsilon(0)
    inside(bracket, 1.0, 1e-6)
    assert bracket.high == 1.0


def test_the_other_currencies_cap_the_result():
    """With few uses and a tiny delta no composition beats the plain sum."""
    assert compose([(Loss.pure(Fraction(1, 4)), 4)], grid=0.1).epsilon(1e-30).high <= 1.0


def test_envelopes_of_vectors_compose():
    lattice = compose([(loss_of(LatticeGaussianShift(Fraction(2**60), Fraction(2**26), 8)), 50)]).epsilon(1e-9)
    truth = gaussian_epsilon(math.sqrt(50) / 16, 1e-9)
    assert truth <= lattice.high <= truth * 1.0001


def test_what_cannot_be_composed_is_refused():
    with pytest.raises(InvalidArgument, match="zcdp"):
        compose([(Loss.concentrated(Fraction(1)), 1)])
    with pytest.raises(InvalidArgument, match="nothing"):
        compose([])
    with pytest.raises(InvalidArgument, match="coarser"):
        compose([(Loss.pure(Fraction(1)), 1)], grid=1e-12)
    with pytest.raises(InvalidArgument, match="count"):
        compose([(Loss.pure(Fraction(1)), 0)])


def test_bare_losses_count_once_each():
    loss = Laplace(1, 0.1).loss
    assert compose([loss] * 50) == compose([(loss, 50)]) == compose(loss for _ in range(50))
    assert compose([loss, (loss, 2)]) == compose([(loss, 3)])


@pytest.mark.parametrize("parts", [[(Laplace(1, 1), 50)], [Laplace(1, 1)], [Guarantee(1)], [0.5], 0.5, Loss.pure(1)])
def test_what_cannot_be_composed_is_refused_with_what_to_give(parts):
    with pytest.raises(InvalidArgument, match=r"parts must be .*; got a .*; give \[?\(mechanism\.loss, 50\)"):
        compose(parts)


def test_the_guarantee_is_the_upper_end_rounded_up():
    fifty = compose([(Laplace(1, 0.1).loss, 50)])
    promise = fifty.guarantee(1e-6, neighbors="replace", unit="person_id")
    high = Fraction(fifty.epsilon(1e-6).high)
    assert high <= promise.epsilon <= high * (1 + Fraction(1, 2**50))
    assert promise == Guarantee(promise.epsilon, 1e-6, "replace", "person_id")
    assert fifty.guarantee(0, neighbors="add-remove").epsilon == 5
    assert eval(repr(promise), {"Guarantee": Guarantee, "Unit": Unit}) == promise


def test_a_guarantee_that_no_epsilon_gives_is_refused_and_one_of_almost_nothing_is_not():
    failing = compose([(Loss.pure(Fraction(1, 10), delta=Fraction(1, 1000)), 10)])
    with pytest.raises(InvalidArgument, match="delta must be larger"):
        failing.guarantee(1e-6, neighbors="add-remove")
    assert 0 < compose([Loss.pure(Fraction(1, 10**6))]).guarantee(0.5, neighbors="add-remove").epsilon < 1e-5
    with pytest.raises(TypeError, match="neighbors"):
        failing.guarantee(0.1)  # type: ignore[call-arg]
