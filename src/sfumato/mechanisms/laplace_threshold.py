"""Show a key with its noisy number of people, if that lies above a threshold: for keys nobody may list beforehand.

Claim. Let one unit have at most `keys` keys, each once. For every key that occurs, add discrete Laplace noise of scale
keys / epsilon to its number of units and show it above tau, the least whole number of at least 1 with Pr[1 + noise >
tau] <= delta / keys. That is (epsilon, delta)-differentially private under add-remove; under replace the same with
epsilon / 2 and delta / (1 + e**(epsilon/2)), since a replacement is a removal and an addition.
Proof: docs/proofs/laplace_threshold.md. Paper: Korolova, Kenthapadi, Mishra, Ntoulas 2009.

>>> mechanism = LaplaceThreshold(epsilon=1, delta=1e-6)
>>> mechanism.threshold, mechanism.release(1), mechanism.release(10_000) > 9_900
(14, None, True)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms._examples.example import Example, shown
from sfumato.mechanisms._noise.noise import LaplaceNoise
from sfumato.mechanisms._noise.threshold import KeyMechanism, Promise, people
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.mechanisms.samplers import LIFT, draw_lifted
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.rounding import log_up, up


@dataclass(frozen=True)
class LaplaceThreshold(KeyMechanism):
    """The value is the number of units that have the key; the output is a noisy number, or None: not shown.

        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        delta         the probability that the promise may fail, far below 1 / number of people: 1e-9
        keys          the most keys that one unit may have
        neighbors    'add-remove' (one unit comes or goes) or 'replace' (one unit changes its contents)
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> LaplaceThreshold(epsilon=1, delta=1e-9, keys=3).guarantee
    Guarantee(epsilon=1, delta=1e-09)
    """

    epsilon: checks.Number
    delta: checks.Number
    keys: int = 1
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        _ = self.threshold

    @cached_property
    def _promise(self) -> Promise:
        return Promise.read(self.epsilon, self.delta, self.keys, self.neighbors, self.unit)

    @cached_property
    def _noise(self) -> LaplaceNoise:
        return LaplaceNoise(self._promise.noise_scale())

    @cached_property
    def threshold(self) -> int:
        """A key appears if its noisy number lies above this: Pr[noise >= tau] = a**tau / (1 + a) <= delta / keys."""
        chance = self._promise.delta / self._promise.keys * (1 + self._noise.least_ratio)
        return max(1, math.ceil(self._noise.scale * log_up(1 / chance)))

    @property
    def loss(self) -> Loss:
        """Pure epsilon, but for an event of probability delta."""
        return self._promise.loss()

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-differential privacy."""
        return self._promise.whole

    def release(self, value: int, entropy: Entropy = SYSTEM) -> int | None:
        """The noisy number of units, or None where the key is not shown; a key that nobody has is never shown."""
        units = people(value)
        noisy = units + draw_lifted(self._noise.sampler, entropy) - LIFT
        # Both questions are asked, whatever the first one says: a clock must not tell nobody from somebody.
        return (None, noisy)[(units > 0) & (noisy > self.threshold)]

    def error(self, confidence: checks.Number = 0.95) -> float:
        """A half-width that covers the noise with this confidence."""
        return up(Fraction(self._noise.reach(checks.inside(confidence=confidence))))

    def log_probability(self, output: int | None, value: int) -> float:
        """The logarithm of the probability of an output."""
        if people(value) == 0:
            return 0.0 if output is None else -math.inf
        if output is not None:
            return self._noise.log_probability(output - value) if output > self.threshold else -math.inf
        return self._noise.log_at_most(self.threshold - value)

    def _half_shown(self) -> float:
        return self.threshold

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """A key of one unit, of many, and under replace."""
        plain, replace = cls(1, 1e-4), cls(1, 1e-3, keys=2, neighbors=Neighbors.REPLACE)
        return (
            Example("laplace threshold", plain, 1, 0, shown(1, 60), 0.4, None),
            Example("laplace threshold, many people", plain, 20, 21, shown(1, 90), 0.0, None),
            Example("laplace threshold, replace", replace, 1, 0, shown(1, 250), 0.0, None),
        )
