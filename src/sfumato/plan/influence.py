"""How much of one unit's data may count, and what that loses.

A unit's influence on a measure is the sum of the absolute lattice values of its rows. Whoever has more than the limit C
is scaled down to it, so that one unit moves the cells by at most C in the L1 norm. Where nobody declared C, a noisy
histogram of the units' influences in quarter octaves is bought, and C minimises the predicted squared error: noise that
grows with C against the loss that shrinks with it.

Every unit is in exactly one bin, so the histogram has sensitivity 1 (2 under replace). What was lost is bounded from
the same noisy histogram, for all bins at once; units too few to be seen may exist, and the answer says how many. Where
few units are seen at all, the limit is taken larger: noise is known and shown, a loss is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

FINE = 4  # bins in an octave
BELOW, ABOVE = 8, 16  # octaves of influence below and above one full row that are told apart
BINS = (BELOW + ABOVE) * FINE + 1
MAGNITUDES = 96  # octaves of absolute values, from 2**-32 to 2**63


HALVES = 2  # bins of averages in an octave
SIGNED = HALVES * MAGNITUDES  # bins of averages on each side of zero


def least_magnitude() -> Fraction:
    """The upper edge of the first bin of magnitudes."""
    return Fraction(1, 1 << 32)


@cache
def edge(bin: int, row_steps: int) -> int:
    """At least the largest influence in a bin: quarter octaves around one full row; a little more, for doubles.

    >>> [edge(j, 1 << 20) >> 20 for j in (0, 32, 36, 40, 64)]
    [0, 1, 2, 4, 256]
    """
    octaves: float = (bin - BELOW * FINE) / FINE
    return math.ceil(row_steps * math.pow(2, octaves) * (1 + 2.0**-20))


@dataclass(frozen=True, slots=True)
class Tails:
    """How many units have more influence than each edge, noisily, with what the noise may do.

    `counts[j]` is the noisy number of units beyond edge j, `usual[j]` the standard deviation of its noise, `reach[j]`
    what the noise exceeds for no j but with the stated probability. `most` is a declared maximum of influence.
    """

    row_steps: int
    counts: tuple[int, ...]
    usual: tuple[float, ...]
    reach: tuple[int, ...]
    total: int
    most: int | None = None

    def edge(self, bin: int) -> int:
        """The largest influence in a bin."""
        return edge(bin, self.row_steps)

    def last(self) -> int:
        """The last edge beyond which somebody seems to be, -1 if none.

        Close above others 1.5 standard deviations are enough; alone it takes six, since a phantom far out would make
        the limit, and the noise, enormous.
        """
        found = -1
        for j, (count, usual) in enumerate(zip(self.counts, self.usual, strict=True)):
            near = j - found <= FINE if found >= 0 else 0 <= j - BELOW * FINE <= FINE
            if count > 6 * usual or (near and count > 1.5 * usual):
                found = j
        return found

    def known(self) -> bool:
        """Whether enough units are seen to say anything about the largest, or a maximum is declared."""
        return self.most is not None or self.total > 20 * self.usual[BELOW * FINE]

    def top(self) -> int:
        """The edge that seems to hold everybody; where few units are seen, octaves more: noise is known, a loss not."""
        usual = self.usual[BELOW * FINE]
        more = 2 if self.total < 100 * usual else 1 if self.total < 1000 * usual else 0
        return min(max(self.last() + 1, BELOW * FINE) + more * FINE, len(self.counts) - 1)

    def lost(self, limit: int) -> int:
        """At most what the limit takes away from all units up to the top, or up to the declared maximum."""
        end = len(self.counts) - 1 if self.most is not None else self.top()
        ceiling = self.most if self.most is not None else self.edge(end)
        return sum(
            max(0, min(self.edge(j + 1), ceiling) - max(self.edge(j), limit)) * max(0, self.counts[j] + self.reach[j])
            for j in range(end)
        )

    def unseen(self) -> int:
        """At most how many units have more influence than the top."""
        return 0 if self.most is not None else max(0, self.counts[self.top()] + self.reach[self.top()])


def choose(tails: Tails, variance: float, cells: int) -> int:
    """The limit with the least predicted squared error over all cells, among the edges up to the top.

    The noise of a cell has `variance` times C**2. The loss is the one that the interval will admit, spread over
    the cells evenly, since nothing says which group it is missing from.
    """
    candidates = [tails.edge(j) for j in range(tails.top() + 1)]
    if tails.most is not None:
        candidates = [limit for limit in candidates if limit < tails.most] + [tails.most]
    return min(candidates, key=lambda c: cells * variance * float(c) ** 2 + float(tails.lost(c)) ** 2 / cells)


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
