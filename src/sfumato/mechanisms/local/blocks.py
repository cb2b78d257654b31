"""Which outputs agree with which of k answers, so that any two answers share the same number of them.

Four families. An output is an integer; `agreeing` gives the one of number `rank` among those that agree with an answer,
`others` among the rest. Both are the rule that a respondent's device follows, for arrays as for one person.

    Singles       k outputs, each agrees with the answer of its number: k-ary randomized response
    Subsets       all sets of `size` answers, each as a mask of bits: subset selection (Ye, Barg 2017; Wang et al. 2016)
    Hyperplanes   points of a projective space: projective geometry response (Feldman, Nelson, Nguyen, Talwar 2022)
    Rows          a row of a Hadamard matrix and one bit (Bassily, Smith 2015; Acharya, Sun, Zhang 2019)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.errors import InvalidArgument

WIDEST = 63  # bits of an output, so that it fits in eight bytes
Integers = NDArray[np.int64]
Weights = NDArray[Any]


class Blocks(Protocol):
    """How outputs agree with k answers; any two answers share the same number of outputs."""

    @property
    def name(self) -> str:
        """The word in a design file."""

    def check(self, answers: int) -> None:
        """Refuse a number of answers that does not fit."""

    def sizes(self, answers: int) -> tuple[int, int, int]:
        """How many outputs agree with an answer, how many do not, and how many agree with both of two answers."""

    def agreeing(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """The output of this rank among those that agree with the answer at `place`."""

    def others(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """The output of this rank among those that do not."""

    def agrees(self, place: Integers, output: Integers) -> NDArray[np.bool_]:
        """Whether they agree, each with each (of arrays that numpy can broadcast)."""

    def is_output(self, answers: int, output: Integers) -> NDArray[np.bool_]:
        """Whether such an output exists."""

    def support(self, answers: int, output: Integers, weight: Weights | None) -> Weights:
        """How many outputs agree with each answer, or their weights."""

    def settings(self) -> dict[str, int]:
        """What a design file says beside the name."""


@dataclass(frozen=True, slots=True)
class Singles:
    """Each output agrees with the answer of its own number alone."""

    name = "response"

    def check(self, answers: int) -> None:
        """Any number of answers fits."""

    def sizes(self, answers: int) -> tuple[int, int, int]:
        """One output agrees."""
        return 1, answers - 1, 0

    def agreeing(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """The answer itself."""
        return place + 0 * rank

    def others(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """The other answers in their order."""
        return rank + (rank >= place)

    def agrees(self, place: Integers, output: Integers) -> NDArray[np.bool_]:
        """Where they are equal."""
        return np.asarray(place == output)

    def is_output(self, answers: int, output: Integers) -> NDArray[np.bool_]:
        """The numbers of the answers."""
        return np.asarray((output >= 0) & (output < answers))

    def support(self, answers: int, output: Integers, weight: Weights | None) -> Weights:
        """How often each was said."""
        return np.bincount(output, weight, answers)

    def settings(self) -> dict[str, int]:
        """None."""
        return {}


@dataclass(frozen=True, slots=True)
class Rows:
    """Output 2 * row + bit, with 2**bits rows; the bit that agrees is the parity of the row's and the answer's bits."""

    bits: int
    name = "hadamard"

    def check(self, answers: int) -> None:
        """There are at least as many rows as answers."""
        if not 0 <= checks.whole(bits=self.bits) < WIDEST - 1 or answers > 1 << self.bits:
            raise InvalidArgument(
                f"rows must be at least as many as the {answers} answers; got 2**{self.bits}; leave them out"
            )

    def sizes(self, answers: int) -> tuple[int, int, int]:
        """One bit of each row agrees; two answers agree on half of the rows."""
        rows = 1 << self.bits
        return rows, rows, rows // 2

    def agreeing(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """The row of this number with its bit."""
        return 2 * rank + _parity(rank & place)

    def others(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """The row of this number with the other bit."""
        return 2 * rank + 1 - _parity(rank & place)

    def agrees(self, place: Integers, output: Integers) -> NDArray[np.bool_]:
        """Where the bit is the parity."""
        return np.asarray(_parity((output >> 1) & place) == (output & 1))

    def is_output(self, answers: int, output: Integers) -> NDArray[np.bool_]:
        """Two for each row."""
        return np.asarray((output >= 0) & (output < 2 << self.bits))

    def support(self, answers: int, output: Integers, weight: Weights | None) -> Weights:
        """By the fast Hadamard transform of (rows with bit 0) - (rows with bit 1)."""
        counts = np.bincount(output, weight, 2 << self.bits)
        signed = counts[::2] - counts[1::2]
        for level in range(self.bits):
            pairs = signed.reshape(-1, 2, 1 << level)
            signed = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).reshape(-1)
        doubled: Weights = counts.sum() + signed[:answers]
        return doubled // 2 if weight is None else doubled / 2

    def settings(self) -> dict[str, int]:
        """How many bits number the rows."""
        return {"bits": self.bits}


def _parity(number: Integers) -> Integers:
    return np.bitwise_count(number).astype(np.int64) & 1


@dataclass(frozen=True, slots=True)
class Subsets:
    """All sets of `size` answers, each as a mask whose bit i stands for answer i; those with the answer in it agree."""

    size: int
    name = "subset"

    def check(self, answers: int) -> None:
        """The mask has at most 63 bits."""
        if not 1 <= checks.whole(size=self.size) < answers or answers > WIDEST:
            raise InvalidArgument(
                f"size must be at least 1 and below the number of answers, {WIDEST} at most; got {self.size} of "
                f"{answers}; use another family of blocks"
            )

    def sizes(self, answers: int) -> tuple[int, int, int]:
        """Binomial coefficients."""
        shared = comb(answers - 2, self.size - 2) if self.size > 1 else 0
        return comb(answers - 1, self.size - 1), comb(answers - 1, self.size), shared

    def agreeing(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """The answer with the set of this rank among sets of the others."""
        one = np.int64(1)
        return _widened(_unranked(answers - 1, self.size - 1, rank), place) | (one << place)

    def others(self, answers: int, place: Integers, rank: Integers) -> Integers:
        """The set of this rank among sets of the others."""
        return _widened(_unranked(answers - 1, self.size, rank), place)

    def agrees(self, place: Integers, output: Integers) -> NDArray[np.bool_]:
        """Where the answer is in the set."""
        return np.asarray((output >> place) & 1 == 1)

    def is_output(self, answers: int, output: Integers) -> NDArray[np.bool_]:
        """Masks with so many bits."""
        inside = (output >= 0) & (output < (1 << answers))
        return np.asarray(inside & (np.bitwise_count(output) == self.size))

    def support(self, answers: int, output: Integers, weight: Weights | None) -> Weights:
        """Answer by answer."""
        bits = ((output >> place) & 1 for place in range(answers))
        return np.array([bit.sum() if weight is None else (bit * weight).sum() for bit in bits])

    def settings(self) -> dict[str, int]:
        """How many answers a set has."""
        return {"size": self.size}


def _widened(mask: Integers, place: Integers) -> Integers:
    """A mask over the other answers as one over all: the bits from `place` on move up by one."""
    low = mask & ((np.int64(1) << place) - 1)
    return low | ((mask ^ low) << 1)


def _unranked(answers: int, size: int, rank: Integers) -> Integers:
    """The mask of the set of this rank, in the order of the masks as numbers (combinatorial number system).

    From the highest answer on: it is in the set if the rank is at least the number of sets without it.
    """
    rank, left, mask = rank.astype(np.int64), np.full(rank.shape, size, np.int64), np.zeros(rank.shape, np.int64)
    for answer in range(answers - 1, -1, -1):
        without = np.array([comb(answer, want) for want in range(size + 1)], np.int64)[left]
        taken = (left > 0) & (rank >= without)
        mask |= taken.astype(np.int64) << answer
        rank, left = rank - without * taken, left - taken
    return mask
