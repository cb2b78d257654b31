"""How far one unit can move a value, with its norm: the number that noise is scaled to.

The global sensitivity of f is the largest |f(x) - f(y)| over all neighbors x, y that the declared bounds allow. It
depends on declarations only, so it may set the noise. The local sensitivity at x looks at the neighbors of x alone.
It depends on the data and **must not set the noise**: where it is 0 at x and positive at a neighbor (a maximum, a
median), the exact answer appears at x and almost never at the neighbor, and every delta < 1 fails. So the functions
`local_...` return a bare fraction, which no mechanism takes for a `Sensitivity`; they are for study and for tests.

>>> total(20_000, 200_000).value, total(20_000, 200_000, neighbors="replace").value
(Fraction(200000, 1), Fraction(180000, 1))

Where the value depends on the relation, the `Sensitivity` remembers it, and a mechanism promises no other.

What an empty table is worth is a convention: a sum or count 0, a maximum the lower bound, a mean or median the middle
of the bounds. The median of an even number of values is the middle between the two middle ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Literal

from sfumato import checks, rounding
from sfumato.checks import Number
from sfumato.errors import InvalidArgument, OutsideRange, Refused
from sfumato.privacy.neighbors import Neighbors, Relation

ADD_REMOVE, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE


class Norm(Enum):
    """How the distance of two vectors is measured: L1 for Laplace noise, L2 for Gaussian noise."""

    L1 = "L1"
    L2 = "L2"

    @classmethod
    def read(cls, value: Norm | Literal["L1", "L2"]) -> Norm:
        """The norm, given as itself or by its name.

        >>> Norm.read("L2")
        <Norm.L2: 'L2'>
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, str) and value in {each.value for each in cls}:
            return cls(value)
        raise InvalidArgument(f"norm must be 'L1' or 'L2'; got {value!r}; L1 is for Laplace noise, L2 for Gaussian")


@dataclass(frozen=True, slots=True, init=False)
class Sensitivity:
    """How far one unit can move a value: positive and finite, exact or rounded up.

    >>> Sensitivity(0)
    Traceback (most recent call last):
        ...
    sfumato.errors.InvalidArgument: sensitivity must be positive; got 0; say how far one unit can move the value, ...
    """

    value: Fraction
    norm: Norm
    neighbors: Neighbors | None  # None: it holds under both relations, or nobody said

    def __init__(
        self,
        value: Number,
        norm: Norm | Literal["L1", "L2"] = Norm.L1,
        neighbors: Neighbors | Relation | None = None,
    ) -> None:
        object.__setattr__(self, "value", checks.positive(sensitivity=value))
        object.__setattr__(self, "norm", Norm.read(norm))
        object.__setattr__(self, "neighbors", None if neighbors is None else Neighbors.read(neighbors))

    def times(self, factor: Number) -> Sensitivity:
        """The sensitivity of a linear map: a * f moves |a| times as far as f.

        >>> count().times(-5).value
        Fraction(5, 1)
        """
        return Sensitivity(abs(checks.number(factor=factor)) * self.value, self.norm, self.neighbors)


def relation(sensitivity: Number | Sensitivity, neighbors: Neighbors | Relation | None) -> Neighbors:
    """The relation that a release promises: the one given, else the sensitivity's, else add-remove.

    >>> relation(total(20_000, 200_000, neighbors="replace"), None)
    <Neighbors.REPLACE: 'replace'>
    """
    known = sensitivity.neighbors if isinstance(sensitivity, Sensitivity) else None
    if neighbors is None:
        return known or ADD_REMOVE
    asked = Neighbors.read(neighbors)
    if known not in (None, asked):
        raise InvalidArgument(
            f"neighbors must be {known.value!r}, for which the sensitivity was worked out; got {asked.value!r}; "
            f"leave it out, or work the sensitivity out with neighbors={asked.value!r}"
        )
    return asked


def together(parts: Iterable[Sensitivity], *, norm: Norm | Literal["L1", "L2"] = Norm.L1) -> Sensitivity:
    """Several values released as one vector, where a unit may move each: their sum in L1, the root of squares in L2.

    >>> together([count(), total(0, 5)]).value
    Fraction(6, 1)
    """
    listed, wanted = tuple(parts), Norm.read(norm)
    if not all(isinstance(part, Sensitivity) for part in listed):
        raise InvalidArgument("parts must be sensitivities; got something else; wrap a number: Sensitivity(1)")
    relations = {part.neighbors for part in listed} - {None}
    if len(relations) > 1:
        raise InvalidArgument(
            "parts must be under one relation; got both; work all of them out with the same neighbors"
        )
    known = relations.pop() if relations else None
    if wanted is Norm.L2:  # the L2 norm is never above the L1 norm, so parts in either norm will do
        return Sensitivity(rounding.sqrt_up(sum((part.value**2 for part in listed), Fraction(0))), wanted, known)
    if any(part.norm is not Norm.L1 for part in listed):
        raise InvalidArgument("parts must be in L1 to be joined in L1; some are in L2; give their L1 sensitivities")
    return Sensitivity(sum((part.value for part in listed), Fraction(0)), wanted, known)


