"""A number between bounds as one of `steps` + 1 places, and back: what the randomizers of numbers share.

>>> from fractions import Fraction
>>> income = Scale.read((0, 5000), 50)
>>> income.place(1234.5), income.number(Fraction(12))
(12, 1200.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sfumato import checks
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms._noise.lattice import MISSING, came

MOST_STEPS = 1 << 20
STEPS = 1_000  # unless said
Bounds = tuple[checks.Number, checks.Number]


@dataclass(frozen=True, slots=True)
class Scale:
    """Place i stands for low + (high - low) * i / steps."""

    low: Fraction
    high: Fraction
    steps: int

    @classmethod
    def read(cls, bounds: Bounds, steps: int = STEPS) -> Scale:
        """Bounds in their order, and a sensible number of steps."""
        if not hasattr(bounds, "__len__") or isinstance(bounds, str) or len(bounds) != 2:
            raise InvalidArgument(f"bounds must be a low and a high one; got {bounds!r}; for example (0, 100)")
        low, high = (checks.number(bounds=each) for each in bounds)
        if low >= high:
            raise InvalidArgument(f"bounds must be a low and a high one; got {bounds!r}; for example (0, 100)")
        if checks.whole(least=1, steps=steps) > MOST_STEPS:
            raise InvalidArgument(f"steps must be at most {MOST_STEPS}; got {steps}; {STEPS} are usual")
        return cls(low, high, int(steps))

    def place(self, number: checks.Number) -> int:
        """The nearest place; one half is rounded up."""
        try:
            exact = number if isinstance(number, Fraction) else checks.number(value=number)
        except InvalidArgument:  # whose message would quote what a person answered
            raise OutsideRange(f"value must be a finite number; got {came(number)}; {MISSING}") from None
        if not self.low <= exact <= self.high:
            raise OutsideRange(
                f"value must lie between {float(self.low):g} and {float(self.high):g}; got a number beyond; "
                "clip it, or declare wider bounds"
            )
        return int((exact - self.low) * self.steps / (self.high - self.low) + Fraction(1, 2))

    def number(self, place: Fraction) -> float:
        """The number at a place, which may be a fraction."""
        return float(self.low + (self.high - self.low) * place / self.steps)
