"""How far apart the inputs of a mechanism are: further than it declares, they are no neighbours and refute nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.errors import InvalidArgument
from sfumato.mechanisms import (
    MECHANISMS,
    Exponential,
    Gaussian,
    InverseSensitivity,
    PermuteAndFlip,
    ProposeTestRelease,
    Quantile,
    ReportNoisyMax,
    SparseVector,
    Subsampled,
)
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.sensitivity import Norm, Sensitivity


def distance(mechanism: Any) -> Fraction:
    """How far one unit may move the input, as was declared."""
    declared = mechanism.sensitivity
    return declared.value if isinstance(declared, Sensitivity) else Fraction(declared)


def check_apart(mechanism: Any, value: Any, neighbour: Any) -> None:
    """Refuse inputs that are further apart than a mechanism of this package declares; of others nothing is known."""
    if not isinstance(mechanism, MECHANISMS):
        return
    match mechanism:
        case Quantile() | ProposeTestRelease():
            _one_row(value, neighbour, mechanism.guarantee.neighbours)
        case Subsampled():
            row = _one_row(value, neighbour, mechanism.guarantee.neighbours)
            most = distance(mechanism.mechanism) if hasattr(mechanism.mechanism, "sensitivity") else Fraction(1)
            _near([row], [0], most, Norm.L1, "what the mechanism is made for")
        case InverseSensitivity():
            _each_near(value, neighbour, Fraction(1), "one step, in every distance", False)
        case SparseVector():
            words = "the sensitivity, in every answer"
            _each_near(value, neighbour, distance(mechanism), words, mechanism.monotonic)
        case Exponential() | PermuteAndFlip() | ReportNoisyMax():
            words = "the sensitivity, in every score"
            _each_near(value, neighbour, distance(mechanism), words, mechanism.monotonic)
        case _ if hasattr(mechanism, "keys"):
            _near(value, neighbour, Fraction(1), Norm.L1, "one unit of a key")
        case _ if hasattr(mechanism, "sensitivity"):
            norm = Norm.L2 if isinstance(mechanism, Gaussian) else Norm.L1
            _near(value, neighbour, distance(mechanism), norm, f"the sensitivity, in {norm.name}")


def _one_row(value: Any, neighbour: Any, relation: Neighbours) -> Fraction:
    """The row that comes or goes, or the new one of two; refused if more than one does."""
    mine, theirs = (Counter(checks.number(value=row) for row in _listed(side)) for side in (value, neighbour))
    gone, new = mine - theirs, theirs - mine
    allowed = [(1, 1)] if relation is Neighbours.REPLACE else [(1, 0), (0, 1)]
    if (gone.total(), new.total()) not in allowed:
        raise InvalidArgument(
            f"value and neighbour must differ by one row, which {relation.value} may change; got {gone.total()} rows "
            f"of one only and {new.total()} of the other, which are no neighbours; change one row"
        )
    return next(iter(new or gone))


def _each_near(value: Any, neighbour: Any, most: Fraction, words: str, monotonic: bool) -> None:
    mine, theirs = _listed(value), _listed(neighbour)
    if len(mine) != len(theirs):
        raise InvalidArgument(
            f"value and neighbour must have as many numbers; got {len(mine)} and {len(theirs)}; one unit changes none "
            "of their number"
        )
    for a, b in zip(mine, theirs, strict=True):
        _near(a, b, most, Norm.L1, words)
    moves = [checks.number(value=a) - checks.number(neighbour=b) for a, b in zip(mine, theirs, strict=True)]
    if monotonic and min(moves, default=0) < 0 < max(moves, default=0):
        raise InvalidArgument(
            "value and neighbour must differ in one direction only, since monotonic says so; got numbers that go up "
            "and others that go down; leave monotonic out"
        )


def _near(value: Any, neighbour: Any, most: Fraction, norm: Norm, words: str) -> None:
    pairs = zip(_listed(value), _listed(neighbour), strict=False)
    apart = [abs(checks.number(value=mine) - checks.number(neighbour=theirs)) for mine, theirs in pairs]
    far = sum(apart) > most if norm is Norm.L1 else sum(x * x for x in apart) > most * most
    if far:
        raise InvalidArgument(
            f"value and neighbour must be at most {float(most):g} apart, {words}; got {value!r} and {neighbour!r}, "
            "which are no neighbours; move one of them, or declare a larger sensitivity"
        )


def _listed(value: Any) -> Sequence[Any]:
    if isinstance(value, np.ndarray):
        return list(value.ravel())
    return value if isinstance(value, list | tuple | range) else [value]
