"""Ways to look at outputs: each makes one number of a row, in which events are then learnt.

A number is looked at as it is, and by its lowest set bit: where noise is a float, which floats can be reached depends
on the exact value (Mironov 2012). A vector is looked at number by number, by differences and by their sum; by which
numbers are missing; as a whole, where few different ones occur; and by the likelihood ratio of each number, learnt by
itself, multiplied over all. For independent noise the last one is the best there is (Neyman and Pearson).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.bins import Bins
from sfumato.audit.outputs import Floats, Kind, Reader

_MOST_NUMBERS = 16  # of a vector that are looked at one by one
_MOST_ROWS = 1_000  # different ones, up to which a whole row is a category
_LOOK = 5_000  # rows of each side, by which that is told
_ZERO = 2_000.0  # the lowest set bit of a number that has none


@dataclass(frozen=True)
class Lens:
    """One way to look; `is_category`: its numbers are codes, whose order means nothing."""

    name: str
    look: Callable[[Floats], Floats] = field(repr=False)
    is_category: bool = False


def lenses(reader: Reader, mine: Floats, theirs: Floats) -> list[Lens]:
    """All ways to look at such rows, some of them learnt from these of both sides."""
    if reader.kind is Kind.CATEGORY:
        return [Lens("output", _number(0), is_category=True)]
    found = [Lens(name, _number(i)) for i, name in enumerate(reader.columns[:_MOST_NUMBERS])]
    found.append(Lens("lowest set bit", _lowest_of_all))
    found += list(_of_vectors(reader, mine, theirs)) if len(reader.columns) > 1 else []
    return found


def _of_vectors(reader: Reader, mine: Floats, theirs: Floats) -> Iterator[Lens]:
    yield Lens("sum", lambda rows: np.asarray(np.nansum(rows, axis=1)))
    for i in range(min(len(reader.columns), _MOST_NUMBERS) - 1):
        yield Lens(f"{reader.columns[i + 1]} minus {reader.columns[i]}", _difference(i))
    yield Lens("learnt likelihood ratio", _Likelihood.learn(mine, theirs).look)
    for name, view in (("which are missing", np.isnan), ("whole output", np.ascontiguousarray)):
        some = np.concatenate([mine[:_LOOK], theirs[:_LOOK]])
        if len(np.unique(_as_bytes(view(some)))) <= _MOST_ROWS:
            seen = np.unique(_as_bytes(view(np.concatenate([mine, theirs]))))
            yield Lens(name, _coded(seen, view), is_category=True)


def _number(place: int) -> Callable[[Floats], Floats]:
    return lambda rows: rows[:, place]


def _difference(place: int) -> Callable[[Floats], Floats]:
    def look(rows: Floats) -> Floats:
        with np.errstate(invalid="ignore"):  # infinity minus infinity is missing
            return np.asarray(rows[:, place + 1] - rows[:, place])

    return look


def _as_bytes(rows: NDArray[Any]) -> NDArray[Any]:
    """Each row as one value that can be compared."""
    whole = np.ascontiguousarray(rows)
    return whole.view(f"V{whole.dtype.itemsize * whole.shape[1]}").ravel()


def _coded(seen: NDArray[Any], view: Callable[[Floats], NDArray[Any]]) -> Callable[[Floats], Floats]:
    """The place of a row among those that were seen; missing if it was not."""

    def look(rows: Floats) -> Floats:
        mine, places = np.unique(_as_bytes(view(rows)), return_inverse=True)
        codes = {each.tobytes(): float(place) for place, each in enumerate(seen)}
        return np.array([codes.get(each.tobytes(), np.nan) for each in mine])[places]

    return look


@dataclass(frozen=True)
class _Likelihood:
    """The logarithm of a likelihood ratio for every bin of every number."""

    parts: tuple[tuple[Bins, Floats], ...]

    @classmethod
    def learn(cls, mine: Floats, theirs: Floats) -> _Likelihood:
        parts = []
        for place in range(mine.shape[1]):
            bins = Bins.learn(np.concatenate([mine[:, place], theirs[:, place]]), most=64)
            here, there = bins.count(mine[:, place]), bins.count(theirs[:, place])
            parts.append((bins, np.log((here + 1) / (there + 1))))
        return cls(tuple(parts))

    def look(self, rows: Floats) -> Floats:
        total = np.zeros(len(rows))
        for place, (bins, logs) in enumerate(self.parts):
            total += logs[bins.place(rows[:, place])]
        return total


def _lowest_of_all(rows: Floats) -> Floats:
    return np.asarray(lowest_bit(rows).min(axis=1))


def lowest_bit(numbers: Floats) -> Floats:
    """The exponent of the lowest set bit of each number.

    >>> lowest_bit(np.array([6.0, 0.75, 0.0, np.nan])).tolist()
    [1.0, -2.0, 2000.0, 2000.0]
    """
    bits = np.ascontiguousarray(numbers).view(np.int64)
    exponent, fraction = (bits >> 52) & 0x7FF, bits & ((1 << 52) - 1)
    whole = np.where(exponent == 0, fraction, fraction | (1 << 52))
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    found = lowest + np.maximum(exponent, 1) - 1075.0
    return np.where((numbers == 0) | ~np.isfinite(numbers), _ZERO, found)
