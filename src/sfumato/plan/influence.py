"""How much of one unit's data may count, and what that loses.

A unit's influence on a measure is the sum of the absolute lattice values of its rows. Whoever has more than the limit C
is scaled down to it, so that one unit moves the cells by at most C in the L1 norm. Where nobody declared C, a noisy
histogram of the units' influences in quarter octaves is bought, and C minimises the predicted squared error: noise that
grows with C against the loss that shrinks with it.

Every unit is in exactly one bin, so the histogram has sensitivity 1 (2 under replace). What was lost is bounded from
the same noisy histogram, for all bins at once; units too few to be seen may exist, and the answer says how many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

FINE = 4  # bins in an octave
BINS = 62 * FINE + 1  # influences up to 2**62 steps of the lattice
MAGNITUDES = 96  # octaves of absolute values, from 2**-32 to 2**63


HALVES = 2  # bins of averages in an octave
SIGNED = HALVES * MAGNITUDES  # bins of averages on each side of zero


def least_magnitude() -> Fraction:
    """The upper edge of the first bin of magnitudes."""
    return Fraction(1, 1 << 32)


@cache
def edge(bin: int) -> int:
    """At least the largest influence in a bin, in steps: 2**(bin / 4), and a little more since engines bin in doubles.

    >>> [edge(j) for j in (0, 4, 8, 9, 120)]
    [1, 2, 4, 5, 1073742848]
    """
    root = math.isqrt(math.isqrt((1 << bin) - 1)) + 1 if bin else 1
    return root + (root >> 20)


@dataclass(frozen=True, slots=True)
class Histogram:
    """A noisy histogram of influences: units per bin, and how far each may be off (all bins at once).

    A bin counts as visible with more than `sure` units, which noise alone reaches in one histogram of a million, or
    with more than `likely` ones close above a visible bin. A phantom far out would make limit and noise enormous.
    `most` is a declared maximum: then nobody is unseen beyond it, and every bin up to it counts.
    """

    counts: tuple[int, ...]
    reach: int
    likely: int
    sure: int
    most: int | None = None

    def visible(self) -> list[int]:
        """The bins that hold somebody."""
        seen: list[int] = []
        for j, count in enumerate(self.counts):
            near = bool(seen) and j - seen[-1] <= 2 * FINE
            if count > self.sure or (near and count > self.likely):
                seen.append(j)
        return seen

    def lost(self, limit: int) -> int:
        """At most what the limit takes away in all: up to the declared maximum, else up to the last visible bin."""
        if self.most is None:
            last = max(self.visible(), default=0)
        else:
            last = min(j for j in range(len(self.counts)) if edge(j) >= self.most or j == len(self.counts) - 1)
        above = [j for j in range(last + 1) if edge(j) > limit]
        top = self.most if self.most is not None else edge(last)
        return sum((max(0, self.counts[j]) + self.reach) * max(0, min(edge(j), top) - limit) for j in above)

    def beyond(self) -> tuple[int, int]:
        """How many bins lie beyond the last visible one, and how many units they seem to hold."""
        if self.most is not None:
            return 0, 0
        last = max(self.visible(), default=-1)
        return len(self.counts) - last - 1, sum(self.counts[last + 1 :])


def choose(histogram: Histogram, epsilon: Fraction, cells: int, least: int) -> int:
    """The limit with the least predicted squared error over all cells, among the edges of the bins.

    The noise of a cell has variance 2 (C / epsilon)**2. What is lost is spread over the cells evenly, since nothing
    says which group it is missing from. With a declared maximum the loss is the one that the interval will admit.
    """
    last = max(histogram.visible(), default=-1)
    candidates = [least] + [edge(j) for j in range(last + 1) if edge(j) > least]
    if histogram.most is not None:
        candidates = [limit for limit in candidates if limit < histogram.most] + [histogram.most]

    def cost(limit: int) -> float:
        missing = sum(
            max(0, histogram.counts[j]) * max(0.0, _typical(j) - limit) for j in histogram.visible() if edge(j) > limit
        )
        if histogram.most is not None:
            missing = float(histogram.lost(limit))
        return cells * 2 * (limit / float(epsilon)) ** 2 + missing**2 / cells

    return min(candidates, key=cost)


def _typical(bin: int) -> float:
    return 2 ** ((bin - 0.5) / FINE)


def magnitude(bin: int) -> Fraction:
    """The largest absolute value in a bin of magnitudes."""
    return least_magnitude() * (1 << bin)


def signed_bin_middle(bin: int) -> Fraction:
    """The middle of a bin of signed magnitudes: negative ones in falling order, then positive ones."""
    if bin < SIGNED:
        return -signed_bin_middle(2 * SIGNED - 1 - bin)
    octave, half = divmod(bin - SIGNED, HALVES)
    return magnitude(octave) * (Fraction(7, 6) if half else Fraction(5, 6))


def quantile_bin(counts: Sequence[int], reach: int, share: Fraction) -> int | None:
    """The bin of a quantile among the bins that surely hold somebody, None if there is none."""
    seen = [(j, count) for j, count in enumerate(counts) if count > reach]
    left = share * sum(count for _, count in seen)
    for j, count in seen:
        left -= count
        if left <= 0:
            return j
    return seen[-1][0] if seen else None


def above_all(histogram: Sequence[int], reach: int) -> int:
    """The last bin that surely holds somebody, or the first bin: a bound for values, bought."""
    return max((j for j, count in enumerate(histogram) if count > reach), default=0)
