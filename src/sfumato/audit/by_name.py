"""Games for the mechanisms of this package by their names, on neighbors at the declared distance.

>>> found = mechanism_game("laplace", {"epsilon": 0.5, "sensitivity": 2})
>>> found.value, found.neighbor, found.claim
(0.0, 2.0, Guarantee(epsilon=0.5))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from sfumato.audit.game import Game, game
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.mechanisms import MECHANISMS
from sfumato.suggestions import nearest

NAMES = {each.__name__: each for each in MECHANISMS}


def is_mechanism(name: str) -> bool:
    """Whether there is a mechanism of this name, however it is spelled: laplace-threshold, LaplaceThreshold."""
    return _plain(name) in map(_plain, NAMES)


def mechanism_game(name: str, options: Mapping[str, Any], value: Any = None, neighbor: Any = None) -> Game:
    """A mechanism with its parameters, on these inputs or on those that tell most."""
    mechanism = _made(name, options)
    usual = mechanism.neighboring_inputs()
    if value is None and neighbor is None and usual is None:
        raise InvalidArgument(f"{name} needs two neighboring inputs; got none; give --value and --neighbor")
    if (value is None) is not (neighbor is None):
        raise InvalidArgument("both inputs must be given, or none; got one; give --value and --neighbor")
    mine, theirs = usual if value is None and usual is not None else (value, neighbor)
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
    usual = kind.example_parameters
    if missing := needed - usual.keys() - options.keys():
        raise InvalidArgument(f"{kind.__name__} needs {', '.join(sorted(missing))}; got none; give --with NAME=VALUE")
    return kind(**{**usual, **options})


def _instead(kind: Any, given: str, known: Mapping[str, Any]) -> str:
    if given in kind.absent_parameters:
        return str(kind.absent_parameters[given])
    if given == "delta":
        return "it promises epsilon alone; leave --delta out"
    return nearest(given, known)
