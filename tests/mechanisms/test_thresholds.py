"""Selection by threshold, by exact probabilities: what one person's keys can do, and what two keys together lose."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from sfumato.errors import InvalidArgument
from sfumato.mechanisms import GaussianThreshold, LaplaceThreshold, TruncatedGeometric
from sfumato.mechanisms._noise.threshold import Promise
from sfumato.privacy.neighbors import Neighbors
from sources import Seeded

ADD_REMOVE, REPLACE = Neighbors
SELECTIONS = (LaplaceThreshold, GaussianThreshold, TruncatedGeometric)
SLACK = 1 + 1e-9  # of floats in log_probability


def real(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def make(kind: Any, *arguments: Any, **more: Any) -> Any:
    """A selection on the integers, so that its outputs can be listed."""
    return kind(*arguments, **more, **({"spacing": 1} if kind is GaussianThreshold else {}))


def chance(mechanism: Any, people: int) -> float:
    """How often a key of this many people is shown."""
    if isinstance(mechanism, TruncatedGeometric):
        return math.exp(mechanism.log_probability(True, people))
    return -math.expm1(mechanism.log_probability(None, people))


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("keys", [1, 2, 7, 100])
@pytest.mark.parametrize("kind", SELECTIONS)
def test_a_key_of_one_person_appears_with_delta_over_keys_at_most(kind: Any, keys: int, neighbors: Neighbors) -> None:
    """And one of all the keys that only this person has with delta at most: they are independent."""
    mechanism = make(kind, 1, 1e-4, keys=keys, neighbors=neighbors)
    once = chance(mechanism, 1)
    assert 0 < once <= float(mechanism._promise.delta) / keys * SLACK
    assert -math.expm1(keys * math.log1p(-once)) <= 1e-4 * SLACK
    assert mechanism.log_probability(True if kind is TruncatedGeometric else 10**6, 0) == -math.inf


@pytest.mark.parametrize("kind", SELECTIONS)
def test_a_key_that_nobody_has_is_never_shown(kind: Any) -> None:
    """Not even with a delta so large that every second key of one person is."""
    mechanism = make(kind, 1, 0.9)
    assert {mechanism.release(0, Seeded(1)) for _ in range(200)} <= {None, False}


@pytest.mark.parametrize(
    ("epsilon", "delta", "keys"), [(1, "1e-6", 1), (0.1, "1e-9", 3), (5, "1e-3", 10), (1000, "0.5", 1)]
)
def test_the_threshold_is_the_least(epsilon: float, delta: str, keys: int) -> None:
    """Pr[noise >= tau] is at most delta / keys, and one lower it is not."""
    mechanism = LaplaceThreshold(epsilon, Fraction(delta), keys)
    with mp.workdps(60):
        a, tau = mp.exp(-1 / real(mechanism._noise.scale)), mechanism.threshold
        assert a**tau / (1 + a) <= real(Fraction(delta)) / keys
        assert tau == 1 or a ** (tau - 1) / (1 + a) > real(Fraction(delta)) / keys


def test_the_threshold_is_what_the_release_applies() -> None:
    """Both sides of it, at exact probabilities: a number equal to the threshold is not shown, the next one is."""
    mechanism = LaplaceThreshold(1, 1e-2)
    tau = mechanism.threshold
    assert mechanism.log_probability(tau, 3) == -math.inf < mechanism.log_probability(tau + 1, 3)
    entropy = Seeded(2)
    shown = [x for x in (mechanism.release(tau, entropy) for _ in range(4_000)) if x is not None]
    assert min(shown) == tau + 1


@pytest.mark.parametrize("keys", [1, 4, 100])
def test_the_gaussian_threshold_leaves_half_of_delta_to_the_keys(keys: int) -> None:
    """By exact sums: Pr[noise > reach] <= delta / (2 keys)."""
    mechanism = GaussianThreshold(1, 1e-3, keys, spacing=1)
    variance, end = mechanism._noise.variance, 40 * math.ceil(math.sqrt(mechanism._noise.variance))
    with mp.workdps(40):
        weights = [mp.exp(-x * x / (2 * real(variance))) for x in range(end)]
        beyond = mp.fsum(weights[mechanism._reach + 1 :]) / (2 * mp.fsum(weights) - 1)
        assert beyond <= mp.mpf("1e-3") / (2 * keys)


def test_the_relation_may_be_given_by_its_name() -> None:
    """The noise and the promise read the same word."""
    for kind in SELECTIONS:
        named, meant = make(kind, 1, 1e-3, neighbors="replace"), make(kind, 1, 1e-3, neighbors=REPLACE)
        assert named._promise == meant._promise and named.guarantee == meant.guarantee
        assert named.loss == meant.loss and chance(named, 5) == chance(meant, 5)
        with pytest.raises(InvalidArgument, match="neighbors must be"):
            make(kind, 1, 1e-3, neighbors="swap")


def test_the_number_of_keys_may_be_an_integer_of_numpy() -> None:
    for kind in SELECTIONS:
        assert chance(make(kind, 1, 1e-3, keys=np.int64(2)), 3) == chance(make(kind, 1, 1e-3, keys=2), 3)


def test_two_steps_of_a_replacement_cost_no_more_than_is_promised() -> None:
    """Twice epsilon / 2, and a delta per step that grows to at most the whole one."""
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(30)):
        promise = Promise.read(epsilon, Fraction(1, 1000), 3, REPLACE)
        with mp.workdps(60):
            assert 2 * promise.epsilon == epsilon
            assert real(promise.delta) * (1 + mp.exp(real(epsilon / 2))) <= mp.mpf(1) / 1000


# The exact divergence of whole releases: two keys, every output listed.


def released(mechanism: Any, people: int, most: int) -> dict[Any, float]:
    """The distribution of one key's release; what lies beyond `most` is one output."""
    if isinstance(mechanism, TruncatedGeometric):
        outputs: Iterable[Any] = (True, False)
    else:
        outputs = (None, *range(1, most))
    chances = {o: math.exp(mechanism.log_probability(o, people)) for o in outputs}
    chances["beyond"] = max(0.0, 1 - math.fsum(chances.values()))
    return chances


