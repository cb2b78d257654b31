"""Sources of words for tests: repeatable ones, and ones that say what was asked of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Seeded:
    """Repeatable words, so that a statistical test has one outcome for ever; counts the requests for more digits."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._stock: dict[object, list[int]] = {}
        self.refinements = 0

    def fill(self, words: NDArray[np.uint32]) -> None:
        words[...] = self._random.integers(0, 1 << 32, words.shape, np.uint32)

    def bits(self, count: int) -> int:
        self.refinements += 1
        size = (count + 7) // 8
        return int.from_bytes(self._random.bytes(size), "little") >> (8 * size - count)

    def stock(self) -> dict[object, list[int]]:
        return self._stock
