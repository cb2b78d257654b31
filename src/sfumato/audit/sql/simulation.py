"""Choices that look random and follow from a text: for made-up rows and outputs, the same in every run, never noise."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

Thing = TypeVar("Thing")


class Dice:
    """A row of choices.

    >>> [Dice("a table").below(6) for _ in range(2)]
    [5, 5]
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._thrown = 0

    def below(self, end: int) -> int:
        """A whole number from 0 up to `end`, which is left out."""
        self._thrown += 1
        digest = hashlib.blake2b(f"{self._thrown} {self._text}".encode(), digest_size=16).digest()
        return int.from_bytes(digest, "big") % end

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + self.below(high - low + 1)

    def share(self) -> float:
        """A number of at least 0 and below 1."""
        return self.below(1 << 53) / (1 << 53)

    def among(self, things: Sequence[Thing]) -> Thing:
        """One of these."""
        return things[self.below(len(things))]
