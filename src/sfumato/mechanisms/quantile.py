"""A private median or other quantile: the inverse sensitivity mechanism on the points of a lattice.

Claim. Of n values in order, let the p-quantile be the one of rank ceil(p n); for the median the lower of two middle
ones. Let d(z) be the least number of units whose coming, going or changing makes z the quantile. Points between two
values have the same d, and it is known in closed form, so choosing z with probability proportional to
exp(-epsilon * d(z) / 2) among any number of points takes O(n log n). It is epsilon-differentially private.
Proof: docs/proofs/inverse_sensitivity.md. Papers: Asi and Duchi 2020; Smith 2011 (the same for intervals).

>>> median = Quantile(0.5, bounds=(0, 100), epsilon=1, spacing=1)
>>> median.release([42] * 1_000)
42.0
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument
from sfumato.mechanisms._examples.apart import check_one_row
from sfumato.mechanisms._examples.example import FEW, Example, around
from sfumato.mechanisms._noise.span import Bounds, Span, read_bounds
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, settle
from sfumato.mechanisms.samplers import Integers, Selection, uniform
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.rounding import down, log_up, up


class Pieces(NamedTuple):
    """Runs of points that are equally far from being the quantile."""

    first: Integers
    size: Integers
    distance: Integers


@dataclass(frozen=True)
class Quantile(Declared):
    """The value is a list of numbers, one a unit; the output is one of the points between the bounds.

        quantile      which one: 0.5 for the median, above 0 and at most 1, which is the maximum
        bounds        a lower and an upper bound that somebody declared; values beyond are moved onto them
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        spacing       the lattice's spacing, a power of two; left out: about a millionth of the bounds' distance
        neighbors    'add-remove' (one unit comes or goes) or 'replace' (one unit changes its contents)
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> incomes = Quantile(0.9, bounds=(0, 200_000), epsilon=1)
    >>> 0 <= incomes.release([20_000, 35_000, 90_000]) <= 200_000
    True
    """

    quantile: checks.Number
    bounds: Bounds
    epsilon: checks.Number
    spacing: checks.Number | None = None
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"quantile": 0.5, "bounds": (0, 16), "epsilon": 1}

    def __post_init__(self) -> None:
        settle(self)
        exact = checks.probability(quantile=self.quantile)
        if exact == 0:
            raise InvalidArgument("quantile must be above 0; got 0; take that of the negative values at 1 instead")
        object.__setattr__(self, "quantile", exact)
        object.__setattr__(self, "bounds", read_bounds(self.bounds))
        _ = self._span

    @cached_property
    def _span(self) -> Span:
        return Span.between(self.bounds, self.spacing)

    @cached_property
    def _rate(self) -> Fraction:
        return Fraction(self.epsilon) / 2

    @property
    def loss(self) -> Loss:
        """Pure epsilon, and less in zCDP than pure epsilon implies."""
        epsilon = Fraction(self.epsilon)
        return Loss.pure(epsilon, rho=epsilon * epsilon / 8)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy."""
        return Guarantee(self.epsilon, neighbors=self.neighbors, unit=self.unit)

    def _pieces(self, values: Any) -> Pieces:
        """Every value by itself, and the gaps between them; some are empty."""
        relation = Neighbors.read(self.neighbors)
        ranked = self._span.ranked(values, relation)
        points, counts = np.unique(ranked, return_counts=True)
        ends = np.concatenate([[self._span.low - 1], points, [self._span.high + 1]]).astype(points.dtype)
        upto = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)  # values up to a point, and before it
        first, size, less, equal = (
            np.concatenate(parts)
            for parts in (
                (ends[:-1] + 1, points),
                (ends[1:] - ends[:-1] - 1, np.ones_like(points)),
                (upto, upto[:-1]),
                (np.zeros_like(upto), counts),
            )
        )
        distance = changes(less, equal, len(ranked) - less - equal, Fraction(self.quantile), relation)
        return Pieces(first, size, distance)

    def release(self, value: Any, entropy: Entropy = SYSTEM) -> float:
        """One of the points."""
        pieces = self._pieces(value)
        levels = _levels(pieces)
        chosen = Selection([-self._rate * d for d in levels], list(levels.values())).draw(entropy)
        level = list(levels)[chosen]
        offset = int(uniform(levels[level], 1, entropy)[0])
        among = np.flatnonzero(pieces.distance == level)
        after = np.cumsum(pieces.size[among])
        piece = int(np.searchsorted(after, offset, side="right"))
        last = int(pieces.first[among[piece]]) + int(pieces.size[among[piece]]) - int(after[piece])
        return self._span.lattice.value(last + offset)

    def error(self, confidence: checks.Number = 0.95) -> float:
        """How many units need to change at most, with this confidence, to make the output the true quantile."""
        miss = 1 - checks.inside(confidence=confidence)
        return up(max(Fraction(1), log_up(self._span.points / miss) / self._rate))

    def distance(self, output: float, value: Any) -> int:
        """How many units would have to change to make `output` the true quantile; private, like the value."""
        place = self._span.place(output)
        if place is None:
            raise InvalidArgument("output must be one of the lattice's points; got another; release gives one")
        pieces = self._pieces(value)
        holds = (pieces.first <= place) & (place < pieces.first + pieces.size)
        return int(pieces.distance[np.flatnonzero(holds)[0]])

    def log_probability(self, output: float, value: Any) -> float:
        """The logarithm of the probability of an output, minus infinity for what is no point."""
        if self._span.place(output) is None:
            return -math.inf
        levels = _levels(self._pieces(value))
        nearest = min(levels)
        total = math.fsum(size * math.exp(down(self._rate * (nearest - d))) for d, size in levels.items())
        return down(self._rate * (nearest - self.distance(output, value))) - math.log(total)

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """One gap below the median's values and one above, of which the other unit makes one likelier."""
        low, high = (float(end) for end in self.bounds)
        values = [(low + high) / 2] * 3 + [high] * 3
        return values, [low, *values][: 7 if self.neighbors is Neighbors.ADD_REMOVE else 6]

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """One row."""
        check_one_row(value, neighbor, self.guarantee.neighbors)

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no list of numbers."""
        odd = (math.nan, None, "Rumpelstiltskin")
        return 3, "01", [[0, 1], [1, 0]], *([1, each] for each in odd)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """A median under add-remove, and a ninth tenth under replace."""
        median, ninth = cls(0.5, (0, 15), 2, 1), cls(0.9, (0, 16), 3, 0.5, "replace")
        eight, seven, five, changed = (
            (1, 2, 2, 3, 7, 9, 11, 11),
            (1, 2, 2, 3, 7, 9, 11),
            (1, 2, 2, 3, 7),
            (1, 2, 2, 3, 0),
        )
        return (
            Example("median", median, eight, seven, around(0, 15), 0.4, median.distance, FEW),
            Example("ninth tenth", ninth, five, changed, around(0, 16, 0.5), 0.5, ninth.distance, FEW),
        )


def _levels(pieces: Pieces) -> dict[int, int]:
    """How many points there are at each distance."""
    held = pieces.size > 0
    found, place = np.unique(pieces.distance[held], return_inverse=True)
    sizes = np.zeros(len(found), pieces.size.dtype)
    np.add.at(sizes, place, pieces.size[held])
    return dict(zip(map(int, found.tolist()), map(int, sizes.tolist()), strict=True))


def changes(less: Integers, equal: Integers, more: Integers, quantile: Fraction, neighbors: Neighbors) -> Integers:
    """The least number of changes that give a point with so many values below, at and above it the quantile's rank.

    >>> changes(np.array([0, 2]), np.array([0, 1]), np.array([5, 2]), Fraction(1, 2), Neighbors.REPLACE).tolist()
    [3, 0]
    """
    top, rest = quantile.numerator, quantile.denominator - quantile.numerator
    total = int(less[0] + equal[0] + more[0])
    kind = np.int64 if (total + 2) * quantile.denominator < 1 << 62 else object
    low, here, high = (part.astype(kind) for part in (less, equal, more))
    if neighbors is Neighbors.REPLACE:
        rank = -(-top * total // quantile.denominator)
        return np.asarray(np.maximum(0, np.maximum(low - rank + 1, rank - low - here)))
    too_high = rest * low - top * (here + high)  # negative where few enough lie below
    too_low = top * high - rest * (low + here)  # at most 0 where few enough lie above
    # Adding the point itself helps in both cases; taking a value away on the heavy side helps more, but for the median.
    fall = too_high // top + 1
    if top < rest:
        fall = np.where(here > 0, too_high // rest + 1, 1 + np.maximum(0, (too_high - top) // rest + 1))
    rise = -(-too_low // max(rest, 1))
    if top > rest:
        rise = np.where(here > 0, -(-too_low // top), 1 + np.maximum(0, -((rest - too_low) // top)))
    return np.where(too_high >= 0, fall, np.where(too_low > 0, rise, 0))
