"""The lattice points between two public bounds, and data put on them: for mechanisms that read single values.

Each value is moved into the bounds and then to the nearest point, by itself alone; so a unit with one value changes one
value, before and after.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.errors import InvalidArgument, OutsideRange, ScaleTooLarge, WrongShape
from sfumato.mechanisms._noise.lattice import Lattice, as_array, came
from sfumato.privacy.neighbors import Neighbors

_POINTS = 1 << 20  # about so many where no spacing is given
_MOST = 1 << 60

Bounds = tuple[checks.Number, checks.Number]


@dataclass(frozen=True, slots=True)
class Span:
    """The multiples `low` .. `high` of the lattice's spacing.

    >>> span = Span.between((0, 10), spacing=0.5)
    >>> span.points, span.ranked([99, -3, 2.6]).tolist()
    (21, [0, 5, 20])
    """

    lattice: Lattice
    low: int
    high: int

    @classmethod
    def between(cls, bounds: Bounds, spacing: checks.Number | None) -> Span:
        """The points between the bounds; left out, the spacing makes about a million of them."""
        lower, upper = read_bounds(bounds)
        width = upper - lower
        lattice = Lattice.for_noise(width, width, _POINTS if spacing is None else 1 << 2_000, spacing)
        low, high = math.ceil(lower / lattice.spacing), math.floor(upper / lattice.spacing)
        if low >= high:
            raise InvalidArgument("spacing must leave two points or more between the bounds; got fewer; give a smaller")
        if high - low >= _MOST:
            raise ScaleTooLarge("spacing must leave fewer than 2**60 points; got more; give a larger one")
        return cls(lattice, low, high)

    @property
    def points(self) -> int:
        """How many there are."""
        return self.high - self.low + 1

    def ranked(self, values: Any, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Any:
        """The numbers of the points that the values are moved to, in order: an array of integers."""
        if not hasattr(values, "__len__") or isinstance(values, str | bytes):
            raise WrongShape(f"value must be a list of numbers, one a unit; got {came(values)}; give [value]")
        array = as_array(values)
        if array.ndim != 1:
            raise WrongShape(f"value must be a list of numbers, one a unit; got {array.ndim} dimensions; flatten it")
        wide = max(abs(self.low), abs(self.high)) >= 1 << 62  # points whose numbers may not fit 64 bits
        if not array.size:
            if neighbors is Neighbors.REPLACE:
                raise OutsideRange("value must hold at least one number under replace; got none; promise add-remove")
            return np.empty(0, object if wide else np.int64)
        numbers = self.lattice.snap_many(array, array.size)
        if wide or numbers.dtype == object:
            moved = [min(max(int(n), self.low), self.high) for n in numbers.tolist()]
            return np.sort(np.array(moved, object if wide else np.int64))
        return np.sort(np.clip(numbers, self.low, self.high))

    def place(self, output: object) -> int | None:
        """Which point an output is, None if it is none of them."""
        number = self.lattice.number(output)  # type: ignore[arg-type]
        return number if number is not None and self.low <= number <= self.high else None


def read_bounds(bounds: Bounds | Sequence[checks.Number]) -> tuple[Fraction, Fraction]:
    """Two numbers, the lower one first."""
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise InvalidArgument(f"bounds must be two numbers; got {came(bounds)}; for example bounds=(0, 100)")
    lower, upper = checks.number(bounds=bounds[0]), checks.number(bounds=bounds[1])
    if lower >= upper:
        raise InvalidArgument(f"bounds must be a lower and an upper one; got {bounds!r}; for example bounds=(0, 100)")
    return lower, upper
