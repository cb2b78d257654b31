"""Exact choices: uniform below a bound, and in proportion to count * exp(score).

`Selection` cuts [0, 1) into one interval per candidate and asks where a uniform V falls. The cuts are known as brackets
of integers; while the digits of V drawn so far touch a bracket, V gets more digits and the cuts more precision.
Proof: docs/proofs/samplers.md, "Selection".
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.entropy import Entropy
from sfumato.mechanisms.samplers.coin import WIDTH, Integers
from sfumato.rounding import exp_bounds

_FIRST = 64
_LARGEST = 63  # digits of an integer that numpy holds


def uniform(bound: int, count: int, entropy: Entropy) -> Integers:
    """`count` independent integers, each in 0 .. bound - 1 with the same probability.

    >>> from sfumato.entropy import SYSTEM
    >>> uniform(1, 3, SYSTEM).tolist()
    [0, 0, 0]
    """
    digits = (bound - 1).bit_length()
    if digits > _LARGEST:
        return np.array([_uniform_wide(bound, digits, entropy) for _ in range(count)], object)
    drawn = np.empty(count, np.int64)
    done = 0
    while done < count:
        kept = _drawn(digits, count - done, entropy)
        kept = kept[kept < bound]
        drawn[done : done + kept.size] = kept
        done += kept.size
    return drawn


def _drawn(digits: int, count: int, entropy: Entropy) -> Integers:
    """Uniform integers of so many binary digits: one word each, or two."""
    if digits == 0:
        return np.zeros(count, np.int64)
    if digits <= WIDTH:
        words = np.empty(count, np.uint32)
        entropy.fill(words)
        return words.astype(np.int64) >> (WIDTH - digits)
    pairs = np.empty((count, 2), np.uint32)
    entropy.fill(pairs)
    return (pairs.view(np.uint64)[:, 0] >> np.uint64(2 * WIDTH - digits)).astype(np.int64)


def _uniform_wide(bound: int, digits: int, entropy: Entropy) -> int:
    while (value := entropy.bits(digits)) >= bound:
        pass
    return value


class Selection:
    """An index i with probability proportional to counts[i] * exp(exponents[i]); every count is 1 if none is given."""

    def __init__(self, exponents: Sequence[Fraction], counts: Sequence[int] | None = None) -> None:
        highest = max(exponents)
        self._below_highest = [x - highest for x in exponents]
        self._counts = [1] * len(exponents) if counts is None else counts
        self._cuts = lru_cache(maxsize=4)(self._bracket)

    def _bracket(self, bits: int) -> tuple[list[int], list[int]]:
        """Lower and upper bounds on the running sums of the weights, in units of 2**-bits."""
        known = {x: exp_bounds(x, bits) if x else (1 << bits, 1 << bits) for x in set(self._below_highest)}
        lows, highs, low, high = [], [], 0, 0
        for x, count in zip(self._below_highest, self._counts, strict=True):
            low, high = low + count * known[x][0], high + count * known[x][1]
            lows.append(low)
            highs.append(high)
        return lows, highs

    def draw(self, entropy: Entropy, first: int = _FIRST) -> int:
        """One independent choice; `first` is how many digits of V are drawn before the first look."""
        width, more = first, max(first, 1)
        v = entropy.bits(width)
        while True:
            lows, highs = self._cuts(width + 32)
            # V is in [v, v + 1) / 2**width. It is surely at or above cut i if V >= high_i / low_total, surely below it
            # if V < low_i / high_total; every candidate is looked at, whichever is chosen.
            above = sum(v * lows[-1] >= high << width for high in highs[:-1])
            not_below = sum((v + 1) * highs[-1] > low << width for low in lows[:-1])
            if above == not_below:
                return above
            v, width = v << more | entropy.bits(more), width + more
