"""Mechanisms that choose a candidate: exact probabilities, and who is at least as good as whom."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from sfumato.mechanisms import Exponential, PermuteAndFlip, ReportNoisyMax
from sfumato.mechanisms.permute_and_flip import first_heads
from sources import Seeded

SCORES = st.lists(st.fractions(-20, 20, max_denominator=64), min_size=2, max_size=5)


def probabilities(mechanism: Exponential | PermuteAndFlip | ReportNoisyMax, scores: object) -> np.ndarray:
    return np.exp([mechanism.log_probability(c, scores) for c in mechanism.candidates])  # type: ignore[arg-type]


def by_all_orders(chances: list[Fraction], place: int) -> Fraction:
    """The definition itself: the mean over all orders of the probability that this candidate shows the first heads."""
    total, orders = Fraction(0), 0
    for order in itertools.permutations(range(len(chances))):
        before = order[: order.index(place)]
        total += chances[place] * math.prod(1 - chances[other] for other in before)
        orders += 1
    return total / orders


@given(SCORES)
@settings(max_examples=30, deadline=None)
def test_permute_and_flip_has_the_probabilities_of_its_definition(scores: list[Fraction]) -> None:
    """Against all orders, with coins known to 120 digits; the bracket is narrow and holds it."""
    mp.prec = 400
    best = max(scores)
    falls = [(best - s) / 2 for s in scores]
    chances = [Fraction(int(mp.exp(-mp.mpf(x.numerator) / x.denominator) * 2**390), 2**390) for x in falls]
    mechanism = PermuteAndFlip(tuple(range(len(scores))), 1, 1)
    for place in mechanism.candidates:
        wanted = by_all_orders(chances, place)
        assert mechanism.log_probability(place, scores) == pytest.approx(math.log(wanted), abs=1e-13)
        low, high = first_heads(falls, place)
        slack = Fraction(1, 2**300)
        assert low - slack <= wanted / chances[place] <= high + slack
        assert high - low < Fraction(1, 2**110)


@given(SCORES)
@settings(max_examples=50, deadline=None)
def test_permute_and_flip_falls_no_deeper_than_the_exponential_mechanism(scores: list[Fraction]) -> None:
    """In distribution: every fall is exceeded no more often. McKenna and Sheldon 2020, theorem 2."""
    candidates = tuple(range(len(scores)))
    flip, usual = (probabilities(kind(candidates, 1, 1), scores) for kind in (PermuteAndFlip, Exponential))
    for bar in set(scores):
        worse = [score <= bar for score in scores]
        assert flip[worse].sum() <= usual[worse].sum() + 1e-12


def test_two_candidates_gain_what_the_paper_says() -> None:
    """Fall d, rate r, p = exp(-r d): the worse one has p / 2 instead of p / (1 + p)."""
    p = math.exp(-0.5 * 3)
    assert probabilities(PermuteAndFlip(tuple("ab"), 1, 1), [3, 0])[1] == pytest.approx(p / 2, rel=1e-12)
    assert probabilities(Exponential(tuple("ab"), 1, 1), [3, 0])[1] == pytest.approx(p / (1 + p), rel=1e-12)


@pytest.mark.parametrize("monotonic", [False, True])
def test_report_noisy_max_is_permute_and_flip_on_rounded_scores(monotonic: bool) -> None:
    """Of whole sensitivity and spacing 1 the two have the same probability of every choice."""
    scores, rounded = [3.2, 3.6, 0.4, -2.5], [3, 4, 0, -2]
    noisy = ReportNoisyMax(tuple("abcd"), 2, 1.5, monotonic, spacing=1)
    assert probabilities(noisy, scores) == pytest.approx(
        probabilities(PermuteAndFlip(tuple("abcd"), 2, 1.5, monotonic), rounded), rel=1e-13
    )


def test_noisy_sums_have_the_probabilities_that_report_noisy_max_states() -> None:
    """Worked out from the noise itself, with its ties: sum over y of Pr[r at y] ∫ Π (Pr[s < y] + t Pr[s = y]) dt."""
    scores, ratio = [3, 2, 0], math.exp(-0.25)  # scale 4: sensitivity 1, epsilon 1/2
    nodes, weights = np.polynomial.legendre.leggauss(2)
    chosen = np.zeros(3)
    for y in range(400):
        at = [(1 - ratio) * ratio ** (y - s) if y >= s else 0.0 for s in scores]
        under = [1 - ratio ** (y - s) if y > s else 0.0 for s in scores]
        for place in range(3):
            others = [s for s in range(3) if s != place]
            ties = [math.prod(under[s] + (node + 1) / 2 * at[s] for s in others) for node in nodes]
            chosen[place] += at[place] * float(np.dot(weights, ties)) / 2
    assert probabilities(ReportNoisyMax(tuple("abc"), 1, 0.5, spacing=1), scores) == pytest.approx(chosen, rel=1e-10)


def test_many_candidates_are_no_work_beyond_reason() -> None:
    """150 candidates: probabilities add up to one, with one sum of products each."""
    scores = [place % 17 for place in range(150)]
    mechanism = PermuteAndFlip(tuple(range(150)), 1, 1)
    classes = {score: mechanism.log_probability(scores.index(score), scores) for score in set(scores)}
    assert math.fsum(math.exp(classes[score]) for score in scores) == pytest.approx(1, rel=1e-12)


def test_a_single_candidate_is_chosen_without_error() -> None:
    for kind in (PermuteAndFlip, ReportNoisyMax):
        only = kind(("tea",), 1, 1, spacing=1) if kind is ReportNoisyMax else kind(("tea",), 1, 1)
        assert only.release([3], Seeded(1)) == "tea" and only.log_probability("tea", [3]) == 0.0
        assert only.log_probability("coffee", [3]) == -math.inf
    assert PermuteAndFlip(("tea",), 1, 1).error() == 0.0


def test_scores_of_any_size_are_told_apart_exactly() -> None:
    """Beyond 2**53 a float would round them."""
    huge = 2**80
    for kind in (PermuteAndFlip, ReportNoisyMax):
        assert kind(tuple("ab"), 1, 100).release([huge, huge + 100], Seeded(2)) == "b"
