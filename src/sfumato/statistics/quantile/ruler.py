"""Where a value lies on a line of small cells, for quantiles: each value has one address, and cells lie in cells.

A column with bounds has cells of the same width, a power of two; whole numbers have cells of at least 1. A column
without bounds has cells of the same ratio, on both sides of zero, so that no bounds have to be bought: a quantile only
needs to know on which side of an edge a row is. Cells are opened in depths of 4,096 each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sfumato.statistics.ranges import Range

OPENED = 12  # binary digits of one depth
_DIGITS = 36  # of a line with bounds
FIRST_OCTAVE, OCTAVES, OCTAVE_DIGITS = -32, 96, 29
_FINE = 7  # digits of an octave in the first depth
_FEW = 256


@dataclass(frozen=True, slots=True)
class Ruler:
    """Addresses from 0 to `size` - 1; `low` is None for a line without bounds, `width` that of a finest cell."""

    low: Fraction | None
    width: Fraction
    size: int
    whole: bool
    high: Fraction | None = None

    @classmethod
    def of(cls, value_range: Range | None, whole: bool) -> Ruler:
        """The ruler of values in an interval, of whole numbers or not."""
        if value_range is None:
            return cls(None, Fraction(1), 2 * OCTAVES << OCTAVE_DIGITS, whole)
        low = Fraction(math.floor(value_range.low)) if whole else value_range.low
        span = max(value_range.high - low, Fraction(1, 1 << 200))
        digits = _leading(span) - _DIGITS
        width = Fraction(2) ** (max(0, digits) if whole else digits)
        return cls(low, width, math.floor(span / width) + 1, whole, low + span)

    @property
    def shifts(self) -> tuple[int, ...]:
        """How many binary digits of an address are inside a cell, for each depth; the last is 0."""
        first = OCTAVE_DIGITS - _FINE if self.low is None else (self.size - 1).bit_length() - OPENED
        return (*range(max(0, first), 0, -OPENED), 0)

    @property
    def coarse(self) -> int:
        """The addresses in one of the first, wide cells: a quarter of an octave, or a 256th of the line."""
        if self.low is None:
            return 1 << (OCTAVE_DIGITS - 2)
        deep = self.shifts[0]
        return max(1, -(-(((self.size - 1) >> deep) + 1) // _FEW)) << deep

    def edge(self, address: int) -> Fraction:
        """The lower edge of an address; that of `size` is the end of the line: of whole numbers, before the next."""
        if self.low is not None and self.high is not None:
            end = self.high + 1 if self.whole else self.high
            return min(self.low + address * self.width, end)
        half = self.size // 2
        return _octave_edge(address - half) if address >= half else -_octave_edge(half - address)


def _octave_edge(place: int) -> Fraction:
    """The lower edge of a place among positive numbers, 0 for the first."""
    return Fraction(math.pow(2, FIRST_OCTAVE + place / (1 << OCTAVE_DIGITS))) if place else Fraction(0)


def _leading(x: Fraction) -> int:
    """The least power d with x <= 2**d."""
    power = x.numerator.bit_length() - x.denominator.bit_length()
    while Fraction(2) ** power < x:
        power += 1
    while Fraction(2) ** (power - 1) >= x:
        power -= 1
    return power


def simplest(low: Fraction, high: Fraction, *, closed: bool = False) -> Fraction:
    """The decimal number with the fewest digits from low to below high; `closed`: or high itself.

    >>> float(simplest(Fraction("1234.5594"), Fraction("1234.5606")))
    1234.56
    """
    digits = -math.floor(math.log10(high - low)) if high > low else 0
    for places in range(-400 if digits < -400 else min(digits, 0) - 3, digits + 2):
        scale = Fraction(10) ** places
        candidate = math.ceil(low * scale) / scale
        if candidate < high or (closed and candidate == high):
            return candidate
    return low
