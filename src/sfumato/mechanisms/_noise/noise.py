"""Integer noise as a value: what it draws, how far it reaches, how probable each draw is.

Claim. For discrete Laplace noise of scale s, Pr[|X| > k] = 2 a**(k+1) / (1 + a) with a = exp(-1/s). For discrete
Gaussian noise Pr[|X| > k] <= Pr[|N| > k] for a normal N of the same sigma (the sum over k+1, k+2, ... lies below the
integral from k, the sum over all integers above its own). Proof: docs/proofs/noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist

import numpy as np

from sfumato.errors import InvalidArgument, ScaleTooLarge
from sfumato.mechanisms import samplers
from sfumato.privacy.pair import Pair, hockey_stick
from sfumato.rounding import down, exp_down, log_up, sqrt_up, up

LARGEST_SCALE = 1 << 60
LARGEST_SIGMA = 1 << 50
_CLOSE = 1 + Fraction(1, 1 << 30)
_LEAST_DELTA = Fraction(1, 1 << 900)


@dataclass(frozen=True)
class LaplaceNoise:
    """Discrete Laplace noise: Pr[X = x] proportional to exp(-|x| / scale)."""

    scale: Fraction

    @cached_property
    def sampler(self) -> samplers.Sampler:
        """Where it is drawn."""
        return samplers.discrete_laplace(self.scale)

    @cached_property
    def least_ratio(self) -> Fraction:
        """A fraction just below a = exp(-1 / scale); 0 for a noise so narrow that it makes no difference."""
        return exp_down(-1 / self.scale) if self.scale * 1_000 > 1 else Fraction(0)

    def reach(self, confidence: Fraction) -> int:
        """A k with Pr[|X| > k] <= 1 - confidence, the least but for rounding."""
        miss = 1 - confidence
        return max(0, math.ceil(self.scale * log_up(2 / (miss * (1 + self.least_ratio)))) - 1)

    def sum_reaches(self, counts: Sequence[int], confidence: Fraction) -> tuple[int, ...]:
        """For each count a k that the sum of so many independent draws exceeds with probability 1 - confidence at most.

        Chernoff's bound, the least over 39 tilts; any tilt proves one. A whole number above k is at least k + 1, so the
        last whole number below the bound will do: none at all for a noise that is hardly ever anything but 0.
        """
        rate, demand = up(1 / self.scale), -math.log(down(1 - confidence))
        theta = rate * np.arange(1, 40) / 40
        growth = 2 * math.log(-math.expm1(-rate)) - np.log(-np.expm1(theta - rate)) - np.log(-np.expm1(-theta - rate))
        bounds = (np.array(counts, dtype=float)[:, None] * growth + demand) / theta
        return tuple(_whole_below(bound) for bound in bounds.min(axis=1).tolist())

    def deviation(self) -> float:
        """The standard deviation: sqrt(2 a) / (1 - a)."""
        rate = up(1 / self.scale)
        return math.sqrt(2 * math.exp(-rate)) / -math.expm1(-rate)

    def log_probability(self, x: int) -> float:
        """The logarithm of Pr[X = x]."""
        rate = up(1 / self.scale)
        return math.log(math.tanh(rate / 2)) - up(abs(x) / self.scale)

    def log_at_most(self, k: int) -> float:
        """The logarithm of Pr[X <= k]."""
        rate = up(1 / self.scale)
        if k < 0:
            return -up(-k / self.scale) - math.log1p(math.exp(-rate))
        return math.log1p(-math.exp(-up((k + 1) / self.scale)) / (1 + math.exp(-rate)))


@dataclass(frozen=True)
class GaussianNoise:
    """Discrete Gaussian noise: Pr[X = x] proportional to exp(-x**2 / (2 variance))."""

    variance: Fraction

    @cached_property
    def sampler(self) -> samplers.Sampler:
        """Where it is drawn."""
        return samplers.discrete_gaussian(self.variance)

    def reach(self, confidence: Fraction) -> int:
        """A k with Pr[|X| > k] <= 1 - confidence: the least below sigma 100, else one of the normal distribution's."""
        sigma, miss = math.sqrt(self.variance), down(1 - confidence)
        k = math.ceil(sigma * -NormalDist().inv_cdf(miss / 2) * (1 + 1e-9))
        if sigma > 100:
            return k
        total, outside = (
            self._total(),
            2 * math.fsum(self._weight(x) for x in range(k + 1, k + 2 + math.ceil(40 * sigma))),
        )
        while k > 0 and (outside := outside + 2 * self._weight(k)) * (1 + 1e-9) <= miss * total:
            k -= 1
        return k

    def sum_reaches(self, counts: Sequence[int], confidence: Fraction) -> tuple[int, ...]:
        """For each count a k that the sum of so many independent draws exceeds with probability 1 - confidence at most.

        The noise is sub-Gaussian with its own variance parameter (the same paper, lemma 8), and so is the sum. A draw
        is then positive with probability exp(-1 / (2 variance)) at most. Where all of them together hardly ever have a
        positive one the sum is 0 at most, which the bound for the sum does not see.
        """
        demand = math.log(down(1 - confidence))
        far, positive = -2 * up(self.variance) * demand, -down(1 / (2 * self.variance)) + 1e-9
        return tuple(
            0 if math.log(max(1, count)) + positive <= demand else _whole_below(math.sqrt(count * far))
            for count in counts
        )

    def deviation(self) -> float:
        """The standard deviation, at most sigma (Canonne, Kamath, Steinke 2020, corollary 9)."""
        return math.sqrt(self.variance)

    def log_probability(self, x: int) -> float:
        """The logarithm of Pr[X = x]."""
        return -float(x * x / (2 * self.variance)) - math.log(self._total())

    def log_at_most(self, k: int) -> float:
        """The logarithm of Pr[X <= k]: summed for a narrow noise, by Euler and Maclaurin's formula for a wide one."""
        sigma = math.sqrt(self.variance)
        if sigma < 100:
            chance = math.fsum(self._weight(x) for x in range(math.floor(-40 * sigma), k + 1)) / self._total()
        else:
            z = (k + Fraction(1, 2)) / sigma
            chance = math.erfc(-z / math.sqrt(2)) / 2 + z * NormalDist().pdf(z) / (24 * sigma * sigma)
        return math.log(chance) if chance > 0 else -math.inf

    def _weight(self, x: int) -> float:
        return math.exp(-float(x * x / (2 * self.variance)))

    def _total(self) -> float:
        """The sum of all weights; for a wide one by Poisson's formula, which converges at once."""
        v = float(self.variance)
        if v < 0.25:
            return 1 + 2 * sum(self._weight(x) for x in range(1, 12))
        return math.sqrt(2 * math.pi * v) * (1 + 2 * sum(math.exp(-2 * math.pi**2 * v * k * k) for k in range(1, 12)))


