"""`guarantee`: the known figures, and every reading checked against all events of small mechanisms."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato import rounding
from sfumato.errors import InvalidArgument, Refused
from sfumato.privacy.choices import CHOICES, affordable
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.unit import Unit
from sfumato.privacy.verify import excess

LAW = settings(deadline=None)
F = Fraction
Masses = dict[int, Fraction]

masses = (
    st.lists(st.integers(0, 30), min_size=4, max_size=4)
    .filter(any)
    .map(lambda weights: {outcome: F(weight, sum(weights)) for outcome, weight in enumerate(weights)})
)
epsilons = st.fractions(min_value=F(1, 100), max_value=4, max_denominator=100)
priors = st.fractions(min_value=0, max_value=1, max_denominator=1000)
ratios = st.fractions(min_value=F(1, 1000), max_value=F(999, 1000))


def least_guarantee(epsilon: Fraction, *chain: Masses) -> Guarantee:
    """The least promise at this epsilon that holds between each distribution of the chain and the next."""
    deltas = [excess(a, b, epsilon)[1] for p, q in pairwise(chain) for a, b in ((p, q), (q, p))]
    delta = F(max(deltas))
    assume(delta < 1)
    return Guarantee(epsilon, delta)


def believed(prior: Fraction, p: Fraction, q: Fraction) -> Fraction:
    return prior * p / (prior * p + (1 - prior) * q)


# --- the value


def test_a_guarantee_prints_as_one_would_type_it() -> None:
    assert repr(Guarantee(epsilon=3, delta=1e-9)) == "Guarantee(epsilon=3, delta=1e-09)"
    assert repr(Guarantee(0.1)) == "Guarantee(epsilon=0.1)"
    assert (
        repr(Guarantee(F(1, 3), 0.6, "replace")) == "Guarantee(epsilon=Fraction(1, 3), delta=0.6, neighbors='replace')"
    )


@LAW
@given(
    st.floats(min_value=1e-9, max_value=1e9) | st.fractions(min_value=F(1, 10**6), max_value=10**20),
    st.floats(min_value=0, max_value=0.999) | st.fractions(min_value=0, max_value=F(999, 1000)),
    st.sampled_from(Neighbors),
    st.sampled_from([Unit(), Unit(("person_id",)), Unit(("person_id", "day"))]),
)
def test_what_is_printed_gives_the_guarantee_back(epsilon, delta, neighbors, unit) -> None:  # type: ignore[no-untyped-def]
    promise = Guarantee(epsilon, delta, neighbors, unit)
    assert eval(repr(promise)) == promise
    assert hash(eval(repr(promise))) == hash(promise)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", True])
def test_an_epsilon_that_promises_nothing_sensible_is_refused(epsilon: float) -> None:
    with pytest.raises(InvalidArgument, match="epsilon must be"):
        Guarantee(epsilon)


@pytest.mark.parametrize("delta", [1, 1.5, -1e-9, math.nan, math.inf])
def test_a_delta_outside_zero_to_one_is_refused(delta: float) -> None:
    with pytest.raises(InvalidArgument, match="delta must be"):
        Guarantee(1, delta)


def test_unknown_neighbors_are_refused_with_the_words_that_are_known() -> None:
    with pytest.raises(InvalidArgument, match="'add-remove' or 'replace'; got 'friends'"):
        Guarantee(1, neighbors="friends")  # type: ignore[arg-type]


def test_a_guarantee_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Guarantee(1).epsilon = F(2)  # type: ignore[misc]


# --- posterior


def test_a_belief_of_ten_percent_becomes_at_most_23_about_membership_and_45_about_a_value() -> None:
    promise = Guarantee(1)
    assert promise.posterior(0.1)[1] == pytest.approx(0.1 * math.e / (0.1 * math.e + 0.9))
    assert round(promise.posterior(0.1)[1], 2) == 0.23
    assert round(promise.posterior(0.1, about="value")[1], 2) == 0.45


def test_under_replace_a_belief_about_a_value_moves_by_one_epsilon() -> None:
    promise = Guarantee(1, neighbors=Neighbors.REPLACE)
    assert promise.posterior(0.1, about="value") == promise.posterior(0.1) == Guarantee(1).posterior(0.1)


@LAW
@given(masses, masses, epsilons, priors, ratios)
def test_a_belief_leaves_its_range_with_at_most_the_probability_that_was_allowed(
    p: Masses, q: Masses, epsilon: Fraction, prior: Fraction, failing: Fraction
) -> None:
    low, high = least_guarantee(epsilon, p, q).posterior(prior, failing=failing)
    possible = [o for o in p if prior * p[o] + (1 - prior) * q[o] > 0]
    outside = [o for o in possible if not low <= believed(prior, p[o], q[o]) <= high]
    if prior > 0:
        assert sum(p[o] for o in outside) <= failing
    if prior < 1:
        assert sum(q[o] for o in outside) <= failing


@LAW
@given(masses, masses, masses, epsilons, priors, ratios)
def test_a_belief_about_a_value_is_bounded_through_removal_and_addition(
    mine: Masses, without: Masses, other: Masses, epsilon: Fraction, prior: Fraction, failing: Fraction
) -> None:
    low, high = least_guarantee(epsilon, mine, without, other).posterior(prior, about="value", failing=failing)
    possible = [o for o in mine if prior * mine[o] + (1 - prior) * other[o] > 0]
    outside = [o for o in possible if not low <= believed(prior, mine[o], other[o]) <= high]
    if prior > 0:
        assert sum(mine[o] for o in outside) <= failing


@LAW
@given(epsilons, priors)
def test_a_pure_promise_holds_for_every_output_and_is_attained(epsilon: Fraction, prior: Fraction) -> None:
    low, high = Guarantee(epsilon).posterior(prior)
    with mpmath.workprec(200):
        odds = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        belief = mpmath.mpf(prior.numerator) / prior.denominator
        lowest, highest = belief / (belief + (1 - belief) * odds), belief * odds / (belief * odds + 1 - belief)
        slack = mpmath.mpf(2) ** -190  # of mpmath's own rounding
        assert low - slack <= lowest <= low + 1e-15
        assert high - 1e-15 <= highest <= high + slack


def test_a_tiny_delta_changes_a_belief_by_next_to_nothing() -> None:
    assert Guarantee(1, 1e-9).posterior(0.1)[1] == pytest.approx(Guarantee(1).posterior(0.1)[1], abs=5e-4)


def test_a_large_delta_leaves_every_belief_open() -> None:
    assert Guarantee(1, 0.5).posterior(0.1) == (0, 1)
    assert Guarantee(20, 1e-5).posterior(0.1, about="value") == (0, 1)


def test_a_certain_belief_stays_certain() -> None:
    assert Guarantee(1, 0.5).posterior(0) == (0, 0)
    assert Guarantee(1, 0.5).posterior(1) == (1, 1)


def test_a_belief_about_something_else_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="'membership' or 'value'"):
        Guarantee(1).posterior(0.1, about="the weather")  # type: ignore[arg-type]


def test_beliefs_with_and_without_my_data_differ_by_at_most_two_epsilon_whatever_the_prior() -> None:
    def released(bits: tuple[int, int], output: tuple[int, int]) -> Fraction:
        return math.prod(
            (F(3, 4) if bit == out else F(1, 4) for bit, out in zip(bits, output, strict=True)), start=F(1)
        )

    worlds = list(product((0, 1), repeat=2))
    for weights in ((1, 1, 1, 1), (9, 1, 1, 9), (1, 99, 50, 1)):  # also priors where my bit tells my neighbor's
        prior = dict(zip(worlds, weights, strict=True))
        for output in worlds:
            mine = {w: prior[w] * released(w, output) for w in worlds}
            without = {w: prior[w] * released((0, w[1]), output) for w in worlds}
            for w in worlds:
                ratio = (mine[w] / sum(mine.values())) / (without[w] / sum(without.values()))
                assert F(1, 9) <= ratio <= 9  # e^(2 epsilon) for epsilon = ln 3


# --- probability and trade-off


def test_an_event_of_one_fifth_stays_between_16_and_25_percent_at_ln_5_4() -> None:
    promise = Guarantee(math.log(5 / 4))
    assert promise.probability(0.2) == pytest.approx((0.16, 0.25))
    assert promise.probability(0.5) == pytest.approx((0.4, 0.6))


@LAW
@given(masses, masses, epsilons)
def test_every_event_and_every_test_keeps_to_its_bounds(p: Masses, q: Masses, epsilon: Fraction) -> None:
    promise = least_guarantee(epsilon, p, q)
    for event in (e for size in range(5) for e in combinations(p, size)):
        here, there = sum((p[o] for o in event), F(0)), sum((q[o] for o in event), F(0))
        low, high = promise.probability(here)
        assert F(low) <= there <= F(high)
        assert F(promise.tradeoff(here)) <= 1 - there


@LAW
@given(epsilons, priors, st.fractions(min_value=0, max_value=F(99, 100), max_denominator=1000))
def test_the_tradeoff_is_the_known_curve_rounded_down(epsilon: Fraction, alpha: Fraction, delta: Fraction) -> None:
    e = rounding.exp_up(epsilon)
    truth = max(F(0), 1 - delta - e * alpha, (1 - delta - alpha) / e)
    assert F(Guarantee(epsilon, delta).tradeoff(alpha)) == pytest.approx(truth, rel=1e-15, abs=1e-15)
    assert F(Guarantee(epsilon, delta).tradeoff(alpha)) <= truth + F(1, 2**70)


def test_an_enormous_epsilon_is_read_at_once_and_promises_nothing() -> None:
    promise = Guarantee(10**12)
    assert promise.probability(0.5) == (0, 1)
    assert promise.probability(0) == (0, 0)  # without delta what is impossible here is impossible there
    assert promise.posterior(0.5) == (0, 1)
    assert promise.tradeoff(0) == 1


# --- group


@LAW
@given(masses, masses, masses, epsilons)
def test_a_group_keeps_the_promise_along_a_chain(a: Masses, b: Masses, c: Masses, epsilon: Fraction) -> None:
    promise = least_guarantee(epsilon, a, b, c)
    try:
        pair = promise.group(2)
    except Refused:
        return
    assert excess(a, c, pair.epsilon)[0] <= pair.delta
    assert excess(c, a, pair.epsilon)[0] <= pair.delta


@LAW
@given(st.fractions(min_value=F(1, 10**12), max_value=3), st.integers(1, 8))
def test_the_delta_of_a_group_is_the_formula_rounded_up(epsilon: Fraction, k: int) -> None:
    group = Guarantee(epsilon, F(1, 10**15)).group(k)
    with mpmath.workprec(400):
        e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        truth = mpmath.mpf(10) ** -15 * mpmath.expm1(k * e) / mpmath.expm1(e)
        found = mpmath.mpf(group.delta.numerator) / group.delta.denominator
        assert truth * (1 - mpmath.mpf(2) ** -300) <= found <= truth * (1 + mpmath.mpf(2) ** -50)
    assert group.epsilon == k * epsilon


def test_a_group_of_one_is_the_unit_itself() -> None:
    assert Guarantee(0.3, 1e-6, "replace").group(1) == Guarantee(0.3, 1e-6, "replace")


@pytest.mark.parametrize(("epsilon", "k"), [(1, 100), (1, 10**9), (10**9, 2), (0.001, 200_000)])
def test_a_group_too_large_for_its_delta_is_told_so(epsilon: float, k: int) -> None:
    with pytest.raises(Refused, match=f"a group of {k} is promised nothing"):
        Guarantee(epsilon, 1e-9).group(k)


def test_a_group_of_nobody_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="k must be a whole number of at least 1"):
        Guarantee(1).group(0)


# --- words


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [
        (0.01, "strong"),
        (1, "strong"),
        (1.01, "better than nothing"),
        (10, "better than nothing"),
        (11, "hardly protects"),
    ],
)
def test_the_strength_has_a_plain_word(epsilon: float, word: str) -> None:
    assert Guarantee(epsilon).strength == word
    assert f"Strength: {word}" in Guarantee(epsilon).describe()


def test_a_delta_of_one_in_the_number_of_people_is_warned_of() -> None:
    assert Guarantee(1, F(1, 1001)).warnings(size=1000) == ()
    for delta in (F(1, 1000), 0.5):
        (warning,) = Guarantee(1, delta).warnings(size=1000)
        assert "not below 1/1000" in warning
        assert warning in Guarantee(1, delta).describe(size=1000)


def test_the_description_speaks_of_unit_odds_beliefs_delta_and_of_what_is_not_protected() -> None:
    text = Guarantee(1, 1e-9, unit=Unit(("person_id", "day"))).describe(size=1_000_000)
    for words in (
        "all rows of one (person_id, day)",
        "at most 2.73",
        "at most 23.3 %",
        "at most 45.",
        "1e-09",
        "people in general",
    ):
        assert words in text
    assert "Warning" not in text
    assert "delta" not in Guarantee(1).describe()


def test_under_replace_the_description_does_not_promise_to_hide_membership() -> None:
    text = Guarantee(1, neighbors="replace").describe()
    assert "in the data may become" not in text
    assert "the number of units is public" in text


def test_the_description_says_why_a_value_counts_twice_where_it_does() -> None:
    why = "(a value counts twice: a removal and an addition)"
    assert why in Guarantee(1).describe()
    assert why not in Guarantee(1, neighbors="replace").describe()


def test_figures_in_words_are_rounded_outward() -> None:
    assert "factor of at most 2.72" in Guarantee(1).describe()  # e is 2.71828
    assert "at most 23.2 %" in Guarantee(1).describe()  # 23.197 %


# --- choices


def test_published_choices_are_in_order_and_each_names_its_unit_and_source() -> None:
    assert [choice.epsilon for choice in CHOICES] == sorted(choice.epsilon for choice in CHOICES)
    assert all(choice.application and choice.unit and choice.source for choice in CHOICES)
    assert {0.01, math.log(2), math.log(3), 10} <= {choice.epsilon for choice in CHOICES}


def test_the_economic_epsilon_spends_the_budget_and_not_more() -> None:
    epsilon = affordable(budget=30_000, people=1_000, cost=100)
    assert epsilon == pytest.approx(math.log(1.3))
    assert (rounding.exp_up(F(epsilon)) - 1) * 100 * 1_000 <= 30_000 + F(1, 10**9)
