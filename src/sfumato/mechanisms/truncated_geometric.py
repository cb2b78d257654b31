"""Show a key or not: the selection that shows every key as often as privacy permits.

Claim. Let one unit have at most `keys` keys, each once. Let r = exp(epsilon / keys), d = delta / keys and show a key
that n units have with probability pi(n), where pi(0) = 0 and

    pi(n + 1) = min(r * pi(n) + d,  1 - (1 - pi(n) - d) / r,  1).

That is (epsilon, delta)-differentially private under add-remove, and no selection that spends (epsilon / keys,
delta / keys) on each key shows any key more often; truncated geometric noise with a threshold does the same. Under
replace as in `threshold`.
Proof: docs/proofs/truncated_geometric.md. Paper: Desfontaines, Voss, Gipson, Mandayam 2022.

>>> mechanism = TruncatedGeometric(epsilon=1, delta=1e-6)
>>> mechanism.release(0), mechanism.release(1_000), mechanism.error(confidence=0.95)
(False, True, 16.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import ScaleTooLarge
from sfumato.mechanisms._examples.example import Example
from sfumato.mechanisms._noise.threshold import KeyMechanism, Promise, people
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.mechanisms.samplers import WIDTH, Coin
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.rounding import Real, exp_bounds

_MOST = 1 << 18  # numbers of units that are worked out one by one
_DIGITS = 128  # binary digits of pi beyond the first of delta


@dataclass(frozen=True)
class TruncatedGeometric(KeyMechanism):
    """The value is the number of units that have the key; the output says whether it is shown.

        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        delta         the probability that the promise may fail, far below 1 / number of people: 1e-9
        keys          the most keys that one unit may have
        neighbors    'add-remove' (one unit comes or goes) or 'replace' (one unit changes its contents)
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> TruncatedGeometric(epsilon=1, delta=1e-9, keys=3).guarantee
    Guarantee(epsilon=1, delta=1e-09)
    """

    epsilon: checks.Number
    delta: checks.Number
    keys: int = 1
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        _ = self._chances

    @cached_property
    def _promise(self) -> Promise:
        return Promise.read(self.epsilon, self.delta, self.keys, self.neighbors, self.unit)

    def _brackets(self, bits: int) -> list[tuple[int, int]]:
        """Bounds on pi(0), pi(1), ... in units of 2**-bits, up to the first n where pi(n) = 1."""
        one = 1 << bits
        e, d = self._promise.epsilon / self._promise.keys, self._promise.delta / self._promise.keys
        low_d, high_d = (d.numerator << bits) // d.denominator, -((-d.numerator << bits) // d.denominator)
        (low_up, high_up), (low_down, high_down) = exp_bounds(e, bits), exp_bounds(-e, bits)
        chances = [(0, 0)]
        while chances[-1][0] < one:  # surely 1, not only perhaps
            low, high = chances[-1]
            grown = (low * low_up >> bits) + low_d, -(-high * high_up >> bits) + high_d
            left = max(0, one - high - high_d), max(0, one - low - low_d)
            shrunk = one + (-left[1] * high_down >> bits), one - (left[0] * low_down >> bits)
            chances.append((min(grown[0], shrunk[0], one), min(grown[1], shrunk[1], one)))
            if len(chances) > _MOST:
                raise ScaleTooLarge(
                    f"epsilon / keys must be larger: a key would need over {_MOST} people; got {float(e):.3g}; "
                    f"give more epsilon or fewer keys"
                )
        return chances

    @cached_property
    def _bits(self) -> int:
        return _DIGITS + int(self._promise.keys / self._promise.delta).bit_length()

    @cached_property
    def _chances(self) -> list[tuple[int, int]]:
        return self._brackets(self._bits)

    def _chance(self, n: int) -> Real:
        """pi(n), for an n where it is below 1."""
        known = self._bits
        return Real(
            lambda bits: _cut(self._chances if bits <= known else self._brackets(bits), n, max(bits, known), bits)
        )

    @property
    def loss(self) -> Loss:
        """Pure epsilon, but for an event of probability delta."""
        return self._promise.loss()

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta)-differential privacy."""
        return self._promise.whole

    def release(self, value: int, entropy: Entropy = SYSTEM) -> bool:
        """Whether the key is shown."""
        n = min(people(value), len(self._limits) - 1)
        # One word is drawn and one limit looked up for every n, also for those that are never or surely shown.
        word = np.empty(1, np.uint32)
        entropy.fill(word)
        limit = self._limits[n]
        if word[0] == limit:  # once in 2**32: the first digits do not decide
            return Coin(self._chance(n)).decide(int(word[0]), entropy)
        return bool(word[0] < limit)

    @cached_property
    def _limits(self) -> NDArray[np.uint64]:
        """The first 32 digits of pi(0), pi(1), ...; those of 1 are above every word."""
        more = self._bits - WIDTH
        digits = [low >> more if low >> more == high >> more else None for low, high in self._chances]
        return np.array([self._chance(n).digits(WIDTH) if d is None else d for n, d in enumerate(digits)], np.uint64)

    def error(self, confidence: checks.Number = 0.95) -> float:
        """How many units a key needs to be shown with this confidence."""
        wanted = checks.inside(confidence=confidence) * (1 << self._bits)
        return float(
            next(n for n, (low, _) in enumerate(self._chances) if low >= wanted or n == len(self._chances) - 1)
        )

    def log_probability(self, output: bool, value: int) -> float:
        """The logarithm of the probability of an output."""
        n = min(people(value), len(self._chances) - 1)
        shown = Fraction(self._chances[n][1], 1 << self._bits)
        probability = float(shown if output else 1 - shown)
        return math.log(probability) if probability > 0 else -math.inf

    def _half_shown(self) -> float:
        keys = self.keys * (1 if self.neighbors is Neighbors.ADD_REMOVE else 2)
        return keys * math.log(keys / float(self.delta)) / float(self.epsilon)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """A key of one unit, of few, and one of two keys."""
        plain, both = cls(1, 1e-4), (True, False)
        return (
            Example("truncated geometric", plain, 1, 0, both, 0.999, None),
            Example("truncated geometric, few people", plain, 7, 6, both, 0.999, None),
            Example("truncated geometric, many keys", cls(2, 1e-3, keys=2), 1, 0, both, 0.49, None),
        )


def _cut(chances: list[tuple[int, int]], n: int, have: int, want: int) -> tuple[int, int]:
    low, high = chances[min(n, len(chances) - 1)]
    return low >> (have - want), -(-high >> (have - want))
