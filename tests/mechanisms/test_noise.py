"""Integer noise: its tails, its probabilities, and the least variance that keeps a promise, against exact sums."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest

from sfumato.errors import InvalidArgument
from sfumato.mechanisms import Gaussian, GaussianThreshold, Geometric
from sfumato.mechanisms._noise.additive import root_up
from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise, least_variance
from sfumato.privacy.pair import TINY, KeyDomain, Pair, TwoPoint, hockey_stick
from sfumato.privacy.shifts import (
    DiscreteGaussianShift,
    DiscreteLaplaceShift,
    GaussianShift,
    LatticeGaussianShift,
    discrete_gaussian_shift,
)

SCALES = [Fraction(1, 10_000), Fraction(1, 40), Fraction(1, 2), Fraction(1), Fraction(22, 7), Fraction(10**6)]
VARIANCES = [Fraction(1, 1000), Fraction(1, 5), Fraction(1), Fraction(10), Fraction(9_999), Fraction(10_001)]
CONFIDENCES = [Fraction(1, 100), Fraction(1, 2), Fraction(95, 100), 1 - Fraction(1, 10**9), 1 - Fraction(1, 10**60)]


def real(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


@cache
def gaussian_masses(variance: Fraction) -> tuple[list[mp.mpf], mp.mpf]:
    """The weights of 0, 1, 2, ... and the sum over all integers."""
    with mp.workdps(40):
        end = math.ceil(30 * math.sqrt(variance)) + 3
        weights = [mp.exp(-x * x / (2 * real(variance))) for x in range(end)]
        return weights, 2 * mp.fsum(weights) - 1


def gaussian_beyond(variance: Fraction, k: int) -> mp.mpf:
    """Pr[|X| > k]."""
    weights, total = gaussian_masses(variance)
    return 2 * mp.fsum(weights[k + 1 :]) / total


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("scale", SCALES)
def test_the_reach_of_laplace_noise_is_the_least_that_covers(scale: Fraction, confidence: Fraction) -> None:
    with mp.workdps(100):
        k, a, miss = LaplaceNoise(scale).reach(confidence), mp.exp(-1 / real(scale)), real(1 - confidence)
        assert 2 * a ** (k + 1) / (1 + a) <= miss
        assert k == 0 or 2 * a**k / (1 + a) > miss


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("variance", VARIANCES)
def test_the_reach_of_gaussian_noise_covers_and_is_the_least_for_a_narrow_one(
    variance: Fraction, confidence: Fraction
) -> None:
    with mp.workdps(40):
        k, miss = GaussianNoise(variance).reach(confidence), real(1 - confidence)
        assert gaussian_beyond(variance, k) <= miss
        spare = 1 if variance <= 10_000 else 2  # a wide one takes the normal distribution's
        assert k < spare or gaussian_beyond(variance, k - spare) > miss


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_tails_of_gaussian_noise_lie_below_those_of_the_normal_distribution(variance: Fraction) -> None:
    with mp.workdps(40):
        sigma = mp.sqrt(real(variance))
        for k in {int(t * math.sqrt(variance)) for t in (0, 0.1, 0.5, 1, 2, 4, 8, 12)}:
            assert gaussian_beyond(variance, k) <= mp.erfc(k / sigma / mp.sqrt(2))


def test_the_reach_of_a_very_wide_noise_covers() -> None:
    """The widest that a sampler takes: the normal distribution itself, to its last digits."""
    with mp.workdps(40):
        for miss in (Fraction(1, 20), Fraction(1, 10**9), Fraction(1, 10**250)):
            k = GaussianNoise(Fraction(4**50)).reach(1 - miss)
            assert mp.erfc(k / mp.mpf(2) ** 50 / mp.sqrt(2)) <= real(miss)


@pytest.mark.parametrize("scale", SCALES)
def test_laplace_probabilities_are_those_of_the_formula(scale: Fraction) -> None:
    noise = LaplaceNoise(scale)
    with mp.workdps(60):
        a = mp.exp(-1 / real(scale))
        for x in (0, 1, -1, 5, -40, 10**6):
            wanted = mp.log((1 - a) / (1 + a)) - abs(x) / real(scale)
            assert noise.log_probability(x) == pytest.approx(float(wanted), rel=1e-12)
            below = a**-x / (1 + a) if x < 0 else 1 - a ** (x + 1) / (1 + a)
            assert noise.log_at_most(x) == pytest.approx(float(mp.log(below)), rel=1e-9, abs=1e-15)
        assert noise.deviation() == pytest.approx(float(mp.sqrt(2 * a) / (1 - a)), rel=1e-12)


@pytest.mark.parametrize("variance", VARIANCES)
def test_gaussian_probabilities_are_those_of_the_sums(variance: Fraction) -> None:
    noise, sigma = GaussianNoise(variance), math.sqrt(variance)
    weights, total = gaussian_masses(variance)
    with mp.workdps(40):
        for x in {int(t * sigma) for t in (-12, -3, -1, 0, 1, 2, 5)}:
            wanted = mp.log(weights[abs(x)] / total)
            assert noise.log_probability(x) == pytest.approx(float(wanted), rel=1e-12, abs=1e-12)
            upper = mp.fsum(weights[abs(x) :]) / total  # Pr[X >= |x|]
            below = upper if x < 0 else 1 - upper + weights[x] / total
            assert noise.log_at_most(x) == pytest.approx(float(mp.log(below)), rel=1e-8, abs=1e-9)


def beyond_in_sum(masses: np.ndarray, draws: int, k: int) -> float:
    """Pr[the sum of so many draws > k]; `masses` are those of -n, ..., n, what lies beyond being far below 1e-20."""
    total = np.array([1.0])
    for _ in range(draws):
        total = np.convolve(total, masses)
    return float(total[len(total) // 2 + k + 1 :].sum())


@pytest.mark.parametrize("draws", [1, 2, 8, 40])
@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(1, 10**6), Fraction(1, 10**12)])
@pytest.mark.parametrize("scale", [Fraction(1, 1000), Fraction(1, 12), Fraction(1, 2), Fraction(3)])
def test_a_sum_of_noises_stays_within_its_reach(scale: Fraction, miss: Fraction, draws: int) -> None:
    """By exact sums, on one side, for both noises; a noise that is hardly ever anything but 0 reaches nowhere."""
    for noise in (LaplaceNoise(scale), GaussianNoise(scale)):
        end = math.ceil(60 * scale) + 8
        masses = np.array([math.exp(noise.log_probability(x)) for x in range(-end, end + 1)])
        (reach,) = noise.sum_reaches([draws], 1 - miss)
        assert beyond_in_sum(masses, draws, reach) <= float(miss)
        if scale == Fraction(1, 1000):
            assert reach == 0


def test_what_is_too_improbable_for_a_float_has_the_logarithm_minus_infinity() -> None:
    """A key that very many have is not shown with a probability that no float holds."""
    assert GaussianNoise(Fraction(10)).log_at_most(-(10**9)) == -math.inf
    assert GaussianNoise(Fraction(10**12)).log_at_most(-(10**9)) == -math.inf
    assert GaussianThreshold(1, 1e-3, spacing=1).log_probability(None, 10**6) == -math.inf
    assert -600 < GaussianThreshold(1, 1e-3).log_probability(None, 100) < -500


def test_narrow_noise_costs_no_time() -> None:
    """At a huge epsilon nothing waits for a million digits."""
    assert Geometric(1, 10**4).error(0.95) == 0


def analytic(mu: mp.mpf, epsilon: float) -> mp.mpf:
    """The delta of continuous Gaussian noise (Balle and Wang 2018)."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def test_the_least_variance_is_that_of_the_analytic_gaussian() -> None:
    """Epsilon 1, delta 1e-6: sigma 4.2247, to nine digits."""
    with mp.workdps(40):
        sigma = mp.findroot(lambda s: analytic(1 / s, 1.0) - mp.mpf("1e-6"), 4.2)
    assert round(float(sigma), 4) == 4.2247
    found = least_variance(
        lambda v: GaussianShift(1 / Fraction(math.sqrt(v))), Fraction(1), Fraction(1), Fraction(1, 10**6)
    )
    assert math.sqrt(found) == pytest.approx(float(sigma), rel=2e-9)
    assert float(sigma) < Gaussian(1, 1, 1e-6).sigma < float(sigma) * (1 + 1e-8)


