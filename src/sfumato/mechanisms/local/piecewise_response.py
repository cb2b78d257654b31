"""One person's number as a place on a longer scale, likelier within a window around the number.

Claim. There are G + width outputs; at place i the outputs i .. i + width - 1 have the weight `high`, the others `low`,
high / low <= e**epsilon: the total is the same for every i, so the release is epsilon-differentially private. The mean
of the output is linear in i, so the number is estimated without bias. The width that is taken unless one is given makes
the largest variance least. Proof: docs/proofs/local_number.md. Papers: Wang et al. 2019 (piecewise mechanism); Zheng,
Mishra, Hu 2025 (optimal pieces).

>>> PiecewiseResponse(3, (0, 10), 100).width
44
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument
from sfumato.mechanisms._examples.example import FEW, Example, around
from sfumato.mechanisms.local.blocks import Integers
from sfumato.mechanisms.local.odds import TwoLevel, check_places, read_odds
from sfumato.mechanisms.local.response import NumberResponse, hoeffding
from sfumato.mechanisms.local.scale import MOST_STEPS, STEPS, Bounds, Scale
from sfumato.mechanisms.mechanism import ROW, Protected, settle


@dataclass(frozen=True)
class PiecewiseResponse(NumberResponse):
    """A place on a longer scale for a number between bounds; the value is a number, rounded to the nearest step.

        epsilon       what one answer costs; 1 or less is strong, above 10 hardly protects
        bounds        the least and the greatest number that may be answered
        steps         how many steps lie between the bounds; 1,000 unless said
        width         how many outputs lie in the window; left out: what makes the largest variance least
        odds          how much likelier an output in the window is; left out: e**epsilon, rounded down to 60 bits
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> 0 <= PiecewiseResponse(2, (0, 100), 10, 4).release(37.5) < 14
    True
    """

    epsilon: checks.Number
    bounds: Bounds
    steps: int = STEPS
    width: int | None = None
    odds: checks.Number | None = None
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        scale = Scale.read(self.bounds, self.steps)
        object.__setattr__(self, "bounds", (scale.low, scale.high))
        object.__setattr__(self, "odds", read_odds(Fraction(self.epsilon), self.odds))
        best = _best_width(self.steps, float(min(Fraction(self.odds or 0), Fraction(10**12))))
        width = checks.whole(least=1, width=best if self.width is None else self.width)
        if width > 64 * MOST_STEPS:
            raise InvalidArgument(f"width must be at most 64 * {MOST_STEPS}; got {width}; leave it out")
        object.__setattr__(self, "width", width)

    @cached_property
    def levels(self) -> TwoLevel:
        """The two weights: of the window, and of what is beside it."""
        return TwoLevel(Fraction(self.odds or 0), self._wide, self.steps)

    @property
    def _wide(self) -> int:
        return int(self.width or 0)

    @property
    def total(self) -> int:
        """A uniform integer below it decides."""
        return self.levels.total

    def output(self, place: int, drawn: int) -> int:
        """The output for a place and a uniform integer below `total`: in the window, or before or behind it."""
        inside, rank = self.levels.place(drawn)
        return place + rank if inside else rank + (self._wide if rank >= place else 0)

    def release_all(self, places: Integers, entropy: Entropy = SYSTEM) -> Integers:
        """The outputs of many people."""
        check_places(places, self.steps + 1)
        inside, ranks = self.levels.places(places.size, entropy)
        return np.where(inside, places + ranks, ranks + self._wide * (ranks >= places))

    @cached_property
    def _line(self) -> tuple[Fraction, Fraction]:
        """Output on average = the first + the second * place."""
        high, low = Fraction(self.odds or 0).as_integer_ratio()
        wide, count = self._wide, self.steps + self._wide
        at_zero = Fraction(low * (count * (count - 1) // 2) + (high - low) * (wide * (wide - 1) // 2), self.total)
        return at_zero, Fraction((high - low) * wide, self.total)

    def value(self, output: int) -> Fraction:
        """The place that an output stands for: on average the true one."""
        at_zero, slope = self._line
        return (output - at_zero) / slope

    def values(self) -> list[Fraction]:
        """What each output stands for."""
        return [self.value(output) for output in range(self.steps + self._wide)]

    def variance(self, place: int) -> Fraction:
        """The variance of the place that one output stands for, at this true place."""
        high, low = Fraction(self.odds or 0).as_integer_ratio()
        at_zero, slope = self._line
        square = low * _squares(self.steps + self._wide)
        square += (high - low) * (_squares(place + self._wide) - _squares(place))
        mean = at_zero + slope * place
        return (Fraction(square, self.total) - mean * mean) / slope**2

    def error(self, confidence: checks.Number = 0.95, answers: int = 1) -> float:
        """How far the mean of this many answers may be off: Hoeffding's bound."""
        last = self.steps + self._wide - 1
        wide = self.scale.number(self.value(last)) - self.scale.number(self.value(0))
        return hoeffding(confidence, answers) * wide

    def log_probability(self, output: int, value: checks.Number) -> float:
        """The logarithm of the probability of an output for a true number."""
        if not 0 <= output < self.steps + self._wide:
            return -math.inf
        place = self.scale.place(value)
        high, low = Fraction(self.odds or 0).as_integer_ratio()
        return math.log(high if place <= output < place + self._wide else low) - math.log(self.total)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """A window of the best width, and a wide one."""
        ten, wide = cls(2, (-5, 5), 10), cls(1, (0, 1), 8, 11)
        return (
            Example("piecewise", ten, -5, 3, around(0, 15), 1, None, FEW),
            Example("piecewise, wide", wide, 0.5, 0.625, around(0, 18), 1, None, FEW),
        )


def _squares(count: int) -> int:
    """0 + 1 + 4 + ... of so many squares."""
    return (count - 1) * count * (2 * count - 1) // 6


def _best_width(steps: int, odds: float) -> int:
    """The width whose largest variance, at the ends or in the middle, is least; no privacy depends on it."""
    widths = np.unique(np.geomspace(1, 32 * steps, 4_096).astype(np.int64)).astype(float)
    for _ in range(2):  # roughly, then exactly around what was found
        best = int(widths[np.argmin(_largest_variance(steps, odds, widths))])
        near = max(2, best // 100)
        widths = np.arange(max(1, best - near), best + near + 1, dtype=float)
        if widths.size > 8_192:
            return best
    return int(widths[np.argmin(_largest_variance(steps, odds, widths))])


def _largest_variance(steps: int, odds: float, width: np.ndarray) -> np.ndarray:
    total = width * odds + steps
    count, largest = steps + width, np.zeros_like(width)
    slope = (odds - 1) * width / total
    for place in (0.0, steps / 2):
        # From the middle of the outputs, where nothing cancels: a uniform part and the window around the place.
        off = place + (width - 1) / 2 - (count - 1) / 2
        square = (count * (count**2 - 1) / 12 + (odds - 1) * width * ((width**2 - 1) / 12 + off**2)) / total
        largest = np.maximum(largest, (square - (slope * off) ** 2) / slope**2)
    return largest
