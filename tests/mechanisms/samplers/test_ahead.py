"""Draws one at a time: the same distribution, no draw twice, no memory of scales long past."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from goodness import FALSE_ALARM, p_value
from sfumato.mechanisms.samplers import (
    LIFT,
    DiscreteLaplace,
    discrete_gaussian,
    discrete_laplace,
    draw_lifted,
    draw_one,
)
from sources import Seeded


class Counter:
    """A sampler that never repeats a value, so that a value used twice would show."""

    def __init__(self) -> None:
        self.next = 0

    def draw(self, count: int, entropy: object) -> np.ndarray:
        """The next `count` values."""
        self.next += count
        return np.arange(self.next - count, self.next)


def drawn_singly(sampler: DiscreteLaplace, count: int, source: Seeded) -> np.ndarray:
    return np.array([draw_one(sampler, source) for _ in range(count)])


def test_no_draw_is_used_twice_or_lost() -> None:
    sampler, source = Counter(), Seeded(1)
    assert sorted(draw_one(sampler, source) for _ in range(4096)) == list(range(4096))


def test_samplers_do_not_share_their_blocks() -> None:
    one, other, source = Counter(), Counter(), Seeded(1)
    pairs = [(draw_one(one, source), draw_one(other, source)) for _ in range(3000)]
    assert [a for a, _ in pairs] == [b for _, b in pairs]


def test_a_draw_is_a_python_integer() -> None:
    for sampler in (DiscreteLaplace(Fraction(3)), DiscreteLaplace(Fraction(2**60)), discrete_gaussian(Fraction(9))):
        assert type(draw_one(sampler, Seeded(2))) is int


def test_single_draws_follow_the_distribution() -> None:
    """False alarm `FALSE_ALARM`; a scale five per cent off is noticed, as the second half shows."""
    for scale, right in ((20, True), (21, False)):
        drawn = drawn_singly(DiscreteLaplace(Fraction(scale)), 100_000, Seeded(3))
        fits = p_value(drawn, lambda k: -np.abs(k) / 20, 700, expect=100_000 / 64) > FALSE_ALARM
        assert fits == right


def test_ever_new_scales_keep_no_old_blocks() -> None:
    source = Seeded(4)
    for scale in range(1, 300):
        draw_one(DiscreteLaplace(Fraction(scale)), source)
    assert len(source.stock()) <= 64


def test_the_same_scale_is_the_same_sampler() -> None:
    assert discrete_laplace(Fraction(40, 2)) is discrete_laplace(Fraction(20))
    assert discrete_gaussian(Fraction(400)) is discrete_gaussian(Fraction(400))


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2**40), Fraction(2**60)])
def test_lifted_draws_are_the_draws_and_of_one_length(scale: Fraction) -> None:
    """Also where they do not fit 64 bits; Python's integers have 30 binary digits to a place."""
    sampler = DiscreteLaplace(scale)
    lifted, plain, lengths = Seeded(3), Seeded(3), set()
    for _ in range(2_000):
        draw = draw_lifted(sampler, lifted)
        assert draw - LIFT == draw_one(sampler, plain)
        lengths.add(-(-draw.bit_length() // 30))
    assert lengths == {3} or scale > 2**57
