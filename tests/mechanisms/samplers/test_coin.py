"""The coin: thresholds are certified digits, ties are decided exactly, frequencies are right.

Statistical tests use one repeatable source, so they have one outcome; with fresh words a right sampler would fail
each of them with probability `FALSE_ALARM`. Each has a twin that shows what it would catch.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from goodness import FALSE_ALARM
from sfumato.mechanisms.samplers import Coin, bernoulli
from sfumato.rounding import Real
from sources import Seeded

TOSSES = 200_000
EXPONENTS = st.fractions(min_value=0, max_value=60, max_denominator=10**9)


class Scripted(Seeded):
    """Answers a request for digits with what the script says, and fails when it has run out."""

    def __init__(self, *answers: int) -> None:
        super().__init__(0)
        self.answers = list(answers)

    def bits(self, count: int) -> int:
        """The next answer of the script."""
        answer = self.answers.pop(0)
        assert 0 <= answer < 1 << count
        return answer


def digits_of_exp(x: Fraction, bits: int) -> int:
    with mpmath.workprec(bits + 64):
        return int(mpmath.floor(mpmath.ldexp(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator), bits)))


@given(EXPONENTS, st.integers(1, 32))
def test_the_threshold_is_the_chance_in_whole_units_of_a_word(x: Fraction, width: int) -> None:
    expected = min(digits_of_exp(x, width), (1 << width) - 1)
    assert int(Coin.exp(x, width).threshold) == expected


@pytest.mark.parametrize("x", [Fraction(1, 2**100), Fraction(1, 10**30), Fraction(10**6), Fraction(2**70)])
def test_the_threshold_is_right_next_to_one_and_next_to_zero(x: Fraction) -> None:
    assert int(Coin.exp(x).threshold) == (2**32 - 1 if x < 1 else 0)


@given(EXPONENTS, st.integers(1, 32), st.data())
def test_a_word_that_differs_from_the_digits_decides_alone(x: Fraction, width: int, data: st.DataObject) -> None:
    word = data.draw(st.integers(0, (1 << width) - 1))
    digits = digits_of_exp(x, width)
    if word != digits:
        assert Coin.exp(x, width).decide(word, Scripted()) == (word < digits)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=1000), st.integers(0, 3))
def test_a_tie_is_decided_by_the_first_digit_that_differs(x: Fraction, equal: int) -> None:
    coin, width = Coin.exp(x, 32), 32 + 64 * (equal + 1)
    pieces = [digits_of_exp(x, 32 + 64 * (k + 1)) % 2**64 for k in range(equal + 1)]
    last = pieces.pop()
    word = digits_of_exp(x, width) >> (width - 32)
    if last > 0:
        source = Scripted(*pieces, last - 1)
        assert coin.decide(word, source) and not source.answers
    if last < 2**64 - 1:
        source = Scripted(*pieces, last + 1)
        assert not coin.decide(word, source) and not source.answers


def test_a_chance_of_one_is_always_heads_and_of_zero_never() -> None:
    sure, never = Coin.exp(Fraction(0), 8), Coin(Real.exactly(Fraction(0)), 8)
    assert all(sure.decide(word, Scripted()) for word in range(256))
    assert not any(never.decide(word, Scripted()) for word in range(1, 256))
    assert not never.decide(0, Scripted(1))  # a word of zeros is a tie with zero until a digit differs
    assert bernoulli(Coin.exp(Fraction(0)), 1000, Seeded(1)).all()


def test_a_fair_coin_needs_no_luck_at_its_edge() -> None:
    fair = Coin(Real.exactly(Fraction(1, 2)), 1)
    assert fair.decide(0, Scripted())
    assert not fair.decide(1, Scripted(1))


def heads(coin: Coin, seed: int) -> int:
    return int(bernoulli(coin, TOSSES, Seeded(seed)).sum())


@pytest.mark.parametrize("width", [8, 11, 15, 32])
@pytest.mark.parametrize("x", [Fraction(1, 50), Fraction(1, 3), Fraction(1), Fraction(5)])
def test_heads_come_as_often_as_they_should(x: Fraction, width: int) -> None:
    chance = float(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator))
    assert binomtest(heads(Coin.exp(x, width), 7 + width), TOSSES, chance).pvalue > FALSE_ALARM


def test_a_coin_five_per_cent_off_is_noticed() -> None:
    assert binomtest(heads(Coin.exp(Fraction(21, 20)), 3), TOSSES, float(np.exp(-1))).pvalue < FALSE_ALARM


def test_a_coin_that_wins_every_tie_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Coin, "decide", lambda self, word, entropy: True)
    assert binomtest(heads(Coin.exp(Fraction(5), 8), 3), TOSSES, float(np.exp(-5))).pvalue < FALSE_ALARM


def test_ties_really_happen_with_short_words_and_their_number_is_right() -> None:
    source = Seeded(5)
    bernoulli(Coin.exp(Fraction(1), 8), TOSSES, source)
    assert binomtest(source.refinements, TOSSES, 2**-8).pvalue > FALSE_ALARM


def test_a_toss_is_heads_as_often_as_it_should() -> None:
    coin, source = Coin.exp(Fraction(1, 3), 8), Seeded(11)
    won = sum(coin.toss(source) for _ in range(20_000))
    assert binomtest(won, 20_000, float(np.exp(-1 / 3))).pvalue > FALSE_ALARM
