"""Keys that nobody listed: what a unit alone can see of its own keys, by exact probabilities.

The tail of discrete Laplace noise has a closed form. That of discrete Gaussian noise is bounded by integrals: the sum
over t + 1, t + 2, ... lies below the integral from t and above the one from t + 1, and the sum over all integers is the
integral's by Poisson's formula, up to a factor that is 1 here for hundreds of digits.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plan.people import TABLES
from sfumato.accounting import zcdp_epsilon
from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.plan.binding.bind import bind
from sfumato.plan.pricing import key_discovery as selecting
from sfumato.plan.pricing.key_discovery import FULL, MOST_KEYS, ROUNDS, KeyDiscovery, Round
from sfumato.plan.pricing.price import price
from sfumato.plan.syntax.parse import parse
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import Norm
from sfumato.statistics.share import Share

EPSILONS = (Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(3), Fraction(10))
DELTAS = tuple(Fraction(1, 10**digits) for digits in range(3, 13, 3))
KINDS = tuple(itertools.product(Norm, Neighbors))


def exceeds(noise: LaplaceNoise | GaussianNoise, least: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """A lower and an upper bound on the probability that the noise is above a number that is not negative."""
    with mpmath.workdps(60):
        if isinstance(noise, LaplaceNoise):
            a = mpmath.exp(-1 / exactly(noise.scale))
            tail = a ** (least + 1) / (1 + a)
            return tail, tail
        far = mpmath.sqrt(2 * exactly(noise.variance))
        return mpmath.erfc((least + 1) / far) / 2, mpmath.erfc(least / far) / 2


def exactly(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def own_keys_seen(look: Round, threshold: int) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """For a unit alone with 1, 2, 3, ... keys: bounds on the expected number of them that are shown."""
    noise = look.share.noise(look.moves)
    tails = [exceeds(noise, threshold - weight) for weight in look.weights]
    return [(keys * low, keys * high) for keys, (low, high) in enumerate(tails, 1)]


@pytest.mark.parametrize(("norm", "neighbors"), KINDS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_unit_alone_sees_any_of_its_keys_with_probability_delta_at_most(
    norm: Norm, neighbors: Neighbors, epsilon: Fraction
) -> None:
    """By the union bound for every number of keys; and for some number it is nearly delta, so nothing is wasted."""
    for look in (look for delta in DELTAS for look in KeyDiscovery(Share(norm, epsilon), delta, neighbors).rounds):
        seen = own_keys_seen(look, look.threshold)
        assert len(seen) == MOST_KEYS
        assert max(high for _, high in seen) <= exactly(look.delta)
        assert max(low for low, _ in seen) >= exactly(look.delta) * mpmath.mpf("0.99")


@pytest.mark.parametrize(("norm", "neighbors"), KINDS)
def test_a_threshold_that_is_a_little_lower_would_not_do(norm: Norm, neighbors: Neighbors) -> None:
    """The exact probabilities have power: one percent less, and some number of keys is seen too often."""
    for look in KeyDiscovery(Share(norm, Fraction(1)), Fraction(1, 10**6), neighbors).rounds:
        assert max(low for low, _ in own_keys_seen(look, look.threshold * 99 // 100)) > exactly(look.delta)


@pytest.mark.parametrize("norm", Norm)
def test_the_keys_of_a_unit_have_the_norm_of_one_unit_at_most(norm: Norm) -> None:
    """Exactly, in whole steps, for every number of keys; with one step more for each key they would have more."""
    look = Round(Share(norm, Fraction(1)), Fraction(1, 10), Neighbors.ADD_REMOVE, MOST_KEYS)
    power = 1 if norm is Norm.L1 else 2
    for keys, weight in enumerate(look.weights, 1):
        assert keys * weight**power <= FULL**power < keys * (weight + 1) ** power
    assert look.weights[0] == FULL


@pytest.mark.parametrize("norm", Norm)
@given(
    st.lists(st.integers(0, 20), max_size=MOST_KEYS, unique=True),
    st.lists(st.integers(0, 20), max_size=MOST_KEYS, unique=True),
)
def test_a_unit_that_is_replaced_moves_scores_as_far_as_claimed(norm: Norm, one: list[int], other: list[int]) -> None:
    """Whatever keys it had and has: within `moves`, which is reached where it has none of its keys any more."""
    look = Round(Share(norm, Fraction(1)), Fraction(1, 10), Neighbors.REPLACE, MOST_KEYS)
    before = {key: look.weights[len(one) - 1] for key in one}
    after = {key: look.weights[len(other) - 1] for key in other}
    power = 1 if norm is Norm.L1 else 2
    assert sum(abs(before.get(key, 0) - after.get(key, 0)) ** power for key in {*one, *other}) <= look.moves
    assert look.moves == 2 * FULL**power


@pytest.mark.parametrize("norm", Norm)
@given(
    st.fractions(Fraction(1, 1000), 10),
    st.fractions(Fraction(1, 10**12), Fraction(1, 10)),
)
def test_the_rounds_cost_what_the_selection_costs(norm: Norm, amount: Fraction, delta: Fraction) -> None:
    """Their shares and their deltas add up exactly."""
    rounds = KeyDiscovery(Share(norm, amount), delta, Neighbors.ADD_REMOVE).rounds
    assert sum(ROUNDS) == 1 and len(rounds) == len(ROUNDS)
    assert sum(look.share.amount for look in rounds) == amount
    assert sum(look.delta for look in rounds) == delta


@pytest.mark.parametrize("norm", Norm)
def test_where_every_unit_has_one_key_one_round_has_all_of_it(norm: Norm) -> None:
    """Nothing is freed for a second one; and a unit's own key has a lower threshold than one of 64."""
    share, delta = Share(norm, Fraction(1)), Fraction(1, 10**6)
    (look,) = KeyDiscovery(share, delta, Neighbors.ADD_REMOVE, single=True).rounds
    assert (look.share, look.delta, look.weights) == (share, delta, (FULL,))
    assert look.threshold < min(each.threshold for each in KeyDiscovery(share, delta, Neighbors.ADD_REMOVE).rounds)
    sql = "SELECT y, COUNT(*) AS n, MEDIAN(x) AS m FROM t GROUP BY y"
    for rows, rounds in ((1, 1), (2, 2), (None, 2)):
        declared = {name: replace(table, max_rows_per_unit=rows) for name, table in TABLES.items()}
        plan = price(bind(parse(sql), declared), epsilon=1, delta=delta)
        assert plan.key_discovery is not None and len(plan.key_discovery.rounds) == rounds


