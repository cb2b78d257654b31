"""The discrete Gaussian: the fixed-point chance against many digits, fast against exact, the draws by chi-square.

Statistical tests use one repeatable source, so they have one outcome; with fresh words a right sampler would fail
each of them with probability `FALSE_ALARM`. Their power is shown with samplers whose sigma is a few per cent off, and
with one that decides ties wrongly.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chisquare, norm

from goodness import FALSE_ALARM, p_value
from sfumato.mechanisms.samplers import Coin, DiscreteGaussian
from sfumato.mechanisms.samplers.gaussian import MARGIN, POWER
from sources import Seeded

DRAWS = 200_000
VARIANCES = [Fraction(1, 10), Fraction(1), Fraction(400), Fraction(10**6)]
EDGES = [
    *(Fraction(4) ** k for k in (-30, -29, -5, -1, 0, 1, 13, 26, 27, 28, 29, 40, 50)),
    *(Fraction(4) ** k - Fraction(1, 10**9) for k in (0, 1, 13, 27, 28)),
    *(Fraction(x) for x in ("1/10", "7/3", "15/4", "400", "1e6", "123456789/1000", "4503599627370497/3")),
    Fraction(2**100 - 1, 3),
    Fraction(3, 2**60),
]


def exact_chance(sampler: DiscreteGaussian, size: int) -> mpmath.mpf:
    """The chance of keeping, in units of 2**-31."""
    distance = size - sampler.center
    square = distance * distance / (2 * sampler.variance)
    return mpmath.ldexp(mpmath.exp(-mpmath.mpf(square.numerator) / square.denominator), 31)


def sizes_for(sampler: DiscreteGaussian, count: int) -> list[int]:
    """Sizes everywhere it matters: near zero, near the center, over eight standard deviations, and at the cap."""
    sigma = math.sqrt(sampler.variance)
    spread = np.random.default_rng(1).uniform(0, 9.5 * sigma + 3, count).astype(np.int64).tolist()
    near = [math.floor(sampler.center) + k for k in range(-3, 4)]
    cap = [sampler.most + k for k in range(-2, 3)] + [
        math.floor(sampler.center + 8 * Fraction(sigma)) + k for k in (-1, 0, 1)
    ]
    return [size for size in [0, 1, 2, 3, 2**61, *near, *cap, *spread] if 0 <= size < 2**62]


@pytest.mark.parametrize("variance", EDGES)
def test_the_fixed_point_chance_is_within_forty_units(variance: Fraction) -> None:
    sampler = DiscreteGaussian(variance)
    assert not sampler.narrow
    sizes = sizes_for(sampler, 400)
    chances = sampler.chance(np.array(sizes, np.int64)).tolist()
    with mpmath.workprec(200):
        worst = max(abs(mpmath.mpf(c) - exact_chance(sampler, s)) for c, s in zip(chances, sizes, strict=True))
    assert worst < 40 < MARGIN


@pytest.mark.parametrize("variance", EDGES)
def test_no_product_leaves_the_machine_word(variance: Fraction) -> None:
    sampler = DiscreteGaussian(variance)
    cap = (1 << 31) - 1
    assert ((cap * cap) >> 26) * int(sampler.rate) < 2**64
    assert (max(sampler.most, 0) << max(sampler.shift, 0)) < 2**62
    assert sampler.fixed_center < 2**62
    if sampler.shift >= 0:  # a size that is cut is one whose distance is cut as well
        assert (sampler.most << sampler.shift) - sampler.fixed_center >= cap


def test_the_polynomial_is_within_four_units_of_the_power_of_two() -> None:
    with mpmath.workprec(120):
        points = [mpmath.mpf(k) / 4096 for k in range(4097)]
        signed = [(-1) ** k * c for k, c in enumerate(POWER)]
        worst = max(abs(mpmath.polyval(signed, f, asc=True) - mpmath.ldexp(2**-f, 31)) for f in points)
    # Between two points the error moves by less than its slope, below 400 units, times half the distance.
    assert worst + mpmath.mpf(400) / 8192 < 4


@pytest.mark.parametrize("width", [8, 11, 15, 31])
@pytest.mark.parametrize("variance", [Fraction(1, 10), Fraction(7, 3), Fraction(400), Fraction(2**80 + 1, 3)])
def test_the_fast_path_never_contradicts_the_exact_one(variance: Fraction, width: int) -> None:
    sampler, source = DiscreteGaussian(variance, width), Seeded(1)
    words = np.empty(3000, np.uint32)
    source.fill(words)
    words >>= np.uint32(32 - width)
    sizes = np.abs(sampler.proposal.draw(words.size, source))
    keep, undecided = sampler.fast(sizes, words)
    asked = source.refinements
    for i in np.flatnonzero(~undecided):
        assert sampler.exact(int(sizes[i]), int(words[i]), source) == keep[i]
    assert source.refinements == asked  # what the word decides needs no more of them
    assert not (keep & undecided).any()


def test_words_next_to_the_chance_are_left_undecided_or_decided_rightly() -> None:
    sampler, source = DiscreteGaussian(Fraction(400)), Seeded(2)
    sizes = np.repeat(np.arange(0, 100), 41)
    with mpmath.workprec(120):
        centers = [int(exact_chance(sampler, size)) for size in range(100)]
    far = [20, 40, 63, 64, 65, 66, 127, 128, 129, 300]
    offsets = np.tile([*range(-10, 11), *far, *(-x for x in far)], 100)
    words = np.clip(np.repeat(centers, 41) + offsets, 0, 2**31 - 1).astype(np.uint32)
    keep, undecided = sampler.fast(sizes, words)
    assert undecided.reshape(100, 41)[:, :21].all()
    for i in np.flatnonzero(~undecided):
        assert sampler.exact(int(sizes[i]), int(words[i]), source) == keep[i]


def test_a_variance_too_small_for_the_fixed_point_is_decided_exactly() -> None:
    sampler = DiscreteGaussian(Fraction(1, 2**70))
    assert sampler.narrow
    assert not sampler.draw(100, Seeded(1)).any()


@pytest.mark.parametrize(
    "variance", [Fraction(9, 4), Fraction(399, 100), Fraction(15, 2), Fraction(400), Fraction(2**80)]
)
def test_three_proposals_in_five_are_kept(variance: Fraction) -> None:
    sampler = DiscreteGaussian(variance)
    sizes = np.abs(sampler.proposal.draw(20_000, Seeded(1)))
    assert sampler.chance(sizes).mean() > 0.6 * 2**31


@pytest.mark.parametrize("count", [0, 1, 2, 65_536, 65_537])
def test_any_number_can_be_drawn(count: int) -> None:
    drawn = DiscreteGaussian(Fraction(9)).draw(count, Seeded(1))
    assert drawn.shape == (count,) and drawn.dtype == np.int64


# Chi-square


def fit(drawn: np.ndarray, variance: Fraction, expect: float = 50) -> float:
    reach = math.ceil(12 * math.sqrt(variance)) + 4
    return p_value(drawn, lambda k: -k * k / (2 * float(variance)), reach, expect)


def fit_limit(drawn: np.ndarray, sigma: int) -> float:
    """For a sigma so large that 64 quantiles of the normal distribution serve."""
    cells = np.floor(64 * norm.cdf(drawn.astype(float) / sigma)).astype(int)
    return float(chisquare(np.bincount(np.minimum(cells, 63), minlength=64)).pvalue)


def fit_low_bits(drawn: np.ndarray, low: int) -> float:
    return float(chisquare(np.bincount(np.abs(drawn) >> low & 255, minlength=256)).pvalue)


@pytest.mark.parametrize("variance", VARIANCES)
def test_draws_follow_the_distribution(variance: Fraction) -> None:
    assert fit(DiscreteGaussian(variance).draw(DRAWS, Seeded(1)), variance) > FALSE_ALARM


@pytest.mark.parametrize("variance", VARIANCES)
def test_a_sigma_three_per_cent_off_is_noticed(variance: Fraction) -> None:
    off = variance * Fraction(103, 100) ** 2
    assert fit(DiscreteGaussian(off).draw(DRAWS, Seeded(2)), variance, expect=DRAWS / 64) < FALSE_ALARM
    assert fit(DiscreteGaussian(variance).draw(DRAWS, Seeded(2)), variance, expect=DRAWS / 64) > FALSE_ALARM


@pytest.mark.parametrize("power", [40, 50])
def test_lattice_scales_follow_the_limit_and_their_low_bits_are_uniform(power: int) -> None:
    drawn = DiscreteGaussian(Fraction(4) ** power).draw(100_000, Seeded(3))
    assert fit_limit(drawn, 2**power) > FALSE_ALARM
    for low in (0, 8, power - 24, power - 16):
        assert fit_low_bits(drawn, low) > FALSE_ALARM


def test_a_lattice_sigma_three_per_cent_off_or_a_stuck_low_bit_is_noticed() -> None:
    drawn = DiscreteGaussian(Fraction(4) ** 40 * Fraction(103, 100) ** 2).draw(DRAWS, Seeded(4))
    assert fit_limit(drawn, 2**40) < FALSE_ALARM
    assert fit_low_bits(drawn | 4, 0) < FALSE_ALARM


@pytest.mark.parametrize("width", [5, 8, 10, 12, 15])
def test_with_short_words_ties_happen_and_the_distribution_stays(width: int) -> None:
    source = Seeded(5)
    drawn = DiscreteGaussian(Fraction(400), width).draw(DRAWS, source)
    assert source.refinements > DRAWS / 2 ** (width + 1)
    assert fit(drawn, Fraction(400)) > FALSE_ALARM


def test_ties_decided_wrongly_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Coin, "decide", lambda self, word, entropy: True)
    drawn = DiscreteGaussian(Fraction(400), 5).draw(DRAWS, Seeded(5))
    assert fit(drawn, Fraction(400)) < FALSE_ALARM