def linear(factor: Number = 1, moves: Number = 1) -> Sensitivity:
    """The linear map a * x, where one unit moves x by at most `moves`.

    If x is a count it moves by 1, if it is a value on [-M, M] that is replaced by 2M.

    >>> [linear(a).value for a in (1, 2, 5)] == [1, 2, 5]
    True
    """
    return Sensitivity(checks.positive(moves=moves)).times(factor)


def square(bound: Number, moves: Number = 1) -> Sensitivity:
    """The square of x on [-M, M], where one unit moves x by at most `moves`; without the bound M there is none.

    >>> square(10).value, square(10, moves=20).value
    (Fraction(19, 1), Fraction(100, 1))
    """
    M = checks.positive(bound=bound)
    step = min(checks.positive(moves=moves), M)  # |x² - y²| = d (2M - d) from M to M - d grows until d = M
    return Sensitivity(step * (2 * M - step))


def count() -> Sensitivity:
    """The number of units for which something holds: 1 under both relations."""
    return Sensitivity(1)


def counts(how_many: int, *, norm: Norm | Literal["L1", "L2"] = Norm.L1) -> Sensitivity:
    """Several counts, where a unit may be in each: their number in L1, its root in L2.

    >>> counts(12).value, counts(4, norm=Norm.L2).value
    (Fraction(12, 1), Fraction(2, 1))
    """
    return together([count()] * checks.whole(1, how_many=how_many), norm=norm)


def disjoint_counts(
    *, norm: Norm | Literal["L1", "L2"] = Norm.L1, neighbors: Neighbors | Relation = ADD_REMOVE
) -> Sensitivity:
    """Counts where a unit is in at most one, as in a histogram: 1; under replace it moves, 2 in L1 and √2 in L2.

    >>> disjoint_counts().value, disjoint_counts(neighbors=REPLACE).value
    (Fraction(1, 1), Fraction(2, 1))
    """
    known = Neighbors.read(neighbors)
    moved = counts(1 if known is ADD_REMOVE else 2, norm=norm)
    return Sensitivity(moved.value, moved.norm, known)


def total(lower: Number, upper: Number, *, neighbors: Neighbors | Relation = ADD_REMOVE) -> Sensitivity:
    """The sum of one value per unit on [lower, upper]: the larger of |lower| and |upper|; under replace the width."""
    (low, high), known = _bounds(lower, upper), Neighbors.read(neighbors)
    return Sensitivity(max(abs(low), abs(high)) if known is ADD_REMOVE else high - low, neighbors=known)


def mean(lower: Number, upper: Number, size: int, *, neighbors: Neighbors | Relation = ADD_REMOVE) -> Sensitivity:
    """The mean of `size` values on [lower, upper] under replace, the size being public: the width over the size.

    >>> mean(-4, 4, size=100, neighbors=REPLACE).value
    Fraction(2, 25)
    """
    (low, high), known = _bounds(lower, upper), Neighbors.read(neighbors)
    if known is ADD_REMOVE:
        raise Refused(
            "a mean has no useful sensitivity under add-remove, where the number of units is private; "
            "release a sum and a count and divide them, or declare neighbors='replace' and a public size"
        )
    return Sensitivity((high - low) / checks.whole(1, size=size), neighbors=known)


def maximum(lower: Number, upper: Number) -> Sensitivity:
    """The maximum of values on [lower, upper]: the width under both relations, for one unit can be alone at the top."""
    low, high = _bounds(lower, upper)
    return Sensitivity(high - low)


def median(lower: Number, upper: Number, *, neighbors: Neighbors | Relation = ADD_REMOVE) -> Sensitivity:
    """The median of values on [lower, upper]: the width under replace, half of it under add-remove.

    >>> median(-4, 4, neighbors=REPLACE).value, median(-4, 4).value
    (Fraction(8, 1), Fraction(4, 1))
    """
    (low, high), known = _bounds(lower, upper), Neighbors.read(neighbors)
    return Sensitivity(high - low if known is REPLACE else (high - low) / 2, neighbors=known)


def local_square(x: Number, bound: Number, moves: Number = 1) -> Fraction:
    """The local sensitivity of x² at x, on [-M, M], where one unit moves x by at most `moves`.

    >>> local_square(3, bound=10), local_square(0, bound=10)
    (Fraction(7, 1), Fraction(1, 1))
    """
    M, step = checks.positive(bound=bound), checks.positive(moves=moves)
    (here,) = _data([x], -M, M)
    ends = [max(-M, here - step), min(M, here + step)]
    middle = [Fraction(0)] if ends[0] <= 0 <= ends[1] else []
    return max(abs(here**2 - y**2) for y in ends + middle)


