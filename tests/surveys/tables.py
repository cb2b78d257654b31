"""Exact tables of what every randomizer sends: each integer that can be drawn is tried, so nothing is sampled.

With odds of 3 or 5/2 the totals are small enough to draw every integer; the code is the same for odds near e**epsilon.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from sfumato.mechanisms import (
    BlockResponse,
    BoxResponse,
    DuchiResponse,
    Hyperplanes,
    PaddedResponse,
    PiecewiseResponse,
    Rows,
    Singles,
    Subsets,
    UnaryResponse,
)

THREE, MORE = (Fraction(11, 10), Fraction(3)), (Fraction(23, 25), Fraction(5, 2))
Table = dict[Any, dict[int, Fraction]]


@dataclass(frozen=True)
class Randomizer:
    """A mechanism, the places of its answers, and all that can be drawn at a place."""

    name: str
    mechanism: Any
    places: tuple[Hashable, ...]
    draws: Callable[[Any], Iterable[Any]]

    def table(self) -> Table:
        """The probability of every output at every place, as a fraction; worked out once."""
        return _table(self)


@cache
def _table(randomizer: Randomizer) -> Table:
    table = {}
    for place in randomizer.places:
        counts = Counter(randomizer.mechanism.output(place, drawn) for drawn in randomizer.draws(place))
        total = sum(counts.values())
        table[place] = {output: Fraction(count, total) for output, count in counts.items()}
    return table


def block(answers: int, blocks: Any, cost: tuple[Fraction, Fraction] = THREE) -> Randomizer:
    mechanism = BlockResponse(cost[0], range(answers), blocks, cost[1])
    name = f"{blocks} of {answers} at {cost[1]}"
    return Randomizer(name, mechanism, tuple(range(answers)), lambda place: range(mechanism.levels.total))


def unary(answers: int, cost: tuple[Fraction, Fraction]) -> Randomizer:
    mechanism = UnaryResponse(cost[0], range(answers), cost[1])
    total = sum(cost[1].as_integer_ratio())

    def draws(place: int) -> Iterable[Any]:
        return itertools.product(*(range(2 if i == place else total) for i in range(answers)))

    return Randomizer(f"unary of {answers} at {cost[1]}", mechanism, tuple(range(answers)), draws)


def ticks(boxes: int, most: int) -> tuple[tuple[int, ...], ...]:
    """All that may be ticked."""
    return tuple(each for size in range(most + 1) for each in itertools.combinations(range(boxes), size))


def boxes(count: int, every: bool, most: int, cost: tuple[Fraction, Fraction]) -> Randomizer:
    differing = min(count, 2 * most) if every else 1
    mechanism = BoxResponse(differing * cost[0], range(count), every, most, cost[1])
    total = sum(cost[1].as_integer_ratio())
    every_draw = itertools.product(range(total), repeat=count) if every else ([u] for u in range(count * total))
    listed = list(every_draw)
    return Randomizer(f"{mechanism.every} {count} boxes, {most}", mechanism, ticks(count, most), lambda place: listed)


def padded(count: int, most: int, blocks: Any) -> Randomizer:
    mechanism = PaddedResponse(THREE[0], range(count), most, blocks, THREE[1])
    listed = list(itertools.product(range(most), range(mechanism.inner.levels.total)))
    return Randomizer(f"padded {count} boxes, {most}, {blocks}", mechanism, ticks(count, most), lambda place: listed)


def scaled(mechanism: Any) -> Randomizer:
    places = tuple(range(mechanism.steps + 1))
    return Randomizer(type(mechanism).__name__, mechanism, places, lambda place: range(mechanism.total))


CHOICES = (
    block(2, Singles()),
    block(5, Singles(), MORE),
    block(2, Subsets(1)),
    block(6, Subsets(2), MORE),
    block(7, Subsets(3)),
    block(6, Subsets(5)),
    block(7, Hyperplanes(2, 3)),
    block(11, Hyperplanes(3, 3), MORE),
    block(6, Hyperplanes(5, 2)),
    block(9, Hyperplanes(4, 3)),
    block(6, Hyperplanes(3, 4)),
    block(5, Hyperplanes(8, 2), MORE),
    block(5, Rows(3)),
    block(8, Rows(3), MORE),
    unary(3, THREE),
    unary(4, MORE),
)
SEVERAL = (
    boxes(3, False, 3, THREE),
    boxes(5, False, 2, MORE),
    boxes(3, True, 3, THREE),
    boxes(4, True, 1, THREE),
    padded(4, 2, Singles()),
    padded(6, 3, Hyperplanes(2, 3)),
    padded(5, 2, Subsets(2)),
)
NUMBERS = (
    scaled(DuchiResponse(THREE[0], (0, 10), 20, THREE[1])),
    scaled(DuchiResponse(MORE[0], (-1, 1), 7, MORE[1])),
    scaled(PiecewiseResponse(THREE[0], (0, 10), 10, 6, THREE[1])),
    scaled(PiecewiseResponse(MORE[0], (-2, 5), 7, 1, MORE[1])),
    scaled(PiecewiseResponse(THREE[0], (0, 1), 4, 9, THREE[1])),
)
ALL = (*CHOICES, *SEVERAL, *NUMBERS)
