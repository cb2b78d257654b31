"""Rows by their values in a set of columns; a column is added by splitting the groups.

Whoever is alone in a group stays alone whatever is added. So the rows of such groups are counted and left out, and
every further column has fewer rows to look at: near the bottom of a search hardly any.

Keys are exact: the number of a group times the codes of the column, plus the code, below 2^62.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.risk.counting.codes import Coded
from sfumato.risk.counting.equal_keys import Ints, Places, number, represent, shared, sizes


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """How many are singled out by the values of some columns.

    columns   the set of columns
    unique    units, or rows, that have values which nobody else has
    of        how many there are
    groups    combinations of values that occur
    smallest  units, or rows, of the smallest group: the k of k-anonymity
    """

    columns: tuple[str, ...]
    unique: int
    of: int
    groups: int
    smallest: int

    @property
    def share(self) -> float:
        """The share that is unique."""
        return self.unique / self.of if self.of else 0.0


@dataclass(frozen=True)
class Partition:
    """Groups of rows with equal values in `columns`; those of one row alone are closed.

    rows     the places of the rows in open groups; None: of all rows
    group    the number of the group of each of them, from 0 without gaps
    closed   how many groups have one row alone
    singled  with units: which of them are alone in some group
    """

    table: Coded
    columns: tuple[int, ...] = ()
    rows: Places | None = None
    group: Places | None = None
    groups: int = 1
    closed: int = 0
    singled: NDArray[np.bool_] | None = field(default=None, repr=False)

    def split(self, column: int) -> Partition:
        """The groups by one more column."""
        found = represent(*self._keys(column))
        columns = (*self.columns, column)
        if self.table.unit is not None:
            return self._split_units(found, columns)
        many, others = shared(found)
        groups = int(many.sum())
        closed = len(found) - groups - int(others.sum())
        label = np.cumsum(many, dtype=np.int32)
        label -= np.int32(1)
        if not closed:
            return Partition(self.table, columns, self.rows, label[found], groups, self.closed)
        is_open = np.flatnonzero(many | others)
        rows = is_open.astype(np.int32) if self.rows is None else self.rows[is_open]
        return Partition(self.table, columns, rows, label[found[is_open]], groups, self.closed + closed)

    def _split_units(self, found: Places, columns: tuple[int, ...]) -> Partition:
        """With units nothing is closed: one that is alone may still have rows that differ, which are groups."""
        units = self.table.unit
        assert units is not None
        label, count = number(found)
        first, last = np.empty(count, np.int32), np.empty(count, np.int32)
        last[label] = units  # rows come in the order of units, and the last one written stays
        first[label[::-1]] = units[::-1]
        singled = np.zeros(self.table.units, np.bool_)
        singled[first[first == last]] = True
        return Partition(self.table, columns, None, label, count, 0, singled)

    def measure(self, column: int) -> Uniqueness:
        """What one more column singles out."""
        if self.table.unit is not None:
            return self.split(column).uniqueness
        keys, space = self._keys(column)
        columns, counted = (*self.columns, column), sizes(keys, space)
        if counted is None:
            many, others = shared(represent(keys, space))
            groups = len(keys) - int(others.sum())
            alone = groups - int(many.sum())
            if not alone and not self.closed:
                return self.split(column).uniqueness
            return self._result(columns, self.closed + alone, self.closed + groups, 1)
        alone = int((counted == 1).sum())
        smallest = 1 if self.closed else int(counted.min(initial=self.table.rows))
        return self._result(columns, self.closed + alone, self.closed + len(counted), smallest)

    @cached_property
    def sizes(self) -> Ints:
        """Rows of each open group; with units how many of them each group has."""
        if self.group is None:
            return np.full(min(self.table.of, 1), self.table.of, np.int64)
        if self.table.unit is None:
            return np.bincount(self.group, minlength=self.groups)
        pairs = np.sort(self.group.astype(np.int64) * self.table.units + self.table.unit)
        different = np.ones(len(pairs), np.bool_)
        np.not_equal(pairs[1:], pairs[:-1], out=different[1:])
        return np.bincount(pairs[different] // max(self.table.units, 1), minlength=self.groups)

    @cached_property
    def uniqueness(self) -> Uniqueness:
        """What the columns single out."""
        unique = self.closed if self.singled is None else int(self.singled.sum())
        smallest = 1 if unique else int(self.sizes.min(initial=self.table.of))
        return self._result(self.columns, unique, self.closed + self.groups, smallest)

    def _result(self, columns: tuple[int, ...], unique: int, groups: int, smallest: int) -> Uniqueness:
        names = tuple(self.table.names[column] for column in columns)
        return Uniqueness(names, unique, self.table.of, groups, smallest)

    def _keys(self, column: int) -> tuple[Ints, int]:
        codes, space = self.table.codes[column], self.table.spaces[column]
        keys = (codes if self.rows is None else codes[self.rows]).astype(np.int64)
        if self.group is not None:
            keys += self.group * np.int64(space)
        return keys, max(self.groups, 1) * space
