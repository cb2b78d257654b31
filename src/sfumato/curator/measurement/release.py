"""The only place where exact integers of a question become noisy ones.

Every release of a question goes through `Releaser`, with a label, the exact vector, how far one unit can move it (in
L1, or the square of it in L2) and its share. Tests put a recorder in its place and compare what arrives from
neighboring tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sfumato.dataset.column import Key
from sfumato.entropy import SYSTEM, Entropy
from sfumato.statistics.share import Share

Group = tuple[Key, ...]
Scores = Mapping[Group, int]
REST = ", the rest"  # ends the label of a vector's second part: both parts have one share, and move by `moves` together


class Releaser(Protocol):
    """Adds noise to a vector of integers."""

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        """The noisy vector."""

    def select(
        self, label: str, exact: Mapping[Group, int], threshold: int, moves: int, share: Share
    ) -> dict[Group, int]:
        """The keys whose noisy score exceeds a threshold, with that score."""


def vector_of(label: str) -> str:
    """The label of the vector that a release is a part of.

    >>> vector_of("averages 0, the rest"), vector_of("averages 0")
    ('averages 0', 'averages 0')
    """
    return label.removesuffix(REST)


class NoisyReleaser:
    """The product's releaser: the share's own noise, discrete Laplace or discrete Gaussian.

    Proofs: docs/proofs/geometric.md and docs/proofs/gaussian.md, on whole numbers.
    """

    def __init__(self, entropy: Entropy = SYSTEM) -> None:
        self._entropy = entropy

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        """The noisy vector."""
        drawn = share.noise(moves).sampler.draw(len(exact), self._entropy)
        return [value + int(noise) for value, noise in zip(exact, drawn, strict=True)]

    def select(
        self, label: str, exact: Mapping[Group, int], threshold: int, moves: int, share: Share
    ) -> dict[Group, int]:
        """The keys whose noisy score exceeds a threshold; what is returned says nothing of all others."""
        noisy = self.release(label, list(exact.values()), moves, share)
        return {key: score for key, score in zip(exact, noisy, strict=True) if score > threshold}