def exact_divergence(variance: Fraction, steps: int, epsilon: Fraction) -> mp.mpf:
    """The hockey-stick divergence of discrete Gaussian noise, summed."""
    weights, total = gaussian_masses(variance)
    factor, size = mp.exp(real(epsilon)), len(weights)
    pairs = ((weights[abs(x)], weights[abs(x - steps)]) for x in range(steps - size + 1, size))
    return mp.fsum(p - factor * q for p, q in pairs if p > factor * q) / total


@pytest.mark.parametrize(
    ("steps", "epsilon", "delta"),
    [
        (1, Fraction(1), Fraction(1, 10**6)),
        (3, Fraction(1, 2), Fraction(1, 10**9)),
        (1, Fraction(5), Fraction(1, 10**15)),
        (1, Fraction(50), Fraction(1, 10**6)),
        (20, Fraction(10), Fraction(1, 3)),
    ],
)
def test_the_least_variance_keeps_the_promise_and_a_thousandth_less_breaks_it(
    steps: int, epsilon: Fraction, delta: Fraction
) -> None:
    """By the exact sums for the noise that is really drawn."""
    found = least_variance(lambda v: discrete_gaussian_shift(v, Fraction(steps)), Fraction(steps), epsilon, delta)
    with mp.workdps(40):
        assert exact_divergence(found, steps, epsilon) <= real(delta)
        assert exact_divergence(found * Fraction(999, 1000), steps, epsilon) > real(delta)


