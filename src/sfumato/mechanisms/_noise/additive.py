"""Add integer noise to a value on its lattice: what Laplace, Gaussian and geometric mechanisms share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sfumato import checks
from sfumato.entropy import Entropy
from sfumato.errors import WrongShape
from sfumato.mechanisms import samplers
from sfumato.mechanisms._examples.apart import check_near, declared_distance, moved
from sfumato.mechanisms._noise.lattice import Lattice, add, same_length
from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.mechanisms.mechanism import Declared
from sfumato.mechanisms.samplers import Integers
from sfumato.privacy.sensitivity import Norm, Sensitivity
from sfumato.rounding import exp_up, log_up, sqrt_up, up


class NoisyValue(Declared):
    """A mechanism that adds noise to a number, or to each of `size` numbers."""

    sensitivity: checks.Number | Sensitivity
    size: int | None
    norm: ClassVar[Norm] = Norm.L1
    is_whole: ClassVar[bool] = False  # whether it takes whole numbers only
    example_parameters: ClassVar[Mapping[str, Any]] = {"sensitivity": 1, "epsilon": 1}

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """Zero, and one number moved by the whole sensitivity."""
        by, length = declared_distance(self.sensitivity), self.size
        near, far = (0, int(by)) if self.is_whole else (0.0, moved(0, by))
        return (near, far) if length is None else ((near,) * length, (far, *(near,) * (length - 1)))

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """At most the sensitivity."""
        most = declared_distance(self.sensitivity)
        check_near(value, neighbor, most, self.norm, f"the sensitivity, in {self.norm.name}")

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no number, or no vector of this length."""
        odd = (math.nan, -math.inf, None, "Rumpelstiltskin", np.timedelta64(1, "s"), *((0.5,) if self.is_whole else ()))
        if self.size is None:
            return (*odd, [1, 2], np.array([1.0]))
        return (1, [1] * (self.size + 1), *([each, *[1] * (self.size - 1)] for each in odd))


@dataclass(frozen=True)
class Additive:
    """Independent noise on a number (size None) or on each of `size` numbers."""

    lattice: Lattice
    noise: LaplaceNoise | GaussianNoise
    size: int | None

    def release(self, value: Any, entropy: Entropy) -> int | Integers:
        """The number, or numbers, of the lattice's multiples that are released."""
        if self.size is None:
            only_a_number(value)
            return self.lattice.add_noise(value, samplers.draw_lifted(self.noise.sampler, entropy))
        return add(self.lattice.snap_many(value, self.size), self.noise.sampler.draw(self.size, entropy))

    def error(self, confidence: checks.Number, rounding: Fraction, simultaneous: bool = False) -> float:
        """A half-width that holds with this confidence, for each number; `rounding` is what the lattice may add.

        If `simultaneous` it holds for all of them at once. The noise is independent, so each number gets the root.
        """
        exact = checks.inside(confidence=confidence)
        reach = self.noise.reach(root_up(exact, self.size or 1) if simultaneous else exact)
        return up((reach + rounding) * self.lattice.spacing)

    def log_probability(self, output: Any, value: ArrayLike) -> float:
        """The logarithm of the probability of an output, minus infinity off the lattice."""
        if self.size is None:
            return self._log_probability(output, self.lattice.snap(value))  # type: ignore[arg-type]
        exact = self.lattice.snap_many(value, self.size).tolist()
        outputs: Sequence[float] = list(output)
        same_length(outputs, exact)
        return sum(self._log_probability(o, n) for o, n in zip(outputs, exact, strict=True))

    def _log_probability(self, output: float, exact: int) -> float:
        number = self.lattice.number(output)
        return -float("inf") if number is None else self.noise.log_probability(number - exact)


def distance(sensitivity: checks.Number | Sensitivity, norm: Norm, size: int | None) -> Fraction:
    """A sensitivity in the norm that the noise needs; a bare number is meant in that norm.

    An L1 distance is never below the L2 distance; it is at most sqrt(size) times as large.
    """
    if not isinstance(sensitivity, Sensitivity):
        return checks.positive(sensitivity=sensitivity)
    if sensitivity.norm is Norm.L2 and norm is Norm.L1:
        return sensitivity.value * sqrt_up(Fraction(size or 1))
    return sensitivity.value


def root_up(confidence: Fraction, count: int) -> Fraction:
    """A fraction below 1 and just above the root confidence**(1 / count), by two bounds of which the smaller holds.

    By the logarithm, and by Bernoulli's inequality (the union bound): (1 - miss / count)**count >= 1 - miss.

    >>> root_up(Fraction(81, 100), 2) >= Fraction(9, 10)
    True
    """
    if count == 1:
        return confidence
    return min(exp_up(log_up(confidence) / count), 1 - (1 - confidence) / count)


def only_a_number(value: object) -> None:
    """Refuse a vector where one number was declared."""
    shape = getattr(value, "shape", ())
    if shape != () or isinstance(value, (list, tuple)):
        raise WrongShape(f"value must be one number; got a vector; declare its length: size={len(value)}")  # type: ignore[arg-type]
