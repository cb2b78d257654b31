"""The lattices on which numbers are added up: whole steps, so that sums are exact in any order."""

from __future__ import annotations

import math
from fractions import Fraction

ROW = 1 << 20  # steps of one row in a count
DIGITS = 31  # a value has at most 2**31 steps, so that products with a weight fit 64 bits
SQUARE_DIGITS = 41  # of a row that is far out in a variance: 2**48 rows fit 128 bits


def sum_step(largest: Fraction) -> Fraction:
    """The lattice of a sum: a power of two such that the largest value has at most 2**31 steps."""
    size = max(largest, Fraction(1, 1 << 200))
    power = math.ceil(size).bit_length() if size >= 1 else -_leading_zeros(size)
    return Fraction(2) ** (power - DIGITS)


def _leading_zeros(x: Fraction) -> int:
    """The largest z with x * 2**z <= 1."""
    return (x.denominator // x.numerator).bit_length() - 1
