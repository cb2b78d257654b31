"""A number with its interval in words: as many digits as mean something, and none that are only noise."""

from __future__ import annotations

import math
from typing import Any

from sfumato import charts


def rounded(value: float, interval: tuple[float, float] | None) -> float:
    """A number without the digits that are only noise: rounded to a hundredth of the nearer end, about, and inside."""
    if interval is None or not math.isfinite(value):
        return value
    sides = _sides(value, interval)
    near = round(value, 2 - _exponent(min(sides))) if sides else value
    return unsigned(min(max(near, interval[0]), interval[1]))


def unsigned(number: float) -> float:
    """The same number, and for a negative zero the zero that it is.

    >>> unsigned(-0.0), unsigned(-2.0)
    (0.0, -2.0)
    """
    return number or abs(number)


def _sides(value: float, interval: tuple[float, float]) -> list[float]:
    """The distances to the ends of an interval that are neither nothing nor infinite."""
    return [side for side in (value - interval[0], interval[1] - value) if 0 < side < math.inf]


def _exponent(size: float) -> int:
    return math.floor(math.log10(size))


def shown(value: Any, interval: tuple[float, float] | None) -> str:
    """A cell: as many digits as mean something, and none of a count that was made whole."""
    if interval is None or value is None:
        return charts.in_words(value)
    sides, is_whole = _sides(value, interval), isinstance(value, int)
    places = 0 if is_whole or not sides else 2 - _exponent(min(sides))
    number = _decimal(value, places)
    slack = max(sides, default=0) * 0.01 + is_whole  # a value that was made whole moved by up to a half
    if len(sides) == 2 and abs(sides[0] - sides[1]) <= slack:
        return f"{number} ± {_half_width(max(sides), is_whole)}"
    return f"{number} [{_outward(interval[0], places, math.floor)}, {_outward(interval[1], places, math.ceil)}]"


def _half_width(size: float, is_whole: bool) -> str:
    """Two digits, three after a leading 1, rounded up."""
    leading = size / 10 ** _exponent(size)
    places = (2 if leading < 2 else 1) - _exponent(size)
    return _outward(size, min(places, 0) if is_whole else places, math.ceil)


def _outward(end: float, places: int, rounding: Any) -> str:
    """An end of an interval, rounded so that the interval grows, but for what doubles lose anyway."""
    if not math.isfinite(end):
        return str(end)
    steps = end * 10.0**places
    near = round(steps)
    return _decimal((near if math.isclose(steps, near, rel_tol=1e-9) else rounding(steps)) / 10.0**places, places)


def _decimal(number: float, places: int) -> str:
    """A number with thousands parted, and never a negative zero."""
    text = f"{round(number, places):,.{max(0, places)}f}"
    return text.removeprefix("-") if not any(digit in text for digit in "123456789") else text
