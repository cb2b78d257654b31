"""A biased coin, decided exactly.

Heads means V < p for a uniform V in [0, 1). The first digits of V are one random word; they decide unless they equal
the digits of p. Then V gets more words and p more certified digits until they differ. So Pr[heads] is p itself,
whatever real number p is, and no float takes part. Proof: docs/proofs/samplers.md, "The coin".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.rounding import Real

WIDTH = 32
_MORE = 64

Words = NDArray[np.uint32]
Bits = NDArray[np.bool_]
Integers = NDArray[Any]  # int64, or Python integers where 64 bits may not suffice


class Coin:
    """Heads with probability `chance`, a real number in [0, 1]."""

    __slots__ = ("_chance", "threshold", "width")

    def __init__(self, chance: Real, width: int = WIDTH) -> None:
        self._chance = chance
        self.width = width
        # A chance of 1 has the digits 2**width, which no word reaches; one less is undecided, and then decided rightly.
        self.threshold = np.uint32(min(chance.digits(width), (1 << width) - 1))

    @classmethod
    def exp(cls, x: Fraction, width: int = WIDTH) -> Coin:
        """Heads with probability exp(-x), for x >= 0."""
        return cls(Real.exp(-x), width)

    def decide(self, word: int, entropy: Entropy) -> bool:
        """Heads or tails for the V whose first digits are `word`."""
        width = self.width
        while word == (digits := self._chance.digits(width)):
            word = word << _MORE | entropy.bits(_MORE)
            width += _MORE
        return word < digits

    def toss(self, entropy: Entropy) -> bool:
        """One fresh toss."""
        return self.decide(entropy.bits(self.width), entropy)


def bernoulli(coin: Coin, count: int, entropy: Entropy) -> Bits:
    """`count` independent tosses of one coin.

    >>> from sfumato.entropy import SYSTEM
    >>> bernoulli(Coin.exp(Fraction(0)), 3, SYSTEM).tolist()
    [True, True, True]
    """
    words = np.empty(count, np.uint32)
    entropy.fill(words)
    words >>= np.uint32(WIDTH - coin.width)
    heads = words < coin.threshold
    for i in np.flatnonzero(words == coin.threshold):
        heads[i] = coin.decide(int(words[i]), entropy)
    return heads
