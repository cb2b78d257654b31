"""Drafts with a mistake, which the contract suite must find: each passes on whole sensitivities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms import Gaussian, Laplace
from sfumato.mechanisms._examples.example import Example, around, floats
from sfumato.mechanisms.mechanism import Declared, settle
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors


@dataclass(frozen=True)
class Truncating(Declared):
    """Laplace noise for `int(sensitivity)`: too little of it for 1.999.

    sensitivity   how far one unit can move the value
    epsilon       what one release costs
    """

    sensitivity: checks.Number
    epsilon: checks.Number
    example_parameters: ClassVar[Mapping[str, Any]] = {"sensitivity": 1, "epsilon": 1}

    def __post_init__(self) -> None:
        settle(self)

    @cached_property
    def _noise(self) -> Laplace:
        return Laplace(max(1, int(self.sensitivity)), self.epsilon, spacing=1)

    @property
    def loss(self) -> Loss:
        return Loss.pure(Fraction(self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, neighbors=Neighbors.ADD_REMOVE)

    def release(self, value: Any, entropy: Entropy = SYSTEM) -> Any:
        return self._noise.release(value, entropy)

    def error(self, confidence: checks.Number = 0.95) -> float:
        return self._noise.error(confidence)

    def log_probability(self, output: Any, value: Any) -> float:
        return self._noise.log_probability(output, value)

    def neighboring_inputs(self) -> tuple[Any, Any]:
        return 0.0, float(self.sensitivity)

    def invalid_inputs(self) -> Sequence[Any]:
        return math.nan, None, "Rumpelstiltskin", [1, 2]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return (Example("truncating", cls(2, 1), 3.0, 5.0, floats(around(-70, 75))),)


class Hiding(Truncating):
    """The same, and its neighbors are rounded down too."""

    def neighboring_inputs(self) -> tuple[Any, Any]:
        return 0.0, float(int(self.sensitivity))


class Denying(Truncating):
    """The same, and `log_probability` is that of the right noise: only releases show it."""

    def log_probability(self, output: Any, value: Any) -> float:
        honest = Laplace(self.sensitivity, self.epsilon, spacing=1)
        return honest.log_probability(output, value)


class Crashing(Truncating):
    """Where the sensitivity is below 1, it fails in the arithmetic."""

    @cached_property
    def _noise(self) -> Laplace:
        return Laplace(Fraction(1) / (Fraction(1) / int(self.sensitivity)), self.epsilon, spacing=1)


@dataclass(frozen=True)
class Bell(Truncating):
    """Gaussian noise for `int(sensitivity)`.

    delta         the probability that the promise may fail
    """

    delta: checks.Number = 1e-6

    @cached_property
    def _noise(self) -> Any:
        return Gaussian(max(1, int(self.sensitivity)), self.epsilon, self.delta, spacing=1)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, Neighbors.ADD_REMOVE)

    @property
    def loss(self) -> Loss:
        found: Loss = self._noise.loss
        return found


class Binary(Truncating):
    """An epsilon is read by its binary value: 0.1 is another one than Decimal("0.1")."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", Fraction(*self.epsilon.as_integer_ratio()))
        object.__setattr__(self, "sensitivity", Fraction(math.ceil(self.sensitivity)))
