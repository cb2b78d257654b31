"""How much of one unit's data may count, in bins.

A unit's contribution to a measure is the sum of the absolute lattice values of its rows. A unit with more than the
limit C is scaled down to it, so one unit moves the cells by at most C in the L1 norm. Where C is not declared, a noisy
histogram of the units' contributions (in octaves, and in quarters of octaves) is released, and C minimizes the
predicted squared error: noise grows with C, the loss shrinks with it (`contribution_histogram`).

Every unit is in exactly one bin, so the histogram has sensitivity 1 (2 under replace).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

FINE = 4  # bins in an octave, up to 2**10 full rows; above that one
BELOW, CLOSE, FAR = 16, 10, 31  # octaves: below one full row, above it in quarters, above it in all
ROW_BIN, LAST_FINE = BELOW * FINE, (BELOW + CLOSE) * FINE
BINS = LAST_FINE + FAR - CLOSE + 1
MAGNITUDES = 96  # octaves of absolute values, from 2**-32 to 2**63

HALVES = 2  # bins of averages in an octave
SIGNED = HALVES * MAGNITUDES  # bins of averages on each side of zero
SAMPLE = 12  # one unit of so many is in the sample whose averages are looked at first


def least_magnitude() -> Fraction:
    """The upper edge of the first bin of magnitudes."""
    return Fraction(1, 1 << 32)


@cache
def edge(bin: int, row_steps: int) -> int:
    """At least the largest contribution in a bin: octaves, and quarters of them around one row; rounded up.

    >>> [edge(j, 1 << 20) >> 20 for j in (0, 64, 68, 72, 104, 105)]
    [0, 1, 2, 4, 1024, 2048]
    """
    octaves = (bin - ROW_BIN) / FINE if bin <= LAST_FINE else CLOSE + bin - LAST_FINE
    return math.ceil(row_steps * math.pow(2, octaves) * (1 + 2.0**-20))


def octaves(bin: int) -> float:
    """How many octaves there are from a bin's edge to the next."""
    return 1 / FINE if bin < LAST_FINE else 1


def octave_above(bin: int) -> int:
    """The bin whose edge is twice as large, the last one at most."""
    return min(bin + FINE, LAST_FINE) if bin < LAST_FINE else min(bin + 1, BINS - 1)


def octave_below(bin: int) -> int:
    """The bin whose edge is half as large, the first one at least."""
    return bin - 1 if bin > LAST_FINE else max(bin - FINE, 0)


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


def last_seen(histogram: Sequence[int], reach: int) -> int:
    """The last bin that surely holds somebody, or else the fullest."""
    return max((j for j, count in enumerate(histogram) if count > reach), default=histogram.index(max(histogram)))