def local_count(holds: Sequence[bool], *, neighbors: Neighbors | Relation = ADD_REMOVE) -> Fraction:
    """The local sensitivity of the number of units for which something holds: 1, unless there is none to replace."""
    return local_total([int(bool(each)) for each in holds], 0, 1, neighbors=neighbors)


def local_total(
    values: Sequence[Number], lower: Number, upper: Number, *, neighbors: Neighbors | Relation = ADD_REMOVE
) -> Fraction:
    """The local sensitivity of a sum of values on [lower, upper].

    >>> local_total([30, 40], 0, 100), local_total([30, 40], 0, 100, neighbors=REPLACE)
    (Fraction(100, 1), Fraction(70, 1))
    """
    low, high = _bounds(lower, upper)
    data = _data(values, low, high)
    if Neighbors.read(neighbors) is ADD_REMOVE:  # an addition can always be as large as any removal
        return max(abs(low), abs(high))
    return max(high - data[0], data[-1] - low) if data else Fraction(0)


def local_mean(
    values: Sequence[Number], lower: Number, upper: Number, *, neighbors: Neighbors | Relation = ADD_REMOVE
) -> Fraction:
    """The local sensitivity of the mean of values on [lower, upper].

    >>> local_mean([0, 0, 4, 4], 0, 4), local_mean([0, 0, 4, 4], 0, 4, neighbors=REPLACE)
    (Fraction(2, 3), Fraction(1, 1))
    """
    low, high = _bounds(lower, upper)
    data, size = _data(values, low, high), len(values)
    if Neighbors.read(neighbors) is REPLACE:
        return local_total(values, lower, upper, neighbors=REPLACE) / size if size else Fraction(0)
    here = sum(data, Fraction(0)) / size if size else (low + high) / 2
    added = max(high - here, here - low) / (size + 1)
    match size:
        case 0:
            return added
        case 1:
            return max(added, abs(here - (low + high) / 2))
        case _:
            return max(added, (data[-1] - here) / (size - 1), (here - data[0]) / (size - 1))


def local_maximum(
    values: Sequence[Number], lower: Number, upper: Number, *, neighbors: Neighbors | Relation = ADD_REMOVE
) -> Fraction:
    """The local sensitivity of the maximum: up to the bound, or down to the second; 0 if two are at the bound.

    >>> local_maximum([1, 7], 0, 10), local_maximum([10, 10], 0, 10)
    (Fraction(6, 1), Fraction(0, 1))
    """
    low, high = _bounds(lower, upper)
    data = _data(values, low, high)
    if Neighbors.read(neighbors) is REPLACE and not data:
        return Fraction(0)
    second, first = [low, low, *data][-2:]
    return max(high - first, first - second)


def local_median(
    values: Sequence[Number], lower: Number, upper: Number, *, neighbors: Neighbors | Relation = ADD_REMOVE
) -> Fraction:
    """The local sensitivity of the median: the way to the next ranks, which is 0 where the middle values are equal.

    >>> [local_median(values, 0, 10, neighbors=REPLACE) for values in ([0, 3, 9], [5, 5, 5, 5])]
    [Fraction(6, 1), Fraction(0, 1)]
    """
    low, high = _bounds(lower, upper)
    data, known = _data(values, low, high), Neighbors.read(neighbors)
    if known is REPLACE and not data:
        return Fraction(0)

    def ranked(rank: int) -> Fraction:
        return low if rank < 0 else high if rank >= len(data) else data[rank]

    def middle(half_ranks: int) -> Fraction:
        return (ranked(half_ranks // 2) + ranked((half_ranks + 1) // 2)) / 2

    # an addition or removal moves the middle by half a rank, a replacement (one of each) by a whole one
    here, step = len(data) - 1, 1 if known is ADD_REMOVE else 2
    return max(middle(here + step) - middle(here), middle(here) - middle(here - step))


def _bounds(lower: Number, upper: Number) -> tuple[Fraction, Fraction]:
    low, high = checks.number(lower=lower), checks.number(upper=upper)
    if low > high:
        raise InvalidArgument(f"lower must not be above upper; got {lower!r} and {upper!r}; swap them")
    return low, high


def _data(values: Sequence[Number], low: Fraction, high: Fraction) -> list[Fraction]:
    data = sorted(checks.number(value=value) for value in values)
    if data and (data[0] < low or data[-1] > high):
        raise OutsideRange(f"values must lie between {low} and {high}; some do not; clip them to the declared bounds")
    return data
