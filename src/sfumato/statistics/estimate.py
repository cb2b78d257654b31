"""A value between two ends, and arithmetic with it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.statistics.digits import shown, unsigned


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value between low and high.

    >>> print(Estimate(1_849_500.0, 1_806_800.0, 1_892_200.0))
    1,849,500 ± 43,000
    """

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not (self.value and self.low and self.high):  # what is zero has no sign, on whatever way it came about
            for name in ("value", "low", "high"):
                object.__setattr__(self, name, unsigned(getattr(self, name)))

    @property
    def interval(self) -> tuple[float, float]:
        """From low to high."""
        return self.low, self.high

    def __str__(self) -> str:
        """Value ± half-width, or [low, high] where that is not centered."""
        return shown(self.value, self.interval)

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.value + other.value, self.low + other.low, self.high + other.high)

    def __neg__(self) -> Estimate:
        return Estimate(-self.value, -self.high, -self.low)

    def __mul__(self, other: Estimate) -> Estimate:
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        corners = [0.0 if math.isnan(corner) else corner for corner in corners]  # 0 times infinity
        return Estimate(self.value * other.value, min(corners), max(corners))

    def inverse(self) -> Estimate | None:
        """One over it; None for zero, and all numbers are possible where zero lies between."""
        if self.value == 0:
            return None
        if self.low <= 0 <= self.high:
            return Estimate(1 / self.value, -math.inf, math.inf)
        return Estimate(1 / self.value, 1 / self.high, 1 / self.low)


def exactly(value: float) -> Estimate:
    """A number that is no estimate."""
    return Estimate(value, value, value)
