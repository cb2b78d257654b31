"""The lattice that real values are put on before noise is added, so that no float takes part in the noise.

Claim. Rounding to multiples of the spacing g, by floor(x / g + 1/2), moves two values that differ by at most s to
multiples whose numbers differ by at most ceil(s / g). For vectors each coordinate adds less than 1, so an L1 distance
of s becomes at most floor(s / g) + size, an L2 distance at most s / g + sqrt(size).
Proof: docs/proofs/lattice.md.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato import checks
from sfumato.errors import InvalidArgument, OutsideRange, ScaleTooLarge, WrongShape
from sfumato.mechanisms.samplers import LIFT, Integers

MISSING = "remove or replace missing values first"
_WHOLE = 2.0**52  # a whole float below it, added to it, is a whole float
_HALF = 32  # binary digits of the lower half of a number
_ROUNDS = 3 * 2.0**51  # a float below 2**51, added to it, is rounded to a whole one
_LARGEST = 2.0**83  # its upper half is below 2**51
_WHOLE_NUMBERS = {int, np.int64}
_BOTH = (int(_ROUNDS) << _HALF) + int(_WHOLE) + LIFT
_FINE = 40  # digits that the lattice keeps below what is fine in a mechanism: its sensitivity or its noise


@dataclass(frozen=True, slots=True)
class Lattice:
    """The multiples of `spacing`, a power of two.

    >>> Lattice(Fraction(1, 4)).snap(0.6), Lattice(Fraction(1, 4)).value(2)
    (2, 0.5)
    """

    spacing: Fraction

    @classmethod
    def for_noise(
        cls, distance: Fraction, noise: Fraction, largest: int, spacing: checks.Number | None = None
    ) -> Lattice:
        """A lattice far finer than what one unit moves and than the noise, or the one asked for, if it can carry it.

        `noise` bounds the scale of the noise in the value's own unit, `largest` what a sampler can do.
        """
        if not Fraction(1, 2**900) < min(distance, noise) <= max(distance, noise) < 2**900:
            raise ScaleTooLarge(
                f"sensitivity and noise must lie between 2**-900 and 2**900; got about 2**{_log2(distance)} and "
                f"2**{_log2(noise)}; measure the value in another unit, or give another epsilon"
            )
        if spacing is None:
            finest = power_of_two(min(distance, noise)) / 2**_FINE
            return cls(max(finest, 2 * power_of_two(noise) / largest))
        asked = checks.positive(spacing=spacing)
        asked = Fraction(spacing) if isinstance(spacing, float) else asked  # a power of two is meant as it is stored
        if asked.numerator.bit_count() != 1 or asked.denominator.bit_count() != 1 or asked > 2**900:
            raise InvalidArgument(
                f"spacing must be a power of two, at most 2**900; got {spacing!r}; for example 1 or 2**-20"
            )
        if noise > largest * asked:
            raise ScaleTooLarge(
                f"the noise must be at most 2**{largest.bit_length() - 1} times the lattice's spacing; got about "
                f"2**{_log2(noise / asked)}; give a larger spacing or epsilon, or a smaller sensitivity"
            )
        return cls(asked)

    def steps(self, distance: Fraction) -> int:
        """How many multiples apart two numbers may be that are at most `distance` apart."""
        return math.ceil(distance / self.spacing)

    def snap(self, value: float | Fraction) -> int:
        """The number of the multiple next to `value`."""
        try:
            top, bottom = ratio(value)
        except (ValueError, OverflowError, AttributeError):
            raise OutsideRange(f"value must be a finite number; got {came(value)}; {MISSING}") from None
        half_up = 2 * top * self.spacing.denominator + bottom * self.spacing.numerator
        return half_up // (2 * bottom * self.spacing.numerator)

    def add_noise(self, value: float | Fraction, lifted: int) -> int:
        """The number of the multiple next to `value`, plus noise, which comes lifted (`draw_lifted`).

        Usual values are put on the lattice in the same steps whatever they are, where `snap` takes a time that depends
        on their digits. A float is rounded among floats, and becomes an integer in two halves, each with a large
        one added to it, so that all integers met before the noise have the same length (docs/proofs/time.md).
        """
        if isinstance(value, float):
            scaled = float(value) * (self.spacing.denominator / self.spacing.numerator)  # by a power of two: exact
            if abs(scaled) < _LARGEST:
                fraction, whole = math.modf(scaled)
                upper = whole * 2.0**-_HALF + _ROUNDS
                rest = whole - (upper - _ROUNDS) * 2.0**_HALF
                lower = rest + _WHOLE + (fraction >= 0.5) - (fraction < -0.5)
                return (int(upper) << _HALF) + int(lower) + lifted - _BOTH
        elif type(value) in _WHOLE_NUMBERS and self.spacing == 1:
            return int(value) + lifted - LIFT
        return self.snap(value) + lifted - LIFT

    def snap_many(self, values: ArrayLike, size: int) -> Integers:
        """The numbers of the multiples next to `values`, a vector of `size` numbers."""
        array = as_array(values)
        if array.shape != (size,):
            raise WrongShape(f"value must be a vector of {size} numbers, as declared by size; got shape {array.shape}")
        if array.dtype.kind in "iu" and self.spacing == 1:
            return array.astype(np.int64) if array.dtype != np.uint64 else array.astype(object)
        if array.dtype != np.float64:
            return np.array([self.snap(x) for x in array.tolist()], object)
        if not np.isfinite(array).all():
            raise OutsideRange(f"value must hold finite numbers only; got NaN or infinity; {MISSING}")
        # Dividing by a power of two is exact for these magnitudes, and so is splitting off the fraction.
        with np.errstate(over="ignore"):  # what overflows is worked out exactly
            scaled = array / float(self.spacing)
        # No selection by a mask: how long that takes says whether a value is zero.
        if not (np.abs(scaled) < 2.0**62).all() or ((scaled == 0) & (array != 0)).any():
            return np.array([self.snap(x) for x in array.tolist()], object)
        fraction, whole = np.modf(scaled)
        numbers: Integers = whole.astype(np.int64) + (fraction >= 0.5) - (fraction < -0.5)
        return numbers

    def value(self, number: int) -> float:
        """The multiple with this number, as the nearest float."""
        try:
            return number * self.spacing.numerator / self.spacing.denominator  # of integers: rounded once
        except OverflowError:
            return math.inf if number > 0 else -math.inf

    def values(self, numbers: Integers) -> NDArray[np.float64]:
        """The multiples with these numbers, as the nearest floats."""
        if numbers.dtype == object:
            return np.array([self.value(n) for n in numbers.tolist()])
        return numbers.astype(np.float64) * float(self.spacing)

    def number(self, output: float) -> int | None:
        """Which multiple an output is, None if it is not one."""
        if not isinstance(output, numbers.Real | Decimal) or not math.isfinite(output):
            return None
        exact = Fraction(*ratio(output)) / self.spacing
        return exact.numerator if exact.denominator == 1 else None


def floor_many(values: NDArray[np.float64], unit: Fraction) -> Integers | None:
    """The whole numbers of `unit`, a power of two, at or below finite floats; None where 64 bits do not do.

    >>> floor_many(np.array([0.6, -0.1]), Fraction(1, 4))
    array([ 2, -1])
    """
    if not Fraction(1, 2**1000) <= unit <= 2**1000:
        return None
    with np.errstate(over="ignore"):
        scaled = values / float(unit)  # exact, but where it overflows or vanishes
    # No selection by a mask: how long that takes says whether a value is zero.
    if not (np.abs(scaled) < 2.0**62).all() or ((scaled == 0) & (values != 0)).any():
        return None
    whole: Integers = np.floor(scaled).astype(np.int64)
    return whole


def came(value: object) -> str:
    """What came instead of a finite number: its type, never the value.

    >>> came("12"), came(float("nan"))
    ('a str', 'NaN or infinity')
    """
    number = isinstance(value, numbers.Real | Decimal) and not isinstance(value, np.timedelta64)
    if number and not math.isfinite(value):  # type: ignore[arg-type]
        return "NaN or infinity"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def ratio(value: Any) -> tuple[int, int]:
    """A finite number exactly, as Python integers: numpy's own would overflow in the arithmetic that follows."""
    if isinstance(value, np.timedelta64):  # which numpy counts among the integers
        raise ValueError("a span of time")
    if isinstance(value, numbers.Integral):
        return int(value), 1
    top, bottom = value.as_integer_ratio()
    return int(top), int(bottom)


