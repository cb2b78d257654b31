"""A source of words that is the same in every run, so that a statistical test has one outcome; never for a release."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray


class Repeatable:
    """Words that follow from a text.

    >>> Repeatable("a test").bits(8) == Repeatable("a test").bits(8) != Repeatable("another").bits(8)
    True
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._asked = 0
        self._stock: dict[object, list[int]] = {}

    def _bytes(self, size: int) -> bytes:
        self._asked += 1
        return hashlib.shake_128(f"{self._asked} {self._text}".encode()).digest(size)

    def fill(self, words: NDArray[np.uint32]) -> None:
        """Overwrite `words`."""
        words[...] = np.frombuffer(self._bytes(words.nbytes), np.uint32).reshape(words.shape)

    def bits(self, count: int) -> int:
        """An integer of `count` bits."""
        size = (count + 7) // 8
        return int.from_bytes(self._bytes(size), "little") >> (8 * size - count)

    def stock(self) -> dict[object, list[int]]:
        """What was drawn ahead."""
        return self._stock
