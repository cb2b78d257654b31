"""Which frames of this process share memory, so that a view is known for the frame that it looks at.

A frame gets a token when it is declared: random, and without a word about its rows. A later frame that shares memory
with it (the same object, a slice, other names, more columns beside) has that token as well, and its columns are known
by the names that they have there. A copy has memory of its own and is another frame: nothing here reads a value.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from sfumato.entropy import SYSTEM

Library = Literal["pandas", "polars", "pyarrow"]
Columns = Mapping[str, str]  # names of columns here -> names in the frame of a token

# Bits of an entry of the buffer that has one entry for each row, where the type has no width of its own.
_WIDTHS = {"string": 32, "binary": 32, "large_string": 64, "large_binary": 64, "string_view": 128, "binary_view": 128}
# Types that polars hands out as they are; of others, such as whole numbers of 128 bits, nothing is known.
_POLARS = frozenset(f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)) | {
    "Float32",
    "Float64",
    "Boolean",
    "String",
    "Binary",
}
_SPARE = 64  # regions whose owner may be gone before they are swept out


class Region(NamedTuple):
    """Where rows of a column lie: from `start` up to `end`, one every `stride` bytes; 0: without gaps."""

    start: int
    end: int
    stride: int
    owner: Any  # lives at least as long as the memory belongs to it

    def is_column_of(self, other: Region | _Known) -> bool:
        """Whether these are rows of one column, given that the two overlap."""
        return self.stride == other.stride and (not self.stride or (self.start - other.start) % self.stride == 0)


class _Known(NamedTuple):
    start: int
    end: int
    stride: int
    frame: str
    column: str
    owner: weakref.ref[Any]


class Memory:
    """The frames that were declared, as long as their memory lives, or as the frame lives where that is not known."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._frames: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._regions: list[_Known] = []  # by start
        self._longest = 0
        self._swept = 0

    def unlock(self) -> None:
        """Forget who held the lock: a thread that is not in this process."""
        self._lock = threading.Lock()

    def columns(self, frame: Any, library: Library) -> dict[str, Columns]:
        """The token of the frame itself first, then those of all that it shares memory with.

        Under each token, a column whose memory is known there has the name that it had when it was declared; any other
        has its name here, as a column of a file that is written anew.
        """
        with self._lock:
            self._sweep()
            own = self._token(frame)
            placed = regions_of(frame, library)
            found: dict[str, dict[str, set[str]]] = {own: {}}
            for name, region in ((name, region) for name, regions in placed.items() for region in regions):
                for known in self._sharing(region):
                    there = found.setdefault(known.frame, {})
                    if region.is_column_of(known):
                        there.setdefault(name, set()).add(known.column)
            columns = {token: {name: _name(name, there.get(name)) for name in placed} for token, there in found.items()}
            for name, regions in placed.items():
                for region in regions:
                    self._add(region, own, columns[own][name])
            return dict(columns)

    def _token(self, frame: Any) -> str:
        kept = self._frames.get(id(frame))
        if kept is None or kept[0]() is not frame:  # another frame may have had this place before
            kept = self._frames[id(frame)] = weakref.ref(frame), f"{SYSTEM.bits(128):032x}"
        return kept[1]

    def _sharing(self, region: Region) -> Iterator[_Known]:
        place = bisect_left(self._regions, region.start - self._longest, key=_start)
        while place < len(self._regions) and self._regions[place].start < region.end:
            known = self._regions[place]
            if region.start < known.end and _still_there(known, region.owner):
                yield known
            place += 1

    def _add(self, region: Region, frame: str, column: str) -> None:
        place = bisect_left(self._regions, region.start, key=_start)
        while place < len(self._regions) and self._regions[place].start == region.start:
            known = self._regions[place]
            if known[:5] == (*region[:3], frame, column) and known.owner() is region.owner:
                return
            place += 1
        insort(self._regions, _Known(*region[:3], frame, column, weakref.ref(region.owner)), key=_start)
        self._longest = max(self._longest, region.end - region.start)

    def _sweep(self) -> None:
        if len(self._regions) + len(self._frames) > 2 * self._swept + _SPARE:
            self._regions = [known for known in self._regions if known.owner() is not None]
            self._frames = {place: kept for place, kept in self._frames.items() if kept[0]() is not None}
            self._swept = len(self._regions) + len(self._frames)


