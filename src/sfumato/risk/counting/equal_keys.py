"""Which rows have the same key: by a cell for each key where keys are few, else by a table of hashes; always exact.

Every row writes its place into the cell of its key and reads the cell again: whoever stands there represents it. Where
keys share cells because only their hashes are equal, the keys themselves are compared, and whoever has another key
tries again with another hash. So nothing is approximate, and nothing is sorted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Places = NDArray[np.int32]

FEW = 1 << 16  # keys that are counted in an array, however few the rows
TIMES = 4  # keys for each row that have a cell each
_ODD = tuple(np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_TURN = 5  # bits by which keys are turned between two hashes


def is_few(space: int, rows: int) -> bool:
    """Whether so many keys get a cell each."""
    return space <= max(FEW, TIMES * rows)


def sizes(keys: Ints, space: int) -> Ints | None:
    """How many rows have each key that occurs; None where there are too many keys to count them so.

    >>> sizes(np.array([7, 3, 7, 7]), 8).tolist()
    [1, 3]
    """
    if space > max(FEW, len(keys) // TIMES):
        return None
    counted = np.bincount(keys, minlength=1)
    return counted[counted > 0]


def represent(keys: Ints, space: int) -> Places:
    """For each row the place of one row with the same key, which is the same place for all of them.

    >>> same = represent(np.array([7, 10**12, 7]), 10**13)
    >>> bool(same[0] == same[2] != same[1])
    True
    """
    places = np.arange(len(keys), dtype=np.int32)
    if is_few(space, len(keys)):
        cells = np.empty(space, np.int32)
        cells[keys] = places
        return cells[keys]
    bits = max(10, int(1.6 * len(keys)).bit_length())
    cells = np.empty(1 << bits, np.int32)
    found = _try(cells, bits, keys, places, 0)
    places, turn = np.flatnonzero(keys[found] != keys).astype(np.int32), 1
    while len(places):  # each time at least the one who stands in a cell is settled
        other = _try(cells, bits, keys[places], places, turn)
        found[places] = other
        places, turn = places[keys[other] != keys[places]], turn + 1
    return found


def _try(cells: Places, bits: int, keys: Ints, places: Places, turn: int) -> Places:
    """Write the places into the cells of the keys' hashes, and read who stands there."""
    mixed = keys.view(np.uint64)
    if turn:  # mixed differently at each turn, so that no two keys share their cells for ever
        by = np.uint64(1 + (_TURN * turn) % 63)
        mixed = (mixed << by) | (mixed >> (np.uint64(64) - by))
    mixed = mixed * _ODD[turn % len(_ODD)]
    mixed >>= np.uint64(64 - bits)
    cell = mixed.view(np.int64)
    cells[cell] = places
    return cells[cell]


def shared(found: Places) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows represent others beside themselves, and which are represented by another."""
    others = found != np.arange(len(found), dtype=np.int32)
    many = np.zeros(len(found), np.bool_)
    many[found[others]] = True
    return many, others


def number(found: Places) -> tuple[Places, int]:
    """Groups numbered from 0 without gaps, and how many there are."""
    order = np.cumsum(found == np.arange(len(found), dtype=np.int32), dtype=np.int32)
    return (order - np.int32(1))[found], int(order[-1]) if len(order) else 0
