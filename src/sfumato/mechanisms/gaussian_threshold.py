"""Show a key with its noisy number of people, if that lies above a threshold; Gaussian noise pays for many keys a unit.

Claim. Let one unit have at most `keys` keys, each once. For every key that occurs, add discrete Gaussian noise (on a
lattice of the given spacing) to its number of units, calibrated to (epsilon, delta / 2) for the L2 sensitivity
sqrt(keys), and show it above tau with Pr[1 + noise > tau] <= delta / (2 keys). That is (epsilon, delta)-differentially
private under add-remove, and zCDP but for an event of probability delta / 2; under replace as in `threshold`.
Proof: docs/proofs/gaussian_threshold.md. Paper: Swanberg, Desfontaines, Haney 2023.

>>> mechanism = GaussianThreshold(epsilon=1, delta=1e-6, keys=100)
>>> round(mechanism.threshold), mechanism.release(1), mechanism.release(10_000) > 9_000
(251, None, True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument
from sfumato.mechanisms._examples.example import Example, shown
from sfumato.mechanisms._noise.lattice import Lattice
from sfumato.mechanisms._noise.noise import LARGEST_SIGMA, GaussianNoise, least_variance
from sfumato.mechanisms._noise.threshold import KeyMechanism, Promise, people
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.mechanisms.samplers import LIFT, draw_lifted
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.shifts import LatticeGaussianShift
from sfumato.rounding import sqrt_up, up


@dataclass(frozen=True)
class GaussianThreshold(KeyMechanism):
    """The value is the number of units that have the key; the output is a noisy number, or None: not shown.

        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        delta         the probability that the promise may fail, far below 1 / number of people: 1e-9
        keys          the most keys that one unit may have
        neighbors    'add-remove' (one unit comes or goes) or 'replace' (one unit changes its contents)
        spacing       the spacing of the noisy numbers, a power of two of at most 1
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> GaussianThreshold(epsilon=1, delta=1e-9, keys=30).guarantee
    Guarantee(epsilon=1, delta=1e-09)
    """

    epsilon: checks.Number
    delta: checks.Number
    keys: int = 1
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE
    spacing: checks.Number = Fraction(1, 1 << 24)
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        if self._lattice.spacing > 1:
            raise InvalidArgument(f"spacing must be at most 1, to hold numbers of units; got {self.spacing!r}; use 1")
        _ = self._reach

    @cached_property
    def _lattice(self) -> Lattice:
        # Numbers of units are multiples of the spacing, so that rounding moves nothing.
        noise = self._promise.keys / self._promise.epsilon
        return Lattice.for_noise(Fraction(1), noise, LARGEST_SIGMA, self.spacing)

    @cached_property
    def _promise(self) -> Promise:
        return Promise.read(self.epsilon, self.delta, self.keys, self.neighbors, self.unit)

    @cached_property
    def _steps(self) -> Fraction:
        return sqrt_up(Fraction(self._promise.keys)) / self._lattice.spacing

    def _pair(self, variance: Fraction) -> LatticeGaussianShift:
        return LatticeGaussianShift(variance, self._steps, self._promise.keys)

    @cached_property
    def _noise(self) -> GaussianNoise:
        return GaussianNoise(least_variance(self._pair, self._steps, self._promise.epsilon, self._promise.delta / 2))

    @cached_property
    def _reach(self) -> int:
        """Steps of the lattice that the noise exceeds with probability delta / (2 keys) at most, on one side."""
        return self._noise.reach(1 - self._promise.delta / self._promise.keys)

    @property
    def threshold(self) -> float:
        """A key appears if its noisy number lies above this."""
        return 1 + self._lattice.value(self._reach)

    @property
    def loss(self) -> Loss:
        """ZCDP but for an event of probability delta / 2; under replace what the promise says."""
        if self._promise.whole.neighbors is Neighbors.REPLACE:
            return self._promise.loss()
        variance = self._noise.variance
        rho = self._steps * self._steps / (2 * variance)
        return Loss.concentrated(rho, self._pair(variance), delta=self._promise.delta / 2)

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-differential privacy."""
        return self._promise.whole

    def release(self, value: int, entropy: Entropy = SYSTEM) -> float | None:
        """The noisy number of units, or None where the key is not shown; a key that nobody has is never shown."""
        units = people(value)
        noisy = units * self._one + draw_lifted(self._noise.sampler, entropy) - LIFT
        # Both questions are asked and the number is made, shown or not: a clock must not tell nobody from somebody.
        return (None, self._lattice.value(noisy))[(units > 0) & (noisy > self._limit)]

    @cached_property
    def _one(self) -> int:
        """One unit, in steps of the lattice: a whole number, since the spacing is 1 divided by one."""
        return self._lattice.snap(1)

    @cached_property
    def _limit(self) -> int:
        return self._one + self._reach

    def error(self, confidence: checks.Number = 0.95) -> float:
        """A half-width that covers the noise with this confidence."""
        return up(self._noise.reach(checks.inside(confidence=confidence)) * self._lattice.spacing)

    def log_probability(self, output: float | None, value: int) -> float:
        """The logarithm of the probability of an output; not being shown to a relative 1e-6 at worst."""
        if people(value) == 0:
            return 0.0 if output is None else -math.inf
        if output is None:
            return self._noise.log_at_most(self._limit - self._lattice.snap(value))
        number = self._lattice.number(output)
        if number is None or number <= self._limit:
            return -math.inf
        return self._noise.log_probability(number - self._lattice.snap(value))

    def _half_shown(self) -> float:
        return self.threshold

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """A key of one unit, and of many."""
        plain, two = cls(1, 1e-3, spacing=1), cls(1, 1e-3, keys=2, spacing=0.5)
        return (
            Example("gaussian threshold", plain, 1, 0, shown(1, 80), 0.1, None),
            Example("gaussian threshold, many people", two, 20, 21, shown(1, 130, 0.5), 0.0, None),
        )
