"""Choices: uniform below a bound, and in proportion to exp(score).

Statistical tests use one repeatable source, so they have one outcome; with fresh words a right sampler would fail
each of them with probability `FALSE_ALARM`. Their power is shown with a weight that is ten per cent off.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from goodness import FALSE_ALARM
from sfumato.mechanisms.samplers import Selection, uniform
from sources import Seeded

EXPONENTS = [Fraction(0), Fraction(-1), Fraction(-1, 3), Fraction(-1), Fraction(7, 10)]


def fit(exponents: Sequence[Fraction], chosen: Sequence[int]) -> float:
    weights = np.exp([float(x - max(exponents)) for x in exponents])
    expected = weights / weights.sum() * len(chosen)
    observed = np.bincount(chosen, minlength=len(exponents))
    assert (observed[expected < 1e-12] == 0).all()
    likely = expected >= 1e-12
    return float(chisquare(observed[likely], expected[likely]).pvalue)


def choose(exponents: Sequence[Fraction], first: int, count: int, source: Seeded) -> list[int]:
    selection = Selection(exponents)
    return [selection.draw(source, first) for _ in range(count)]


@pytest.mark.parametrize(("first", "count"), [(64, 20_000), (2, 20_000), (0, 5_000)])
def test_candidates_are_chosen_in_proportion(first: int, count: int) -> None:
    source = Seeded(first)
    assert fit(EXPONENTS, choose(EXPONENTS, first, count, source)) > FALSE_ALARM
    assert (source.refinements > 1.5 * count) == (first < 64)  # with two digits most choices need more


def test_a_weight_ten_per_cent_off_is_noticed() -> None:
    off = [EXPONENTS[0] - Fraction(1, 10), *EXPONENTS[1:]]
    assert fit(EXPONENTS, choose(off, 64, 40_000, Seeded(1))) < FALSE_ALARM


@pytest.mark.parametrize("first", [64, 2])
def test_equal_exponents_are_chosen_equally(first: int) -> None:
    exponents = [Fraction(-5, 7)] * 6
    assert fit(exponents, choose(exponents, first, 20_000, Seeded(2))) > FALSE_ALARM


@pytest.mark.parametrize("first", [64, 2, 0])
def test_one_candidate_is_always_chosen(first: int) -> None:
    assert choose([Fraction(-3)], first, 10, Seeded(3)) == [0] * 10


@pytest.mark.parametrize("first", [64, 2])
def test_a_candidate_far_below_is_never_seen_and_takes_nothing_from_the_others(first: int) -> None:
    exponents = [Fraction(-2000), Fraction(0), Fraction(-2000), Fraction(-1), Fraction(-2000)]
    assert fit(exponents, choose(exponents, first, 20_000, Seeded(4))) > FALSE_ALARM


def test_a_large_common_exponent_changes_nothing() -> None:
    shifted = [x + 10**6 for x in EXPONENTS]
    assert choose(shifted, 64, 100, Seeded(5)) == choose(EXPONENTS, 64, 100, Seeded(5))


def test_ten_thousand_candidates_are_chosen_in_proportion() -> None:
    exponents = [Fraction(-(i % 4), 2) for i in range(10_000)]
    chosen = choose(exponents, 64, 600, Seeded(6))
    assert fit([Fraction(-i, 2) for i in range(4)], [i % 4 for i in chosen]) > FALSE_ALARM
    assert chisquare(np.bincount(np.array(chosen) * 10 // 10_000, minlength=10)).pvalue > FALSE_ALARM


def test_every_value_of_the_first_digits_is_decided_rightly() -> None:
    """Equal weights of three: the cuts are thirds, so eight digits leave just the two values at the cuts open."""

    class First(Seeded):
        def __init__(self, value: int, rest: int) -> None:
            super().__init__(0)
            self.answers = [value, rest]

        def bits(self, count: int) -> int:
            self.refinements += 1
            return self.answers.pop(0)

    selection = Selection([Fraction(1)] * 3)
    for value in range(256):
        for rest in (0, 255):
            source = First(value, rest)
            assert selection.draw(source, 8) == (value * 256 + rest) * 3 // 65536
            assert source.refinements == (2 if value in (85, 170) else 1)


# Uniform


@pytest.mark.parametrize("bound", [2, 7, 100])
def test_small_bounds_give_every_value_equally(bound: int) -> None:
    drawn = uniform(bound, 100_000, Seeded(7))
    assert drawn.dtype == np.int64 and drawn.min() == 0 and drawn.max() == bound - 1
    assert chisquare(np.bincount(drawn, minlength=bound)).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("bound", "kind"), [(2**32, np.int64), (2**32 + 1, np.int64), (2**63, np.int64), (2**70, object)]
)
def test_large_bounds_are_uniform_at_both_ends(bound: int, kind: type) -> None:
    drawn = uniform(bound, 50_000, Seeded(8))
    assert drawn.dtype == kind and all(0 <= x < bound for x in drawn.tolist())
    high = [x * 64 // bound for x in drawn.tolist()]
    low = [x & 63 for x in drawn.tolist()]
    assert chisquare(np.bincount(high, minlength=64)).pvalue > FALSE_ALARM
    assert chisquare(np.bincount(low, minlength=64)).pvalue > FALSE_ALARM


def test_a_remainder_in_place_of_rejection_is_noticed() -> None:
    biased = uniform(8, 100_000, Seeded(9)) % 7
    assert chisquare(np.bincount(biased, minlength=7)).pvalue < FALSE_ALARM


def test_the_bound_of_one_gives_zeros() -> None:
    assert uniform(1, 5, Seeded(10)).tolist() == [0] * 5


@pytest.mark.parametrize("bound", [1, 7, 2**40])
def test_none_can_be_drawn(bound: int) -> None:
    drawn = uniform(bound, 0, Seeded(11))
    assert drawn.shape == (0,) and drawn.dtype == np.int64
