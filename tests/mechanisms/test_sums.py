"""The reach of a weighted sum of noises: never too short, and hardly too long."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.mechanisms._noise.sums import Noise, Plane, Term, plane, reach
from sources import Seeded

MISS = Fraction(1, 20)
DRAWS = 40_000
SURE = 4.9 * math.sqrt(0.05 * 0.95 / DRAWS)  # exceeded by chance once in a million tests, on either side
WIDE: tuple[Noise, ...] = (LaplaceNoise(Fraction(1 << 20)), GaussianNoise(Fraction(1 << 40)))
each = pytest.mark.parametrize("noise", WIDE, ids=("laplace", "gaussian"))


def sums(noise: Noise, weights: list[float], seed: int) -> np.ndarray:
    """Many draws of the weighted sum."""
    entropy = Seeded(seed)
    return sum(weight * noise.sampler.draw(DRAWS, entropy).astype(float) for weight in weights)


@each
@pytest.mark.parametrize(
    "weights", ([1.0, -1.0], [1.0, 0.2], [1.0] * 5, [1.0, 0.001, 0.001], [3.0, -2.0, 1.0, 0.5, 0.1], [0.0, 2.0])
)
def test_a_sum_stays_within_its_reach_as_often_as_is_said(noise: Noise, weights: list[float]) -> None:
    """95 of 100 draws, and not 97: real noise from the samplers; false alarm 1e-6 on each side."""
    bound = reach(tuple(Term(noise, weight) for weight in weights), MISS)
    inside = float(np.mean(np.abs(sums(noise, weights, 7)) <= bound))
    assert 0.95 - SURE <= inside <= 0.952 + SURE


@pytest.mark.parametrize("noise", (LaplaceNoise(Fraction(1, 2)), GaussianNoise(Fraction(1, 3))), ids=str)
def test_also_a_noise_narrower_than_a_step_stays_within(noise: Noise) -> None:
    """Then rounding is most of the reach."""
    bound = reach((Term(noise, 1.0), Term(noise, -1.0), Term(noise, 0.5)), MISS)
    assert float(np.mean(np.abs(sums(noise, [1.0, -1.0, 0.5], 3)) <= bound)) >= 0.95 - SURE


def test_two_noises_have_a_formula_and_the_series_agrees() -> None:
    """Two of scale 1: (1 + x / 2) exp(-x); and a third of nearly no weight changes nothing."""
    noise = WIDE[0]
    two = reach((Term(noise, 1.0, 2),), MISS)
    assert math.isclose((1 + two / 2**21) * math.exp(-two / 2**20), 0.05, rel_tol=1e-4)
    assert math.isclose(reach((Term(noise, 1.0, 2), Term(noise, 1e-6)), MISS), two, rel_tol=1e-5)


@each
def test_far_out_the_bound_stays_a_bound(noise: Noise) -> None:
    """Miss probabilities down to 1e-12 give finite reaches that grow."""
    terms = (Term(noise, 1.0, 3), Term(noise, 0.3))
    found = [reach(terms, Fraction(1, 10**power)) for power in range(1, 13)]
    assert found == sorted(found) and math.isfinite(found[-1])


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=5), st.floats(-4, 4), st.floats(-4, 4)
)
def test_between_the_directions_of_a_table_the_reach_is_never_too_short(
    weights: list[tuple[float, float]], a: float, b: float
) -> None:
    """And at most a tenth of a percent too long: it is a norm of the weights."""
    plane = Plane(tuple((WIDE[0], 1, x, y) for x, y in weights), MISS)
    found = float(plane.reach(np.array([a]), np.array([b]))[0])
    true = reach(tuple(Term(WIDE[0], a * x + b * y) for x, y in weights), MISS)
    spread = math.hypot(*(max(abs(a * x) + abs(b * y) for x, y in weights),)) * 2**20
    assert true * (1 - 1e-6) <= found + 10  # steps of rounding, of a million
    assert found <= true * 1.002 + 0.02 * spread + 10


@pytest.mark.parametrize("weights", [((1.0, 1.0), (-1.0, 1.0)), ((1.0, 1.0), (-1.0, 1.0), (1.0, 1.0))])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(1 << 29), Fraction(10**12, 7)])
def test_one_table_serves_laplace_noises_of_all_scales(
    scale: Fraction, weights: tuple[tuple[float, float], ...]
) -> None:
    """It reaches no less far than the table of that very scale, but for the last digits, and hardly farther."""
    noise, miss = LaplaceNoise(scale), Fraction(1, 20)
    terms = tuple((noise, 1, above, below) for above, below in weights)
    a, b = np.array([1.0, 0.0, 0.3, -2.0, 7.0]), np.array([0.0, 1.0, 0.3, 5.0, 0.1])
    quick, own = plane(terms, miss).reach(a, b), Plane(terms, miss).reach(a, b)
    rounding = sum(np.abs(a * above + b * below) for above, below in weights)
    assert np.all(quick >= own * (1 - 1e-6)) and np.all(quick <= own * (1 + 1e-6) + rounding)