def table(mechanism: Any, data: Counter[str], most: int) -> np.ndarray:
    """The distribution of a release of both keys, which are drawn independently."""
    first, second = (np.array(list(released(mechanism, data[key], most).values())) for key in "ab")
    return np.outer(first, second)


def divergence(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(0, p - math.exp(epsilon) * q).sum())


OTHERS = [Counter(a=a, b=b) for a, b in itertools.product((0, 1, 2, 5, 9, 14), repeat=2)]
UNITS = [Counter(), Counter("a"), Counter("b"), Counter("ab")]


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("kind", SELECTIONS)
def test_a_unit_with_two_keys_loses_no_more_than_promised(kind: Any, neighbors: Neighbors) -> None:
    """Whatever the others have: keys only this unit has, keys it shares, one of each; in both directions.

    Under replace the unit's keys change to any others: none, one, the other one, both.
    """
    epsilon, delta = 1.0, 0.05
    mechanism = make(kind, epsilon, delta, keys=2, neighbors=neighbors)
    tables: dict[tuple[int, int], np.ndarray] = {}

    def distribution(data: Counter[str]) -> np.ndarray:
        at = data["a"], data["b"]
        if at not in tables:
            tables[at] = table(mechanism, data, most=90)
        return tables[at]

    largest = 0.0
    for others, (unit, other) in itertools.product(OTHERS, itertools.permutations(UNITS, 2)):
        if neighbors is ADD_REMOVE and unit and other:
            continue
        lost = divergence(distribution(others + unit), distribution(others + other), epsilon)
        assert lost <= delta * SLACK
        largest = max(largest, lost)
    assert largest > delta / 40  # the examples come near enough to mean something


def test_fewer_shared_keys_cost_the_laplace_threshold_less_epsilon() -> None:
    """One key of two is unique: what is left is epsilon / 2 and delta / 2."""
    epsilon, delta = 1.0, 0.05
    mechanism = LaplaceThreshold(epsilon, delta, keys=2)
    without, with_unit = (table(mechanism, data, 90) for data in (Counter(a=5), Counter(a=6, b=1)))
    for p, q in ((without, with_unit), (with_unit, without)):
        assert divergence(p, q, epsilon / 2) <= delta / 2 * SLACK


