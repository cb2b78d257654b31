"""Each attack: the known answers of the raw side, which follow from the seed; and the curator, within its promise.

Tests of the curator draw its noise anew; each states a false alarm of at most 1e-6, by `exceeds` or by itself.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from attacks.judging import FALSE_ALARM, exceeds
from sfumato.attacks import Outcome, Side
from sfumato.attacks.intersection import HOSPITAL_A, HOSPITAL_B, anonymity, candidates
from sfumato.attacks.membership import guesses
from sfumato.attacks.reconstruction import least_squares, linear_program
from sfumato.attacks.simulation import Chance
from sfumato.attacks.world import Guarded, Raw, World

ATTACKS: dict[str, Callable[[], Outcome]] = {
    "sum": lambda: sf.attacks.differencing(trials=30, epsilon=0.25),
    "mean": lambda: sf.attacks.differencing("mean", trials=30, epsilon=0.25),
    "count": lambda: sf.attacks.differencing("count", trials=30, epsilon=0.25),
    "refusal": lambda: sf.attacks.differencing("refusal", trials=30, epsilon=0.25),
    "averaging": lambda: sf.attacks.averaging(64, villages=200, epsilon=1),
    "reconstruction": lambda: sf.attacks.reconstruction(30, 60, epsilon=0.25),
    "linkage": lambda: sf.attacks.linkage(trials=25),
    "intersection": lambda: sf.attacks.intersection(trials=20),
    "membership": lambda: sf.attacks.membership(),
}


@dataclass
class Played:
    """What came of an attack, and the questions that each side got."""

    outcome: Outcome
    asked: dict[str, list[str]]


@functools.cache
def played(name: str) -> Played:
    """Each attack once, with an ear on both sides."""
    asked: dict[str, list[str]] = {"raw": [], "curator": []}

    def spy(kind: type[Raw] | type[Guarded], side: str) -> Any:
        ask = kind.ask

        def noted(self: Any, question: str) -> Any:
            asked[side].append(question)
            return ask(self, question)

        return patch.object(kind, "ask", noted)

    with spy(Raw, "raw"), spy(Guarded, "curator"):
        return Played(ATTACKS[name](), asked)


@pytest.fixture(params=ATTACKS)
def outcome(request: pytest.FixtureRequest) -> Outcome:
    """One attack after the other."""
    return played(str(request.param)).outcome


@pytest.mark.parametrize("name", ATTACKS)
def test_both_sides_get_the_same_questions(name: str) -> None:
    """Text by text, in the same order."""
    asked = played(name).asked
    assert asked["raw"] == asked["curator"] != []
    assert set(played(name).outcome.questions) <= set(asked["raw"])


def test_the_raw_release_is_broken(outcome: Outcome) -> None:
    """Nearly every guess is right, and far more than without a release; the seed decides, so chance cannot fail it."""
    assert outcome.raw.success >= 0.9
    assert outcome.raw.low > outcome.guessing + 0.2


def test_the_curator_keeps_its_promise(outcome: Outcome) -> None:
    """No more right guesses than the bound allows; had it told the truth, this would have been seen (`exceeds`)."""
    assert not exceeds(outcome)
    assert exceeds(outcome, outcome.raw)


def test_an_outcome_tells_all(outcome: Outcome) -> None:
    """A story of two sentences, the questions, both sides, what any attacker can do, and what stopped it."""
    assert len([each for each in outcome.story.replace("?", ".").split(". ") if each]) == 2
    said = outcome.describe()
    for part in (
        outcome.story,
        outcome.headline,
        outcome.raw.name,
        "curator",
        "guessing",
        "for any attacker",
        outcome.end,
    ):
        assert part in said
    told = json.loads(outcome.to_json())
    assert told["raw"]["success"] == outcome.raw.success and told["bound"] == outcome.bound
    assert told["curator"]["low"] <= told["curator"]["success"] <= told["curator"]["high"]
    assert outcome.guessing < outcome.bound < 1 and all("SELECT" in each for each in told["questions"])
    assert outcome.plot().to_dict()


def test_two_sums_differ_by_an_income() -> None:
    """6,039,000 - 6,020,000 = 19,000; with the curator the difference is something else."""
    assert [raw for _, raw, _ in played("sum").outcome.seen] == ["6,039,000", "6,020,000", "19,000", "19,000"]


def test_a_coalition_of_all_but_one_reads_a_mean() -> None:
    """And so 119 people who keep to themselves."""
    seen = played("mean").outcome.seen
    assert seen[0][:2] == ("the mean", "50,325")
    assert seen[1][:2] == ("120 times the mean, less all others", "19,000")


def test_a_group_of_one_is_counted() -> None:
    """One man of 21, one who took drugs: he did. Where the second count is 0 he has not, also in half of the trials."""
    outcome = played("count").outcome
    assert [raw for _, raw, _ in outcome.seen] == ["1", "1", "1", "drugs"]
    assert outcome.raw.hits == 30


def test_a_refusal_tells_where_it_depends_on_data() -> None:
    """The system that refuses small counts refuses exactly those who have the attribute; the curator refuses nobody."""
    outcome = played("refusal").outcome
    assert outcome.seen[0][1] == "refused" and outcome.raw.hits == 30
    assert 0 < outcome.raw.refused < 30 and outcome.curator.refused == 0


def test_the_mean_of_repeated_answers_converges() -> None:
    """Its error falls as 1 / sqrt(m), here within a quarter of that; the seed decides. The curator's stays as it is."""
    outcome = played("averaging").outcome
    raw = {point.label: point.value for point in outcome.curve if point.series == "no ledger"}
    private = {point.label: point.value for point in outcome.curve if point.series == "curator"}
    for m, error in raw.items():
        assert error == pytest.approx(math.sqrt(2) / math.sqrt(m), rel=0.25)
    assert set(raw) == {2**i for i in range(7)} and max(private.values()) == pytest.approx(private[1])
    assert (outcome.curator.answered, outcome.curator.repeated, outcome.curator.refused) == (1, 31, 32)