@pytest.mark.parametrize("norm", Norm)
def test_a_small_first_round_finds_more_keys_than_a_third(norm: Norm) -> None:
    """People with two popular keys and a rare one: the second round needs the share. Seeds are fixed."""
    share, delta, people = Share(norm, Fraction(1, 2 if norm is Norm.L1 else 50)), Fraction(1, 10**6), 3_000

    def found(parts: tuple[Fraction, ...]) -> int:
        looks = [Round(share.part(part), delta * part, Neighbors.ADD_REMOVE, MOST_KEYS) for part in parts]
        random, total = np.random.default_rng(3), 0
        sizes = random.permutation(np.arange(1, 200))  # people that share each rare key
        for _ in range(20):
            popular, rare = np.zeros(2, dtype=bool), np.zeros(len(sizes), dtype=bool)
            for look in looks:
                noise = look.share.noise(look.moves).deviation()
                weight = look.weights[2 - int(popular.sum())]
                rare |= sizes * weight + random.normal(0, noise, len(sizes)) > look.threshold
                popular |= people * weight + random.normal(0, noise, 2) > look.threshold
            total += int(rare.sum())
        return total

    assert found(ROUNDS) > 1.02 * found((Fraction(1, 3), Fraction(2, 3)))


@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
@settings(max_examples=15)
@given(st.sampled_from(EPSILONS), st.sampled_from(DELTAS), st.integers(1, 5))
def test_a_question_with_unknown_keys_costs_what_was_given(
    noise: str, epsilon: Fraction, delta: Fraction, weight: int
) -> None:
    """All shares add up to the whole, and the whole with the threshold's delta to (epsilon, delta)."""
    bound = bind(parse("SELECT y, COUNT(*) AS n, MEDIAN(x) AS m FROM t GROUP BY y"), TABLES)
    plan = price(bound, epsilon=epsilon, delta=delta, noise=noise, shares={"y": weight})
    assert plan.key_discovery is not None
    spent = [plan.key_discovery.share]
    for each in plan.measures:
        spent += [each.share, each.limit_share, each.bounds_share, each.center_share]
    assert sum(share.amount for share in spent) == plan.whole.amount
    assert plan.key_discovery.share.amount == plan.whole.amount * Fraction(weight, weight + 2)
    if noise == "laplace":
        assert (plan.whole.amount, plan.key_discovery.delta) == (epsilon, delta)
    else:
        assert plan.key_discovery.delta == delta / 2
        assert zcdp_epsilon(plan.whole.amount, delta - plan.key_discovery.delta) <= epsilon
    assert (plan.promise.epsilon, plan.promise.delta) == (epsilon, delta)
    assert plan.loss.delta == delta


def test_more_keys_of_a_unit_raise_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The most that count is a compromise: each more may be a unit's own, so that all must be seen more clearly."""
    looks = [Round(Share(norm, Fraction(1)), Fraction(1, 10**6), Neighbors.ADD_REMOVE, MOST_KEYS) for norm in Norm]
    thresholds = []
    for most in (1, MOST_KEYS, 10 * MOST_KEYS):
        monkeypatch.setattr(selecting, "MOST_KEYS", most)
        thresholds.append([look.threshold for look in looks])
    assert thresholds == sorted(thresholds)
    assert [look.people for look in looks] == [threshold / FULL for threshold in thresholds[-1]]
