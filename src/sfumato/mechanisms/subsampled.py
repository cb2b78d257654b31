"""A release on a random sample: each unit takes part with a given probability, and nobody learns who did.

Claim. If a release of a sum is (epsilon, delta)-private under add-remove, then the same release of the sum over a
Poisson sample (every unit with probability `rate`, independently, kept secret) is (epsilon', rate * delta)-private with
epsilon' = ln(1 + rate * (e**epsilon - 1)), about rate * epsilon for a small epsilon.
Proof: docs/proofs/subsampled.md. Papers: Balle, Barthe, Gaboardi 2018; Zhu, Dong, Wang 2022.

>>> from sfumato.mechanisms.geometric import Geometric
>>> mechanism = Subsampled(Geometric(sensitivity=1, epsilon=1), rate=0.1)
>>> round(float(mechanism.epsilon), 6)                                  # ln(1 + 0.1 (e - 1))
0.158565
>>> type(mechanism.release([1] * 1_000))
<class 'int'>
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, OutsideRange, ScaleTooLarge, WrongShape
from sfumato.mechanisms._examples.apart import check_near, check_one_row, declared_distance, moved
from sfumato.mechanisms._examples.example import FEW, Example, around, floats
from sfumato.mechanisms._noise.lattice import MISSING, came, ratio
from sfumato.mechanisms.gaussian import Gaussian
from sfumato.mechanisms.geometric import Geometric
from sfumato.mechanisms.laplace import Laplace
from sfumato.mechanisms.mechanism import Declared
from sfumato.mechanisms.samplers import Coin, bernoulli
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sampled import amplified, amplified_epsilon
from sfumato.privacy.sensitivity import Norm
from sfumato.privacy.unit import Unit
from sfumato.rounding import Real

Item = TypeVar("Item")
_OTHER_NOISE = "for other noise than Laplace's write noise.py with tenth = Subsampled(...), and audit noise:tenth"
_MOST = 1 << 16  # different sums over samples that probabilities are worked out for


@dataclass(frozen=True)
class Subsampled(Declared):
    """The value is a list with the number of each unit, 1 for a count; the sum over a sample is released.

        mechanism     what releases the sum, under add-remove: `Laplace`, `Gaussian`, `Geometric` or a threshold
        rate          the probability with which each unit takes part, above 0 and below 1

    >>> from sfumato.mechanisms.laplace import Laplace
    >>> type(Subsampled(Laplace(sensitivity=200_000, epsilon=1), rate=0.5).release([20_000, 35_000.5]))
    <class 'float'>
    """

    mechanism: Any
    rate: checks.Number
    example_parameters: ClassVar[Mapping[str, Any]] = {"mechanism": Laplace(1, 1), "rate": 0.5}
    absent_parameters: ClassVar[Mapping[str, str]] = dict.fromkeys(("epsilon", "delta", "sensitivity"), _OTHER_NOISE)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.inside(rate=self.rate))
        if not isinstance(getattr(self.mechanism, "guarantee", None), Guarantee):
            raise InvalidArgument(
                f"mechanism must be one of a number; got {came(self.mechanism)}; for example Geometric(1, epsilon=1)"
            )
        if self.mechanism.guarantee.neighbors is not Neighbors.ADD_REMOVE:
            raise InvalidArgument(
                "mechanism must promise add-remove to gain by sampling; got 'replace'; promise neighbors='add-remove'"
            )
        if getattr(self.mechanism, "size", None) is not None:
            raise InvalidArgument("mechanism must release one number; got one of a vector; leave its size out")
        _ = self.loss

    @property
    def epsilon(self) -> Fraction:
        """What one release costs."""
        return amplified_epsilon(self.mechanism.guarantee.epsilon, self.rate)

    @property
    def unit(self) -> Unit:
        """Whose privacy."""
        return self.guarantee.unit

    @property
    def loss(self) -> Loss:
        """The loss of the mechanism, amplified."""
        return amplified(self.mechanism.loss, self.rate)

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon', rate * delta)-differential privacy."""
        whole: Guarantee = self.mechanism.guarantee
        return Guarantee(self.epsilon, Fraction(self.rate) * whole.delta, whole.neighbors, whole.unit)

    def release(self, value: Sequence[float], entropy: Entropy = SYSTEM) -> Any:
        """What the mechanism releases for the sum over a fresh sample; divide it by the rate to estimate the total."""
        numbers = _exact(value)
        total = sum(sample(numbers, self.rate, entropy), Fraction(0))
        # The kind of the sum is that of all numbers: were it that of the sample's, a refusal would tell of the sample.
        return self.mechanism.release(int(total) if _whole(numbers) else total, entropy)

    def error(self, confidence: checks.Number = 0.95) -> float:
        """How far the output may be off the sum over the sample; the mechanism says in which sense."""
        return float(self.mechanism.error(confidence))

    def log_probability(self, output: Any, value: Sequence[float]) -> float:
        """The logarithm of the probability of an output, over all samples."""
        take, sums = Fraction(self.rate), {Fraction(0): Fraction(1)}
        numbers = _exact(value)
        whole = _whole(numbers)
        for number in numbers:
            after: dict[Fraction, Fraction] = {}
            for total, chance in sums.items():
                after[total] = after.get(total, Fraction(0)) + chance * (1 - take)
                after[total + number] = after.get(total + number, Fraction(0)) + chance * take
            if len(after) > _MOST:
                raise ScaleTooLarge(
                    f"value must have at most {_MOST} different sums over samples; got more; give fewer"
                )
            sums = after
        logs = [
            _log(chance) + self.mechanism.log_probability(output, int(total) if whole else total)
            for total, chance in sums.items()
        ]
        return float(np.logaddexp.reduce(logs))

    @classmethod
    def example(cls, rate: checks.Number = 0.5, **changes: Any) -> Any:
        """Of the geometric mechanism, whose parameters may be changed."""
        return cls(Geometric.example(**changes), rate)

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """Two units that count as much as they may, and one of them."""
        by = moved(0, self._most())
        return [by, by], [by]

    def _most(self) -> Fraction:
        """How much one unit may count."""
        return declared_distance(self.mechanism.sensitivity) if hasattr(self.mechanism, "sensitivity") else Fraction(1)

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """One row, of at most the inner mechanism's sensitivity."""
        row = check_one_row(value, neighbor, self.guarantee.neighbors)
        check_near([row], [0], self._most(), Norm.L1, "what the mechanism is made for")

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no list of numbers."""
        return 4, "11", {1: 1}, *([1, each] for each in (math.nan, None, "Rumpelstiltskin"))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Counts and sums, with noise of three kinds."""
        count, total = cls(Geometric(1, 2), 0.25), cls(Laplace(2, 1, spacing=0.5), 0.75)
        bell = cls(Gaussian(1, 1, 1e-3, spacing=1), 0.5)
        return (
            Example("subsampled", count, (1,) * 4, (1,) * 3, around(-40, 45), 0.4, None, FEW),
            Example("subsampled, one unit", total, (1.5, 2), (1.5,), around(-90, 90, 0.5), 0.4, None, FEW),
            Example("subsampled gaussian", bell, (1, 1, 1), (1, 1), floats(around(-60, 60)), 0.0, None, FEW),
        )


def sample(units: Sequence[Item], rate: checks.Number, entropy: Entropy = SYSTEM) -> list[Item]:
    """A Poisson sample: each unit with exactly the probability `rate`, independently; it must be kept secret.

    >>> len(sample(range(1_000), 0.5)) < 1_000
    True
    """
    coin = Coin(Real.exactly(checks.inside(rate=rate)))
    return [unit for unit, taken in zip(units, bernoulli(coin, len(units), entropy), strict=True) if taken]


def _exact(value: Sequence[float]) -> list[Fraction]:
    if not hasattr(value, "__len__") or isinstance(value, str | bytes | Mapping | Set):
        raise WrongShape(f"value must be a list with the number of each unit; got {came(value)}; give [1, 1] for two")
    try:
        return [Fraction(*ratio(number)) for number in value]
    except (ValueError, OverflowError, AttributeError):
        raise OutsideRange(f"value must hold finite numbers only; got something else; {MISSING}") from None


def _whole(numbers: Sequence[Fraction]) -> bool:
    return all(number.denominator == 1 for number in numbers)


def _log(chance: Fraction) -> float:
    return math.log(chance.numerator) - math.log(chance.denominator)
