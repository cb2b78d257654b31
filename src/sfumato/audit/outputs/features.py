"""Ways to look at outputs: each makes one number of a row, in which events are then learned.

A number is looked at as it is, and by its lowest set bit: where noise is a float, which floats can be reached depends
on the exact value (Mironov 2012). Where there are many different ones also by the remainder of a division, which noise
in coarse steps leaves as it was, and by which of the commonest ones it is. A vector is looked at number by number, by
differences and by their sum; by the linear combinations whose means, and whose variances, differ most; by which numbers
are missing; as a whole, where few different ones occur; and by the likelihood ratio of each number, learned by itself,
multiplied over all. For independent noise the last one is the best there is (Neyman and Pearson). The form of outputs,
where it differs, and digits that no float holds are looked at as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.outputs.bins import Bins
from sfumato.audit.outputs.outputs import MOST_COLUMNS, Floats, Kind, Reader

_MOST_NUMBERS = 16  # of a vector that are looked at one by one
_MOST_ROWS = 1_000  # different ones, up to which a whole row is a category
_LOOK = 5_000  # rows of each side, by which that is told
_ZERO, _MINUS_ZERO = 2_000.0, 2_001.0  # the lowest set bit of numbers that have none
_MANY = 512  # different numbers, beyond which a bin holds several
_DIVIDED_BY = 60.0  # and so by 2, 3, 4, 5 and 6


@dataclass(frozen=True)
class Lens:
    """One way to look; `is_category`: its numbers are codes, whose order means nothing."""

    name: str
    look: Callable[[Floats], Floats] = field(repr=False)
    is_category: bool = False


def lenses(reader: Reader, mine: Floats, theirs: Floats) -> list[Lens]:
    """All ways to look at such rows, some of them learned from these of both sides."""
    if reader.kind is Kind.CATEGORY:
        return [Lens("output", _number(0), is_category=True)]
    width = len(reader.columns)
    found = [Lens(name, _number(i)) for i, name in enumerate(reader.columns[:_MOST_NUMBERS])]
    found.append(Lens("lowest set bit", lambda rows: np.asarray(lowest_bit(rows[:, :width]).min(axis=1))))
    found += [Lens(name, _number(width + i), name == "form") for i, name in enumerate(reader.extra)]
    found += list(_of_numbers(mine, theirs)) if reader.kind is Kind.NUMBER else []
    found += list(_combined(reader, mine[:, :width], theirs[:, :width])) if width > 1 else []
    found += list(_of_vectors(mine, theirs)) if mine.shape[1] > 1 else []
    return found


def _of_numbers(mine: Floats, theirs: Floats) -> Iterator[Lens]:
    """For numbers of which a bin holds several."""
    numbers = np.concatenate([mine[:, 0], theirs[:, 0]])
    values, often = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    if len(values) <= _MANY:
        return
    step = 2.0 ** max(float(lowest_bit(values).min()), -1_000)

    def remainder(rows: Floats) -> Floats:
        with np.errstate(invalid="ignore", over="ignore"):  # of infinity there is none
            return np.asarray(np.mod(rows[:, 0] / step, _DIVIDED_BY))

    yield Lens(f"remainder of {step:g} times {_DIVIDED_BY:g}", remainder)
    commonest = np.sort(values[np.argsort(-often, kind="stable")[:_MANY]])

    def among(rows: Floats) -> Floats:
        places = np.minimum(np.searchsorted(commonest, rows[:, 0]), _MANY - 1)
        return np.where(commonest[places] == rows[:, 0], places.astype(np.float64), np.nan)

    if often.max() > 1:
        yield Lens("which of the commonest", among, is_category=True)


def _combined(reader: Reader, mine: Floats, theirs: Floats) -> Iterator[Lens]:
    """Several numbers as one."""
    width = len(reader.columns)
    yield Lens("sum", lambda rows: np.asarray(np.nansum(rows[:, :width], axis=1)))
    for i in range(min(width, _MOST_NUMBERS) - 1):
        yield Lens(f"{reader.columns[i + 1]} minus {reader.columns[i]}", _difference(i))
    if width > MOST_COLUMNS:
        return
    from scipy.linalg import eigh

    here, there = _finite(mine), _finite(theirs)
    apart, spreads = here.mean(axis=0) - there.mean(axis=0), [np.cov(side, rowvar=False) for side in (here, there)]
    both = spreads[0] + spreads[1]
    both += np.diag(1e-9 * np.diag(both) + 1e-300)
    try:
        unequal = eigh(spreads[0] - spreads[1], both)
        yield Lens("combination of unequal means", _projected(np.linalg.solve(both, apart)))
        yield Lens("combination of unequal spread", _projected(unequal[1][:, np.argmax(np.abs(unequal[0]))]))
    except (np.linalg.LinAlgError, ValueError):  # numbers of such different sizes that floats do not bear it
        return


def _finite(rows: Floats) -> Floats:
    return np.clip(np.nan_to_num(rows, nan=0.0), -1e100, 1e100)


def _projected(direction: Floats) -> Callable[[Floats], Floats]:
    largest = np.abs(direction).max() or 1.0
    return lambda rows: np.asarray(_finite(rows[:, : len(direction)]) @ (direction / largest))


def _of_vectors(mine: Floats, theirs: Floats) -> Iterator[Lens]:
    """Rows as wholes, with their form."""
    yield Lens("learned likelihood ratio", _Likelihood.learn(mine, theirs).look)
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
    none = np.where((numbers == 0) & np.signbit(numbers), _MINUS_ZERO, _ZERO)
    return np.where((numbers == 0) | ~np.isfinite(numbers), none, found)
