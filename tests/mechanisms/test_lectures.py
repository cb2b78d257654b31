"""The lectures' known answers about mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.mechanisms import Geometric, Laplace, LaplaceThreshold, RandomizedResponse
from sfumato.mechanisms._noise.noise import LaplaceNoise
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import disjoint_counts, total
from sfumato.rounding import log_down, log_up
from sources import Seeded


def test_laplace_noise_has_the_scale_sensitivity_over_epsilon() -> None:
    """Sensitivity 1, epsilon 0.1: scale 10, standard deviation 14.1, mean absolute error 10."""
    mechanism = Laplace(sensitivity=1, epsilon=0.1)
    assert mechanism.scale == pytest.approx(10, rel=1e-9)
    assert mechanism.deviation == pytest.approx(math.sqrt(2) * 10, rel=1e-9)
    mean_absolute = np.mean([abs(mechanism.release(0.0, source)) for source in [Seeded(4)] for _ in range(40_000)])
    assert mean_absolute == pytest.approx(10, abs=6 * 10 / math.sqrt(40_000))  # six standard errors: 2e-9


def test_laplace_noise_exceeds_its_scale_with_probability_one_over_e() -> None:
    """Pr[|noise| > scale] = 0.368."""
    assert Laplace(sensitivity=1, epsilon=0.1).error(1 - math.exp(-1)) == pytest.approx(10, rel=1e-9)


def test_a_bounded_sum_gets_noise_for_its_bound_or_for_its_width() -> None:
    """Incomes of 20k to 200k: noise for 200k under add-remove, 180k under replace."""
    for neighbors, moves in ((Neighbors.ADD_REMOVE, 200_000), (Neighbors.REPLACE, 180_000)):
        assert Laplace(total(20_000, 200_000, neighbors=neighbors), epsilon=1).scale == pytest.approx(moves, rel=1e-9)


def test_a_histogram_gets_twice_the_noise_under_replace() -> None:
    """Scale 1/epsilon under add-remove, 2/epsilon under replace."""
    for neighbors, moves in ((Neighbors.ADD_REMOVE, 1), (Neighbors.REPLACE, 2)):
        mechanism = Laplace(disjoint_counts(neighbors=neighbors), epsilon=0.5, size=12)
        assert mechanism.scale == pytest.approx(moves / 0.5, rel=1e-9)


def test_averaging_two_releases_is_worse_than_one_for_the_whole_budget() -> None:
    """The total budget is an upper bound: for any split the average of two has more variance than the one."""
    for e1, e2 in ((0.5, 0.5), (0.2, 0.8), (0.9, 0.1)):
        one = LaplaceNoise(Fraction(1 << 40)).deviation() / (1 << 40)  # of scale 1, nearly continuous
        average = math.hypot(one / e1, one / e2) / 2
        assert average > one / (e1 + e2)


@pytest.mark.parametrize(
    ("survey", "epsilon"),
    [
        (RandomizedResponse.truth_or_coin(), math.log(3)),
        (RandomizedResponse.truth_or_coin(0.2), math.log(1 + 2 * 0.2 / 0.8)),
        (RandomizedResponse.keep(0.75), math.log(3)),
        (RandomizedResponse(epsilon=2), 2),
    ],
)
def test_the_three_parametrizations_of_randomized_response_agree(survey: RandomizedResponse, epsilon: float) -> None:
    """Coin toss: ln 3; truth with p else fair: ln(1 + 2p/(1-p)); keep with e^eps / (e^eps + 1). Never reported low."""
    assert float(survey.loss.epsilon or 0) == pytest.approx(epsilon, rel=1e-12)
    assert survey.truth == pytest.approx(math.exp(epsilon) / (math.exp(epsilon) + 1), rel=1e-12)


@pytest.mark.parametrize("p", [Fraction(51, 100), Fraction(3, 4), Fraction(999, 1000)])
def test_an_irrational_epsilon_is_rounded_up(p: Fraction) -> None:
    """The loss of keeping with probability p is at least ln(p / (1 - p)), to two hundred digits."""
    epsilon = RandomizedResponse.keep(p).loss.epsilon
    assert log_down(p / (1 - p), 600) < epsilon < log_up(p / (1 - p), 70)  # type: ignore[operator]


def test_the_coin_toss_survey_is_estimated_by_two_y_minus_one_half() -> None:
    """The estimate is 2Y - 1/2 with Y the share of yes answers."""
    for yes in (250, 600, 750):
        share = RandomizedResponse.truth_or_coin().estimate({"yes": yes, "no": 1_000 - yes})["yes"]
        assert share.value == pytest.approx(2 * yes / 1_000 - 0.5)
        assert share.interval[0] <= share.value <= share.interval[1]
        assert share.error == pytest.approx(2 * math.sqrt(yes * (1_000 - yes)) / 1_000**1.5)


def test_the_variance_of_an_answer_is_the_lectures() -> None:
    """mu/p - mu^2 + (1-p)/2p^2 - (1-p)^2/4p^2 - mu(1-p)/p, sampling included."""
    p, mu = 0.3, 0.2
    wanted = mu / p - mu**2 + (1 - p) / (2 * p**2) - (1 - p) ** 2 / (4 * p**2) - mu * (1 - p) / p
    assert RandomizedResponse.truth_or_coin(p).variance(mu) == pytest.approx(wanted)


def test_the_noise_of_a_sum_and_the_people_it_takes_are_the_lectures() -> None:
    """Sum error sqrt(n) e^(eps/2) / (e^eps - 1); n for accuracy a: e^eps / ((e^eps - 1)^2 a^2)."""
    survey, e = RandomizedResponse(epsilon=1), math.e
    assert survey.sum_error(10_000) == pytest.approx(100 * math.sqrt(e) / (e - 1))
    assert survey.people_for(0.01) == math.ceil(e / ((e - 1) ** 2 * 0.01**2))


def test_among_the_yes_answers_three_quarters_are_true_only_for_a_prior_of_one_half() -> None:
    """An erratum of the lectures: Bayes gives 3/4 at one half, and one quarter at a prior of a tenth."""
    keep = RandomizedResponse.truth_or_coin().truth
    true = lambda prior: keep * prior / (keep * prior + (1 - keep) * (1 - prior))  # noqa: E731
    assert true(0.5) == pytest.approx(0.75)
    assert true(0.1) == pytest.approx(0.25)


def test_estimates_cover_the_true_share() -> None:
    """The Hoeffding half-width holds at 95 %: of 400 surveys of 500 people, at most 40 miss (expected under 20)."""
    survey, misses = RandomizedResponse(epsilon=1), 0
    source = Seeded(11)
    for _ in range(400):
        answers = [survey.release("yes" if i < 150 else "no", source) for i in range(500)]
        share = survey.estimate({a: answers.count(a) for a in ("yes", "no")})["yes"].value
        misses += abs(share - 0.3) > survey.error(0.95, answers=500)
    assert misses <= 40


def test_a_category_appears_only_above_a_threshold_at_the_price_of_delta() -> None:
    """Vote for any food: one voter's dish appears with probability at most delta, tau = 1 + ln(1/2 delta)/eps or so."""
    votes = LaplaceThreshold(epsilon=1, delta=1e-6)
    assert votes.threshold == pytest.approx(1 + math.log(1 / 2e-6), abs=1.5)
    appears = -math.expm1(votes.log_probability(None, 1))
    assert 0 < appears <= 1e-6


def test_a_count_is_exact_in_expectation() -> None:
    """The mean of many private counts is the count: the error falls as 1/sqrt(m) (six standard errors, 2e-9)."""
    mechanism, source, m = Geometric(sensitivity=1, epsilon=0.5), Seeded(8), 20_000
    mean = np.mean([mechanism.release(100, source) for _ in range(m)])
    assert mean == pytest.approx(100, abs=6 * LaplaceNoise(Fraction(2)).deviation() / math.sqrt(m))
