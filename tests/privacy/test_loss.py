"""A loss and a pair keep what was read: no construction refunds a budget, and no numpy integer wraps around."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting import Filter, Spent, compose, keeps
from sfumato.errors import InvalidArgument, ScaleTooLarge
from sfumato.privacy.loss import Loss
from sfumato.privacy.pair import TwoPoint, hockey_stick
from sfumato.privacy.sampled import Sampled
from sfumato.privacy.shifts import (
    DiscreteGaussianShift,
    DiscreteLaplaceShift,
    GaussianShift,
    LaplaceShift,
    LatticeGaussianShift,
)


@pytest.mark.parametrize("wrong", [-1, Fraction(-1, 10**9), math.nan, math.inf, "1", True])
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("epsilon", lambda x: Loss(x, None, None)),
        ("rho", lambda x: Loss(None, x, None)),
        ("rho", lambda x: Loss.pure(1, rho=x)),
        ("delta", lambda x: Loss(None, None, None, x)),
        ("epsilon", lambda x: Spent(epsilon=x)),
        ("delta", lambda x: Spent(delta=x)),
    ],
)
def test_no_loss_is_negative_or_not_a_number(name, make, wrong):
    with pytest.raises(InvalidArgument, match=f"{name} must be"):
        make(wrong)


def test_a_delta_is_at_most_one():
    assert Loss(None, None, None, 1).delta == 1
    with pytest.raises(InvalidArgument, match="delta must be between 0 and 1"):
        Loss(None, None, None, Fraction(11, 10))


def test_a_loss_keeps_fractions_and_never_floats():
    loss = Loss(0.1, 0.005, None, 1e-9)
    assert loss == Loss(Fraction(1, 10), Fraction(1, 200), None, Fraction(1, 10**9))
    assert {type(x) for x in (loss.epsilon, loss.rho, loss.delta)} == {Fraction}


def test_a_filter_never_gains_by_spending():
    budget = Filter(1, 1e-6).spend(Loss.pure(0.5))
    assert budget.spend(Loss.pure(0)).remaining.epsilon <= budget.remaining.epsilon


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (TwoPoint(np.int8(100)), TwoPoint(Fraction(100))),
        (LaplaceShift(np.int8(100)), LaplaceShift(Fraction(100))),
        (DiscreteLaplaceShift(np.int8(2), np.int8(100)), DiscreteLaplaceShift(Fraction(2), 100)),
        (GaussianShift(np.int8(17)), GaussianShift(Fraction(17))),
        (LatticeGaussianShift(np.int8(4), np.int8(17), np.int8(3)), LatticeGaussianShift(Fraction(4), Fraction(17), 3)),
        (DiscreteGaussianShift(np.int8(4), np.int8(100)), DiscreteGaussianShift(Fraction(4), 100)),
        (Sampled(TwoPoint(Fraction(1)), 0.1), Sampled(TwoPoint(Fraction(1)), Fraction(1, 10))),
    ],
    ids=lambda pair: type(pair).__name__,
)
def test_a_pair_keeps_what_was_read_so_that_nothing_wraps_around(narrow, wide):
    assert narrow == wide and repr(narrow) == repr(wide)
    assert narrow.window(1e-9) == wide.window(1e-9)


def test_seventeen_deviations_cost_the_same_in_every_type():
    bracket = compose([Loss(None, None, GaussianShift(np.int8(17)))]).epsilon(1e-6)
    assert bracket.low <= 224.4270256 <= bracket.high + 1e-6


def test_a_number_of_uses_does_not_wrap_around():
    loss = Loss.pure(Fraction(46, 100), pair=LaplaceShift(Fraction(46, 100)))
    assert compose([(loss, np.int16(100))]) == compose([(loss, 100)])
    assert compose([(loss, np.int8(100)), (loss, np.int8(100))]) == compose([(loss, 200)])
    assert not keeps(Loss.pure(400), np.int16(100), 30, 0)
    assert keeps(Loss.pure(400), np.int16(100), 40_000, 0)


@pytest.mark.parametrize("uses", [0, -5, 1.5, True])
def test_nothing_is_kept_by_not_being_used(uses):
    with pytest.raises(InvalidArgument, match="uses must be a whole number of at least 1"):
        keeps(Loss.pure(1), uses, 1, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LaplaceShift(Fraction(1, 10**400)),
        lambda: GaussianShift(Fraction(10**400)),
        lambda: Sampled(TwoPoint(Fraction(1)), 1 - Fraction(1, 10**400)),
    ],
)
def test_parameters_beyond_what_floats_can_do_are_refused(make):
    with pytest.raises(ScaleTooLarge, match=r"must .*; got .*; "):
        make()


@pytest.mark.parametrize("epsilon", [800, 900, 5_000])
@pytest.mark.parametrize("kind", [LaplaceShift, lambda e: DiscreteLaplaceShift(e, 3)])
def test_masses_of_far_shifts_are_numbers_and_add_up(kind, epsilon):
    pair = kind(Fraction(epsilon))
    losses = np.linspace(-epsilon - 1, epsilon + 1, 101)
    for masses in (*pair.below(losses), *pair.above(losses)):
        assert np.all(np.isfinite(masses)) and np.all(masses >= 0)
    assert hockey_stick(pair, 1.0) == 1.0


def test_a_divergence_that_is_not_a_number_counts_as_one():
    class Broken(TwoPoint):
        def above(self, losses):
            return losses * math.nan, losses

    assert hockey_stick(Broken(Fraction(1)), 0.5) == 1.0


def test_a_rate_near_one_is_nearly_no_sampling():
    plain, inner = GaussianShift(Fraction(1)), np.array([-80.0, -30.0, -5.0, 0.0, 5.0])
    for sampled in (Sampled(plain, 1 - Fraction(1, 10**17)), Sampled(plain, 1 - Fraction(1, 10**17), False)):
        for mine, theirs in zip(sampled.above(inner), plain.above(inner), strict=True):
            assert np.allclose(mine[2:], theirs[2:], rtol=1e-9, atol=0)
        assert all(math.isfinite(end) for end in sampled.window(1e-30))
