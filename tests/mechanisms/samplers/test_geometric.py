"""Geometric and discrete Laplace variables: the digits' identity exactly, the draws by chi-square.

Statistical tests use one repeatable source, so they have one outcome; with fresh words a right sampler would fail
each of them with probability `FALSE_ALARM`. Their power is shown with samplers whose scale is a few per cent off, and
with one that decides ties wrongly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import chisquare, expon, laplace

from goodness import FALSE_ALARM, p_value
from sfumato.mechanisms.samplers import Coin, DiscreteLaplace, Geometric
from sources import Seeded

DRAWS = 200_000
SCALES = [Fraction(1, 3), Fraction(1), Fraction(20), Fraction(100, 3), Fraction(1000), Fraction(3 * 2**17 + 1, 3)]
LATTICE = [Fraction(2**40), Fraction(2**57), Fraction(2**60)]
SHORT = [8, 10, 12, 15]

Family = Callable[..., Geometric | DiscreteLaplace]


def fit(family: Family, drawn: np.ndarray, scale: Fraction, expect: float = 50) -> float:
    """How well the draws fit the scale: a p-value."""
    one_sided = family is Geometric

    def log_weight(k: np.ndarray) -> np.ndarray:
        return np.where((k < 0) & one_sided, -np.inf, -np.abs(k) / float(scale))

    return p_value(drawn, log_weight, reach=math.ceil(30 * scale) + 5, expect=expect)


def fit_limit(family: Family, drawn: np.ndarray, scale: Fraction) -> float:
    """The same for scales so large that 64 quantiles of the continuous limit serve; they err by 1/scale."""
    law = expon if family is Geometric else laplace
    cells = np.floor(64 * law.cdf(drawn.astype(float) / float(scale))).astype(int)
    return float(chisquare(np.bincount(np.minimum(cells, 63), minlength=64)).pvalue)


def fit_low_bits(drawn: np.ndarray, low: int, bits: int = 8) -> float:
    """Are the `bits` bits from number `low` on uniform?"""
    return float(
        chisquare(np.bincount([abs(int(x)) >> low & ((1 << bits) - 1) for x in drawn], minlength=1 << bits)).pvalue
    )


# What holds exactly


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2), Fraction(20)])
def test_the_product_of_the_digit_chances_is_the_geometric_probability(scale: Fraction) -> None:
    with mpmath.workdps(60):
        rate = mpmath.mpf(scale.denominator) / scale.numerator
        top = Geometric(scale).top
        chance = [1 / (1 + mpmath.exp(2**j * rate)) for j in range(top)]
        beyond = mpmath.exp(-(2**top) * rate)
        for g in range(3 << min(top, 8)):
            above, low = divmod(g, 1 << top)
            product = mpmath.mpf(1)
            for j in range(top):
                product *= chance[j] if low >> j & 1 else 1 - chance[j]
            product *= beyond**above * (1 - beyond)
            exact = mpmath.exp(-g * rate) * (1 - mpmath.exp(-rate))
            assert mpmath.almosteq(product, exact, rel_eps=mpmath.mpf(10) ** -50)


@pytest.mark.parametrize("scale", [*SCALES, *LATTICE])
@pytest.mark.parametrize("width", [8, 15, 32])
def test_the_coins_have_the_chances_of_the_digits(scale: Fraction, width: int) -> None:
    def threshold(chance: mpmath.mpf) -> int:
        return int(mpmath.floor(mpmath.ldexp(chance, width)))

    with mpmath.workprec(200):
        size = Geometric(scale, width)
        rate = mpmath.mpf(scale.denominator) / scale.numerator
        for j, coin in zip(reversed(range(size.low, size.top)), size.digits, strict=True):
            assert int(coin.threshold) == threshold(1 / (1 + mpmath.exp(2**j * rate)))
        assert int(size.tail.threshold) == threshold(mpmath.exp(-(2**size.top) * rate))
        assert int(size.keep.threshold) == threshold(mpmath.exp(-(2**size.low) * rate))
        not_zero = DiscreteLaplace(scale, width).not_zero
        assert int(not_zero.threshold) == threshold((1 - mpmath.tanh(rate / 2)) / 2)


@pytest.mark.parametrize("scale", [*SCALES, *LATTICE, Fraction(2**57 - 1), Fraction(5, 3)])
def test_the_digits_reach_far_enough_and_fit_their_type(scale: Fraction) -> None:
    size = Geometric(scale)
    assert 1 << size.top >= 23 * scale
    assert len(size.digits) <= 30
    assert size.low == 0 or 2**17 > scale / 2**size.low >= 2**16


@pytest.mark.parametrize("scale", [Fraction(20), Fraction(5000), Fraction(2**40), Fraction(2**57)])
@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
@pytest.mark.parametrize("width", [8, 13, 32])
def test_the_fast_path_never_contradicts_the_exact_one(family: Family, scale: Fraction, width: int) -> None:
    sampler, source = family(scale, width), Seeded(1)
    words = np.empty((sampler.columns, 3000), np.uint32)
    source.fill(words)
    words[: sampler.coins] >>= np.uint32(32 - width)
    values, undecided = sampler.fast(words)
    asked = source.refinements
    for i in np.flatnonzero(~undecided):
        assert sampler.exact(words[:, i].tolist(), source) == values[i]
    assert source.refinements == asked  # what the words decide needs no more of them
    assert not undecided.all()


@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_ties_at_every_coin_are_left_undecided(family: Family) -> None:
    sampler = family(Fraction(2**40))
    size = sampler if isinstance(sampler, Geometric) else sampler.size
    first = sampler.coins - size.coins
    for row, coin in enumerate([*size.digits, size.tail, size.keep], start=first):
        words = np.full((sampler.columns, 1), 2**30 + 1, np.uint32)
        words[row] = coin.threshold
        assert sampler.fast(words)[1].all()
    if isinstance(sampler, DiscreteLaplace):
        words = np.full((sampler.columns, 1), 2**30 + 1, np.uint32)
        words[0] = int(sampler.not_zero.threshold) << 1
        assert sampler.fast(words)[1].all()


@pytest.mark.parametrize("scale", [Fraction(20), Fraction(2**40)])
def test_the_words_asked_for_do_not_depend_on_the_values(scale: Fraction) -> None:
    class Constant(Seeded):
        """The same word for ever, and how many were asked for."""

        def __init__(self, word: int) -> None:
            super().__init__(0)
            self.word, self.asked = word, 0

        def fill(self, words: np.ndarray) -> None:
            words[...] = self.word
            self.asked += words.size

    small, large = Constant(2**32 - 2**20), Constant(2**20)  # all digits 0, many digits 1; neither ties
    sampler = DiscreteLaplace(scale)
    low, high = sampler.draw(70_000, small), sampler.draw(70_000, large)
    assert abs(int(low[0])) < abs(int(high[0]))
    assert small.asked == large.asked == 70_000 * sampler.columns
    assert small.refinements == large.refinements == 0


@pytest.mark.parametrize("scale", [Fraction(1, 10**6), Fraction(1, 2**60), Fraction(1, 10**40)])
def test_a_tiny_scale_gives_zeros_at_once(scale: Fraction) -> None:
    assert not DiscreteLaplace(scale).draw(1000, Seeded(1)).any()


@pytest.mark.parametrize("count", [0, 1, 2, 65_536, 65_537])
def test_any_number_can_be_drawn(count: int) -> None:
    drawn = DiscreteLaplace(Fraction(3)).draw(count, Seeded(1))
    assert drawn.shape == (count,) and drawn.dtype == np.int64


def test_a_draw_beyond_the_digits_is_the_sum_of_whole_steps() -> None:
    class Far(Seeded):
        """Words of zero: every coin wins, the tail as often as the script says."""

        def fill(self, words: np.ndarray) -> None:
            words[...] = 0

        def bits(self, count: int) -> int:
            self.refinements += 1
            return 0 if self.refinements <= 4 else (1 << count) - 1

    sampler = Geometric(Fraction(20))
    step = 1 << sampler.top
    value = int(sampler.draw(1, Far(0))[0])
    assert value % step == step - 1 and value >= 2 * step


# Chi-square


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_draws_follow_the_distribution(family: Family, scale: Fraction) -> None:
    assert fit(family, family(scale).draw(DRAWS, Seeded(1)), scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_a_scale_five_per_cent_off_is_noticed(family: Family, scale: Fraction) -> None:
    drawn = family(scale * Fraction(21, 20)).draw(DRAWS, Seeded(2))
    assert fit(family, drawn, scale, expect=DRAWS / 64) < FALSE_ALARM
    assert fit(family, family(scale).draw(DRAWS, Seeded(2)), scale, expect=DRAWS / 64) > FALSE_ALARM


@pytest.mark.parametrize("scale", LATTICE)
@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_lattice_scales_follow_the_limit_and_their_low_bits_are_uniform(family: Family, scale: Fraction) -> None:
    drawn = family(scale).draw(30_000, Seeded(3))
    low = Geometric(scale).low
    assert fit_limit(family, drawn, scale) > FALSE_ALARM
    for start in (0, 8, low - 8, low - 4, low):
        assert fit_low_bits(drawn, start) > FALSE_ALARM


@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_a_lattice_scale_five_per_cent_off_or_a_stuck_low_bit_is_noticed(family: Family) -> None:
    drawn = family(Fraction(2**40) * Fraction(21, 20)).draw(DRAWS, Seeded(4))
    assert fit_limit(family, drawn, Fraction(2**40)) < FALSE_ALARM
    assert fit_low_bits(drawn[:30_000] | 4, 0) < FALSE_ALARM


def test_lattice_scales_beyond_the_machine_word_give_python_integers() -> None:
    assert DiscreteLaplace(Fraction(2**57)).draw(10, Seeded(1)).dtype == np.int64
    assert DiscreteLaplace(Fraction(2**60)).draw(10, Seeded(1)).dtype == object


@pytest.mark.parametrize("width", SHORT)
@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_with_short_words_ties_happen_and_the_distribution_stays(family: Family, width: int) -> None:
    source = Seeded(5)
    drawn = family(Fraction(20), width).draw(30_000, source)
    assert source.refinements > 30_000 / 2**width
    assert fit(family, drawn, Fraction(20)) > FALSE_ALARM


@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_with_short_words_the_low_block_is_refined_and_stays_right(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 2**3 values below a scale of 20: the block is far from uniform, and one draw in three is decided exactly
    monkeypatch.setattr("sfumato.mechanisms.samplers.geometric._LOW_MARGIN", 1)
    source = Seeded(6)
    sampler = family(Fraction(20), 10)
    drawn = sampler.draw(30_000, source)
    assert (sampler if isinstance(sampler, Geometric) else sampler.size).low == 3
    assert source.refinements > 3000
    assert fit(family, drawn, Fraction(20)) > FALSE_ALARM


@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_a_low_block_that_is_not_rejected_is_noticed(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.mechanisms.samplers.geometric._LOW_MARGIN", 1)
    sampler = family(Fraction(20))
    words = np.empty((sampler.columns, 30_000), np.uint32)
    Seeded(7).fill(words)
    assert fit(family, sampler.fast(words)[0], Fraction(20)) < FALSE_ALARM


@pytest.mark.parametrize("family", [Geometric, DiscreteLaplace])
def test_ties_decided_wrongly_are_noticed(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    def generous(self: Coin, word: int, entropy: object) -> bool:
        return word <= self.threshold  # every tie is heads

    monkeypatch.setattr(Coin, "decide", generous)
    monkeypatch.setattr(Coin, "toss", lambda self, entropy: False)
    assert fit(family, family(Fraction(20), 8).draw(DRAWS, Seeded(8)), Fraction(20)) < FALSE_ALARM
