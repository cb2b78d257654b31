"""Every pair is two measures seen through their loss; what it says must be true to the stated precision."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.privacy.pair import PRECISION, TwoPoint
from sfumato.privacy.sampled import Sampled
from sfumato.privacy.shifts import (
    DiscreteGaussianShift,
    DiscreteLaplaceShift,
    GaussianShift,
    LaplaceShift,
    LatticeGaussianShift,
)

PAIRS = (
    TwoPoint(Fraction(1, 2)),
    TwoPoint(Fraction(0)),
    LaplaceShift(Fraction(3, 2)),
    DiscreteLaplaceShift(Fraction(1, 3), 1),
    DiscreteLaplaceShift(Fraction(2), 7),
    DiscreteLaplaceShift(Fraction(1), 2**60),
    GaussianShift(Fraction(1, 20)),
    GaussianShift(Fraction(3)),
    DiscreteGaussianShift(Fraction(1, 4), 1),
    DiscreteGaussianShift(Fraction(400), 1),
    DiscreteGaussianShift(Fraction(1000), 50),
    Sampled(GaussianShift(Fraction(1)), Fraction(1, 100)),
    Sampled(GaussianShift(Fraction(1)), Fraction(1, 100)).reversed(),
    Sampled(LaplaceShift(Fraction(1)), Fraction(1, 3)),
    Sampled(DiscreteLaplaceShift(Fraction(1), 3), Fraction(9, 10)).reversed(),
)
ENVELOPES = (
    LatticeGaussianShift(Fraction(400), Fraction(3), 5),
    LatticeGaussianShift(Fraction(2**60), Fraction(2**25), 1000),
)
WIDE = np.array([-math.inf, math.inf])


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_both_distributions_have_mass_one(pair):
    p, q = (float(mass[1]) for mass in pair.below(WIDE))
    assert math.isclose(p + sum(atom.p for atom in pair.key_domains), 1, rel_tol=PRECISION)
    assert math.isclose(q + sum(atom.q for atom in pair.key_domains), 1, rel_tol=PRECISION)


@pytest.mark.parametrize("pair", ENVELOPES, ids=str)
def test_an_envelope_has_more_mass_than_one_on_the_first_side_and_one_on_the_second(pair):
    p, q = (float(mass[1]) for mass in pair.below(WIDE))
    assert p >= 1
    assert math.isclose(q + sum(atom.q for atom in pair.key_domains), 1, rel_tol=PRECISION)


@pytest.mark.parametrize("pair", PAIRS + ENVELOPES, ids=str)
def test_an_atom_weighs_exp_of_its_loss_more_under_p_than_under_q(pair):
    for loss, p, q in pair.key_domains:
        if math.isfinite(loss):
            assert math.isclose(q, p * math.exp(-loss), rel_tol=PRECISION)


@pytest.mark.parametrize("pair", PAIRS + ENVELOPES, ids=str)
def test_below_and_above_add_up_to_everything(pair):
    low, high = pair.window(1e-12)
    losses = np.linspace(low - 1, high + 1, 257)
    for below, above, total in zip(pair.below(losses), pair.above(losses), pair.below(WIDE), strict=True):
        assert np.allclose(below + above, total[1], rtol=PRECISION, atol=0)
        assert np.all(np.diff(below) >= 0) and np.all(np.diff(above) <= 0)


@pytest.mark.parametrize("pair", PAIRS + ENVELOPES, ids=str)
def test_between_two_losses_the_ratio_of_the_masses_lies_between_them(pair):
    low, high = pair.window(1e-9)
    losses = np.linspace(low, high, 101)
    (p, q), (p2, q2) = pair.below(losses), pair.above(losses)
    masses = [np.where(b[1:] < 0.5, np.diff(b), -np.diff(a)) for b, a in ((p, p2), (q, q2))]
    solid = masses[0] > 1e-7
    ratio = np.log(masses[0][solid] / masses[1][solid])
    assert np.all(ratio >= losses[:-1][solid] - 1e-5) and np.all(ratio <= losses[1:][solid] + 1e-5)


@pytest.mark.parametrize("pair", PAIRS + ENVELOPES, ids=str)
@pytest.mark.parametrize("tail", [1e-3, 1e-12])
def test_the_window_leaves_out_at_most_the_tail_on_either_side(pair, tail):
    low, high = pair.window(tail)
    outside = np.array([math.nextafter(low, -math.inf), high])
    left = float(pair.below(outside[:1])[0][0]) + sum(atom.p for atom in pair.key_domains if atom.loss < low)
    right = float(pair.above(outside[1:])[0][0]) + sum(atom.p for atom in pair.key_domains if atom.loss > high)
    assert left <= tail * (1 + PRECISION) and right <= tail * (1 + PRECISION)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_reversing_swaps_the_distributions_and_negates_the_loss(pair):
    other = pair.reversed()
    low, high = pair.window(1e-6)
    losses = np.linspace(low, high, 54) + 1e-7
    there, back = pair.above(losses), other.below(-losses)
    assert np.allclose(there[0], back[1], rtol=1e-9, atol=1e-15)
    assert np.allclose(there[1], back[0], rtol=1e-9, atol=1e-15)
    turned = sorted((-loss, q, p) for loss, p, q in other.key_domains)
    assert np.allclose(turned, sorted(pair.key_domains), rtol=1e-9)
