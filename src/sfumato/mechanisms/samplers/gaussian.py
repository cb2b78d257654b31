"""Exact discrete Gaussian variables, by rejection from the discrete Laplace distribution in integer arithmetic.

Claim (Canonne, Kamath, Steinke 2020, algorithm 3). Draw Y discrete Laplace with scale t and keep it with probability
exp(-D**2 / (2 variance)), D = |Y| - variance / t. What is kept has Pr[X = x] proportional to exp(-x**2 / (2 variance)).

The chance of keeping is computed for a whole column at once in 64-bit fixed point, as 2**-E with E = D**2 / (2 variance
ln 2), to within `MARGIN` units of 2**-31. A word that lies further than that from it decides; the others, about one
in 2**24, are decided exactly. Derivation of the margin: docs/proofs/samplers.md, "The discrete Gaussian".
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.mechanisms.samplers.coin import WIDTH, Bits, Coin, Integers, Words
from sfumato.mechanisms.samplers.geometric import DiscreteLaplace, draw_chunk
from sfumato.rounding import log_bounds

Room = NDArray[np.uint64]

MARGIN = 64
_POINT = 31
_CHUNK = 1 << 16
_CAP = (1 << 31) - 1  # at least 7.9 standard deviations in fixed point, where the chance of keeping is below 2**-44
_DIGITS = 27  # the standard deviation in fixed point lies in [2**27, 2**28)

# 2**-f = c0 - f (c1 - f (c2 - ...)) on [0, 1], in units of 2**-31, interpolated at Chebyshev nodes.
POWER = (2147483645, 1488521945, 515877823, 119165869, 20572593, 2739202, 234782)


class DiscreteGaussian:
    """X with Pr[X = x] proportional to exp(-x**2 / (2 variance)), for any rational variance up to (2**50)**2.

    >>> from sfumato.entropy import SYSTEM
    >>> DiscreteGaussian(Fraction(1, 1000)).draw(3, SYSTEM).tolist()       # zero but for one draw in e**500
    [0, 0, 0]
    """

    def __init__(self, variance: Fraction, width: int = _POINT) -> None:
        self.variance = variance
        self.width = width
        scale = max(1, (math.isqrt(int(4 * variance)) + 1) // 2)  # near sigma, where most proposals are kept
        self.proposal = DiscreteLaplace(Fraction(scale))
        self.center = variance / scale
        # sigma * 2**shift lies in [2**27, 2**28); beyond 57 a word would overflow, and all is decided exactly
        self.shift = _DIGITS - _floor_log2_root(variance)
        self.narrow = self.shift > 57
        fixed_variance = variance * Fraction(4) ** self.shift
        ln2 = Fraction(log_bounds(Fraction(2), 128)[0], 1 << 128)
        self.rate = np.uint64(round(Fraction(1 << 81) / (fixed_variance * ln2)) if not self.narrow else 0)
        self.fixed_center = round(self.center * Fraction(2) ** max(self.shift, 0))
        self.most = ((self.fixed_center + _CAP) >> max(self.shift, 0)) + 1

    def chance(self, size: Integers, room: Room | None = None) -> Integers:
        """The chance of keeping |Y| = size, in units of 2**-31, to within MARGIN."""
        exponent, fraction, power = room if room is not None else _room(size.size)
        distance = exponent.view(np.int64)
        if self.shift >= 0:
            np.minimum(size, self.most, out=distance)
            distance <<= self.shift
            distance -= self.fixed_center
        else:
            np.subtract(size, self.fixed_center, out=distance)
            distance >>= -self.shift
        np.abs(distance, out=distance)
        np.minimum(distance, _CAP, out=distance)
        exponent *= exponent
        exponent >>= np.uint64(26)
        exponent *= self.rate
        exponent >>= np.uint64(25)  # E in units of 2**-31
        np.bitwise_and(exponent, np.uint64(_CAP), out=fraction)
        np.multiply(fraction, np.uint64(POWER[-1]), out=power)
        for coefficient in POWER[-2:0:-1]:
            power >>= np.uint64(_POINT)
            np.subtract(np.uint64(coefficient), power, out=power)
            power *= fraction
        power >>= np.uint64(_POINT)
        np.subtract(np.uint64(POWER[0]), power, out=power)
        exponent >>= np.uint64(_POINT)
        np.minimum(exponent, np.uint64(63), out=exponent)
        power >>= exponent
        chance: Integers = power.view(np.int64)
        return chance

    def fast(self, size: Integers, words: Words, room: Room | None = None) -> tuple[Bits, Bits]:
        """Which proposals are kept for certain, and which are not decided by these words."""
        room = room if room is not None else _room(size.size)
        chance = self.chance(size, room)
        step = 1 << (_POINT - self.width)  # the word stands for a uniform in [word, word + 1) * step
        low = room[0].view(np.int64)
        np.multiply(words, step, out=low, dtype=np.int64)
        low -= chance
        keep = low <= -(step + MARGIN)
        undecided = low < MARGIN
        undecided ^= keep
        return keep, undecided

    def exact(self, size: int, word: int, entropy: Entropy) -> bool:
        """Whether the proposal with |Y| = size is kept, given the first digits of its uniform."""
        distance = size - self.center
        return Coin.exp(distance * distance / (2 * self.variance), self.width).decide(word, entropy)

    def _kept(self, count: int, buffer: Words, room: Room, entropy: Entropy) -> Integers:
        proposals = draw_chunk(self.proposal, count, buffer, entropy)
        words = buffer[:count]  # the proposals no longer need them
        entropy.fill(words)
        words >>= np.uint32(WIDTH - self.width)
        if proposals.dtype == object or self.narrow:
            sizes = np.abs(proposals)
            keep, undecided = np.zeros(count, bool), np.ones(count, bool)
        else:
            sizes = np.abs(proposals, out=room[0, :count].view(np.int64))
            keep, undecided = self.fast(sizes, words, room[1:, :count])
        for i in np.flatnonzero(undecided):
            keep[i] = self.exact(int(sizes[i]), int(words[i]), entropy)
        return proposals.compress(keep)

    def draw(self, count: int, entropy: Entropy) -> Integers:
        """`count` independent draws."""
        drawn: Integers = np.empty(count, np.int64)
        most = min(count * 4 // 3 + 16, _CHUNK)
        buffer, room = np.empty(self.proposal.columns * most, np.uint32), _room(most, 4)
        done = 0
        while done < count:
            kept = self._kept(min(_CHUNK, (count - done) * 4 // 3 + 16), buffer, room, entropy)[: count - done]
            if kept.dtype == object:
                drawn = drawn.astype(object)
            drawn[done : done + kept.size] = kept
            done += kept.size
        return drawn


def _room(count: int, rows: int = 3) -> Room:
    """Room to compute in, drawn once: fresh memory for every step would cost more than the step."""
    return np.empty((rows, count), np.uint64)


def _floor_log2_root(x: Fraction) -> int:
    """The largest k with 4**k <= x."""
    k = (x.numerator.bit_length() - x.denominator.bit_length()) // 2 - 1
    while Fraction(4) ** (k + 1) <= x:
        k += 1
    return k
