"""Games for the mechanisms of this package by their names, on neighbours at the declared distance.

>>> found = mechanism_game("laplace", {"epsilon": 0.5, "sensitivity": 2})
>>> found.value, found.neighbour, found.claim
(0.0, 2.0, Guarantee(epsilon=0.5))
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from sfumato.audit.apart import distance
from sfumato.audit.game import Game, game
from sfumato.dataset.name import nearest
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.mechanisms import (
    MECHANISMS,
    BoxResponse,
    DuchiResponse,
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
    if (value is None) is not (neighbour is None):
        raise InvalidArgument("both inputs must be given, or none; got one; give --value and --neighbour")
    mine, theirs = usual if value is None and usual is not None else (value, neighbour)
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
            raise UnknownName(f"{kind.__name__} has no parameter {given!r}; {_instead(kind, given, known)}")
    needed = {each for each, field in known.items() if field.default is MISSING}
    usual = {each: _USUAL[each] for each in needed if each in _USUAL}
    if missing := needed - usual.keys() - options.keys():
        raise InvalidArgument(f"{kind.__name__} needs {', '.join(sorted(missing))}; got none; give --with NAME=VALUE")
    return kind(**{**usual, **options})


def _instead(kind: Any, given: str, known: Mapping[str, Any]) -> str:
    if kind is Subsampled and given in ("epsilon", "delta", "sensitivity"):
        return "for other noise than Laplace's write noise.py with tenth = Subsampled(...), and audit noise:tenth"
    if given == "delta":
        return "it promises epsilon alone; leave --delta out"
    return nearest(given, known)


def _neighbours(mechanism: Any) -> tuple[Any, Any] | None:
    """Two inputs as far apart as is declared; None: nobody knows how far."""
    match mechanism:
        case InverseSensitivity():  # distances, which one unit moves by 1
            return tuple(range(len(mechanism.candidates))), (1, *range(len(mechanism.candidates) - 1))
        case Quantile():  # one gap below the median's values and one above, of which the other unit makes one likelier
            low, high = (float(end) for end in mechanism.bounds)
            values = [(low + high) / 2] * 3 + [high] * 3
            return values, [low, *values][: 7 if mechanism.neighbours is Neighbours.ADD_REMOVE else 6]
        case ProposeTestRelease():  # the median moves by the whole bound, and the test passes about half the time
            low, high = (float(end) for end in mechanism.bounds)
            comes = mechanism.neighbours is Neighbours.ADD_REMOVE
            bound, many = float(mechanism.bound), max(1, mechanism.threshold // (2 if comes else 1))
            first = (low + high - bound) / 2
            values = [first] * many + [first + bound] * many
            return values, values[1:] if comes else [*values[1:], first + bound]
        case SparseVector():  # many answers go up and the last one down, if they may
            above, by = float(mechanism.threshold), float(distance(mechanism))
            if mechanism.monotonic:
                return [above - by] * 3, [above] * 3
            return [above - by] * 5 + [above], [above] * 5 + [above - by]
        case Subsampled():
            return [1.0, 1.0], [1.0]
        case DuchiResponse() | PiecewiseResponse():
            return mechanism.bounds
        case BoxResponse() | PaddedResponse():
            first, second, *_ = mechanism.boxes
            return (first,), (second,)
    if hasattr(mechanism, "candidates"):
        size, by = len(mechanism.candidates), float(distance(mechanism))
        rest = 0.0 if getattr(mechanism, "monotonic", False) else by
        return (by, *[0.0] * (size - 1)), (0.0, *[rest] * (size - 1))
    if hasattr(mechanism, "categories"):
        first, second, *_ = mechanism.categories
        return first, second
    if hasattr(mechanism, "keys"):
        people = _shown(mechanism)
        return people, people - 1
    if hasattr(mechanism, "sensitivity") and "value" in inspect.signature(mechanism.release).parameters:
        number = int if isinstance(mechanism, Geometric) else float
        far, near, length = number(distance(mechanism)), number(0), getattr(mechanism, "size", None)
        return (near, far) if length is None else ((near,) * length, (far, *(near,) * (length - 1)))
    return None


def _shown(mechanism: Any) -> int:
    """How many people a key needs to be shown about half the time: there one of them is seen best."""
    limit: float | None = getattr(mechanism, "threshold", None)
    if limit is None:
        keys = mechanism.keys * (1 if mechanism.neighbours is Neighbours.ADD_REMOVE else 2)
        limit = keys * math.log(keys / float(mechanism.delta)) / float(mechanism.epsilon)
    return 1 + math.ceil(limit)
