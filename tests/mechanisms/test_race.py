"""The race of scores with exponential noise: the choice of permute and flip, however coarse its first digits are.

Statistical tests have a false-alarm rate of 1e-7 each and repeatable sources. Power: of 20,000 draws a candidate that
is chosen with probability 0.3 instead of 0.33 is found with probability above 0.999.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from goodness import FALSE_ALARM
from sfumato.mechanisms import PermuteAndFlip, ReportNoisyMax
from sfumato.mechanisms._noise.race import Race
from sfumato.mechanisms.permute_and_flip import below_best, log_first
from sources import Seeded

DRAWS = 20_000
SCORES = (Fraction(1, 3), Fraction(1, 3), Fraction(-2, 7), Fraction(5, 4), Fraction(0))


def chances(scores: tuple[Fraction, ...], rate: Fraction) -> np.ndarray:
    below = below_best([score * rate for score in scores])
    return np.exp([log_first(below, place) for place in range(len(scores))])


def p_value(chosen: list[int], expected: np.ndarray) -> float:
    seen = np.bincount(chosen, minlength=expected.size)
    wanted = expected * len(chosen)
    return float(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), expected.size - 1))


def choices(race: Race, scores: tuple[Fraction, ...], seed: int) -> list[int]:
    """Scores in units of the race, whose floors alone say little where it is coarse."""
    floors = np.array([math.floor(score) for score in scores])
    entropy = Seeded(seed)
    return [race.draw(floors, lambda i: scores[i] - int(floors[i]), entropy) for _ in range(DRAWS)]


@pytest.mark.parametrize(("scale", "more"), [(Fraction(1), 1), (Fraction(3, 2), 2), (Fraction(1, 5), 64)])
def test_a_coarse_race_is_permute_and_flip(scale: Fraction, more: int) -> None:
    """Nearly every choice is decided by digits behind the point: by one at a time, two, or all at once."""
    expected = chances(SCORES, 1 / scale)
    assert p_value(choices(Race(scale, more), SCORES, seed=more), expected) > FALSE_ALARM


def test_floors_alone_would_be_found() -> None:
    """Power: with ties of whole parts broken by the order of the scores the same test fails by far."""
    noise, floors = Race(Fraction(1)).noise, np.array([math.floor(score) for score in SCORES])
    table = noise.draw(DRAWS * len(SCORES), Seeded(1)).reshape(DRAWS, -1) + floors
    assert p_value(np.argmax(table, axis=1).tolist(), chances(SCORES, Fraction(1))) < FALSE_ALARM


@pytest.mark.parametrize("scores", [(10**30, 10**30 + 1, 10**30), (1e300, 1e300, 0.0), (Fraction(1, 3), 0, 0.5)])
def test_scores_beyond_64_bits_are_chosen_among_as_well(scores: tuple[float, ...]) -> None:
    """By Python integers: what cannot win by noise never does, and what can does."""
    mechanism = PermuteAndFlip(("a", "b", "c"), 1, 4)
    entropy = Seeded(3)
    chosen = {mechanism.release(scores, entropy) for _ in range(300)}
    assert chosen == {c for c in "abc" if mechanism.log_probability(c, scores) > math.log(1e-6)}


def test_ties_of_a_coarse_lattice_are_broken_evenly() -> None:
    """Equal scores on a lattice as wide as the noise."""
    mechanism, entropy = ReportNoisyMax(("a", "b", "c"), 1, 2, spacing=1), Seeded(4)
    chosen = ["abc".index(mechanism.release((5, 5, 5), entropy)) for _ in range(DRAWS)]
    assert p_value(chosen, np.full(3, 1 / 3)) > FALSE_ALARM


def test_one_candidate_is_chosen() -> None:
    """Without anybody to lose against."""
    assert PermuteAndFlip(("only",), 1, 1).release([3.5], Seeded(5)) == "only"


def test_numpy_scores_are_read_exactly() -> None:
    """Integers that a float does not hold differ by one, and one is a hundred scales of the noise."""
    mechanism = PermuteAndFlip(("a", "b"), Fraction(1, 200), 1)
    for scores in (np.array([2**60, 2**60 + 1]), [np.int64(2**60), np.int64(2**60 + 1)], [2**60, 2**60 + 1]):
        assert {mechanism.release(scores, Seeded(seed)) for seed in range(20)} == {"b"}  # type: ignore[arg-type]