def _name(here: str, there: set[str] | None) -> str:
    """A column's name in a frame that has its memory under one or more names."""
    return here.lower() if not there or here.lower() in there else min(there)


def _start(known: _Known) -> int:
    return known.start


def _still_there(known: _Known, asking: Any) -> bool:
    """Whether the memory is still its owner's: a column of a frame may have been replaced, and its memory reused."""
    owner = known.owner()
    if owner is None:
        return False
    if owner is asking or isinstance(owner, np.ndarray):
        return True
    listed = regions_of(owner, _library(owner)).values()
    return any(region[:3] == known[:3] for regions in listed for region in regions)


def _library(frame: Any) -> Library:
    root = type(frame).__module__.partition(".")[0]
    return "pandas" if root == "pandas" else "polars" if root == "polars" else "pyarrow"


def regions_of(frame: Any, library: Library) -> dict[str, list[Region]]:
    """Where the rows of each column lie; none where finding out would copy them, or takes more than a look."""
    match library:
        case "pandas":
            return {str(name): _of_pandas(frame.iloc[:, place], frame) for place, name in enumerate(frame.columns)}
        case "polars":
            return {series.name: _of_polars(series, frame) for series in frame.get_columns()}
        case "pyarrow":
            names = frame.schema.names
            return {name: _of_arrow(frame.column(place).chunks, frame) for place, name in enumerate(names)}


def _of_pandas(series: Any, frame: Any) -> list[Region]:
    array = series.array
    if isinstance(series.dtype, np.dtype):
        return _of_numpy(series.to_numpy(copy=False))
    for part in ("codes", "asi8", "_data"):  # of categories, of times with a zone, of numbers that may be missing
        if isinstance(values := getattr(array, part, None), np.ndarray):
            return _of_numpy(values)
    if type(array).__name__.startswith("Arrow"):
        return _of_arrow(array.__arrow_array__().chunks, frame)
    return []


def _of_numpy(values: np.ndarray[Any, Any]) -> list[Region]:
    if values.ndim != 1 or not values.size:
        return []
    step, length = values.strides[0], values.itemsize
    first = values.__array_interface__["data"][0] + min(0, step * (values.size - 1))
    root = values
    while isinstance(root.base, np.ndarray):
        root = root.base
    end = first + abs(step) * (values.size - 1) + length
    return [Region(first, end, 0 if abs(step) == length else abs(step), root)]


def _of_polars(series: Any, frame: Any) -> list[Region]:
    plain = series.to_physical()
    if str(plain.dtype) not in _POLARS:
        return []
    newest = sys.modules["polars"].CompatLevel.newest()  # older levels copy texts
    return _of_arrow([each.to_arrow(compat_level=newest) for each in plain.get_chunks()], frame)


def _of_arrow(chunks: Any, frame: Any) -> list[Region]:
    found = []
    for chunk in chunks:
        buffers, width = chunk.buffers(), _width(chunk.type)
        if not width or len(buffers) < 2 or buffers[1] is None:
            continue
        start = buffers[1].address + chunk.offset * width // 8
        end = buffers[1].address + (chunk.offset + len(chunk)) * width // 8
        if start < end:
            found.append(Region(start, end, 0, frame))
    return found


def _width(type: Any) -> int:
    """Bits for each row in the second buffer of an array; 0: not one entry for each row."""
    if str(type) in _WIDTHS:
        return _WIDTHS[str(type)]
    try:
        return 0 if type.num_fields else int(type.bit_width)
    except ValueError:
        return 0


MEMORY = Memory()
os.register_at_fork(after_in_child=MEMORY.unlock)
