"""Estimates: unbiased, with intervals that cover, and nothing counted that should not be.

Statistical tests have repeatable sources and state their rates; shares are checked by their exact distribution.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sfumato import surveys as sv
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.surveys.estimates.cross import moments, scores
from sfumato.surveys.estimates.estimate import _weighed
from sfumato.surveys.estimates.statistic import Affine, estimates, proportion
from sfumato.surveys.estimates.tidy import rising, simplex
from sfumato.surveys.item import Item
from sfumato.surveys.oracle import choose
from sources import Seeded
from surveys.tables import CHOICES, SEVERAL, Randomizer

LETTERS = list("abcdefghijkl")
CHOICE = ("response", "subset", "projective", "hadamard", "unary")
BOXES = ("one-box", "every-box", "padded")
NUMBER = ("duchi", "piecewise", "laplace")


def columns(people: int, seed: int = 1) -> dict[str, list[Any]]:
    """Made-up truth."""
    random = np.random.default_rng(seed)
    return {
        "one": random.choice(LETTERS, people, p=np.arange(1, 13) / 78).tolist(),
        "several": [[x for x in LETTERS[:5] if random.random() < 0.3][:3] for _ in range(people)],
        "number": random.beta(2, 4, people).round(3).tolist(),
    }


def design(one: str, several: str, number: str, epsilon: int = 3) -> sv.Design:
    questions = [
        sv.one_of("one", "?", LETTERS),
        sv.several_of("several", "?", LETTERS[:5], most=3),
        sv.number("number", "?", (0, 1)),
    ]
    return sv.design("x", questions, epsilon, oracles={"one": one, "several": several, "number": number})


@pytest.mark.parametrize(
    ("one", "several", "number"), [*zip(CHOICE, (*BOXES, *BOXES), (*NUMBER, *NUMBER), strict=False)]
)
def test_estimates_lie_around_the_truth(one: str, several: str, number: str) -> None:
    """Each within 5.6 standard errors: false alarm 2e-8 for each of 18 numbers. A bias of 2 % would be found."""
    survey, truth, people = design(one, several, number, 12), columns(20_000), 20_000
    found = sv.estimate(survey, sv.randomize_all(survey, truth, Seeded(7)))
    shares = {letter: truth["one"].count(letter) / people for letter in LETTERS}
    ticked = {letter: sum(letter in each for each in truth["several"]) / people for letter in LETTERS[:5]}
    for name, true in (("one", shares), ("several", ticked), ("number", {"mean": float(np.mean(truth["number"]))})):
        for label, value in true.items():
            row = found[name][label]
            assert abs(row.value - value) < 5.6 * row.error
            assert row.interval[0] <= row.value <= row.interval[1] or row.interval[0] in (0, 1)


def coverage(agree: float, stray: float, people: int, share: float) -> float:
    """The exact probability that the interval for a share covers it, over all numbers of people who agree."""
    affine = Affine(stray, 1 / (agree - stray), (0.0, 1.0))
    chances = binom.pmf(np.arange(people + 1), people, stray + share * (agree - stray))
    covered = 0.0
    for count in np.flatnonzero(chances > 1e-12):
        low, high = proportion("x", count / people, people, affine, 0.05).interval
        covered += chances[count] * (low <= share <= high)
    return covered


@pytest.mark.parametrize("oracle", (*CHOICE, *BOXES))
@pytest.mark.parametrize(("people", "share"), [(10, 0.1), (60, 0.0), (400, 0.08), (400, 0.5), (60, 1.0)])
def test_intervals_of_shares_cover_at_any_number_of_people(oracle: str, people: int, share: float) -> None:
    """At least 95 %, exactly, and not above 99.5 % where there is room on both sides."""
    question: Any = sv.one_of("q", "?", LETTERS) if oracle in CHOICE else sv.several_of("q", "?", LETTERS, most=1)
    mechanism: Any = choose(question, Fraction(1), oracle).mechanism
    inner = getattr(mechanism, "inner", mechanism)
    found = coverage(float(inner.agree), float(inner.stray), people, share)
    assert found >= 0.95 - 1e-9
    assert people < 400 or found < 0.995


@pytest.mark.parametrize("oracle", NUMBER)
@pytest.mark.parametrize("people", [5, 60, 200])
def test_intervals_of_means_cover(oracle: str, people: int) -> None:
    """At least 93 % of 4,000 surveys at 95 % nominal.

    If coverage is 95 %, an alarm has the chance 1e-8; intervals a tenth too narrow (92.2 %) are found in 97 of 100.
    """
    item, surveys = choose(sv.number("q", "?", (0, 10)), Fraction(2), oracle), 4_000
    random = np.random.default_rng(people)
    truth = np.round(10 * random.beta(2, 4, (surveys, people)), 2)
    places = np.floor(truth * 100 + 0.5).astype(int)
    sent = item._released(places.reshape(-1).tolist(), Seeded(11)).reshape(surveys, people)
    covered = 0
    for one, true in zip(sent, truth, strict=True):
        low, high = estimates(item, one, None, 0.05)[0].interval
        covered += low <= true.mean() <= high
    assert covered >= 0.93 * surveys


def test_weights_count_as_copies() -> None:
    """Whole weights give the value of so many copies; the error is not that of so many people."""
    survey = design("response", "one-box", "piecewise")
    sent = sv.randomize_all(survey, columns(3_000), Seeded(3))
    weight = [1 + i % 3 for i in range(3_000)]
    copies = {
        name: [text for text, w in zip(column, weight, strict=True) for _ in range(w)] for name, column in sent.items()
    }
    weighted, copied = sv.estimate(survey, {**sent, "weight": weight}), sv.estimate(survey, copies)
    for name in ("one", "several", "number"):
        for mine, theirs in zip(weighted[name].rows, copied[name].rows, strict=True):
            assert mine.value == pytest.approx(theirs.value) and mine.error > theirs.error


@pytest.mark.parametrize("oracle", (*CHOICE, *BOXES, *NUMBER))
def test_a_few_people_who_say_the_same_leave_a_doubt(oracle: str) -> None:
    """The standard error of two or three equal reports is that of the noise at least, and an interval has a width."""
    question: Any = sv.one_of("q", "?", LETTERS) if oracle in CHOICE else sv.several_of("q", "?", LETTERS, most=2)
    question = sv.number("q", "?", (0, 1)) if oracle in NUMBER else question
    survey = sv.design("x", [question], 1, oracles={"q": oracle})
    (sent,) = sv.randomize_all(survey, {"q": ["a" if oracle not in NUMBER else 0.5]}, Seeded(1))["q"]
    for row in sv.estimate(survey, {"q": [sent] * 3})["q"].rows:
        assert row.error > 0 and (row.interval[0] < row.interval[1] or row.value != row.tidy)


def test_strata_are_weighed_by_their_shares() -> None:
    survey = sv.design("x", [sv.yes_no("smoker")], 2)
    truth = {"smoker": ["yes"] * 9_000 + ["no"] * 1_000, "stratum": ["north"] * 9_000 + ["south"] * 1_000}
    found = sv.estimate(survey, sv.randomize_all(survey, truth, Seeded(4)), strata={"north": 0.3, "south": 0.7})
    row = found["smoker"]["yes"]
    assert row.value == pytest.approx(0.3, abs=5.6 * row.error) and row.error < 0.03
    with pytest.raises(InvalidArgument, match="strata must name every stratum"):
        sv.estimate(survey, sv.randomize_all(survey, truth, Seeded(4)), strata={"north": 1})
    with pytest.raises(InvalidArgument, match="must have a column 'stratum'"):
        sv.estimate(survey, {"smoker": ["0", "1"]}, strata={"north": 1})


@pytest.mark.parametrize(
    ("one", "several"),
    [("subset", "one-box"), ("projective", "every-box"), ("hadamard", "padded"), ("unary", "one-box")],
)
def test_cross_tables_estimate_pairs(one: str, several: str) -> None:
    """Each of 60 cells within 5.8 standard errors: false alarm 4e-7 in all. A bias of 2 % would be found."""
    survey, people = design(one, several, "duchi", 15), 20_000
    truth = columns(people)
    truth["several"] = [["a"] if x in "abc" else ["b", "c"] for x in truth["one"]]  # depends on the other
    table = sv.cross_table(survey, sv.randomize_all(survey, truth, Seeded(9)), "one", "several")
    for row in LETTERS:
        for column in LETTERS[:5]:
            true = sum(x == row and column in s for x, s in zip(truth["one"], truth["several"], strict=True)) / people
            cell = table.cell(row, column)
            assert abs(cell.value - true) < 5.8 * cell.error
    with pytest.raises(InvalidArgument, match="a cross table must be of answers"):
        sv.cross_table(survey, sv.randomize_all(survey, columns(10)), "one", "number")
    with pytest.raises(InvalidArgument, match="got 'one' twice"):
        sv.cross_table(survey, sv.randomize_all(survey, columns(10)), "one", "one")


@pytest.mark.parametrize("oracle", CHOICE)
def test_a_persons_scores_are_those_that_are_averaged(oracle: str) -> None:
    """The mean of the scores is the estimate, for every mechanism."""
    survey = design(oracle, "one-box", "duchi")
    sent = sv.randomize_all(survey, columns(500), Seeded(5))["one"]
    item = survey.item("one")
    mean = scores(item, item.receive(sent)).mean(0)
    found = [row.value for row in estimates(item, item.receive(sent), None, 0.05)]
    assert mean == pytest.approx(found, abs=1e-9)


def test_running_sums_of_an_ordered_question() -> None:
    survey = sv.design("x", [sv.ordinal("mood", "?", LETTERS[:6])], 2)
    truth = {"mood": [LETTERS[i % 6] for i in range(12_000)]}
    sent = sv.randomize_all(survey, truth, Seeded(2))
    for place, row in enumerate(sv.at_most(survey, sent, "mood")):
        assert row.value == pytest.approx((place + 1) / 6, abs=5.6 * row.error + 1e-9)
    tidy = np.cumsum([row.tidy for row in sv.estimate(survey, sent)["mood"].rows])
    assert (np.diff(tidy) >= -1e-12).all() and tidy[-1] == pytest.approx(1)
    with pytest.raises(InvalidArgument, match="must be ordinal"):
        sv.at_most(sv.design("x", [sv.yes_no("a")], 1), {"a": ["0", "1"]}, "a")


def test_rounds_are_combined_with_weights_that_no_answer_moves() -> None:
    """A round with more people, or a larger epsilon, counts more; errors shrink."""
    rounds = []
    for people, epsilon in ((2_000, 1), (8_000, 1), (2_000, 3)):
        survey = sv.design("x", [sv.yes_no("smoker")], epsilon)
        truth = {"smoker": ["yes" if i % 4 == 0 else "no" for i in range(people)]}
        rounds.append((survey, sv.estimate(survey, sv.randomize_all(survey, truth, Seeded(people + epsilon)))))
    together = sv.combine(rounds)
    yes = together["smoker"]["yes"]
    assert together.guarantee.epsilon == 5 and together["smoker"].people == 12_000  # whoever took part in all
    assert yes.error < min(found["smoker"]["yes"].error for _, found in rounds)
    assert yes.value == pytest.approx(0.25, abs=5.6 * yes.error)
    with pytest.raises(InvalidArgument, match="two or more"):
        sv.combine(rounds[:1])
    results = [found["smoker"] for _, found in rounds[:2]]
    assert _weighed(results, [1, 0])[0].value == results[0].rows[0].value


def test_missing_answers_are_left_out_and_said() -> None:
    survey = sv.design("x", [sv.yes_no("smoker"), sv.yes_no("sport", skip="private")], 4)
    truth = {"smoker": ["yes", None, ""] * 4_000, "sport": ["yes", None, "no"] * 4_000}
    found = sv.estimate(survey, sv.randomize_all(survey, truth, Seeded(1)))
    assert (found["smoker"].people, found["smoker"].missing) == (4_000, 8_000)
    assert "that they did not is seen, not protected" in found["smoker"].notes[0]
    assert found["sport"].missing == 0 and found["sport"]["(no answer)"].value == pytest.approx(1 / 3, abs=0.06)


def test_each_person_is_asked_one_question() -> None:
    survey = sv.design("x", [sv.yes_no("a"), sv.yes_no("b")], 1, ask="one", shares={"a": 3})
    sent = sv.randomize_all(survey, {"a": ["yes"] * 8_000, "b": ["no"] * 8_000}, Seeded(1))
    assert all(bool(a) != bool(b) for a, b in zip(sent["a"], sent["b"], strict=True))
    found = sv.estimate(survey, sent)
    assert abs(found["a"].people - 6_000) < 5.6 * math.sqrt(1_500)
    assert "were not asked, or" in found["a"].notes[0]


def test_what_is_tidy_is_as_near_as_it_can_be() -> None:
    assert simplex([0.2, 0.3, 0.5]).tolist() == pytest.approx([0.2, 0.3, 0.5])
    assert simplex([5, -3, 0]).tolist() == [1, 0, 0]
    random = np.random.default_rng(1)
    for _ in range(50):
        given = random.normal(0.2, 0.3, 6)
        near = simplex(given.tolist())
        assert near.sum() == pytest.approx(1) and near.min() >= 0
        others = random.dirichlet(np.ones(6), 200)
        assert ((others - given) ** 2).sum(1).min() >= ((near - given) ** 2).sum() - 1e-12
        risen = rising(given.tolist())
        assert (np.diff(risen) >= 0).all() and risen.min() >= 0 and risen.max() <= 1


def test_intervals_for_all_answers_at_once_are_wider() -> None:
    survey = design("response", "one-box", "duchi")
    sent = sv.randomize_all(survey, columns(2_000), Seeded(3))
    one, every = sv.estimate(survey, sent)["one"], sv.estimate(survey, sent, simultaneous=True)["one"]
    assert all(a.interval[0] >= b.interval[0] and a.value == b.value for a, b in zip(one.rows, every.rows, strict=True))
    assert one["f"].interval != every["f"].interval


def test_rows_exports_and_charts() -> None:
    survey = design("response", "one-box", "duchi")
    found = sv.estimate(survey, sv.randomize_all(survey, columns(2_000), Seeded(3)))
    assert len(found.rows) == 12 + 5 + 1 and found.to_csv().splitlines()[0].startswith("question,answer,estimate")
    assert found.to_dict()["questions"][0]["estimates"][0]["answer"] == "a"
    drawn = found.plot().to_dict()
    assert len(drawn["vconcat"]) == 3
    with pytest.raises(UnknownName, match="unknown question 'two'"):
        found["two"]
    with pytest.raises(UnknownName, match="unknown answer 'z'"):
        found["one"]["z"]


def test_expectations_are_met() -> None:
    """The error stated beforehand is the one seen: root mean square over 12 shares and 40 surveys, within 20 %.

    Of 440 degrees of freedom that is a false alarm of 5e-9; an error that is 35 % off is found in 999 of 1,000 runs.
    """
    for oracle in CHOICE:
        survey = sv.design("x", [sv.one_of("one", "?", LETTERS)], 1, oracles={"one": oracle})
        truth = columns(1_000)["one"]
        shares = np.array([truth.count(letter) / 1_000 for letter in LETTERS])
        off = [
            [row.value for row in sv.estimate(survey, sv.randomize_all(survey, {"one": truth}, Seeded(s)))["one"].rows]
            - shares
            for s in range(40)
        ]
        (row,) = sv.expected(survey, 1_000)
        assert np.sqrt(np.mean(np.square(off))) == pytest.approx(row.error, rel=0.2)


def test_people_for_an_error_are_those_of_the_lectures() -> None:
    """e**eps / ((e**eps - 1)**2 a**2): 7,500 for two coins and one percent; 92.07 / a... at epsilon 1."""
    coins = sv.design("x", [sv.yes_no("a", truth=0.5)])
    assert sv.people_for(coins, 0.01) == 7_500
    growth = math.e
    one = sv.design("x", [sv.yes_no("a")], 1)
    assert sv.people_for(one, 0.01) == math.ceil(growth / ((growth - 1) ** 2 * 0.0001))
    assert sv.expected(one, 10_000)[0].error == pytest.approx(math.exp(0.5) / ((growth - 1) * 100))
    assert sv.expected(one, 10_000)[0].central == pytest.approx(math.sqrt(2) / 10_000)
    both = sv.design("x", [sv.yes_no("a"), sv.yes_no("b")], 1, ask="one")
    assert sv.people_for(both, 0.01) == pytest.approx(2 * sv.people_for(one, 0.01), abs=1)


@pytest.mark.parametrize("randomizer", [*CHOICES, *SEVERAL], ids=lambda r: r.name)
def test_the_moments_of_scores_are_those_of_the_table(randomizer: Randomizer) -> None:
    """In fractions, from every integer that can be drawn: the mean is 1 or 0, the mean square as stated."""
    mechanism = randomizer.mechanism
    known = mechanism.categories if randomizer in CHOICES else mechanism.boxes
    answers = [f"answer {each}" for each in known]
    question: Any = sv.one_of("q", "?", answers)
    if randomizer in SEVERAL:
        question, mechanism = sv.several_of("q", "?", answers, most=mechanism.most), replace(mechanism, boxes=answers)
    else:
        mechanism = replace(mechanism, categories=answers)
    item = Item(question, Fraction(mechanism.epsilon), mechanism)
    stated = moments(item)
    for place in (randomizer.places[0], randomizer.places[-1]):
        table = randomizer.table()[place]
        sent = np.array(list(table))
        if item.bits is not None:
            sent = sent.astype(np.uint8)[:, None]
        found, chances = scores(item, sent), np.array([float(p) for p in table.values()])
        for answer in range(found.shape[1]):
            true = answer in place if isinstance(place, tuple) else answer == place
            assert chances @ found[:, answer] == pytest.approx(float(true), abs=1e-9)
            assert chances @ found[:, answer] ** 2 == pytest.approx(stated[0 if true else 1])
