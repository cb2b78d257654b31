"""Randomized response as a survey: no object promises too little, and intervals cover at any number of people."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from scipy.stats import binom

from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms import RandomizedResponse
from sfumato.rounding import log_up

SURVEYS = (RandomizedResponse.truth_or_coin(), RandomizedResponse(1), RandomizedResponse(Fraction(1, 2), ("yes", 2, 3)))


def covered(survey: RandomizedResponse, seen: list[float], share: float, confidence: float) -> float:
    """The exact probability that the interval for "yes" holds the share, from that of each number of yes answers."""
    people, rest = len(seen) - 1, survey.categories[1]
    total = 0.0
    for yes, chance in enumerate(seen):
        low, high = survey.estimate({"yes": yes, rest: people - yes}, confidence)["yes"].interval
        assert 0 <= low <= high <= 1
        total += chance * (low <= share <= high)
    return total


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 1])
@pytest.mark.parametrize("people", [5, 10, 20])
@pytest.mark.parametrize("survey", SURVEYS)
def test_the_interval_covers_the_share_of_people_drawn_at_random(
    survey: RandomizedResponse, people: int, share: float, confidence: float
) -> None:
    """By enumeration: each answer is yes with probability lie + share * (truth - lie)."""
    lie = (1 - survey.truth) / (len(survey.categories) - 1)
    seen = binom.pmf(range(people + 1), people, lie + share * (survey.truth - lie)).tolist()
    assert covered(survey, seen, share, confidence) >= confidence - 1e-12


@pytest.mark.parametrize("people", [5, 10, 20])
def test_the_interval_covers_the_share_among_the_very_people_asked(people: int) -> None:
    """By enumeration over all numbers of true yes: the sum of two binomials, which spreads less than one."""
    for survey in SURVEYS[:2]:
        for true in range(people + 1):
            kept = binom.pmf(range(true + 1), true, survey.truth)
            flipped = binom.pmf(range(people - true + 1), people - true, 1 - survey.truth)
            seen = [
                sum(kept[k] * flipped[yes - k] for k in range(true + 1) if 0 <= yes - k <= people - true)
                for yes in range(people + 1)
            ]
            assert covered(survey, seen, true / people, 0.95) >= 0.95 - 1e-12


def test_ten_equal_answers_leave_a_doubt() -> None:
    """The estimate 2Y - 1/2 is reported as it is; its interval stays inside [0, 1] and has a width."""
    share = RandomizedResponse.truth_or_coin().estimate({"yes": 10})["yes"]
    assert share.value == 1.5
    assert 0.8 < share.interval[0] < 0.95 and share.interval[1] == 1


@pytest.mark.parametrize("counts", [{"yes": -1, "no": 5}, {"yes": 2.5}, {"yes": True}])
def test_answers_are_counted_in_whole_numbers(counts: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument, match="answers must be a whole number"):
        SURVEYS[0].estimate(counts)


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10**6), Fraction(1, 10**40), Fraction(5)])
@pytest.mark.parametrize("accuracy", [Fraction(1, 100), Fraction(1, 3)])
def test_no_fewer_people_than_needed_are_asked_for(epsilon: Fraction, accuracy: Fraction) -> None:
    """At least e^eps / ((e^eps - 1)^2 a^2), with 400 digits, and hardly more."""
    with mpmath.workdps(400):
        growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        least = growth / ((growth - 1) ** 2 * (mpmath.mpf(accuracy.numerator) / accuracy.denominator) ** 2)
        found = RandomizedResponse(epsilon).people_for(accuracy)
        assert least <= found <= least * (1 + mpmath.mpf(10) ** -15) + 1


def test_an_exact_chance_needs_an_exact_number_of_people() -> None:
    assert RandomizedResponse.truth_or_coin().people_for(0.01) == 7_500


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomizedResponse(1, _keep=Fraction(1, 10)),  # says the other answer nine times of ten: ln 9
        lambda: RandomizedResponse(1, _keep=Fraction(3, 4)),  # ln 3
        lambda: RandomizedResponse(5, _keep=Fraction(3, 4)),
        lambda: RandomizedResponse(1, _keep=Fraction(1, 2)),
        lambda: replace(RandomizedResponse.keep(0.3, categories="abcd"), categories="ab"),
        lambda: replace(RandomizedResponse.truth_or_coin(), categories="abc"),
        lambda: replace(RandomizedResponse.truth_or_coin(), epsilon=1),
    ],
)
def test_a_chance_and_an_epsilon_that_do_not_belong_together_are_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidArgument, match="epsilon must be that of the chance"):
        make()


@pytest.mark.parametrize("keep", [0, 1, -1, 2, math.nan])
def test_a_chance_to_keep_lies_between_zero_and_one(keep: float) -> None:
    with pytest.raises(InvalidArgument, match="keep must be"):
        RandomizedResponse(1, _keep=keep)  # type: ignore[arg-type]


def test_what_belongs_together_may_be_replaced() -> None:
    coin = RandomizedResponse.truth_or_coin()
    assert replace(coin, unit="person_id").loss == coin.loss
    assert replace(coin, categories=("ja", "nein")).epsilon == log_up(Fraction(3))


def test_a_value_that_cannot_be_looked_up_is_refused() -> None:
    for value in ([1, 2], {"yes": 1}):
        with pytest.raises(OutsideRange, match="one of the 2 categories"):
            SURVEYS[0].release(value)
