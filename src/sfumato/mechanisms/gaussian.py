"""The Gaussian mechanism: a number, or a vector, plus discrete Gaussian noise on a lattice.

Claim. Let one unit move the value by at most `sensitivity` in the L2 norm, hence the numbers on the lattice by at most
`steps`. Then adding independent discrete Gaussian noise of parameter sigma**2 is rho-zCDP with rho = steps**2 /
(2 sigma**2), and (epsilon, delta)-private where the hockey-stick divergence of its dominating pair says so; sigma is
the least for which it does. Proof: docs/proofs/gaussian.md. Paper: Canonne, Kamath, Steinke 2020.

>>> mechanism = Gaussian(sensitivity=1, epsilon=1, delta=1e-6)
>>> round(mechanism.sigma, 3), round(mechanism.error(confidence=0.95), 2)
(4.225, 8.28)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument
from sfumato.mechanisms._examples.example import Example, around, floats, square
from sfumato.mechanisms._noise.additive import Additive, NoisyValue, distance
from sfumato.mechanisms._noise.lattice import Lattice
from sfumato.mechanisms._noise.noise import LARGEST_SIGMA, GaussianNoise, least_variance
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.pair import Pair
from sfumato.privacy.sensitivity import Norm, Sensitivity, relation
from sfumato.privacy.shifts import discrete_gaussian_shift
from sfumato.rounding import log_up, sqrt_up, up


@dataclass(frozen=True)
class Gaussian(NoisyValue):
    """Noise for an L2 sensitivity; `size` numbers at once, or one number where size is None.

        sensitivity   how far one unit can move the value, in L2: a number or a `Sensitivity`
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        delta         the probability that the promise may fail, far below 1 / number of people: 1e-9
        size          how many numbers are released at once; left out: a single one
        spacing       the lattice's spacing, a power of two; left out: far finer than the noise
        neighbors    'add-remove' or 'replace'; left out: the sensitivity's own relation, else add-remove
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> Gaussian(sensitivity=1, epsilon=1, delta=1e-9).guarantee
    Guarantee(epsilon=1, delta=1e-09)
    """

    sensitivity: checks.Number | Sensitivity
    epsilon: checks.Number
    delta: checks.Number
    size: int | None = None
    spacing: checks.Number | None = None
    neighbors: Neighbors | Relation | None = None
    unit: Protected = ROW
    norm: ClassVar[Norm] = Norm.L2
    example_parameters: ClassVar[Mapping[str, Any]] = {"sensitivity": 1, "epsilon": 1, "delta": 1e-6}

    def __post_init__(self) -> None:
        settle(self)
        if checks.below_one(delta=self.delta) == 0:
            raise InvalidArgument("delta must be positive for Gaussian noise; got 0; give delta=1e-9, or use Laplace")
        _ = self._additive  # refuse at once what cannot be released later

    @cached_property
    def _epsilon(self) -> Fraction:
        return Fraction(self.epsilon)

    @cached_property
    def _lattice(self) -> Lattice:
        # The classical bound on sigma (Dwork and Roth 2014, theorem A.1) is enough to choose the spacing.
        rough = self._distance * sqrt_up(2 * log_up(Fraction(5, 4) / checks.below_one(delta=self.delta)) + 1)
        return Lattice.for_noise(self._distance, rough / min(self._epsilon, Fraction(1)), LARGEST_SIGMA, self.spacing)

    @cached_property
    def _distance(self) -> Fraction:
        return distance(self.sensitivity, Norm.L2, self.size)

    @cached_property
    def _steps(self) -> Fraction:
        """The most that one unit moves the numbers on the lattice, in the L2 norm."""
        if self.size is None:
            return Fraction(self._lattice.steps(self._distance))
        return self._distance / self._lattice.spacing + sqrt_up(Fraction(self.size))

    def _pair(self, variance: Fraction) -> Pair:
        return discrete_gaussian_shift(variance, self._steps, self.size or 1)

    @cached_property
    def _variance(self) -> Fraction:
        return least_variance(self._pair, self._steps, self._epsilon, checks.below_one(delta=self.delta))

    @cached_property
    def _additive(self) -> Additive:
        return Additive(self._lattice, GaussianNoise(self._variance), self.size)

    @property
    def sigma(self) -> float:
        """The parameter sigma of the noise, in the value's own unit; its standard deviation is at most that."""
        return up(sqrt_up(self._variance) * self._lattice.spacing)

    @property
    def loss(self) -> Loss:
        """zCDP, and the dominating pair."""
        return Loss.concentrated(self._steps * self._steps / (2 * self._variance), self._pair(self._variance))

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-differential privacy."""
        return Guarantee(self._epsilon, self.delta, relation(self.sensitivity, self.neighbors), self.unit)

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
        """Numbers and vectors, for a small and a large epsilon."""
        one, wide, pair = cls(1, 1, 1e-4, spacing=1), cls(2, 5, 1e-6, spacing=0.5), cls(1, 2, 1e-3, size=2, spacing=1)
        return (
            Example("gaussian", one, 10.0, 11.0, floats(around(-60, 80)), 0.999),
            Example("gaussian, large epsilon", wide, 0.0, -2.0, around(-40, 40, 0.5), 0.999),
            Example("gaussian, vector", pair, (1.0, 2.0), (2.0, 2.0), square(floats(around(-40, 45))), 0.0),
        )
