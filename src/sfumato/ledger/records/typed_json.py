"""The fields of a frozen value as JSON and back, by the types that they declare.

Nobody lists the fields: whatever field a class gets is written and read, and a field of a type that is not known here
fails when the codec is made, which is when its module is imported. So a new field cannot be forgotten.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Room:
...     name: str
...     beds: Mapping[int, Fraction]
...     floor: int
>>> codec = Codec(Room, without=("floor",))
>>> codec.write(Room("attic", {3: Fraction(1, 2)}, 5))
{'name': 'attic', 'beds': [[3, '1/2']]}
>>> codec.read({"name": "attic", "beds": [[3, "1/2"]]})
{'name': 'attic', 'beds': {3: Fraction(1, 2)}}
>>> codec.shape
'name:str,beds:{int:Fraction}'
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints


class Leaf(NamedTuple):
    """How values of a type are written and read; reading gets the context that `Codec.read` was given."""

    shape: str
    write: Callable[[Any], Any]
    read: Callable[[Any, Any], Any]


def _plain(kind: type) -> Leaf:
    def read(written: Any, _: object) -> Any:
        if type(written) is not kind:  # a bool is no number here, and a number no text
            raise TypeError(written)
        return written

    return Leaf(kind.__name__, lambda value: value, read)


_TEXT = _plain(str)
_LEAVES: Mapping[Any, Leaf] = {
    **{kind: _plain(kind) for kind in (str, int, bool)},
    Fraction: Leaf("Fraction", str, lambda written, context: Fraction(_TEXT.read(written, context))),
}


class Codec:
    """Writes and reads the fields of a dataclass; `leaves` say how other types are written.

    `shape` tells which fields of which types are written: a codec reads what another one of the same shape wrote.
    """

    def __init__(self, kind: type, leaves: Mapping[Any, Leaf] | None = None, without: Sequence[str] = ()) -> None:
        self._parts = _parts(kind, {**_LEAVES, **(leaves or {})}, without)
        self.shape = _shape(self._parts)

    def write(self, value: Any) -> dict[str, Any]:
        """The fields as what JSON can hold."""
        return {name: part.write(getattr(value, name)) for name, part in self._parts.items()}

    def read(self, written: Any, context: object = None) -> dict[str, Any]:
        """The fields that were written; ValueError or TypeError where something else was."""
        return _read(self._parts, written, context)


def _parts(kind: type, leaves: Mapping[Any, Leaf], without: Sequence[str] = ()) -> dict[str, Leaf]:
    hints = get_type_hints(kind)
    return {
        each.name: _leaf(hints[each.name], leaves) for each in fields(kind) if each.init and each.name not in without
    }


def _shape(parts: Mapping[str, Leaf]) -> str:
    return ",".join(f"{name}:{part.shape}" for name, part in parts.items())


def _read(parts: Mapping[str, Leaf], written: Any, context: object) -> dict[str, Any]:
    if not isinstance(written, dict) or written.keys() != parts.keys():
        raise ValueError(written)
    return {name: part.read(written[name], context) for name, part in parts.items()}


def _leaf(kind: Any, leaves: Mapping[Any, Leaf]) -> Leaf:
    if kind in leaves:
        return leaves[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        return _dataclass(kind, _parts(kind, leaves))
    match get_origin(kind), get_args(kind):
        case types.UnionType, (some, types.NoneType):
            return _optional(_leaf(some, leaves))
        case origin, (key, value) if origin is Mapping:
            return _mapping(_leaf(key, leaves), _leaf(value, leaves))
        case origin, (member,) if origin is frozenset:
            return _set(_leaf(member, leaves))
        case origin, members if origin is tuple and Ellipsis not in members:
            return _tuple([_leaf(member, leaves) for member in members])
    raise TypeError(f"{kind!r} must be a type that can be written as JSON; say how in typed_json, or give a leaf")


def _dataclass(kind: type, parts: Mapping[str, Leaf]) -> Leaf:
    return Leaf(
        f"{kind.__name__}({_shape(parts)})",
        lambda value: {name: part.write(getattr(value, name)) for name, part in parts.items()},
        lambda written, context: kind(**_read(parts, written, context)),
    )


def _optional(part: Leaf) -> Leaf:
    return Leaf(
        f"{part.shape}?",
        lambda value: None if value is None else part.write(value),
        lambda written, context: None if written is None else part.read(written, context),
    )


def _mapping(key: Leaf, value: Leaf) -> Leaf:
    """Pairs in the order of the mapping; an object of JSON would make texts of the keys and sort them."""
    return Leaf(
        f"{{{key.shape}:{value.shape}}}",
        lambda mapping: [[key.write(k), value.write(v)] for k, v in mapping.items()],
        lambda written, context: {key.read(k, context): value.read(v, context) for k, v in written},
    )


def _set(part: Leaf) -> Leaf:
    return Leaf(
        f"{{{part.shape}}}",
        lambda values: sorted(part.write(value) for value in values),
        lambda written, context: frozenset(part.read(each, context) for each in written),
    )


def _tuple(parts: Sequence[Leaf]) -> Leaf:
    return Leaf(
        f"({','.join(part.shape for part in parts)})",
        lambda values: [part.write(value) for part, value in zip(parts, values, strict=True)],
        lambda written, context: tuple(part.read(each, context) for part, each in zip(parts, written, strict=True)),
    )