def as_array(values: ArrayLike) -> NDArray[Any]:
    """The values as an array; of a sequence of mixed numbers numpy would make floats, which rounds large integers."""
    if isinstance(values, np.ma.MaskedArray):
        raise OutsideRange(f"value must be a vector of numbers; got a masked array; {MISSING}")
    try:
        array = np.asarray(values)
    except ValueError:
        raise WrongShape(
            "value must be a vector of numbers; got parts of different lengths; give one number each"
        ) from None
    if array.dtype.kind in "mM":
        raise OutsideRange("value must be a vector of numbers; got dates or spans of time; count them in a unit first")
    if array.dtype.kind == "f" and array.ndim == 1 and not hasattr(values, "__array__"):
        listed = list(values)  # type: ignore[arg-type]
        return array if all(isinstance(x, float) for x in listed) else np.array(listed, object)
    return array


def add(exact: Integers, noise: Integers) -> Integers:
    """Add without overflow: in Python integers where 64 bits might not do.

    What type the sum has depends on the sum alone; the type that the exact numbers need would tell how large they are.
    """
    if exact.dtype != object and noise.dtype != object and max(_reach(exact), _reach(noise)) < 2**62:
        return np.asarray(exact + noise)
    total: Integers = exact.astype(object) + noise.astype(object)
    return total if _reach(total) >= 2**63 else total.astype(np.int64)


def shifted(integers: Integers, digits: int) -> Integers:
    """Times 2**digits without overflow: in Python integers where 64 bits might not do."""
    if integers.dtype != object and _reach(integers) < 2 ** (62 - digits):
        return np.asarray(integers << digits)
    return np.asarray(integers.astype(object) << digits)


def _reach(integers: Integers) -> int:
    return max(abs(int(integers.min())), abs(int(integers.max()))) if integers.size else 0


def power_of_two(x: Fraction) -> Fraction:
    """The largest power of two that is at most x."""
    guess = Fraction(2) ** _log2(x)
    return guess if guess <= x else guess / 2


def _log2(x: Fraction) -> int:
    return x.numerator.bit_length() - x.denominator.bit_length()


def same_length(first: Sequence[Any], second: Sequence[Any]) -> None:
    """Refuse two vectors of different lengths."""
    if len(first) != len(second):
        raise WrongShape(f"output and value must have the same length; got {len(first)} and {len(second)}")
