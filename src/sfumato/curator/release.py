"""The only place where exact integers of a question become noisy ones.

Every release of a question goes through `Releaser`, with a label, the exact vector, how far one unit can move it in the
L1 norm, and its share of epsilon. Tests put a recorder in its place and compare what arrives from neighbouring tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms import Geometric


class Releaser(Protocol):
    """Adds noise to a vector of integers."""

    def release(self, label: str, exact: Sequence[int], moves: int, epsilon: Fraction) -> list[int]:
        """The noisy vector."""


class NoisyReleaser:
    """The product's releaser: discrete Laplace noise of scale moves / epsilon."""

    def __init__(self, entropy: Entropy = SYSTEM) -> None:
        self._entropy = entropy

    def release(self, label: str, exact: Sequence[int], moves: int, epsilon: Fraction) -> list[int]:
        """The noisy vector."""
        mechanism = Geometric(sensitivity=moves, epsilon=epsilon, size=len(exact))
        noisy: list[int] = mechanism.release(np.array(list(exact), dtype=object), self._entropy).tolist()
        return noisy
