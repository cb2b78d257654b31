"""How far apart two inputs are: further than a mechanism declares, they are no neighbors and refute nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.errors import InvalidArgument
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import Norm, Sensitivity


def declared_distance(sensitivity: checks.Number | Sensitivity) -> Fraction:
    """How far one unit may move the input."""
    return sensitivity.value if isinstance(sensitivity, Sensitivity) else Fraction(sensitivity)


def moved(start: checks.Number, by: Fraction) -> float:
    """The float that is farthest from `start`, and no farther than `by`; a float means the decimal that it prints as.

    >>> moved(0, Fraction(7, 3)), moved(2, Fraction("-1.999"))
    (2.333333333333333, 0.001)
    """
    begin = checks.number(start=start)
    end = float(begin + by)
    while abs(Fraction(repr(end)) - begin) > abs(by):
        end = math.nextafter(end, float(begin))
    return end


def check_one_row(value: Any, neighbor: Any, relation: Neighbors) -> Fraction:
    """The row that comes or goes, or the new one of two; refused if more than one does."""
    mine, theirs = (Counter(checks.number(value=row) for row in _listed(side)) for side in (value, neighbor))
    gone, new = mine - theirs, theirs - mine
    allowed = [(1, 1)] if relation is Neighbors.REPLACE else [(1, 0), (0, 1)]
    if (gone.total(), new.total()) not in allowed:
        raise InvalidArgument(
            f"value and neighbor must differ by one row, which {relation.value} may change; got {gone.total()} rows "
            f"of one only and {new.total()} of the other, which are no neighbors; change one row"
        )
    return next(iter(new or gone))


def check_each_near(value: Any, neighbor: Any, most: Fraction, words: str, monotonic: bool) -> None:
    """Refuse vectors that are further apart in one number, or in both directions where there must be one."""
    mine, theirs = _listed(value), _listed(neighbor)
    if len(mine) != len(theirs):
        raise InvalidArgument(
            f"value and neighbor must have as many numbers; got {len(mine)} and {len(theirs)}; one unit changes none "
            "of their number"
        )
    for a, b in zip(mine, theirs, strict=True):
        check_near(a, b, most, Norm.L1, words)
    moves = [checks.number(value=a) - checks.number(neighbor=b) for a, b in zip(mine, theirs, strict=True)]
    if monotonic and min(moves, default=0) < 0 < max(moves, default=0):
        raise InvalidArgument(
            "value and neighbor must differ in one direction only, since monotonic says so; got numbers that go up "
            "and others that go down; leave monotonic out"
        )


def check_near(value: Any, neighbor: Any, most: Fraction, norm: Norm, words: str) -> None:
    """Refuse numbers or vectors that are further apart in this norm."""
    pairs = zip(_listed(value), _listed(neighbor), strict=False)
    apart = [abs(checks.number(value=mine) - checks.number(neighbor=theirs)) for mine, theirs in pairs]
    far = sum(apart) > most if norm is Norm.L1 else sum(x * x for x in apart) > most * most
    if far:
        raise InvalidArgument(
            f"value and neighbor must be at most {float(most):g} apart, {words}; got {value!r} and {neighbor!r}, "
            "which are no neighbors; move one of them, or declare a larger sensitivity"
        )


def _listed(value: Any) -> Sequence[Any]:
    if isinstance(value, np.ndarray):
        return list(value.ravel())
    return value if isinstance(value, list | tuple | range) else [value]
