"""The Laplace mechanism: a number, or a vector, plus noise of scale sensitivity / epsilon.

Claim. Let one unit move the value by at most `sensitivity` in the L1 norm. Then releasing it on a lattice (see
`lattice`) plus independent discrete Laplace noise of scale steps / epsilon, where `steps` bounds the move in multiples
of the lattice's spacing, is epsilon-differentially private. The expected error is about sensitivity / epsilon.
Proof: docs/proofs/laplace.md. Papers: Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009.

>>> mechanism = Laplace(sensitivity=1, epsilon=0.1)
>>> mechanism.scale, round(mechanism.deviation, 1), round(mechanism.error(confidence=0.95), 2)
(10.0, 14.1, 29.96)
>>> type(mechanism.release(42.0))
<class 'float'>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms._examples.example import Example, around, floats, square
from sfumato.mechanisms._noise.additive import Additive, NoisyValue, distance
from sfumato.mechanisms._noise.lattice import Lattice
from sfumato.mechanisms._noise.noise import LARGEST_SCALE, LaplaceNoise
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.sensitivity import Norm, Sensitivity, relation
from sfumato.privacy.shifts import DiscreteLaplaceShift
from sfumato.rounding import up


@dataclass(frozen=True)
class Laplace(NoisyValue):
    """Noise for an L1 sensitivity; `size` numbers at once, or one number where size is None.

        sensitivity   how far one unit can move the value, in L1: a number or a `Sensitivity`
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        size          how many numbers are released at once; left out: a single one
        spacing       the lattice's spacing, a power of two; left out: far finer than the noise
        neighbors    'add-remove' or 'replace'; left out: the sensitivity's own relation, else add-remove
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> incomes = Laplace(sensitivity=200_000, epsilon=1, unit="person_id")
    >>> print(incomes.guarantee.unit)
    all rows of one person_id
    """

    sensitivity: checks.Number | Sensitivity
    epsilon: checks.Number
    size: int | None = None
    spacing: checks.Number | None = None
    neighbors: Neighbors | Relation | None = None
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        _ = self._additive  # refuse at once what cannot be released later

    @cached_property
    def _epsilon(self) -> Fraction:
        return Fraction(self.epsilon)

    @cached_property
    def _distance(self) -> Fraction:
        return distance(self.sensitivity, Norm.L1, self.size)

    @cached_property
    def _steps(self) -> int:
        """The most that one unit moves the numbers on the lattice, in the L1 norm."""
        if self.size is None:
            return self._lattice.steps(self._distance)
        return int(self._distance / self._lattice.spacing) + self.size

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice.for_noise(self._distance, self._distance / self._epsilon, LARGEST_SCALE, self.spacing)

    @cached_property
    def _additive(self) -> Additive:
        return Additive(self._lattice, LaplaceNoise(self._steps / self._epsilon), self.size)

    @property
    def scale(self) -> float:
        """The scale of the noise, in the value's own unit."""
        return up(self._steps / self._epsilon * self._lattice.spacing)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, in the value's own unit."""
        return self._additive.noise.deviation() * float(self._lattice.spacing)

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
        """A float for a number, an array of floats for a vector."""
        numbers = self._additive.release(value, entropy)
        return self._lattice.value(numbers) if isinstance(numbers, int) else self._lattice.values(numbers)

    def error(self, confidence: checks.Number = 0.95, simultaneous: bool = False) -> float:
        """A half-width around each released number that covers the exact one; `simultaneous`: around all at once."""
        return self._additive.error(confidence, Fraction(1, 2), simultaneous)

    def log_probability(self, output: Any, value: Any) -> float:
        """The logarithm of the probability of an output; outputs are multiples of the lattice's spacing."""
        return self._additive.log_probability(output, value)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Numbers and vectors, on coarse and fine lattices."""
        fine, pair = cls(1, Fraction(1, 2), spacing=0.25), cls(2, 2, size=2, spacing=1)
        both = cls(Sensitivity(1, Norm.L2), 2, size=2, spacing=1)
        return (
            Example("laplace", cls(2, 1, spacing=1), 3.0, 5.0, floats(around(-70, 75))),
            Example("laplace, fine", fine, 0.5, -0.5, around(-70, 70, 0.25)),
            Example("laplace, vector", pair, (0.0, 1.0), (1.0, 2.0), square(floats(around(-50, 50))), 0.49),
            Example("laplace, L2", both, (0.0, 1.0), (1.0, 1.0), square(floats(around(-40, 40))), 0.2),
        )