def _whole_below(bound: float) -> int:
    """The last whole number below a bound that may be off in its last digits, 0 at least."""
    return max(0, math.ceil(bound * (1 + 1e-9)) - 1)


def least_variance(pair: Callable[[Fraction], Pair], steps: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least sigma**2, up to a relative 2**-30, for which `pair(sigma**2)` keeps (epsilon, delta).

    `pair` is for a shift of `steps`, from which the search starts.

    Whatever the search does, what it returns was seen to keep the promise.
    """
    if delta < _LEAST_DELTA:
        raise InvalidArgument(
            f"delta must leave at least 2**-900 for the noise, which is worked out in floats; got about "
            f"2**{delta.numerator.bit_length() - delta.denominator.bit_length()}; give a larger delta"
        )

    def keeps(variance: Fraction) -> bool:
        return hockey_stick(pair(variance), down(epsilon)) <= down(delta)

    low = high = just_above(steps * steps)
    limit = 64 * max(high, Fraction(LARGEST_SIGMA) ** 2)
    while not keeps(high):
        low, high = high, high * 4
        if high > limit:
            raise ScaleTooLarge(
                f"epsilon and delta must be larger for Gaussian noise, which is worked out in floats; got about "
                f"{float(epsilon):.1g} and {float(delta):.1g}; give a delta of 1e-11 or more, or use Laplace"
            )
    while low == high or keeps(low):
        high, low = low, low / 4
    while high > low * _CLOSE:
        middle = just_above(sqrt_up(low * high, 40))
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high


def just_above(x: Fraction) -> Fraction:
    """A fraction just above x with few digits, so that the samplers' arithmetic stays small."""
    digits = 48 - (x.numerator.bit_length() - x.denominator.bit_length())
    return Fraction(math.ceil(x * Fraction(2) ** digits)) / Fraction(2) ** digits
