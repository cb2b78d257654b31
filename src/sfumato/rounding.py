"""Exact inside, outward at the edge: certified digits of exp and log, and the step from fractions to floats.

Everything here is integer arithmetic. `exp_bounds` and `log_bounds` return two integers with the real number, scaled by
a power of two, between them; each step rounds the lower end down and the upper end up, so the bracket is a proof.

>>> exp_bounds(Fraction(1), 10)         # e = 2.718..., times 1024 is 2783.5...
(2783, 2784)
>>> down(Fraction(1, 3)) < Fraction(1, 3) < up(Fraction(1, 3))
True
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

Bounds = Callable[[int], tuple[int, int]]

_GUARD = 24


def exp_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers low <= exp(x) * 2**bits <= high, at most a few units apart.

    Method: halve |x| until it is below 2**-8, sum the Taylor series, square as often as it was halved, and take the
    reciprocal for negative x. A relative error doubles with every squaring; the guard digits cover that.
    """
    if x < 0 and -x > max(bits, 0) + 2:  # exp(x) * 2**bits < exp(-2) < 1
        return 0, 1
    size = abs(x)
    halvings = max(0, math.ceil(size).bit_length() + 8)
    growth = math.ceil(size) * 3 // 2 + 1  # exp(size) < 2**growth
    precision = max(bits, 0) + halvings + (2 * growth if x < 0 else growth) + _GUARD
    low, high = _taylor(size / 2**halvings, precision)
    for _ in range(halvings):
        low, high = (low * low) >> precision, -((-high * high) >> precision)
    if x < 0:
        low, high = (1 << 2 * precision) // high, -((-1 << 2 * precision) // low)
    return low >> (precision - bits), -(-high >> (precision - bits))