def test_a_delta_that_floats_cannot_resolve_is_refused() -> None:
    """Tails underflow there, and an underflow must not count as a kept promise."""
    for make in (lambda d: Gaussian(1, 1, d), lambda d: GaussianThreshold(1, d)):
        make(Fraction(1, 10**250))
        for digits in (290, 310, 400):
            with pytest.raises(InvalidArgument, match="delta must"):
                make(Fraction(1, 10**digits))


PAIRS = [
    TwoPoint(Fraction(1, 3)),
    TwoPoint(Fraction(50)),
    TwoPoint(Fraction(700)),
    TwoPoint(Fraction(2000)),
    DiscreteLaplaceShift(Fraction(10, 3), 7),
    DiscreteGaussianShift(Fraction(1, 1600), 1),
    DiscreteGaussianShift(Fraction(1, 4), 1),
    DiscreteGaussianShift(Fraction(30), 5),
    LatticeGaussianShift(Fraction(1, 40), Fraction(1), 1),
    LatticeGaussianShift(Fraction(2), Fraction(1), 1),
]


def exact_hockey_stick(pair: Pair, epsilon: Fraction) -> mp.mpf:
    """What the pair stands for, from its definition."""
    match pair:
        case TwoPoint(e):
            keep = 1 / (1 + mp.exp(-real(e)))
            return max(mp.mpf(0), keep * (1 - mp.exp(real(epsilon - e))))
        case DiscreteLaplaceShift(e, steps):
            a = mp.exp(-real(e / steps))
            masses = [(1 - a) / (1 + a) * a**x for x in range(60 * steps)]
            end = len(masses)
            terms = ((masses[abs(x)], masses[abs(x - steps)]) for x in range(steps - end + 1, end))
            return mp.fsum(p - mp.exp(real(epsilon)) * q for p, q in terms if p > mp.exp(real(epsilon)) * q)
        case DiscreteGaussianShift(variance, steps):
            return exact_divergence(variance, steps, epsilon)
        case LatticeGaussianShift(variance, norm, _):
            return exact_divergence(variance, int(norm), epsilon)
    raise AssertionError


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_the_hockey_stick_is_never_below_the_exact_one(pair: Pair) -> None:
    """Also at epsilon 50, 700 and 800, and where a loss lies at epsilon itself or next to it."""
    own = [getattr(pair, "epsilon", Fraction(1))]
    if isinstance(pair, DiscreteGaussianShift):
        own = [(pair.steps**2 - 2 * x * pair.steps) / (2 * pair.variance) for x in range(-2, 2)]
    near = [math.nextafter(float(e), way) for e in own if e > 0 for way in (0, math.inf)]
    epsilons = {*map(float, own), *near, 0.0, 0.1, 1.0, 3.0, 50.0, 700.0, 800.0}
    with mp.workdps(700 if isinstance(pair, TwoPoint) else 60):
        for epsilon in sorted(e for e in epsilons if e >= 0):
            exact = exact_hockey_stick(pair, Fraction(epsilon))
            assert hockey_stick(pair, epsilon) >= exact
            if isinstance(pair, TwoPoint) or (epsilon < 600 and not isinstance(pair, LatticeGaussianShift)):
                assert hockey_stick(pair, epsilon) <= exact + 1e-11 * max(1, epsilon)


def test_a_loss_just_above_epsilon_counts() -> None:
    """A loss that rounds to epsilon, or to just below it, is still found, and still costs."""

    class Sharp(TwoPoint):
        @property
        def key_domains(self) -> tuple[KeyDomain, ...]:
            return (
                KeyDomain(1.0 - 2.0**-53, 0.9, 0.9 * math.exp(-1.0)),
                KeyDomain(-1.0, 0.1, 1 - 0.9 * math.exp(-1.0)),
            )

    assert hockey_stick(Sharp(Fraction(1)), 1.0) > 0.9 * 2.0**-53


def test_masses_that_underflow_do_not_make_a_promise() -> None:
    """Beyond forty standard deviations nothing is known to be below the least mass that is trusted."""
    assert hockey_stick(GaussianShift(Fraction(1, 100)), 1.0) >= TINY
    assert np.isfinite(hockey_stick(GaussianShift(Fraction(40)), 800.0))


@pytest.mark.parametrize("count", [2, 7, 1_000, 10**9, 10**30])
@pytest.mark.parametrize("confidence", [Fraction(1, 100), Fraction(95, 100), 1 - Fraction(1, 10**30)])
def test_the_confidence_of_each_of_many_gives_the_confidence_of_all(confidence: Fraction, count: int) -> None:
    """c**count >= confidence, with c below 1 and at least as good as the union bound."""
    each = root_up(confidence, count)
    with mp.workdps(120):
        assert mp.log1p(-real(1 - each)) * count >= mp.log(real(confidence))
    assert each < 1
    assert each <= 1 - (1 - confidence) / count
