"""Exact geometric and discrete Laplace variables, by their binary digits.

Claim. G with Pr[G = g] proportional to exp(-g/scale), g >= 0, has independent binary digits: digit j is 1 with
probability 1 / (1 + exp(2**j / scale)), and what lies above digit m is geometric again, with scale / 2**m. So a draw is
a row of coins. Where 2**low is far below the scale the low digits are nearly uniform: they are drawn uniformly as a
block L and kept with probability exp(-L/scale), which one coin decides for all but 2**-16 of the draws without a look
at L. The discrete Laplace variable is +-(1 + G), each sign with probability 1 / (1 + exp(1 / scale)), else 0.
Proof: docs/proofs/samplers.md, "Digits of a geometric variable".

The fast path works on whole columns: it takes no branch and no address that depends on a value drawn.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sfumato.entropy import Entropy
from sfumato.mechanisms.samplers.coin import WIDTH, Bits, Coin, Integers, Words
from sfumato.rounding import Real

_CHUNK = 1 << 16
_LOW_MARGIN = 16  # 2**low <= scale / 2**16
_TAIL = 23  # what lies above the digits has probability below exp(-23) < 2**-33


class Geometric:
    """G >= 0 with Pr[G = g] proportional to exp(-g / scale)."""

    def __init__(self, scale: Fraction, width: int = WIDTH) -> None:
        self.scale = scale
        self.low = max(0, int(scale).bit_length() - 1 - _LOW_MARGIN)
        top = self.low + 1
        while (1 << top) < _TAIL * scale:
            top += 1
        self.top = top
        # Highest digit first, so that the digits are read by doubling.
        self.digits = [Coin(Real.logistic(-Fraction(1 << j) / scale), width) for j in reversed(range(self.low, top))]
        self.tail = Coin.exp(Fraction(1 << top) / scale, width)
        self.keep = Coin.exp(Fraction(1 << self.low) / scale, width)
        self.low_words = -(-self.low // WIDTH)
        self.coins = len(self.digits) + 2
        self.columns = self.coins + self.low_words
        self.width = width

    def fast(self, words: Words) -> tuple[Integers, Bits]:
        """The draws of a table of words, one column each, and which of them are not decided by it."""
        count = words.shape[1]
        # room for one more and a sign
        high: Integers = np.zeros(count, np.uint16 if len(self.digits) <= 14 else np.uint32)
        byte, heads, same = np.empty(count, np.uint8), np.empty(count, bool), np.empty(count, bool)
        undecided = words[len(self.digits)] <= self.tail.threshold
        for start in range(0, len(self.digits), 8):  # eight digits to a byte, the narrowest and fastest type
            coins = self.digits[start : start + 8]
            byte.fill(0)
            for coin, column in zip(coins, words[start:], strict=False):
                np.add(byte, byte, out=byte)
                np.less(column, coin.threshold, out=heads)
                np.bitwise_or(byte, heads.view(np.uint8), out=byte)
                np.equal(column, coin.threshold, out=same)
                np.logical_or(undecided, same, out=undecided)
            high <<= high.dtype.type(len(coins))
            high |= byte
        if not self.low:
            return high, undecided
        np.greater_equal(words[self.coins - 1], self.keep.threshold, out=same)
        np.logical_or(undecided, same, out=undecided)
        return self._join(high, words[self.coins :]), undecided

    def _join(self, high: Integers, low_words: Words) -> Integers:
        if self.top > 62:
            wide = high.astype(object)
            for column in low_words:
                wide = wide << WIDTH | column.astype(object)
            cut: Integers = wide >> (WIDTH * self.low_words - self.low)
            return cut
        low, joined = low_words[0].astype(np.int64), high.astype(np.int64)
        for column in low_words[1:]:  # at most 62 digits are kept, so two words of which the first is cut
            low <<= WIDTH
            low |= column
        low &= (1 << self.low) - 1
        joined <<= self.low
        joined |= low
        return joined

    def exact(self, words: list[int], entropy: Entropy) -> int:
        """The draw that begins with these words, whatever it takes."""
        value = 0
        for coin, word in zip(self.digits, words, strict=False):
            value = 2 * value + coin.decide(word, entropy)
        if self.tail.decide(words[len(self.digits)], entropy):
            value += 1 << len(self.digits)
            while self.tail.toss(entropy):
                value += 1 << len(self.digits)
        return value << self.low | self._exact_low(words[self.coins - 1 :], entropy)

    def _exact_low(self, words: list[int], entropy: Entropy) -> int:
        if not self.low:
            return 0
        low = 0
        for word in words[1:]:
            low = low << WIDTH | word
        low = low >> (WIDTH * self.low_words - self.low) if self.top > 62 else low & ((1 << self.low) - 1)
        first: int | None = words[0]
        while True:
            coin = Coin.exp(low / self.scale, self.width)
            if coin.decide(first, entropy) if first is not None else coin.toss(entropy):
                return low
            low, first = entropy.bits(self.low), None

    def draw(self, count: int, entropy: Entropy) -> Integers:
        """`count` independent draws."""
        return _draw(self, count, entropy)


class DiscreteLaplace:
    """X with Pr[X = x] proportional to exp(-|x| / scale), for any rational scale up to 2**60.

    >>> from sfumato.entropy import SYSTEM
    >>> DiscreteLaplace(Fraction(1, 100)).draw(4, SYSTEM).tolist()      # zero but for one draw in e**100
    [0, 0, 0, 0]
    """

    def __init__(self, scale: Fraction, width: int = WIDTH) -> None:
        self.scale = scale
        self.width = width
        self.size = Geometric(scale, width)
        # One column gives the sign, its last digit, and whether the draw is not zero, by the other digits V: this has
        # probability 2p, and V < 2p says V/2 < p, where V/2 is V with a zero before it: a word of full width.
        self.not_zero = Coin(Real.logistic(-1 / scale), width)
        self.coins = 1 + self.size.coins
        self.columns = 1 + self.size.columns

    def fast(self, words: Words) -> tuple[Integers, Bits]:
        """The draws of a table of words, and which of them are not decided by it."""
        size, undecided = self.size.fast(words[1:])
        first = words[0] >> np.uint32(1)
        undecided |= first == self.not_zero.threshold
        size += size.dtype.type(1) if size.dtype != object else 1
        if size.dtype == object:
            size *= first < self.not_zero.threshold
            return np.where(words[0] & np.uint32(1), -size, size), undecided
        size *= (first < self.not_zero.threshold).view(np.uint8)
        signed = size.view(f"i{size.itemsize}")
        minus = -(words[0] & np.uint32(1)).astype(signed.dtype)
        signed ^= minus
        signed -= minus
        return signed, undecided

    def exact(self, words: list[int], entropy: Entropy) -> int:
        """The draw that begins with these words, whatever it takes."""
        if not self.not_zero.decide(words[0] >> 1, entropy):
            return 0
        size = 1 + self.size.exact(words[1:], entropy)
        return -size if words[0] & 1 else size

    def draw(self, count: int, entropy: Entropy) -> Integers:
        """`count` independent draws."""
        return _draw(self, count, entropy)


def _draw(sampler: Geometric | DiscreteLaplace, count: int, entropy: Entropy) -> Integers:
    """Draw in chunks that stay in the cache."""
    drawn: Integers = np.empty(count, np.int64)
    buffer = np.empty(sampler.columns * min(count, _CHUNK), np.uint32)
    for start in range(0, count, _CHUNK):
        values = draw_chunk(sampler, min(_CHUNK, count - start), buffer, entropy)
        if values.dtype == object and drawn.dtype != object:
            drawn = drawn.astype(object)
        drawn[start : start + values.size] = values
    return drawn


def draw_chunk(sampler: Geometric | DiscreteLaplace, count: int, buffer: Words, entropy: Entropy) -> Integers:
    """`count` draws with the room in `buffer`; what the words leave undecided is decided exactly."""
    words = buffer[: sampler.columns * count].reshape(sampler.columns, count)
    entropy.fill(words)
    if sampler.width < WIDTH:
        words[: sampler.coins] >>= np.uint32(WIDTH - sampler.width)
    values, undecided = sampler.fast(words)
    for i in np.flatnonzero(undecided):
        value = sampler.exact(words[:, i].tolist(), entropy)
        if values.dtype != object and not -(2**63) <= value < 2**63:
            values = values.astype(object)
        elif values.dtype.itemsize < 8:
            values = values.astype(np.int64)  # a draw beyond the digits may not fit the digits' type
        values[i] = value
    return values
