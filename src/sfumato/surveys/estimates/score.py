"""The interval of all shares that would explain a mean: Wilson's, for scores whose variance depends on the share.

A share near 0 of which nothing was seen has a variance seen of nothing, so that the normal interval around it is a
point. Here each share is asked whether the mean would lie within `reach` of its own standard errors.

>>> low, high = Scores(0, 1).interval(0, 100, 1.96)           # nobody out of a hundred
>>> round(low, 3), round(high, 3)
(0.0, 0.037)
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores whose mean is a share p, and whose variance is base + slope * p - p**2."""

    base: float
    slope: float

    def interval(self, mean: float, people: float, reach: float) -> tuple[float, float]:
        """The shares within `reach` standard errors of the mean, by their variances or by that of the mean."""
        each = reach**2 / people
        middle = 2 * mean + each * self.slope
        spread = middle**2 - 4 * (1 + each) * (mean**2 - each * self.base)
        wald = math.sqrt(each * max(0.0, self.base + self.slope * mean - mean**2))
        if spread < 0:  # no share explains the mean
            return mean - wald, mean + wald
        half = math.sqrt(spread)
        ends = ((middle - half) / (2 * (1 + each)), (middle + half) / (2 * (1 + each)))
        return min(ends[0], mean - wald), max(ends[1], mean + wald)