def test_an_attack_on_one_person_tells_what_the_noise_leaves_and_no_more() -> None:
    """Of 1,600 memberships 1 - e^(-1/2) / 2 are told at epsilon 1, as Laplace noise of scale 1 has it, up to chance.

    The bound for any mechanism is e / (1 + e), a little more. False alarm 1e-6 in all; with half of the noise 82 %
    would be told, which is seen with probability 1 - 1e-4, and with twice as much 61 %, which is seen with 0.99.
    """
    outcome = sf.attacks.averaging(2, villages=1_600, epsilon=1)
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], 1_600, 1 - math.exp(-1 / 2) / 2)
    assert outcome.bound == pytest.approx(math.e / (1 + math.e))
    assert low <= outcome.curator.hits <= high
    assert binom.cdf(high, 1_600, 1 - math.exp(-1) / 2) < 1e-4
    assert binom.sf(low - 1, 1_600, 1 - math.exp(-1 / 4) / 2) < 1e-2


def test_least_squares_tells_as_many_bits_as_is_known() -> None:
    """100 people, 400 subset counts, 20 worlds of fixed seeds: within three points of what is known."""
    known = {("uniform", 2): 1.0, ("gaussian", 2): 0.976, ("uniform", 10): 0.78, ("laplace", 10): 0.61}
    shares = dict.fromkeys(known, 0.0)
    for seed in range(20):
        chance = Chance(seed, "known")
        members, bits = chance.shares(40_000).reshape(400, 100) < 0.5, chance.below(2, 100)
        for kind, scale in known:
            blurred = members @ bits + getattr(chance, kind)(scale, 400)
            shares[kind, scale] += float(np.mean(least_squares(members, blurred) == bits)) / 20
    assert shares == pytest.approx(known, abs=0.03)


def test_a_linear_program_tells_all_bits_where_counts_are_off_by_two() -> None:
    """And with hardly more questions than people, off by one, more than least squares does; the seed decides."""
    right = {}
    for solve, questions, off in ((linear_program, 400, 2), (linear_program, 110, 1), (least_squares, 110, 1)):
        chance = Chance(1, "program")
        members, bits = chance.shares(100 * questions).reshape(questions, 100) < 0.5, chance.below(2, 100)
        blurred = members @ bits + chance.uniform(off, questions)
        right[solve.__name__, questions] = float(np.mean(solve(members, blurred) == bits))
    assert right["linear_program", 400] >= 0.99
    assert right["linear_program", 110] > 0.98 > right["least_squares", 110]


