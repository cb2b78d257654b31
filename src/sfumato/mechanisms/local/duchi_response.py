"""One person's number as a single bit, whose chance to be 1 rises with the number.

Claim. At place i of G steps the bit is 1 with probability (low (G - i) + high i) / ((low + high) G), which lies between
low / (low + high) and high / (low + high); with high / low <= e**epsilon the release is epsilon-differentially private.
The chance is linear in i, so the mean is estimated without bias. No epsilon-private release of a number has a smaller
largest variance where epsilon is small. Proof: docs/proofs/local_number.md. Paper: Duchi, Jordan, Wainwright 2018.

>>> DuchiResponse(1.1, (0, 10), 10, odds=3).chance(10)
Fraction(3, 4)
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
from sfumato.mechanisms._examples.example import FEW, Example
from sfumato.mechanisms.local.blocks import Integers
from sfumato.mechanisms.local.odds import check_places, read_odds
from sfumato.mechanisms.local.response import NumberResponse, hoeffding
from sfumato.mechanisms.local.scale import STEPS, Bounds, Scale
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.mechanisms.samplers import Coin, bernoulli, uniform
from sfumato.rounding import Real


@dataclass(frozen=True)
class DuchiResponse(NumberResponse):
    """A bit for a number between bounds; the value is a number, rounded to the nearest step.

        epsilon       what one answer costs; 1 or less is strong, above 10 hardly protects
        bounds        the least and the greatest number that may be answered
        steps         how many steps lie between the bounds; 1,000 unless said
        odds          how much likelier a 1 is at the greatest number; left out: e**epsilon, rounded down to 60 bits
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> DuchiResponse(1, (0, 100)).release(37.5) in (0, 1)
    True
    """

    epsilon: checks.Number
    bounds: Bounds
    steps: int = STEPS
    odds: checks.Number | None = None
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        scale = Scale.read(self.bounds, self.steps)
        object.__setattr__(self, "bounds", (scale.low, scale.high))
        object.__setattr__(self, "odds", read_odds(Fraction(self.epsilon), self.odds))

    @cached_property
    def _levels(self) -> tuple[int, int]:
        return Fraction(self.odds or 0).as_integer_ratio()

    @property
    def total(self) -> int:
        """A uniform integer below it decides."""
        return sum(self._levels) * self.steps

    def edge(self, place: int) -> int:
        """Integers below it mean 1."""
        high, low = self._levels
        return low * (self.steps - place) + high * place

    def chance(self, place: int) -> Fraction:
        """The probability of a 1 at this place."""
        return Fraction(self.edge(place), self.total)

    def output(self, place: int, drawn: int) -> int:
        """The bit for a place and a uniform integer below `total`."""
        return int(drawn < self.edge(place))

    def release_all(self, places: Integers, entropy: Entropy = SYSTEM) -> Integers:
        """The bits of many people.

        A uniform step below the place takes the chance at the greatest number, any other that at the least: the chance
        of a 1 is then (i/G) high/(low + high) + (1 - i/G) low/(low + high), the one claimed.
        """
        check_places(places, self.steps + 1)
        high, low = self._levels
        greatest = uniform(self.steps, places.size, entropy) < places
        flipped = bernoulli(Coin(Real.exactly(Fraction(low, high + low))), places.size, entropy)
        return (greatest ^ flipped).astype(np.int64)

    def value(self, output: int) -> Fraction:
        """The place that an output stands for: on average the true one."""
        least, greatest = self.chance(0), self.chance(self.steps)
        return (output - least) * self.steps / (greatest - least)

    def values(self) -> list[Fraction]:
        """What each output stands for."""
        return [self.value(0), self.value(1)]

    def variance(self, place: int) -> Fraction:
        """The variance of the place that one output stands for, at this true place."""
        chance = self.chance(place)
        return chance * (1 - chance) * (self.value(1) - self.value(0)) ** 2

    def error(self, confidence: checks.Number = 0.95, answers: int = 1) -> float:
        """How far the mean of this many answers may be off: Hoeffding's bound."""
        wide = self.scale.number(self.value(1)) - self.scale.number(self.value(0))
        return hoeffding(confidence, answers) * wide

    def log_probability(self, output: int, value: checks.Number) -> float:
        """The logarithm of the probability of a bit for a true number."""
        edge = self.edge(self.scale.place(value))
        if output not in (0, 1):
            return -math.inf
        return math.log(edge if output else self.total - edge) - math.log(self.total)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Numbers far apart, and close together."""
        ten = cls(1, (0, 10), 20)
        return (
            Example("duchi", ten, 10, 0, (0, 1), 1, None, FEW),
            Example("duchi, near", ten, 3.5, 4, (0, 1), 0.02, None, FEW),
        )
