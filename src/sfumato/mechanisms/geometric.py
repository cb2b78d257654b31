"""The geometric mechanism: a whole number, or several, plus discrete Laplace noise; exact from end to end.

Claim. Let one unit move whole numbers by at most the whole number `sensitivity` in the L1 norm. Then adding independent
discrete Laplace noise of scale sensitivity / epsilon is epsilon-differentially private.
Proof: docs/proofs/geometric.md. Paper: Ghosh, Roughgarden, Sundararajan 2009.

>>> mechanism = Geometric(sensitivity=1, epsilon=0.5)
>>> type(mechanism.release(1_000)), mechanism.error(confidence=0.95)
(<class 'int'>, 6.0)
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms._examples.example import Example, around, square
from sfumato.mechanisms._noise.additive import Additive, NoisyValue, distance, only_a_number
from sfumato.mechanisms._noise.lattice import MISSING, Lattice, as_array, came
from sfumato.mechanisms._noise.noise import LARGEST_SCALE, LaplaceNoise
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.sensitivity import Norm, Sensitivity, relation
from sfumato.privacy.shifts import DiscreteLaplaceShift


@dataclass(frozen=True)
class Geometric(NoisyValue):
    """Whole-number noise for an L1 sensitivity; `size` numbers at once, or one where size is None.

        sensitivity   how far one unit can move the value, in L1: a whole number or a `Sensitivity` that is one
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        size          how many numbers are released at once; left out: a single one
        neighbors    'add-remove' or 'replace'; left out: the sensitivity's own relation, else add-remove
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> from sfumato.privacy.sensitivity import disjoint_counts
    >>> Geometric(disjoint_counts(neighbors="replace"), epsilon=0.5, size=3).guarantee
    Guarantee(epsilon=0.5, neighbors='replace')
    """

    sensitivity: int | Sensitivity
    epsilon: checks.Number
    size: int | None = None
    neighbors: Neighbors | Relation | None = None
    unit: Protected = ROW
    is_whole: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        _ = self._additive  # refuse at once what cannot be released later

    @cached_property
    def _epsilon(self) -> Fraction:
        return Fraction(self.epsilon)

    @cached_property
    def _steps(self) -> int:
        """The most that one unit moves the numbers, in the L1 norm."""
        if isinstance(self.sensitivity, Sensitivity) and self.sensitivity.norm is not Norm.L1:
            raise InvalidArgument("sensitivity must be in L1 for whole numbers; got one in L2; give norm='L1' instead")
        moves = distance(self.sensitivity, Norm.L1, self.size)
        if moves.denominator != 1:
            raise InvalidArgument(
                f"sensitivity must be a whole number for whole numbers; got {float(moves):g}; use Laplace for real ones"
            )
        return int(moves)

    @cached_property
    def _additive(self) -> Additive:
        scale = self._steps / self._epsilon
        return Additive(
            Lattice.for_noise(Fraction(self._steps), scale, LARGEST_SCALE, 1), LaplaceNoise(scale), self.size
        )

    @property
    def loss(self) -> Loss:
        """Pure epsilon; one number is dominated by its own shifted noise, a vector by randomized response."""
        pair = DiscreteLaplaceShift(self._epsilon, self._steps) if self.size is None else None
        return Loss.pure(self._epsilon, pair=pair)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy."""
        return Guarantee(self._epsilon, neighbors=relation(self.sensitivity, self.neighbors), unit=self.unit)

    def release(self, value: Any, entropy: Entropy = SYSTEM) -> Any:
        """An int for a whole number, an array of integers for a vector."""
        if self.size is None:
            only_a_number(value)
            _only_whole(value)
        elif (array := as_array(value)).dtype.kind not in "iu":
            vector = type(value).__name__ if isinstance(value, (list, tuple)) else "vector"
            for each in array.ravel().tolist():
                _only_whole(each, f" in a {vector}")
        return self._additive.release(value, entropy)

    def error(self, confidence: checks.Number = 0.95, simultaneous: bool = False) -> float:
        """A half-width around each released number that covers the exact one; `simultaneous`: around all at once."""
        return self._additive.error(confidence, Fraction(0), simultaneous)

    def log_probability(self, output: Any, value: Any) -> float:
        """The logarithm of the probability of an output."""
        return self._additive.log_probability(output, value)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Whole numbers, alone and two at once."""
        pair = cls(2, 1, size=2)
        return (
            Example("geometric", cls(1, 0.5), 7, 8, around(-70, 90)),
            Example("geometric, far", cls(3, 1), -2, 1, around(-100, 100)),
            Example("geometric, vector", pair, (4, 4), (5, 3), square(around(-50, 60))),
        )


def _only_whole(value: object, where: str = "") -> None:
    if isinstance(value, numbers.Integral) and not isinstance(value, np.timedelta64):
        return
    got, number = came(value), isinstance(value, numbers.Real | Decimal)
    real = number and got != came(math.nan)
    helps = "convert whole numbers with int(), or use Laplace for real ones" if real else MISSING
    raise OutsideRange(f"value must be a whole number; got {got}{where}; {helps}")
