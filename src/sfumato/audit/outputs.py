"""Outputs of any kind as rows of numbers, so that events can be learnt in one way.

A number is a row of one; a vector is its own row, shorter ones end with missing numbers; of a set of keys each key is
a column, 1 or missing, and of a mapping a key's number; anything else is a category and gets a code. None, and what a
reader cannot place, is missing. How outputs are read is learnt from some of them and then fixed.

>>> reader = Reader.learn([3, None, 4.5])
>>> reader.read([7, None, "?"]).tolist()
[[7.0], [nan], [nan]]
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import MechanismFailed

Floats = NDArray[np.float64]
MOST_COLUMNS = 64
_LOOK = 20_000  # outputs from which a kind is told
_NUMBERS = (numbers.Real, Decimal, np.bool_)


class Kind(Enum):
    """What a mechanism returns."""

    NUMBER = "number"
    VECTOR = "vector"
    KEYS = "keys"
    CATEGORY = "category"


@dataclass(frozen=True)
class Reader:
    """How outputs become rows: their kind, and the keys or categories that were seen."""

    kind: Kind
    columns: tuple[str, ...]
    codes: Mapping[Hashable, int] = field(default_factory=dict)

    @classmethod
    def learn(cls, outputs: Sequence[Any] | NDArray[Any]) -> Reader:
        """The kind of these outputs; refused is what differs in nearly every run and is no number."""
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb":
            return _numeric(1 if outputs.ndim == 1 else outputs.shape[1], outputs.ndim == 1)
        some = [output for output in list(outputs)[:: max(1, len(outputs) // _LOOK)] if output is not None]
        if all(_is_number(output) for output in some):
            return _numeric(1, True)
        if all(isinstance(output, Set | Mapping) for output in some):
            listed = Counter(key for output in some for key in output).most_common(MOST_COLUMNS)
            keys = sorted((key for key, _ in listed), key=repr)
            names = tuple(f"key {key!r}" for key in keys) or ("no key",)
            return cls(Kind.KEYS, names, {key: i for i, key in enumerate(keys)})
        if all(_is_vector(output) for output in some):
            return _numeric(min(MOST_COLUMNS, max(len(output) for output in some)), False)
        return cls(Kind.CATEGORY, ("output",), _categories(some))

    def read(self, outputs: Sequence[Any] | NDArray[Any]) -> Floats:
        """A row for every output."""
        match self.kind:
            case Kind.NUMBER:
                return _column(outputs)[:, None]
            case Kind.VECTOR:
                return self._vectors(outputs)
            case Kind.KEYS:
                return self._keys(outputs)
        codes = [self.codes.get(_plain(output), np.nan) for output in outputs]
        return np.array(codes, np.float64)[:, None]

    def _vectors(self, outputs: Sequence[Any] | NDArray[Any]) -> Floats:
        width = len(self.columns)
        if isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.dtype != object:
            return outputs[:, :width].astype(np.float64)
        rows = np.full((len(outputs), width), np.nan)
        for row, output in zip(rows, outputs, strict=True):
            if _is_vector(output):
                row[: len(output)] = [_number(part) for part in list(output)[:width]]
        return rows

    def _keys(self, outputs: Sequence[Any] | NDArray[Any]) -> Floats:
        rows = np.full((len(outputs), len(self.columns)), np.nan)
        for row, output in zip(rows, outputs, strict=True):
            if isinstance(output, Set | Mapping):
                for key in output:
                    place = self.codes.get(key)
                    if place is not None:
                        row[place] = _number(output[key]) if isinstance(output, Mapping) else 1.0
        return rows

    def label(self, code: float) -> str:
        """What a category's code stands for."""
        found = next((category for category, place in self.codes.items() if place == code), None)
        return f"{code:g}" if found is None else _on_one_line(str(found))


def _on_one_line(text: str, most: int = 40) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most]}..."


def _numeric(width: int, single: bool) -> Reader:
    if single:
        return Reader(Kind.NUMBER, ("output",))
    return Reader(Kind.VECTOR, tuple(f"number {place + 1}" for place in range(width)))


def _is_number(output: object) -> bool:
    return isinstance(output, _NUMBERS)


def _is_vector(output: object) -> bool:
    if isinstance(output, np.ndarray):
        return output.ndim == 1 and output.dtype.kind in "iufbO"
    return isinstance(output, list | tuple) and all(part is None or _is_number(part) for part in output)


def _column(outputs: Sequence[Any] | NDArray[Any]) -> Floats:
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb":
        return outputs.astype(np.float64)
    if set(map(type, outputs)) <= {float, int, bool, np.float64}:
        try:
            return np.array(outputs, np.float64)
        except OverflowError:
            pass
    return np.array([_number(output) for output in outputs], np.float64)


def _number(output: object) -> float:
    """A number as a float; one too large for it is infinite, and what is none is missing."""
    if not _is_number(output):
        return float("nan")
    try:
        return float(output)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf") if output > 0 else float("-inf")  # type: ignore[operator]


def _plain(output: object) -> Hashable:
    return output if isinstance(output, Hashable) else repr(output)


def _categories(some: Sequence[Any]) -> dict[Hashable, int]:
    found = Counter(_plain(output) for output in some)
    if len(some) >= 100 and len(found) > len(some) / 2:
        kind = type(some[0]).__name__
        raise MechanismFailed(
            f"outputs must be numbers, vectors, sets of keys, or one of few categories; got values of type {kind}, "
            f"nearly all of them different; let the mechanism return the number itself"
        )
    return {category: place for place, (category, _) in enumerate(found.most_common(10_000))}
