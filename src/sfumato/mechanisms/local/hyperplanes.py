"""Points of a projective space over a finite field: answers and outputs are both points, and agree if orthogonal.

Point number n of the space of `dimension` coordinates over a field of q elements: the vectors whose first coordinate
that is not 0 is 1, in the order of the numbers that they are in base q (first coordinate highest). With
start(e) = (q**e - 1) / (q - 1), the numbers start(e) .. start(e + 1) - 1 are the vectors q**e + n - start(e).

>>> Hyperplanes(2, 3).sizes(7), Hyperplanes.fitting(4, 1000)              # the Fano plane; q = 4 for a thousand answers
((3, 4, 1), Hyperplanes(order=4, dimension=6))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.errors import InvalidArgument
from sfumato.mechanisms.local.blocks import WIDEST, Integers, Weights
from sfumato.mechanisms.local.field import field

LARGEST = 1 << 25  # numbers in memory while outputs are counted
_PIECE = 1 << 24  # pairs of an answer and an output that are compared at once
_DIRECT = 1 << 26  # pairs up to which comparing each with each is faster


@dataclass(frozen=True, slots=True)
class Hyperplanes:
    """The points that are orthogonal to the answer's point agree with it."""

    order: int
    dimension: int
    name = "projective"

    @classmethod
    def fitting(cls, order: int, answers: int) -> Hyperplanes:
        """The smallest space that has a point for each answer."""
        dimension = 2
        while _start(order, dimension) < answers:
            dimension += 1
        return cls(order, dimension)

    def check(self, answers: int) -> None:
        """There is a point for each answer, and the space fits into eight bytes and into the memory."""
        field(self.order)
        size = _start(self.order, checks.whole(least=2, dimension=self.dimension))
        if size < answers or not self.is_small(answers):
            raise InvalidArgument(
                f"the space must have a point for each of {answers} answers, and at most 2**25 vectors; got order "
                f"{self.order}, dimension {self.dimension}; leave them out"
            )

    def is_small(self, answers: int) -> bool:
        """Whether outputs can be counted in little memory."""
        pairs = answers * _start(self.order, self.dimension)
        is_countable = pairs <= _DIRECT or self.order ** (self.dimension + 1) <= LARGEST
        return bool(is_countable and self.order**self.dimension < 1 << WIDEST)

    def sizes(self, answers: int) -> tuple[int, int, int]:
        """A hyperplane, its complement, and where two hyperplanes meet."""
        start = [_start(self.order, e) for e in range(self.dimension + 1)]
        return start[-2], start[-1] - start[-2], start[-3]

    def agreeing(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """Coordinates but the answer's pivot as point `rank` of one dimension less; the pivot makes the product 0."""
        rest = _digits(_vector(rank, self.order), self.order, self.dimension - 1)
        return self._completed(place, rest, 0)

    def others(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """Coordinates but the answer's pivot as the digits of `rank`; the pivot makes the product 1."""
        return self._completed(place, _digits(rank, self.order, self.dimension - 1), 1)

    def _completed(self, place: Integers, rest: list[Integers], product: int) -> Integers:
        """The point with these coordinates beside the pivot of the answer, and this product with the answer's point."""
        known = field(self.order)
        answer = _digits(_vector(place, self.order), self.order, self.dimension)
        pivot = np.argmax(np.stack(answer) != 0, axis=0)  # the answer's coordinate there is 1
        coordinates, sum_ = [], np.zeros(np.broadcast_shapes(place.shape, rest[0].shape), np.int64)
        for i, factor in enumerate(answer):
            kept = np.where(i < pivot, rest[min(i, len(rest) - 1)], rest[i - 1] if i else 0)
            coordinate = np.where(i == pivot, 0, kept)
            sum_ = known.plus[sum_, known.times[factor, coordinate]]
            coordinates.append(coordinate)
        last = known.plus[product, known.negative[sum_]]
        return self._point([np.where(i == pivot, last, each) for i, each in enumerate(coordinates)])

    def _point(self, coordinates: list[Integers]) -> Integers:
        """The number of a point: divided by its first coordinate that is not 0, then by its place in the order."""
        known = field(self.order)
        listed = np.stack(coordinates)
        pivot = np.argmax(listed != 0, axis=0)
        scale = known.inverse[np.take_along_axis(listed, pivot[None], 0)[0]]
        vector = np.zeros_like(scale)
        for each in listed:
            vector = vector * self.order + known.times[scale, each]
        level = self.dimension - 1 - pivot
        powers = self.order ** np.arange(self.dimension, dtype=np.int64)
        starts = np.array([_start(self.order, e) for e in range(self.dimension)], np.int64)
        return np.asarray(vector - powers[level] + starts[level])

    def agrees(self, place: Integers, output: Integers) -> NDArray[np.bool_]:
        """Where the product is 0."""
        known = field(self.order)
        mine, theirs = (_digits(_vector(each, self.order), self.order, self.dimension) for each in (place, output))
        sum_ = np.zeros(np.broadcast_shapes(place.shape, output.shape), np.int64)
        for a, b in zip(mine, theirs, strict=True):
            sum_ = known.plus[sum_, known.times[a, b]]
        return np.asarray(sum_ == 0)

    def is_output(self, answers: int, output: Integers) -> NDArray[np.bool_]:
        """The numbers of the points."""
        return np.asarray((output >= 0) & (output < _start(self.order, self.dimension)))

    def support(self, answers: int, output: Integers, weight: Weights | None) -> Weights:
        """Each answer with each point where they are few; else one coordinate after the other."""
        points = _start(self.order, self.dimension)
        counts = np.bincount(output, weight, points)
        if points * answers > _DIRECT:
            return self._transformed(counts)[:answers]
        rows = max(1, _PIECE // points)
        every = np.arange(points, dtype=np.int64)
        starts = range(0, answers, rows)
        pieces = (np.arange(start, min(start + rows, answers), dtype=np.int64) for start in starts)
        return np.concatenate([self.agrees(piece[:, None], every[None]) @ counts for piece in pieces])

    def _transformed(self, counts: Weights) -> Weights:
        """Counts by (answer's first i coordinates, output's other coordinates, product so far), for i = 0, 1, ..."""
        known, q, t = field(self.order), self.order, self.dimension
        vectors = _vector(np.arange(counts.size, dtype=np.int64), q)
        state = np.zeros((q**t, q), counts.dtype)
        state[vectors, 0] = counts
        for i in range(t):
            old = state.reshape(q**i, q, -1, q)
            new = np.zeros_like(old)
            for mine in range(q):
                for theirs in range(q):
                    new[:, mine][..., known.plus[known.times[mine, theirs]]] += old[:, theirs]
            state = new
        return np.asarray(state.reshape(q**t, q)[vectors, 0])

    def settings(self) -> dict[str, int]:
        """The field and the space."""
        return {"order": self.order, "dimension": self.dimension, "modulus": field(self.order).modulus}


def _start(order: int, exponent: int) -> int:
    return int((order**exponent - 1) // (order - 1))


def _vector(point: Integers, order: int) -> Integers:
    """The vector of a point, as a number in base `order`."""
    highest, level, start = int(point.max(initial=0)), 0, [0]
    while start[-1] <= highest:
        level += 1
        start.append(_start(order, level))
    starts = np.array(start, np.int64)
    exponent = np.searchsorted(starts, point, side="right") - 1
    return np.asarray(order ** np.arange(level + 1, dtype=np.int64)[exponent] + point - starts[exponent])


def _digits(number: Integers, order: int, count: int) -> list[Integers]:
    """The digits in base `order`, the highest first."""
    digits = []
    for _ in range(count):
        number, digit = np.divmod(number, order)
        digits.append(digit)
    return digits[::-1]
