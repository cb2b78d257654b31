"""Games for the mechanisms of this package by their names, on neighbours at the declared distance.

>>> found = mechanism_game("laplace", {"epsilon": 0.5, "sensitivity": 2})
>>> found.value, found.neighbour, found.claim
(0.0, 2.0, Guarantee(epsilon=0.5))
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any

from sfumato import checks
from sfumato.audit.game import Game, game
from sfumato.dataset.name import nearest
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.mechanisms import (
    MECHANISMS,
    BoxResponse,
    DuchiResponse,
    Gaussian,
    Geometric,
    InverseSensitivity,
    Laplace,
    PaddedResponse,
    PiecewiseResponse,
    ProposeTestRelease,
    Quantile,
    SparseVector,
    Subsampled,
)
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.sensitivity import Norm, Sensitivity

NAMES = {each.__name__: each for each in MECHANISMS}
_USUAL: dict[str, Any] = {
    "epsilon": 1,
    "delta": 1e-6,
    "sensitivity": 1,
    "candidates": ("a", "b", "c"),
    "categories": ("a", "b", "c"),
    "boxes": ("a", "b", "c"),
    "most": 2,
    "quantile": 0.5,
    "bounds": (0, 16),
    "bound": 2,
    "threshold": 2,
    "rate": 0.5,
    "mechanism": Laplace(1, 1),
}


def is_mechanism(name: str) -> bool:
    """Whether there is a mechanism of this name, however it is spelt: laplace-threshold, LaplaceThreshold."""
    return _plain(name) in map(_plain, NAMES)


def mechanism_game(name: str, options: Mapping[str, Any], value: Any = None, neighbour: Any = None) -> Game:
    """A mechanism with its parameters, on these inputs or on those that tell most."""
    mechanism = _made(name, options)
    usual = _neighbours(mechanism)
    if value is None and neighbour is None and usual is None:
        raise InvalidArgument(f"{name} needs two neighbouring inputs; got none; give --value and --neighbour")
    mine = value if value is not None or usual is None else usual[0]
    theirs = neighbour if neighbour is not None or usual is None else usual[1]
    _check(mechanism, mine, theirs)
    return game(mechanism, mine, theirs)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def _made(name: str, options: Mapping[str, Any]) -> Any:
    kind = next((each for known, each in NAMES.items() if _plain(known) == _plain(name)), None)
    if kind is None:
        raise UnknownName(f"unknown mechanism {name!r}; {nearest(name, NAMES)}")
    known = {field.name: field for field in fields(kind) if not field.name.startswith("_") and field.name != "unit"}
    for given in options:
        if given not in known:
            raise UnknownName(f"{kind.__name__} has no parameter {given!r}; {nearest(given, known)}")
    needed = {each for each, field in known.items() if field.default is MISSING}
    usual = {each: _USUAL[each] for each in needed if each in _USUAL}
    if missing := needed - usual.keys() - options.keys():
        raise InvalidArgument(f"{kind.__name__} needs {', '.join(sorted(missing))}; got none; give --with NAME=VALUE")
    return kind(**{**usual, **options})


def _neighbours(mechanism: Any) -> tuple[Any, Any] | None:
    """Two inputs as far apart as is declared; None: nobody knows how far."""
    match mechanism:
        case InverseSensitivity():  # distances, which one unit moves by 1
            return tuple(range(len(mechanism.candidates))), (1, *range(len(mechanism.candidates) - 1))
        case Quantile() | ProposeTestRelease():
            low, high = (float(end) for end in mechanism.bounds)
            values = [low] * 3 + [high] * 4
            return values, values[:-1] if mechanism.neighbours is Neighbours.ADD_REMOVE else [*values[:-1], low]
        case SparseVector():
            above, by = float(mechanism.threshold), float(_distance(mechanism))
            return [above] * 3, [above - by] * 3
        case Subsampled():
            return [1.0, 1.0], [1.0]
        case DuchiResponse() | PiecewiseResponse():
            return mechanism.bounds
        case BoxResponse() | PaddedResponse():
            first, second, *_ = mechanism.boxes
            return (first,), (second,)
    if hasattr(mechanism, "candidates"):
        size, by = len(mechanism.candidates), float(_distance(mechanism))
        rest = 0.0 if getattr(mechanism, "monotonic", False) else by
        return (by, *[0.0] * (size - 1)), (0.0, *[rest] * (size - 1))
    if hasattr(mechanism, "categories"):
        first, second, *_ = mechanism.categories
        return first, second
    if hasattr(mechanism, "keys"):
        return 1, 0  # people who have a key
    if hasattr(mechanism, "sensitivity") and "value" in inspect.signature(mechanism.release).parameters:
        number = int if isinstance(mechanism, Geometric) else float
        far, near, length = number(_distance(mechanism)), number(0), getattr(mechanism, "size", None)
        return (near, far) if length is None else ((near,) * length, (far, *(near,) * (length - 1)))
    return None


def _distance(mechanism: Any) -> Fraction:
    declared = mechanism.sensitivity
    return declared.value if isinstance(declared, Sensitivity) else Fraction(declared)


def _check(mechanism: Any, value: Any, neighbour: Any) -> None:
    """Refuse inputs that are further apart than is declared."""
    if isinstance(mechanism, SparseVector):
        for mine, theirs in zip(_listed(value), _listed(neighbour), strict=False):
            _near(mine, theirs, _distance(mechanism), Norm.L1, "the sensitivity, in every answer")
    elif hasattr(mechanism, "keys"):
        _near(value, neighbour, Fraction(1), Norm.L1, "one unit of a key")
    elif hasattr(mechanism, "candidates") and hasattr(mechanism, "sensitivity"):
        for mine, theirs in zip(_listed(value), _listed(neighbour), strict=False):
            _near(mine, theirs, _distance(mechanism), Norm.L1, "the sensitivity, in every score")
    elif hasattr(mechanism, "sensitivity"):
        norm = Norm.L2 if isinstance(mechanism, Gaussian) else Norm.L1
        _near(value, neighbour, _distance(mechanism), norm, f"the sensitivity, in {norm.name}")


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
