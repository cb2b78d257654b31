"""How far apart the inputs of a mechanism are: further than it declares, they are no neighbours and refute nothing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sfumato import checks
from sfumato.errors import InvalidArgument
from sfumato.mechanisms import MECHANISMS, Gaussian, SparseVector
from sfumato.privacy.sensitivity import Norm, Sensitivity


def distance(mechanism: Any) -> Fraction:
    """How far one unit may move the input, as was declared."""
    declared = mechanism.sensitivity
    return declared.value if isinstance(declared, Sensitivity) else Fraction(declared)


def check_apart(mechanism: Any, value: Any, neighbour: Any) -> None:
    """Refuse inputs that are further apart than a mechanism of this package declares; of others nothing is known."""
    if not isinstance(mechanism, MECHANISMS):
        return
    if isinstance(mechanism, SparseVector):
        for mine, theirs in zip(_listed(value), _listed(neighbour), strict=False):
            _near(mine, theirs, distance(mechanism), Norm.L1, "the sensitivity, in every answer")
    elif hasattr(mechanism, "keys"):
        _near(value, neighbour, Fraction(1), Norm.L1, "one unit of a key")
    elif hasattr(mechanism, "candidates") and hasattr(mechanism, "sensitivity"):
        for mine, theirs in zip(_listed(value), _listed(neighbour), strict=False):
            _near(mine, theirs, distance(mechanism), Norm.L1, "the sensitivity, in every score")
    elif hasattr(mechanism, "sensitivity"):
        norm = Norm.L2 if isinstance(mechanism, Gaussian) else Norm.L1
        _near(value, neighbour, distance(mechanism), norm, f"the sensitivity, in {norm.name}")


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
    return value if isinstance(value, list | tuple) else [value]
