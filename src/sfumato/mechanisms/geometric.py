"""The geometric mechanism: a whole number, or several, plus discrete Laplace noise; exact from end to end.

Claim. Let one unit move whole numbers by at most the whole number `sensitivity` in the L1 norm. Then adding independent
discrete Laplace noise of scale sensitivity / epsilon is epsilon-differentially private.
Proof: docs/proofs/geometric.md. Paper: Ghosh, Roughgarden, Sundararajan 2009.

>>> mechanism = Geometric(sensitivity=1, epsilon=0.5)
>>> type(mechanism.release(1_000)), mechanism.error(confidence=0.95)
(<class 'int'>, 6.0)
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import OutsideRange
from sfumato.mechanisms.additive import Additive
from sfumato.mechanisms.lattice import Lattice, as_array
from sfumato.mechanisms.noise import LARGEST_SCALE, LaplaceNoise
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.shifts import DiscreteLaplaceShift


@dataclass(frozen=True)
class Geometric:
    """Whole-number noise for an L1 sensitivity; `size` numbers at once, or one where size is None."""

    sensitivity: int
    epsilon: checks.Number
    size: int | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        checks.positive(sensitivity=self.sensitivity)
        object.__setattr__(self, "sensitivity", checks.whole(least=1, sensitivity=self.sensitivity))
        if self.size is not None:
            object.__setattr__(self, "size", checks.whole(least=1, size=self.size))
        _ = self._additive  # refuse at once what cannot be released later

    @cached_property
    def _epsilon(self) -> Fraction:
        return checks.positive(epsilon=self.epsilon)

    @cached_property
    def _additive(self) -> Additive:
        scale = self.sensitivity / self._epsilon
        return Additive(
            Lattice.for_noise(Fraction(self.sensitivity), scale, LARGEST_SCALE, 1), LaplaceNoise(scale), self.size
        )

    @property
    def loss(self) -> Loss:
        """Pure epsilon; one number is dominated by its own shifted noise, a vector by randomized response."""
        pair = DiscreteLaplaceShift(self._epsilon, self.sensitivity) if self.size is None else None
        return Loss.pure(self._epsilon, pair=pair)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy."""
        return Guarantee(self._epsilon, neighbours=self.neighbours)

    def release(self, value: Any, entropy: Entropy = SYSTEM) -> Any:
        """An int for a whole number, an array of integers for a vector."""
        if self.size is None:
            whole = isinstance(value, numbers.Integral) or np.shape(value) != ()
        else:
            array = as_array(value)
            whole = array.dtype.kind in "iu" or all(isinstance(x, numbers.Integral) for x in array.flat)
        if not whole:
            raise OutsideRange(
                f"value must be a whole number; got a {type(value).__name__}; Laplace takes real numbers"
            )
        return self._additive.release(value, entropy)

    def error(self, confidence: checks.Number = 0.95) -> float:
        """A half-width around each released number that covers the exact one with this confidence."""
        return self._additive.error(confidence, Fraction(0))

    def log_probability(self, output: Any, value: Any) -> float:
        """The logarithm of the probability of an output."""
        return self._additive.log_probability(output, value)
