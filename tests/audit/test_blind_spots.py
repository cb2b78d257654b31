"""Ways to leak that no number of an output shows by itself: each is found, and its honest twin is not accused.

All noise is repeatable, so these tests never flicker; at `GATE` an honest mechanism is accused with probability 1e-7.
Each leak is exact or nearly so: what is certified is far above the claimed 1.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from sfumato.audit import game
from sfumato.audit.outputs.features import lowest_bit
from sfumato.audit.outputs.outputs import Kind, Reader

GATE = 1 - 1e-7
SAMPLES = 4_000
Leak = Callable[[int, int, np.random.Generator], Any]


def laplace(count: int, scale: float, rng: np.random.Generator) -> Any:
    """Whole numbers."""
    part = -np.expm1(-1 / scale)
    return rng.geometric(part, count) - rng.geometric(part, count)


def steps_of_three(bit: int, count: int, rng: np.random.Generator) -> Any:
    """Noise in multiples of 3: the remainder stays as it was."""
    return bit + 3 * laplace(count, 1_000, rng)


def fine_steps_of_five(bit: int, count: int, rng: np.random.Generator) -> Any:
    """The same with multiples of 5/1024."""
    return (bit + 5 * laplace(count, 10_000, rng)) / 1024


def last_digits_of_large_numbers(bit: int, count: int, rng: np.random.Generator) -> Any:
    """Whole numbers of 70 digits in binary, whose last one is exact; a float has 53."""
    return [bit + (int(noise) << 64) for noise in laplace(count, 1_000, rng)]


def last_digits_in_an_array(bit: int, count: int, rng: np.random.Generator) -> Any:
    """The same in 64 bits."""
    return bit + (laplace(count, 1_000, rng) << 44)


def the_truth_now_and_then(bit: int, count: int, rng: np.random.Generator) -> Any:
    """Four answers of a thousand are exact, among thousands of numbers that others may be."""
    return np.where(rng.random(count) < 0.004, 7_777 + bit, laplace(count, 3_000, rng))


def type_of_a_number(bit: int, count: int, rng: np.random.Generator) -> Any:
    """An int or a float."""
    return [int(x) if bit else float(x) for x in laplace(count, 100, rng)]


def sign_of_zero(bit: int, count: int, rng: np.random.Generator) -> Any:
    """0.0 or -0.0."""
    return np.where(rng.random(count) < 0.5, -0.0 if bit else 0.0, 1.0)


def nothing_or_no_number(bit: int, count: int, rng: np.random.Generator) -> Any:
    """None or NaN."""
    return [None if bit else float("nan")] * count


def digits_of_a_decimal(bit: int, count: int, rng: np.random.Generator) -> Any:
    """1.1 or 1.10."""
    return [Decimal("1.10") if bit else Decimal("1.1")] * count


def text_among_numbers(bit: int, count: int, rng: np.random.Generator) -> Any:
    """What is said instead of a low number."""
    return [("low" if bit else "too low") if x < -2 else int(x) for x in laplace(count, 2, rng)]


def text_in_a_mapping(bit: int, count: int, rng: np.random.Generator) -> Any:
    """Beside an honest number."""
    return [{"mode": "ab"[bit], "n": int(x)} for x in laplace(count, 2, rng)]


def nested_mapping(bit: int, count: int, rng: np.random.Generator) -> Any:
    """A number in a mapping in a mapping."""
    return [{"all": {"n": bit}}] * count


def order_of_keys(bit: int, count: int, rng: np.random.Generator) -> Any:
    """The larger group first, as it was before noise."""
    return [dict([("a", int(x)), ("b", int(x))][:: 1 if bit else -1]) for x in laplace(count, 2, rng)]


def key_without_a_value(bit: int, count: int, rng: np.random.Generator) -> Any:
    """A key is there, though with nothing."""
    return [{"me": None} if bit else {}] * count


def rare_key_of_many(bit: int, count: int, rng: np.random.Generator) -> Any:
    """Eighty keys are commoner than the one that tells."""
    shown, mine = rng.random((count, 80)) < 0.5, rng.random(count) < 0.2 * bit
    return [
        {f"k{place}" for place in np.flatnonzero(row)} | ({"me"} if me else set())
        for row, me in zip(shown, mine, strict=True)
    ]


def size_of_a_set(bit: int, count: int, rng: np.random.Generator) -> Any:
    """Any five or six of a thousand."""
    return [frozenset(row) for row in rng.permuted(np.tile(np.arange(200), (count, 1)), axis=1)[:, : 5 + bit].tolist()]


def length_of_a_long_list(bit: int, count: int, rng: np.random.Generator) -> Any:
    """More numbers than are looked at one by one."""
    return [[0] * (80 + bit)] * count


def matrix(bit: int, count: int, rng: np.random.Generator) -> Any:
    """Many at once, each with two dimensions."""
    return np.tile(np.full((2, 2), bit), (count, 1, 1))


def sum_of_others(bit: int, count: int, rng: np.random.Generator) -> Any:
    """The third number is the sum of both, with their noise, and an exact bit: no two of them tell."""
    both = laplace(2 * count, 5, rng).reshape(count, 2)
    return np.column_stack([both, both.sum(axis=1) + bit])


def spread_in_one_direction(bit: int, count: int, rng: np.random.Generator) -> Any:
    """No number of a vector has another spread, and neither has the sum or a difference."""
    turned = np.linalg.qr(np.array([[1.0, 2, -1], [0, 1, 3], [2, 0, 1]]))[0]
    return (rng.normal(size=(count, 3)) * ([0.1, 10, 10] if bit else [10, 10, 10])) @ turned


LEAKS: tuple[Leak, ...] = (
    steps_of_three, fine_steps_of_five, last_digits_of_large_numbers, last_digits_in_an_array, the_truth_now_and_then,
    type_of_a_number, sign_of_zero, nothing_or_no_number, digits_of_a_decimal, text_among_numbers, text_in_a_mapping,
    nested_mapping, order_of_keys, key_without_a_value, rare_key_of_many, size_of_a_set, length_of_a_long_list, matrix,
    sum_of_others, spread_in_one_direction,
)  # fmt: skip


class Mechanism:
    """Draws from a repeatable source; `honest`: whatever it is given, as if it were the same."""

    def __init__(self, leak: Leak, honest: bool = False) -> None:
        self._leak, self._honest, self._rng = leak, honest, np.random.default_rng(7)

    def sample(self, bit: int, count: int) -> Any:
        return self._leak(0 if self._honest else bit, count, self._rng)


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_a_leak_beside_the_numbers_is_found(leak: Leak) -> None:
    samples = 100_000 if leak is the_truth_now_and_then else SAMPLES
    finding = game(Mechanism(leak), 0, 1, epsilon=1).play(samples, GATE)
    assert finding.refuted, finding.describe()
    assert finding.best.words and finding.to_dict()["refuted"]


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_the_same_outputs_on_both_sides_are_not_accused(leak: Leak) -> None:
    """However they look, they tell nothing: not even an epsilon of 0 is refuted."""
    finding = game(Mechanism(leak, honest=True), 0, 1, epsilon=1).play(SAMPLES, GATE)
    assert finding.certified == 0


def test_outputs_of_one_form_get_no_column_for_it() -> None:
    """Nothing is looked at that is the same everywhere."""
    assert Reader.learn([1, 2, 3]).extra == Reader.learn(np.array([1.5])).extra == ()
    assert Reader.learn([1, 2.5]).extra == ("form",)
    assert Reader.learn([1, 2**60 + 1]).extra == ("digits beyond a float",)
    assert Reader.learn([(), ()]).kind is Kind.CATEGORY
    assert lowest_bit(np.array([0.0, -0.0])).tolist() == [2_000.0, 2_001.0]


def test_an_empty_tuple_is_an_output() -> None:
    """It says nothing, which is no accident."""
    assert not game(lambda _: (), 0, 1, epsilon=1).play(200).refuted
    assert game(lambda x: (x,) * x, 0, 1, epsilon=1).play(2_000).refuted
