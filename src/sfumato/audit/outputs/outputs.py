"""Outputs of any kind as rows of numbers, so that events can be learned in one way.

A number is a row of one; a vector is its own row, shorter ones end with missing numbers; of a set of keys each key is
a column, 1 or missing, and of a mapping a key's number, or a code for another value; anything else is a category and
gets a code. None, and what a reader cannot place, is missing. Where outputs differ in their form (`forms`), or have
more digits than a float, columns for these follow. How outputs are read is learned from some of them and then fixed.

>>> reader = Reader.learn([3, None, 4.5])
>>> reader.read([7, None, "?"])[:, 0].tolist()
[7.0, nan, nan]
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.outputs.output_types import form_of, have_one_form, is_beyond, rest_of, said_form
from sfumato.errors import MechanismFailed

Floats = NDArray[np.float64]
Outputs = Sequence[Any] | NDArray[Any]
MOST_COLUMNS = 64
_LOOK = 20_000  # outputs from which a kind is told
_FORMS = 1_000  # different ones, the commonest
_OTHER = -1e15  # below it are the codes of a mapping's values that are no numbers
_NUMBERS = (numbers.Real, Decimal, np.bool_)


class Kind(Enum):
    """What a mechanism returns."""

    NUMBER = "number"
    VECTOR = "vector"
    KEYS = "keys"
    CATEGORY = "category"


@dataclass(frozen=True)
class Reader:
    """How outputs become rows: their kind, and the keys, categories and forms that were seen.

    columns    of the numbers, keys or category; after them come `extra` ones
    codes      the place of a key, or the code of a category
    others     codes for values of a mapping that are no numbers
    forms      codes for the forms of outputs; none where all have the same
    beyond     whether numbers have digits that a float has not
    """

    kind: Kind
    columns: tuple[str, ...]
    codes: Mapping[Hashable, int] = field(default_factory=dict)
    others: Mapping[Hashable, int] = field(default_factory=dict)
    forms: Mapping[Hashable, int] = field(default_factory=dict)
    beyond: bool = False

    @classmethod
    def learn(cls, outputs: Outputs, of: tuple[Outputs, Outputs] | None = None) -> Reader:
        """The kind of these outputs; refused is what differs in nearly every run and is no number.

        `of` are the same by side: among very many keys those are looked at that one side has more often.
        """
        if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb":
            if outputs.ndim == 1:
                large = outputs.dtype.kind in "iu" and bool((np.abs(outputs.astype(np.float64)) > 2**53).any())
                return replace(_numeric(1, True), beyond=large)
            width = outputs[:1].size
            return _numeric(width, False) if width else cls(Kind.CATEGORY, ("output",))
        some = [output for output in _some(outputs) if output is not None]
        return replace(cls._of(some, of), forms=_forms(outputs), beyond=any(map(is_beyond, some)))

    @classmethod
    def _of(cls, some: Sequence[Any], of: tuple[Outputs, Outputs] | None) -> Reader:
        strange = [output for output in some if not _is_number(output)]
        if not strange or (2 * len(strange) < len(some) and _are_few(strange)):  # a text now and then: its form tells
            return _numeric(1, True)
        if all(isinstance(output, Set | Mapping) for output in some):
            keys = _keys(some, of)
            names = tuple(f"key {key!r}" for key in keys) or ("no key",)
            parts = (part for output in some if isinstance(output, Mapping) for part in output.values())
            others = Counter(_plain(part) for part in parts if part is not None and not _is_number(part))
            return cls(Kind.KEYS, names, _coded(keys), _coded([part for part, _ in others.most_common(_FORMS)]))
        if all(_is_vector(output) for output in some):
            width = max(np.size(output) for output in some)
            return _numeric(min(MOST_COLUMNS, width), False) if width else cls(Kind.CATEGORY, ("output",))
        return cls(Kind.CATEGORY, ("output",), _categories(some))

    def read(self, outputs: Outputs) -> Floats:
        """A row for every output."""
        match self.kind:
            case Kind.NUMBER:
                rows = _column(outputs)[:, None]
            case Kind.VECTOR:
                rows = self._vectors(outputs)
            case Kind.KEYS:
                rows = self._keys(outputs)
            case Kind.CATEGORY:
                codes = [self.codes.get(_plain(output), np.nan) for output in outputs]
                rows = np.array(codes, np.float64)[:, None]
        return np.concatenate([rows, *self._extra(outputs)], axis=1) if self.extra else rows

    @property
    def extra(self) -> tuple[str, ...]:
        """The columns after those of the numbers."""
        return ("form",) * bool(self.forms) + ("digits beyond a float",) * self.beyond

    def _extra(self, outputs: Outputs) -> list[Floats]:
        found = []
        if self.forms:
            codes = (self.forms.get(form_of(output), np.nan) for output in outputs)
            found.append(np.fromiter(codes, np.float64, len(outputs)))
        if self.beyond:
            exact = outputs.tolist() if isinstance(outputs, np.ndarray) else outputs
            found.append(np.fromiter(map(rest_of, exact), np.float64, len(outputs)))
        return [column[:, None] for column in found]

    def _vectors(self, outputs: Outputs) -> Floats:
        width = len(self.columns)
        if isinstance(outputs, np.ndarray) and outputs.dtype != object:
            return outputs.reshape(len(outputs), -1)[:, :width].astype(np.float64)
        rows = np.full((len(outputs), width), np.nan)
        for row, output in zip(rows, outputs, strict=True):
            if _is_vector(output):
                parts = np.ravel(output).tolist() if isinstance(output, np.ndarray) else output
                row[: len(parts)] = [_number(part) for part in parts[:width]]
        return rows

    def _keys(self, outputs: Outputs) -> Floats:
        rows = np.full((len(outputs), len(self.columns)), np.nan)
        for row, output in zip(rows, outputs, strict=True):
            if isinstance(output, Set | Mapping):
                for key in output:
                    place = self.codes.get(key)
                    if place is not None:
                        row[place] = self._part(output[key]) if isinstance(output, Mapping) else 1.0
        return rows

    def _part(self, part: object) -> float:
        if part is None or _is_number(part):
            return _number(part)
        return _OTHER - self.others.get(_plain(part), -1)

    def form(self, code: float) -> str:
        """What a form's code stands for, in words."""
        return next((said_form(form) for form, place in self.forms.items() if place == code), "another")

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


