"""Choices that look random and follow from a seed: for made-up people and for what an attacker asks, never for noise
that protects anybody, which comes from `sfumato.entropy`.

>>> Chance(1, "people").below(6, 5).tolist() == Chance(1, "people").below(6, 5).tolist()
True
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Chance:
    """A row of arrays of public random numbers; the words tell several rows of one seed apart."""

    def __init__(self, seed: int, *words: object) -> None:
        self._text = " ".join(map(str, (seed, *words)))
        self._drawn = 0

    def shares(self, size: int) -> Floats:
        """Numbers of at least 0 and below 1."""
        self._drawn += 1
        stream = hashlib.shake_256(f"{self._drawn} {self._text}".encode()).digest(8 * size)
        return (np.frombuffer(stream, dtype="<u8") >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, end: int, size: int) -> Integers:
        """Whole numbers from 0 up to `end`, which is left out."""
        return np.floor(self.shares(size) * end).astype(np.int64)

    def order(self, size: int) -> Integers:
        """The numbers up to `size` in any order."""
        return np.argsort(self.shares(size), kind="stable").astype(np.int64)

    def uniform(self, scale: float, size: int) -> Floats:
        """Numbers between -scale and scale."""
        return (2 * self.shares(size) - 1) * scale

    def laplace(self, scale: float, size: int) -> Floats:
        """Laplace's distribution, by its inverse."""
        middle = self.shares(size) - 0.5
        return np.asarray(-scale * np.sign(middle) * np.log1p(-2 * np.abs(middle)), dtype=np.float64)

    def gaussian(self, scale: float, size: int) -> Floats:
        """The normal distribution, by Box and Muller."""
        radius = np.sqrt(-2 * np.log1p(-self.shares(size)))
        return np.asarray(scale * radius * np.cos(2 * np.pi * self.shares(size)), dtype=np.float64)
