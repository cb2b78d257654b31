"""Rényi accounting against published figures, against other accountants, and against the definition."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.accounting import compose, divergence, optimal, renyi, zcdp_delta, zcdp_epsilon
from sfumato.accounting.renyi import ORDERS, Renyi
from sfumato.errors import InvalidArgument
from sfumato.privacy.loss import Loss
from sfumato.privacy.sampled import Sampled
from sfumato.privacy.shifts import DiscreteGaussianShift, GaussianShift

F = Fraction


def sampled(sigma: str, rate: Fraction) -> Loss:
    shift = 1 / F(sigma)
    return Loss(None, shift * shift / 2, Sampled(GaussianShift(shift), rate))


def first_conversion(curve: Renyi, delta: float) -> float:
    """Mironov's: D + ln(1 / delta) / (a - 1), which the papers below used."""
    return min(float(b) - math.log(delta) / (float(a) - 1) for a, b in zip(curve.orders, curve.bounds, strict=True))


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "published"),
    [
        ("4", F(1, 100), 10_000, 1.26),  # Abadi et al. 2016, section 5.1: the moments accountant
        ("1.2", F(256, 60_000), 10 * 60_000 // 256, 1.20),  # TensorFlow Privacy, tutorials/README.md
        ("1.12", F(256, 60_000), 60 * 60_000 // 256, 2.92),
    ],
)
def test_published_figures_of_sampled_gaussian_noise(sigma: str, rate: Fraction, steps: int, published: float) -> None:
    curve = renyi([(sampled(sigma, rate), steps)])
    assert first_conversion(curve, 1e-5) == pytest.approx(published, abs=0.006)
    exact = compose([(sampled(sigma, rate), steps)]).epsilon(1e-5)
    assert exact.low < float(curve.epsilon(1e-5)) < published
    assert float(curve.epsilon(1e-5)) < 1.2 * exact.high


def test_pure_releases_lie_between_the_best_and_zcdp() -> None:
    """100 of 0.1 at delta 1e-6: 4.7746 is the best there is; Rényi is no worse than zCDP."""
    loss = Loss.pure(F(1, 10))
    found = renyi([(loss, 100)]).epsilon(1e-6)
    assert optimal([(0.1, 0, 100)], 1e-6) < found <= zcdp_epsilon(F(1, 2), 1e-6) * F(1001, 1000)
    assert float(found) == pytest.approx(5.073, abs=0.001)


def test_gaussian_noise_is_what_zcdp_says() -> None:
    """1,000 of sigma 20: at a fine set of orders the same epsilon and delta, never less."""
    curve = renyi([(Loss.concentrated(F(1, 800)), 1_000)], orders=[1 + F(k, 50) for k in range(1, 500)])
    for delta in (1e-6, 1e-9):
        assert 1 <= curve.epsilon(delta) / zcdp_epsilon(F(1_000, 800), delta) < 1.0002
    assert 1 <= curve.delta(8) / zcdp_delta(F(1_000, 800), 8) < 1.002


@given(st.fractions(F(1, 100), 5), st.sampled_from(ORDERS))
@settings(max_examples=60, deadline=None)
def test_a_pure_loss_has_the_divergence_of_randomized_response(epsilon: Fraction, order: Fraction) -> None:
    with mpmath.workprec(300):
        e, a = (mpmath.mpf(x.numerator) / x.denominator for x in (epsilon, order))
        p = 1 / (1 + mpmath.exp(-e))
        truth = mpmath.log(p * (p / (1 - p)) ** (a - 1) + (1 - p) * ((1 - p) / p) ** (a - 1)) / (a - 1)
        found = divergence(Loss(epsilon, None, None), order)
        assert truth <= mpmath.mpf(found.numerator) / found.denominator <= truth * (1 + mpmath.mpf(10) ** -15)


@pytest.mark.parametrize("order", [2, 3, 8, 33])
@pytest.mark.parametrize("variance", [F(1), F(9, 4), F(25)])
def test_a_sampled_discrete_gaussian_has_its_divergence_in_both_directions(variance: Fraction, order: int) -> None:
    """Summed over the integers with 60 digits: the stated bound covers both, and the larger one closely."""
    rate, shift = F(1, 7), 2
    bound = float(divergence(Loss(None, None, Sampled(DiscreteGaussianShift(variance, shift), rate)), order))
    reach = 60 * 6 + order * shift
    with mpmath.workdps(60):
        weights = {x: mpmath.exp(-mpmath.mpf(x * x) / (2 * float(variance))) for x in range(-reach, reach + 1)}
        total = mpmath.fsum(weights.values())
        q = {x: weights[x] / total for x in range(-reach + shift, reach + 1)}
        r = {x: (1 - mpmath.mpf(1) / 7) * q[x] + weights[x - shift] / total / 7 for x in q}
        both = [
            mpmath.log(mpmath.fsum(a[x] ** order * b[x] ** (1 - order) for x in q)) / (order - 1)
            for a, b in ((r, q), (q, r))
        ]
    assert float(max(both)) <= bound <= float(max(both)) * (1 + 1e-9) + 1e-12


def test_an_order_between_whole_ones_gets_the_next() -> None:
    loss = Loss(None, None, Sampled(GaussianShift(F(1)), F(1, 10)))
    assert divergence(loss, 2.5) == divergence(loss, 3) < divergence(loss, 3.1)


def test_curves_add_up_order_by_order() -> None:
    losses = [Loss.pure(F(1, 2)), Loss.concentrated(F(1, 10)), sampled("2", F(1, 10))]
    whole, orders = renyi(losses), (2, 8)
    one_by_one = renyi([losses[0]])
    for loss in losses[1:]:
        one_by_one = one_by_one.then(renyi([loss]))
    assert one_by_one == whole
    assert renyi([(losses[0], 3)], orders).bounds == tuple(3 * divergence(losses[0], order) for order in orders)


def test_nothing_costs_nothing() -> None:
    assert renyi([]).epsilon(0.5) == 0 and renyi([Loss.pure(0)]).bounds == (0,) * len(ORDERS)


def test_a_delta_beside_the_loss_is_paid_out_of_delta() -> None:
    loss = Loss.pure(F(1, 10), delta=F(1, 10**7))
    curve = renyi([(loss, 5)])
    assert curve.failure == F(5, 10**7)
    assert curve.epsilon(1e-6) == renyi([(Loss.pure(F(1, 10)), 5)]).epsilon(5e-7)
    assert curve.delta(3) >= curve.failure
    with pytest.raises(InvalidArgument, match=r"delta must exceed .*; got less; give a larger"):
        curve.epsilon(1e-7)


def test_epsilon_and_delta_are_each_others_inverse() -> None:
    curve = renyi([(Loss.pure(F(1, 4)), 20)])
    for delta in (1e-3, 1e-6, 1e-12):
        assert float(curve.delta(curve.epsilon(delta))) == pytest.approx(delta, rel=1e-6)


def test_large_losses_do_no_harm() -> None:
    """Beyond what exponentials can do the divergence is epsilon itself; a rate near 1 is no sample."""
    assert divergence(Loss(F(10_000), None, None), 1_024) == 10_000
    near = Sampled(GaussianShift(F(1)), 1 - F(1, 2**500))
    assert float(divergence(Loss(None, None, near), 16)) == pytest.approx(8, rel=1e-9)
    assert np.isfinite(float(divergence(Loss(None, None, Sampled(GaussianShift(F(50)), F(1, 2))), 1_024)))


def test_what_has_no_curve_is_refused() -> None:
    for call in (
        lambda: renyi([Loss(None, None, None)]),
        lambda: renyi([Loss.pure(1)], orders=[]),
        lambda: renyi([Loss.pure(1)], orders=[1, 2]),
        lambda: renyi([(Loss.pure(1), 0)]),
        lambda: renyi([0.5]),  # type: ignore[list-item]
        lambda: renyi([Loss.pure(1)], [2]).then(renyi([Loss.pure(1)], [3])),
    ):
        with pytest.raises(InvalidArgument, match="must"):
            call()
