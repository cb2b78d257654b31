"""What every randomizer promises, from its whole table of probabilities in fractions: no sampling, no tolerance."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from goodness import FALSE_ALARM
from sfumato.audit import judge
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms import BlockResponse, BoxResponse, DuchiResponse, PaddedResponse, PiecewiseResponse, Subsets
from sfumato.mechanisms.local.field import field, prime_power
from sfumato.mechanisms.local.odds import epsilon_of, read_odds
from sfumato.rounding import exp_down, exp_up
from sources import Seeded
from surveys.tables import ALL, CHOICES, NUMBERS, SEVERAL, Randomizer

each = pytest.mark.parametrize("randomizer", ALL, ids=lambda r: r.name)


@each
def test_no_output_is_likelier_by_more_than_e_to_the_epsilon(randomizer: Randomizer) -> None:
    """For every two answers and every output, in fractions; and some output comes as near as its odds allow."""
    table, limit = randomizer.table(), exp_down(Fraction(randomizer.mechanism.epsilon))
    outputs = set().union(*table.values())
    worst = max(
        theirs[output] / mine[output] for output in outputs for mine in table.values() for theirs in table.values()
    )
    assert all(set(mine) == outputs for mine in table.values())  # none is impossible for one of the answers
    assert worst <= limit
    if not isinstance(randomizer.mechanism, PaddedResponse) or randomizer.mechanism.most == 1:
        assert worst >= limit * Fraction(97, 100)


@each
def test_the_auditor_finds_nothing_in_the_table(randomizer: Randomizer) -> None:
    """By exact probabilities, on the first and the last answer; with a tenth of the epsilon it would."""
    table, claim = randomizer.table(), randomizer.mechanism.guarantee
    mine, theirs = (
        {str(o): p for o, p in table[place].items()} for place in (randomizer.places[0], randomizer.places[-1])
    )
    assert not judge(randomizer.name, mine, theirs, claim).refuted
    less = type(claim)(claim.epsilon / 10, neighbors="replace")
    assert judge(randomizer.name, mine, theirs, less).refuted


@each
def test_probabilities_are_those_that_the_mechanism_states(randomizer: Randomizer) -> None:
    values: Any = list(randomizer.places)
    if isinstance(randomizer.mechanism, DuchiResponse | PiecewiseResponse):
        values = [randomizer.mechanism.scale.number(Fraction(place)) for place in randomizer.places]
    for place, value in zip(randomizer.places, values, strict=True):
        for output, probability in randomizer.table()[place].items():
            stated = randomizer.mechanism.log_probability(output, value)
            assert math.isclose(math.exp(stated), probability, rel_tol=1e-12)
        assert randomizer.mechanism.log_probability(-1, value) == -math.inf


def agreeing(randomizer: Randomizer, table: dict[int, Fraction], answer: int) -> Fraction:
    """The probability that an output supports an answer, by the very code that estimates."""
    mechanism = randomizer.mechanism
    outputs = np.array(list(table))
    if not isinstance(mechanism, BlockResponse):  # rows of bits
        return sum((p for output, p in table.items() if output >> answer & 1), Fraction(0))
    supports = mechanism.blocks.agrees(np.array([answer]), outputs)
    return sum((p for p, agrees in zip(table.values(), supports, strict=True) if agrees), Fraction(0))


@pytest.mark.parametrize("randomizer", CHOICES, ids=lambda r: r.name)
def test_shares_are_estimated_without_bias_in_fractions(randomizer: Randomizer) -> None:
    """(support - stray) / (agree - stray) is 1 on average for the true answer, and 0 for any other."""
    mechanism, table = randomizer.mechanism, randomizer.table()
    for place in randomizer.places:
        for answer in randomizer.places:
            mean = (agreeing(randomizer, table[place], answer) - mechanism.stray) / (mechanism.agree - mechanism.stray)
            assert mean == (answer == place)


@pytest.mark.parametrize("randomizer", SEVERAL, ids=lambda r: r.name)
def test_ticks_are_estimated_without_bias_in_fractions(randomizer: Randomizer) -> None:
    mechanism, table = randomizer.mechanism, randomizer.table()
    for place in randomizer.places:
        for box in range(len(mechanism.boxes)):
            if isinstance(mechanism, PaddedResponse):
                inner = mechanism.inner
                outputs = {o: bool(inner.blocks.agrees(np.array([box]), np.array([o]))[0]) for o in table[place]}
                hits = sum(p for o, p in table[place].items() if outputs[o])
                mean = mechanism.most * (hits - inner.stray) / (inner.agree - inner.stray)
            else:
                about = {o: p for o, p in table[place].items() if mechanism.every or o >> 1 == box}
                hits = sum(p for o, p in about.items() if (o >> box if mechanism.every else o) & 1)
                mean = (hits / sum(about.values()) - mechanism.stray) / (mechanism.agree - mechanism.stray)
            assert mean == (box in place)


@pytest.mark.parametrize("randomizer", NUMBERS, ids=lambda r: r.name)
def test_numbers_are_estimated_without_bias_and_with_the_variance_stated_in_fractions(randomizer: Randomizer) -> None:
    mechanism = randomizer.mechanism
    for place, chances in randomizer.table().items():
        mean = sum(p * mechanism.value(output) for output, p in chances.items())
        square = sum(p * mechanism.value(output) ** 2 for output, p in chances.items())
        assert mean == place
        assert square - mean**2 == mechanism.variance(place)


@pytest.mark.parametrize("randomizer", CHOICES, ids=lambda r: r.name)
def test_the_stated_spread_is_the_mean_squared_error(randomizer: Randomizer) -> None:
    """Times n, of people who all have the same answer: in fractions, from the table."""
    mechanism, table = randomizer.mechanism, randomizer.table()
    for place in randomizer.places:
        total = Fraction(0)
        for answer in randomizer.places:
            chance = agreeing(randomizer, table[place], answer)
            total += chance * (1 - chance) / (mechanism.agree - mechanism.stray) ** 2
        assert math.isclose(total / len(randomizer.places), mechanism.spread, rel_tol=1e-12)


def bulk(randomizer: Randomizer, place: Any, people: int, seed: int) -> list[int]:
    """What many people send who all have one answer, by the code that randomizes many at once."""
    mechanism = randomizer.mechanism
    if isinstance(mechanism, BoxResponse | PaddedResponse):
        given: Any = np.zeros((people, len(mechanism.boxes)), bool)
        given[:, list(place)] = True
    else:
        given = np.full(people, place)
    sent = mechanism.release_all(given, Seeded(seed))
    return [int.from_bytes(row.tobytes(), "little") for row in sent] if sent.ndim == 2 else sent.tolist()


@each
def test_many_at_once_follow_the_same_table(randomizer: Randomizer) -> None:
    """Chi-square, false alarm 1e-7 a test; 20,000 draws find a cell of probability 0.1 that is 10 % off."""
    place, people = randomizer.places[len(randomizer.places) // 2], 20_000
    table = randomizer.table()[place]
    sent = bulk(randomizer, place, people, seed=ALL.index(randomizer))
    assert set(sent) <= set(table)
    wanted = np.array([float(p) * people for p in table.values()])
    seen = np.array([sent.count(output) for output in table], float)
    statistic = ((seen - wanted) ** 2 / wanted)[wanted >= 5].sum()
    assert chi2.sf(statistic, max(1, int((wanted >= 5).sum()) - 1)) > FALSE_ALARM


def test_odds_are_the_greatest_multiple_below_e_to_the_epsilon() -> None:
    for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(7, 2), Fraction(50)):
        odds = read_odds(epsilon, None)
        assert odds <= exp_down(epsilon, 200) and odds + Fraction(1, 1 << 60) > exp_up(epsilon, 200)


def test_given_odds_may_cost_no_more_than_epsilon() -> None:
    coins = epsilon_of(Fraction(3))
    assert BlockResponse(coins, "ab", odds=3).odds == 3
    for epsilon in (Fraction(1), coins - Fraction(1, 10**15)):
        with pytest.raises(InvalidArgument, match=r"odds must lie above 1 and not above e\*\*epsilon"):
            BlockResponse(epsilon, "ab", odds=3)
    with pytest.raises(InvalidArgument, match="odds must lie above 1"):
        BlockResponse(1, "ab", odds=1)


@pytest.mark.parametrize("order", [n for n in range(2, 33) if prime_power(n)])
def test_a_field_is_one(order: int) -> None:
    """Commutative, associative, distributive, with inverses."""
    known = field(order)
    a, b, c = np.meshgrid(*[np.arange(order)] * 3)
    plus, times = known.plus, known.times
    assert (plus[a, b] == plus[b, a]).all() and (times[a, b] == times[b, a]).all()
    assert (plus[plus[a, b], c] == plus[a, plus[b, c]]).all()
    assert (times[times[a, b], c] == times[a, times[b, c]]).all()
    assert (times[a, plus[b, c]] == plus[times[a, b], times[a, c]]).all()
    some = np.arange(1, order)
    assert (times[some, known.inverse[some]] == 1).all() and (plus[np.arange(order), known.negative] == 0).all()


def test_what_is_no_prime_power_has_no_field() -> None:
    with pytest.raises(InvalidArgument, match="order must be a prime power"):
        field(6)


@each
def test_many_at_once_refuse_what_is_no_answer(randomizer: Randomizer) -> None:
    """What is sent for a place beyond the last might be sent for no other, and would name it."""
    mechanism = randomizer.mechanism
    if isinstance(mechanism, BoxResponse | PaddedResponse):
        wrong: list[Any] = [np.ones((2, len(mechanism.boxes) + 1), bool)]
        wrong += [np.ones((2, len(mechanism.boxes)), bool)] if mechanism.most < len(mechanism.boxes) else []
    else:
        wrong = [np.array([0, len(randomizer.places)]), np.array([-1])]
    for given in wrong:
        with pytest.raises(OutsideRange, match=r"(places|ticks) must be .*; got"):
            mechanism.release_all(given)


def test_blocks_that_do_not_fit_are_refused() -> None:
    for make in (
        lambda: BlockResponse(1, "abc", Subsets(3)),
        lambda: BlockResponse(1, range(64), Subsets(3)),
        lambda: BlockResponse(1, "a"),
        lambda: BoxResponse(1, "abc", most=4),
    ):
        with pytest.raises(InvalidArgument, match=r"must .*; got "):
            make()
