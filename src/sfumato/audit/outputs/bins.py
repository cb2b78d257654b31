"""Bins for numbers: one for each value where they are few, else equally full ones, finer at both ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.outputs.outputs import Floats

_FEW_BEYOND = 8  # numbers beyond the outermost edge


@dataclass(frozen=True)
class Bins:
    """A bin holds what is above one edge and at most the next; the last two: above all edges, and missing.

    >>> bins = Bins.learn(np.array([1.0, 2.0, 2.0, 5.0]), most=256)
    >>> bins.place(np.array([1.0, 1.5, 9.0, np.nan])).tolist(), bins.size
    ([0, 1, 3, 4], 5)
    """

    edges: Floats

    @classmethod
    def learn(cls, numbers: Floats, most: int) -> Bins:
        """Bins for numbers like these."""
        present = numbers[~np.isnan(numbers)]
        values = np.unique(present)
        if len(values) <= 2 * most:
            return cls(values)
        ends = 2.0 ** -np.arange(1, max(2, int(np.log2(len(present) / _FEW_BEYOND))))
        shares = np.unique(np.concatenate([np.arange(1, most) / most, ends, 1 - ends]))
        edges, often = np.unique(np.quantile(present, shares, method="lower"), return_counts=True)
        below = np.nextafter(edges[often > 1], -np.inf)  # a value of its own weight gets a bin of its own
        return cls(np.unique(np.concatenate([edges, below])))

    @property
    def size(self) -> int:
        """How many bins there are, with that of what is missing."""
        return len(self.edges) + 2

    def place(self, numbers: Floats) -> NDArray[np.int64]:
        """The bin of each number."""
        found = np.searchsorted(self.edges, numbers, side="left")
        return np.where(np.isnan(numbers), len(self.edges) + 1, found).astype(np.int64)

    def count(self, numbers: Floats) -> NDArray[np.int64]:
        """How many numbers are in each bin."""
        return np.bincount(self.place(numbers), minlength=self.size)
