"""One person's answer as k bits: the bit of the true answer is a fair coin, each other bit is 1 with less than half.

Claim. The bit of the true answer is 1 with probability 1/2, any other bit with low / (high + low). Two answers differ
in two bits, and no output is more than high / low <= e**epsilon times likelier under one than under the other: so it
is epsilon-differentially private. Proof: docs/proofs/local_response.md. Paper: Wang, Blocki, Li, Jha 2017.

>>> UnaryResponse(1.1, "abc", odds=3).stray
Fraction(1, 4)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms._examples.example import FEW, Example, around
from sfumato.mechanisms.local.blocks import Integers, Weights
from sfumato.mechanisms.local.odds import below, check_places, read_odds
from sfumato.mechanisms.local.response import ChoiceResponse, read_categories
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.mechanisms.samplers import Coin, bernoulli
from sfumato.rounding import Real

_PIECE = 1 << 22  # bits that are drawn at once
Packed = NDArray[np.uint8]


@dataclass(frozen=True)
class UnaryResponse(ChoiceResponse):
    """A bit for each category; the value is one category, the output a number whose bit i stands for category i.

        epsilon       what one answer costs; 1 or less is strong, above 10 hardly protects
        categories    the possible answers, two or more
        odds          how much likelier a 0 is than a 1 for what is not the answer; left out: e**epsilon, rounded down
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> 0 <= UnaryResponse(1, ("yes", "no")).release("yes") < 4
    True
    """

    epsilon: checks.Number
    categories: Sequence[Any]
    odds: checks.Number | None = None
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "categories", read_categories(self.categories))
        object.__setattr__(self, "odds", read_odds(Fraction(self.epsilon), self.odds))

    @property
    def agree(self) -> Fraction:
        """The probability that the bit of the true answer is 1."""
        return Fraction(1, 2)

    @property
    def stray(self) -> Fraction:
        """The probability that another bit is 1."""
        return 1 / (1 + Fraction(self.odds or 0))

    def release(self, value: Any, entropy: Entropy = SYSTEM) -> int:
        """The number to send for the true answer `value`."""
        place = self.place(value)
        total = sum(Fraction(self.odds or 0).as_integer_ratio())
        drawn = [below(2 if i == place else total, entropy) for i in range(len(self.categories))]
        return self.output(place, drawn)

    def output(self, place: int, drawn: Sequence[int]) -> int:
        """The number for uniform integers, one a category: below 2 at the answer's place, below high + low else."""
        low = Fraction(self.odds or 0).denominator
        return sum((each < (1 if i == place else low)) << i for i, each in enumerate(drawn))

    def release_all(self, places: Integers, entropy: Entropy = SYSTEM) -> Packed:
        """The bits of many people, a row each: category i is bit i % 8 of byte i // 8."""
        count, wide = places.size, len(self.categories)
        check_places(places, wide)
        packed = np.empty((count, (wide + 7) // 8), np.uint8)
        rows, coin = max(1, _PIECE // wide), Coin(Real.exactly(self.stray))
        for start in range(0, count, rows):
            chosen = places[start : start + rows]
            bits = bernoulli(coin, chosen.size * wide, entropy).reshape(-1, wide)
            bits[np.arange(chosen.size), chosen] = bernoulli(_FAIR, chosen.size, entropy)
            packed[start : start + rows] = np.packbits(bits, axis=1, bitorder="little")
        return packed

    def support(self, outputs: Packed, weights: Weights | None = None) -> Weights:
        """How many people sent a 1 for each category, or their weights."""
        wide = len(self.categories)
        total: Weights = np.zeros(wide, np.int64 if weights is None else np.float64)
        rows = max(1, _PIECE // wide)
        for start in range(0, len(outputs), rows):
            bits = np.unpackbits(outputs[start : start + rows], axis=1, count=wide, bitorder="little")
            total += bits.sum(0, np.int64) if weights is None else weights[start : start + rows] @ bits
        return total

    def log_probability(self, output: int, value: Any) -> float:
        """The logarithm of the probability of a number for a true answer."""
        wide, place = len(self.categories), self.place(value)
        if not 0 <= output < 1 << wide:
            return -math.inf
        high, low = Fraction(self.odds or 0).as_integer_ratio()
        ones = (output & ~(1 << place)).bit_count()
        logs = ones * math.log(low) + (wide - 1 - ones) * math.log(high) - (wide - 1) * math.log(high + low)
        return logs - math.log(2)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Four answers."""
        return (Example("unary", cls(1, "abcd"), "b", "d", around(0, 15), 1, None, FEW),)


_FAIR = Coin(Real.exactly(Fraction(1, 2)))