def _some(outputs: Outputs) -> list[Any]:
    return list(outputs)[:: max(1, len(outputs) // _LOOK)]


def _coded(listed: Sequence[Hashable]) -> dict[Hashable, int]:
    return {each: place for place, each in enumerate(listed)}


def _forms(outputs: Outputs) -> dict[Hashable, int]:
    """The forms that occur, the commonest first; nothing where it is one."""
    if have_one_form(outputs):
        return {}
    found = Counter(map(form_of, outputs))
    return _coded([form for form, _ in found.most_common(_FORMS)]) if len(found) > 1 else {}


def _keys(some: Sequence[Any], of: tuple[Outputs, Outputs] | None) -> list[Hashable]:
    """Those that are looked at one by one: half of them the commonest, half those that differ most between sides."""
    often: Counter[Hashable] = Counter(key for output in some for key in output)
    chosen = [key for key, _ in often.most_common(MOST_COLUMNS)]
    if len(often) > MOST_COLUMNS and of is not None:
        mine, theirs = (
            Counter(key for output in _some(side) if isinstance(output, Set | Mapping) for key in output) for side in of
        )
        apart = sorted(often, key=lambda key: -((mine[key] - theirs[key]) ** 2) / (mine[key] + theirs[key] + 1))
        half = MOST_COLUMNS // 2
        chosen = list(dict.fromkeys([*chosen[:half], *apart[:half]]))
    return sorted(chosen, key=repr)


def _is_number(output: object) -> bool:
    return isinstance(output, _NUMBERS)


def _is_vector(output: object) -> bool:
    if isinstance(output, np.ndarray):
        return output.dtype.kind in "iufbO"
    return isinstance(output, list | tuple) and all(part is None or _is_number(part) for part in output)


def _column(outputs: Outputs) -> Floats:
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
    """Itself, or its text; what only looks hashable, as a tuple of lists does, is no more."""
    try:
        hash(output)
    except TypeError:
        return repr(output)
    return output if isinstance(output, Hashable) else repr(output)


def _are_few(outputs: Sequence[Any]) -> bool:
    return len({_plain(output) for output in outputs}) <= max(20, len(outputs) // 2)


def _categories(some: Sequence[Any]) -> dict[Hashable, int]:
    found = Counter(_plain(output) for output in some)
    if len(some) >= 100 and len(found) > len(some) / 2:
        kind = type(some[0]).__name__
        raise MechanismFailed(
            f"outputs must be numbers, vectors, sets of keys, or one of few categories; got values of type {kind}, "
            f"nearly all of them different; let the mechanism return the number itself"
        )
    return _coded([category for category, _ in found.most_common(10_000)])