def test_equations_that_were_refused_are_left_out() -> None:
    """The attacker goes on with what he has."""
    chance = Chance(1, "refused")
    members, bits = chance.shares(20 * 80).reshape(80, 20) < 0.5, chance.below(2, 20)
    answers = np.where(np.arange(80) < 60, members @ bits, np.nan)
    for solve in (least_squares, linear_program):
        assert (solve(members, answers) == bits).all()


def test_the_lectures_tables_leave_only_aids() -> None:
    """12 rows each, k = 4 and k = 6; Alice, 28, is among the young of both. In the thirties all have cancer."""
    assert len(HOSPITAL_A) == len(HOSPITAL_B) == 12
    assert (anonymity(HOSPITAL_A), anonymity(HOSPITAL_B)) == (4, 6)
    young = [[row[2] for row in rows if row[1] in ("<30", "<35")] for rows in (HOSPITAL_A, HOSPITAL_B)]
    assert candidates(*young) == ("AIDS",)
    assert {row[2] for row in HOSPITAL_A if row[1] == "3*"} == {"cancer"}
    seen = played("intersection").outcome.seen
    assert [line[:2] for line in seen[-2:]] == [
        ("possible in both", "AIDS"),
        ("all who are in their thirties, in one table alone", "cancer, all four"),
    ]


def test_rows_without_names_are_alone() -> None:
    """The more columns others know, the more rows are found."""
    shares = [raw for what, raw, _ in played("linkage").outcome.seen if what.startswith("rows that are alone")]
    assert shares == ["0 %", "0 %", "100 %"]


def test_frequencies_tell_members_the_better_the_more_traits_there_are() -> None:
    """About sqrt(d / n) standard deviations apart: half of that is the distance to the threshold; the seed decides."""
    for traits, least in ((100, 0.6), (1_000, 0.9), (2_000, 0.97)):
        assert sf.attacks.membership(200, traits).raw.success >= least


@pytest.mark.parametrize(("traits", "is_own"), [(1_000, False), (100, False), (120, True)])
def test_intervals_hold_although_all_memberships_are_told_from_one_release(traits: int, is_own: bool) -> None:
    """Of 60 worlds of fixed seeds at least 54 intervals hold; those of a fixed number of guesses did in 60 %."""
    hits = []
    for seed in range(60):
        chance = Chance(seed, "members")
        frequent = 0.1 + 0.8 * chance.shares(traits)
        has, inside = chance.shares(100 * traits).reshape(100, traits) < frequent, chance.below(2, 100) == 1
        frequent = has.mean(axis=0) if is_own else frequent
        guessed = guesses(has, frequent, has[inside].sum(axis=0).astype(float), 0.01 if is_own else 0.0)
        hits.append(int(np.sum(guessed == inside)))
    mean = float(np.mean(hits)) / 100
    sides = [Side.of("raw", each, 100, 0.95, 1) for each in hits]
    assert sum(side.low <= mean <= side.high for side in sides) >= 54
    assert mean > NormalDist().cdf(math.sqrt(traits / 50) / 2) - 0.03  # half of the distance of the two cases


def test_the_seed_makes_people_and_never_noise() -> None:
    """The raw side is the same again. Twelve noisy counts are the same again once in 10^11 times."""
    first, second = (sf.attacks.intersection(trials=1, seed=7).seen for _ in range(2))
    assert [raw for _, raw, _ in first] == [raw for _, raw, _ in second]
    assert [private for *_, private in first] != [private for *_, private in second]


def test_all_questions_of_an_attack_fit_its_epsilon() -> None:
    """Shared by seven, a third is rounded down for each, so that the last one is not refused."""
    assert sf.attacks.reconstruction(5, 7, epsilon=Fraction(1, 3)).curator.refused == 0


def test_a_release_that_forgets_its_noise_is_noticed() -> None:
    """The check can fail: with the raw answers in the curator's place the bound is exceeded."""
    with patch.object(World, "guarded", lambda self, epsilon, questions=1: self.raw()):
        assert exceeds(sf.attacks.differencing("count", trials=45))
        assert exceeds(sf.attacks.membership())


def test_a_large_epsilon_stops_nothing_and_says_so() -> None:
    """At epsilon 60 a count is off by one once in 10^13 times."""
    outcome = sf.attacks.averaging(2, villages=60, epsilon=60)
    assert outcome.curator.hits == 60 and outcome.end.startswith("Nothing stopped it: at epsilon 60")
    assert outcome.kept and outcome.verdict == "The curator does not exceed that."
