"""What is known in public about the numbers of an expression: a range that holds them all.

>>> Range(Fraction(-1), Fraction(2)) * Range(Fraction(3), Fraction(4))
Range(low=Fraction(-4, 1), high=Fraction(8, 1))
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers from low to high."""

    low: Fraction
    high: Fraction

    @property
    def largest(self) -> Fraction:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))

    @property
    def width(self) -> Fraction:
        """From low to high."""
        return self.high - self.low

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Range) -> Range:
        return Range(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low)

    def __mul__(self, other: Range) -> Range:
        corners = [a * b for a, b in itertools.product((self.low, self.high), (other.low, other.high))]
        return Range(min(corners), max(corners))

    def over(self, other: Range) -> Range | None:
        """The quotients, None if the divisor may be zero and they have no bound."""
        if other.low <= 0 <= other.high:
            return None
        return self * Range(1 / other.high, 1 / other.low)

    def absolute(self) -> Range:
        """The absolute values."""
        least = Fraction(0) if self.low <= 0 <= self.high else min(abs(self.low), abs(self.high))
        return Range(least, self.largest)

    def rounded(self) -> Range:
        """Whole numbers that FLOOR, CEIL and ROUND may give."""
        return Range(Fraction(math.floor(self.low)), Fraction(math.ceil(self.high)))


def hull(intervals: Iterable[Range | None]) -> Range | None:
    """The least interval that holds several, None if one of them is not known."""
    known = list(intervals)
    if not known or any(one is None for one in known):
        return None
    sure = [one for one in known if one is not None]
    return Range(min(one.low for one in sure), max(one.high for one in sure))