def _taylor(y: Fraction, precision: int) -> tuple[int, int]:
    """Bounds on exp(y) * 2**precision for 0 <= y < 1/2."""
    low = high = term_low = term_high = 1 << precision
    k = 0
    while term_high > 1:
        k += 1
        term_low = term_low * y.numerator // (y.denominator * k)
        term_high = -(-term_high * y.numerator // (y.denominator * k))
        low, high = low + term_low, high + term_high
    return low, high + term_high  # the remaining terms are below the last one, since y < 1/2


def log_bounds(x: Fraction, bits: int) -> tuple[int, int]:
    """Integers low <= ln(x) * 2**bits <= high for x > 0."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    mantissa = x / Fraction(2) ** exponent  # in (1/2, 2)
    precision = bits + abs(exponent).bit_length() + _GUARD
    low, high = _twice_artanh((mantissa - 1) / (mantissa + 1), precision)
    low2, high2 = _twice_artanh(Fraction(1, 3), precision)  # ln 2
    low += exponent * (low2 if exponent > 0 else high2)
    high += exponent * (high2 if exponent > 0 else low2)
    return low >> (precision - bits), -(-high >> (precision - bits))


@lru_cache(maxsize=64)
def _twice_artanh(y: Fraction, precision: int) -> tuple[int, int]:
    """Bounds on 2 artanh(y) * 2**precision for |y| <= 1/3, by the odd power series."""
    if y < 0:
        low, high = _twice_artanh(-y, precision)
        return -high, -low
    square = y * y
    power_low = (2 << precision) * y.numerator // y.denominator
    power_high = -(-(2 << precision) * y.numerator // y.denominator)
    low, high, k = power_low, power_high, 1
    while power_high > 1:
        k += 2
        power_low = power_low * square.numerator // square.denominator
        power_high = -(-power_high * square.numerator // square.denominator)
        low, high = low + power_low // k, high - (-power_high // k)
    return low, high + power_high + 1  # the remaining terms are below a geometric series of ratio 1/9


class Real:
    """A real number known to any number of certified binary digits.

    >>> half = Real.exactly(Fraction(1, 2))
    >>> half.digits(4), Real.exp(Fraction(-1)).digits(16)
    (8, 24109)
    """

    __slots__ = ("_bounds", "_known")

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._known: dict[int, int] = {}

    @classmethod
    def exactly(cls, x: Fraction) -> Real:
        """A rational number."""
        return cls(lambda bits: ((x.numerator << bits) // x.denominator,) * 2)

    @classmethod
    def exp(cls, x: Fraction) -> Real:
        """The exponential of x."""
        return cls.exactly(Fraction(1)) if x == 0 else cls(lambda bits: exp_bounds(x, bits))

    @classmethod
    def logistic(cls, x: Fraction) -> Real:
        """The number 1 / (1 + exp(-x))."""
        if x == 0:
            return cls.exactly(Fraction(1, 2))

        def bounds(bits: int) -> tuple[int, int]:
            work = bits + 8
            low, high = exp_bounds(-abs(x), work)
            one = 1 << work
            top, bottom = (one * one) // (one + high), -((-one * one) // (one + low))
            if x < 0:
                top, bottom = one - bottom, one - top
            return top >> 8, -(-bottom >> 8)

        return cls(bounds)

    def digits(self, bits: int) -> int:
        """The integer part of the number times 2**bits."""
        if bits not in self._known:
            more = 8
            while True:
                low, high = self._bounds(bits + more)
                if low >> more == high >> more:
                    self._known[bits] = low >> more
                    break
                more *= 2
        return self._known[bits]


def up(x: Fraction) -> float:
    """The least float that is not below x."""
    try:
        near = x.numerator / x.denominator
    except OverflowError:
        return math.inf if x > 0 else -float.fromhex("0x1.fffffffffffffp+1023")
    return (near if Fraction(near) >= x else math.nextafter(near, math.inf)) + 0.0  # never the float -0.0


def down(x: Fraction) -> float:
    """The greatest float that is not above x."""
    return -up(-x) + 0.0


def printed_up(x: Fraction) -> Fraction:
    """The least number not below x that a float prints: a float's decimal may lie just below the float itself.

    >>> printed_up(Fraction(1, 3)) > Fraction(1, 3), printed_up(Fraction(1, 10))
    (True, Fraction(1, 10))
    """
    near = float(x)
    while Fraction(str(near)) < x:
        near = math.nextafter(near, math.inf)
    return Fraction(str(near))


def ceiling(x: Fraction, unit: Fraction) -> Fraction:
    """The least multiple of `unit` that is not below x."""
    return -(-x // unit) * unit


def exp_up(x: Fraction, bits: int = 80) -> Fraction:
    """A fraction just above exp(x): relative error below 2**-bits."""
    scale = bits + max(0, math.ceil(-x)) * 3 // 2 + 2
    return Fraction(exp_bounds(x, scale)[1], 1 << scale)


def exp_down(x: Fraction, bits: int = 80) -> Fraction:
    """A fraction just below exp(x): relative error below 2**-bits."""
    scale = bits + max(0, math.ceil(-x)) * 3 // 2 + 2
    return Fraction(exp_bounds(x, scale)[0], 1 << scale)


def log_up(x: Fraction, bits: int = 80) -> Fraction:
    """A fraction just above ln(x): absolute error below 2**-bits."""
    return Fraction(log_bounds(x, bits + 2)[1], 1 << (bits + 2))


def log_down(x: Fraction, bits: int = 80) -> Fraction:
    """A fraction just below ln(x): absolute error below 2**-bits."""
    return Fraction(log_bounds(x, bits + 2)[0], 1 << (bits + 2))


def sqrt_up(x: Fraction, bits: int = 80) -> Fraction:
    """A fraction just above the square root of x: relative error below 2**-bits, exact for squares of fractions."""
    top, bottom = math.isqrt(x.numerator), math.isqrt(x.denominator)
    if top * top == x.numerator and bottom * bottom == x.denominator:
        return Fraction(top, bottom)
    scale = max(0, bits + 2 - (x.numerator.bit_length() - x.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((x.numerator << 2 * scale) // x.denominator) + 1, 1 << scale)