def test_the_gaussian_threshold_loses_its_delta_in_the_keys_and_the_rest_in_the_pair() -> None:
    """The loss beside half of delta covers both directions at every epsilon, as the accountant adds it up."""
    from sfumato.privacy.pair import hockey_stick

    mechanism = GaussianThreshold(1, 0.05, keys=2, spacing=1)
    loss = mechanism.loss
    assert loss.pair is not None and loss.delta == Fraction(1, 40)
    for others, unit in itertools.product(OTHERS[::5], UNITS[1:]):
        tables = [table(mechanism, data, 90) for data in (others, others + unit)]
        for epsilon in (0.0, 0.3, 1.0, 2.0):
            covered = float(loss.delta) + (1 - float(loss.delta)) * hockey_stick(loss.pair, epsilon)
            assert max(divergence(p, q, epsilon) for p, q in (tables, tables[::-1])) <= covered * SLACK


# The optimal selection.

CHOICES = [(1.0, "1e-6", 1), (0.3, "0.01", 2), (3.0, "1e-30", 4), (1.0, "1e-60", 1), (2.0, "0.5", 1), (60.0, "1e-9", 1)]
each = pytest.mark.parametrize(("epsilon", "delta", "keys"), CHOICES)


def recursion(mechanism: TruncatedGeometric) -> list[mp.mpf]:
    """The claim's recursion at high precision, to its first 1."""
    promise = mechanism._promise
    r, d = mp.exp(real(promise.epsilon / promise.keys)), real(promise.delta / promise.keys)
    chances = [mp.mpf(0)]
    while chances[-1] < 1:
        chances.append(min(r * chances[-1] + d, 1 - (1 - chances[-1] - d) / r, mp.mpf(1)))
    return chances


@each
@pytest.mark.parametrize("neighbors", Neighbors)
def test_the_chances_bracket_the_recursion(epsilon: float, delta: str, keys: int, neighbors: Neighbors) -> None:
    """The bounds hold, are narrow beside the chance itself, and end where it is surely one."""
    mechanism = TruncatedGeometric(epsilon, Fraction(delta), keys, neighbors)
    with mp.workdps(300):
        exact, one = recursion(mechanism), mp.mpf(2) ** mechanism._bits
        assert len(mechanism._chances) == len(exact)
        for (low, high), pi in zip(mechanism._chances, exact, strict=True):
            assert low <= pi * one <= high
            assert high - low <= pi * one * mp.mpf(2) ** -80
        for n in range(1, len(exact) - 1, max(1, len(exact) // 7)):
            for bits in (20, mechanism._bits, mechanism._bits + 70):
                assert mechanism._chance(n).digits(bits) == mp.floor(exact[n] * mp.mpf(2) ** bits)


@each
def test_each_step_meets_a_constraint_with_equality(epsilon: float, delta: str, keys: int) -> None:
    """So none can be shown more often: both constraints are kept, and one is exhausted unless a key is surely shown."""
    mechanism = TruncatedGeometric(epsilon, Fraction(delta), keys)
    with mp.workdps(300):
        promise = mechanism._promise
        r, d = mp.exp(real(promise.epsilon / keys)), real(promise.delta / keys)
        exact = recursion(mechanism)
        for now, then in itertools.pairwise(exact):
            shown, hidden = r * now + d - then, r * (1 - then) + d - (1 - now)
            assert shown >= -(mp.mpf(10) ** -250) and hidden >= -(mp.mpf(10) ** -250) and then > now
            assert then == 1 or min(shown, hidden) < mp.mpf(10) ** -250


def test_the_selection_is_at_least_as_good_as_a_threshold() -> None:
    """The optimum shows every key as often as Laplace noise with the same promise does, or more often."""
    best, noisy = TruncatedGeometric(1, 1e-6), LaplaceThreshold(1, 1e-6)
    assert all(chance(best, n) * SLACK >= chance(noisy, n) for n in range(1, 60))


def test_releases_follow_the_chances() -> None:
    """Binomial, at a false-alarm rate of 1e-7."""
    mechanism, draws, entropy = TruncatedGeometric(1, 0.01), 20_000, Seeded(3)
    for n in (1, 3, 5, 8):
        shown, expected = sum(mechanism.release(n, entropy) for _ in range(draws)), draws * chance(mechanism, n)
        assert abs(shown - expected) <= 5.4 * math.sqrt(expected * (1 - chance(mechanism, n))) + 1
    assert mechanism.release(10**9, entropy) is True
