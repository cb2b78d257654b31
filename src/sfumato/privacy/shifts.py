"""Noise against the same noise shifted: the dominating pairs of additive mechanisms.

Claim: a value that one unit moves by at most the stated shift, released with the stated noise, is dominated by the pair
of this file, in both directions. Proof: docs/proofs/accounting.md, sections 1 and 2. Papers: Balle and Wang 2018
(Gaussian), Canonne, Kamath, Steinke 2020 (discrete Gaussian), Zhu, Dong, Wang 2022 (dominating pairs).

Discrete noise is never treated as continuous: with one step the discrete Laplace pair is randomized response itself.
Losses that take many values are given by step functions through `below` and `above`; they are right for a loss that
differs from the argument by a few units in the last place, which whoever composes them allows for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from sfumato import checks
from sfumato.errors import ScaleTooLarge
from sfumato.privacy.pair import Floats, KeyDomain, Pair
from sfumato.rounding import sqrt_up

LARGEST_TABLE = Fraction(1 << 28)  # variance up to which a discrete Gaussian is tabulated: sigma 2**14
_REACH = 37  # standard deviations in a table; beyond them lies less than 1e-290
_BLOCK = 1 << 10
_FAR = Fraction(1 << 400)  # parameters beyond it, or below its inverse, are too much for floats


def _keep(pair: object, **named: Fraction | int) -> None:
    """Store each parameter as it was read, not as it came: a numpy integer would wrap around later."""
    for name, value in named.items():
        if not 1 / _FAR < value < _FAR:
            raise ScaleTooLarge(f"{name} must lie between 2**-400 and 2**400; got one beyond; choose a usual one")
        object.__setattr__(pair, name, value)


@dataclass(frozen=True, slots=True)
class LaplaceShift:
    """Continuous Laplace noise against itself shifted by epsilon times its scale."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        _keep(self, epsilon=checks.positive(epsilon=self.epsilon))

    @property
    def key_domains(self) -> tuple[KeyDomain, ...]:
        """The losses +epsilon and -epsilon, taken outside the two centers."""
        e = float(self.epsilon)
        return KeyDomain(e, 0.5, 0.5 * math.exp(-e)), KeyDomain(-e, 0.5 * math.exp(-e), 0.5)

    def window(self, tail: float) -> tuple[float, float]:
        """All losses."""
        return -float(self.epsilon), float(self.epsilon)

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Masses of the losses between the centers, up to `losses`."""
        e = float(self.epsilon)
        rise = (np.clip(losses, -e, e) + e) / 2
        return -0.5 * np.exp(rise - e) * np.expm1(-rise), -0.5 * np.expm1(-rise)

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Masses of the losses between the centers, beyond `losses`."""
        e = float(self.epsilon)
        fall = (e - np.clip(losses, -e, e)) / 2
        return -0.5 * np.expm1(-fall), -0.5 * np.exp(fall - e) * np.expm1(-fall)

    def reversed(self) -> LaplaceShift:
        """The same pair: it is symmetric."""
        return self


@dataclass(frozen=True, slots=True)
class DiscreteLaplaceShift:
    """Discrete Laplace noise of scale steps / epsilon on the integers against itself shifted by `steps`.

    The losses are epsilon * (1 - 2k / steps) for k = 0 .. steps; the outermost two are atoms, the others a staircase.
    """

    epsilon: Fraction
    steps: int

    def __post_init__(self) -> None:
        _keep(self, epsilon=checks.positive(epsilon=self.epsilon), steps=checks.whole(1, steps=self.steps))

    @property
    def _rate(self) -> float:
        return float(self.epsilon / self.steps)

    @property
    def key_domains(self) -> tuple[KeyDomain, ...]:
        """The losses +epsilon and -epsilon, taken outside the two centers."""
        e = float(self.epsilon)
        near = 1 / (1 + math.exp(-self._rate))
        return KeyDomain(e, near, near * math.exp(-e)), KeyDomain(-e, near * math.exp(-e), near)

    def window(self, tail: float) -> tuple[float, float]:
        """All losses."""
        return -float(self.epsilon), float(self.epsilon)

    def _first(self, losses: Floats) -> Floats:
        """The least k, between 1 and steps, whose loss is at most `losses`."""
        return np.clip(np.ceil(self.steps * (1 - losses / float(self.epsilon)) / 2), 1, self.steps)

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Masses of the stairs k = first .. steps - 1."""
        left = self.steps - self._first(losses)
        ratio, near = self._rate, 1 / (1 + math.exp(-self._rate))
        p = -near * np.exp(ratio * left - float(self.epsilon)) * np.expm1(-ratio * left)
        return p, -near * math.exp(-ratio) * np.expm1(-ratio * left)

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Masses of the stairs k = 1 .. first - 1."""
        passed = self._first(losses) - 1
        ratio, near = self._rate, 1 / (1 + math.exp(-self._rate))
        q = -near * np.exp(ratio * passed - float(self.epsilon)) * np.expm1(-ratio * passed)
        return -near * math.exp(-ratio) * np.expm1(-ratio * passed), q

    def reversed(self) -> DiscreteLaplaceShift:
        """The same pair: it is symmetric."""
        return self


class Normal(NamedTuple):
    """Variance and mean square / 2 + moved of a normal loss, and the logarithm of its P-mass; all three add up."""

    square: Fraction
    moved: Fraction = Fraction(0)
    excess: Fraction = Fraction(0)


class _NormalPair(ABC):
    """A pair whose loss is normal.

    With moved = excess = 0 it is the loss of continuous Gaussian noise. Otherwise (P, Q) is an envelope: a pair of
    measures, P of mass exp(excess), whose hockey-stick curve lies above that of the noise it stands for.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def normal(self) -> Normal:
        """The parameters of the loss."""

    @property
    def key_domains(self) -> tuple[KeyDomain, ...]:
        """Nothing, or for an envelope what Q lacks to mass 1."""
        _, moved, excess = self.normal
        return (KeyDomain(-math.inf, 0.0, -math.expm1(float(excess - moved))),) if moved else ()

    def window(self, tail: float) -> tuple[float, float]:
        """The mean and sqrt(2 ln(mass / tail)) standard deviations to either side."""
        square, moved, excess = self.normal
        reach = math.sqrt(2 * (float(excess) - math.log(tail)) * float(square))
        return float(square / 2 + moved) - reach, float(square / 2 + moved) + reach

    def _masses(self, losses: Floats, sign: int) -> tuple[Floats, Floats]:
        from scipy.special import ndtr

        square, moved, excess = self.normal
        mu, middle = math.sqrt(square), float(square / 2)
        away = losses - float(moved)
        p, q = ndtr(sign * (away - middle) / mu), ndtr(sign * (away + middle) / mu)
        return math.exp(excess) * p, math.exp(excess - moved) * q

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Lower tails."""
        return self._masses(losses, 1)

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Upper tails."""
        return self._masses(losses, -1)

    def reversed(self) -> Self:
        """The same pair: it is symmetric, and an envelope covers both directions."""
        return self


@dataclass(frozen=True, slots=True)
class GaussianShift(_NormalPair):
    """Continuous Gaussian noise against itself shifted by mu standard deviations."""

    mu: Fraction

    def __post_init__(self) -> None:
        _keep(self, mu=checks.positive(mu=self.mu))

    @property
    def normal(self) -> Normal:
        """The loss has variance mu**2."""
        return Normal(self.mu * self.mu)


@dataclass(frozen=True, slots=True)
class LatticeGaussianShift(_NormalPair):
    """An envelope for `size` discrete Gaussians against themselves shifted by any integers of Euclidean norm <= `norm`.

    Only coordinates that move count, and integers of norm r move at most r**2 of them.
    """

    variance: Fraction
    norm: Fraction
    size: int

    def __post_init__(self) -> None:
        variance, norm = checks.positive(variance=self.variance), checks.positive(norm=self.norm)
        _keep(self, variance=variance, norm=norm, size=checks.whole(1, size=self.size))

    @property
    def normal(self) -> Normal:
        """The loss of the continuous noise, moved up by half the L1 norm of the shift over the variance."""
        moving = max(1, min(self.size, math.floor(self.norm * self.norm)))
        moved = sqrt_up(moving * self.norm * self.norm) / (2 * self.variance)
        return Normal(self.norm * self.norm / self.variance, moved, Fraction(moving) / (24 * self.variance))


@dataclass(frozen=True, slots=True)
class NormalSum(_NormalPair):
    """Independent normal losses, added."""

    normal: Normal


def discrete_gaussian_shift(variance: Fraction, norm: Fraction, size: int = 1) -> Pair:
    """The closest pair known for discrete Gaussian noise: the exact one where a table of it fits, else an envelope."""
    if variance <= LARGEST_TABLE and (size == 1 or norm * norm < 2):  # a norm below sqrt(2) moves one coordinate
        return DiscreteGaussianShift(variance, max(1, math.floor(norm)))
    return LatticeGaussianShift(variance, norm, size)


@dataclass(frozen=True, slots=True)
class DiscreteGaussianShift:
    """Discrete Gaussian noise, pmf proportional to exp(-x**2 / (2 variance)), against itself shifted by `steps`."""

    variance: Fraction
    steps: int

    def __post_init__(self) -> None:
        variance, steps = checks.positive(variance=self.variance), checks.whole(1, steps=self.steps)
        _keep(self, variance=variance, steps=steps)
        if self.variance > LARGEST_TABLE:
            raise ScaleTooLarge(
                f"variance must be at most {LARGEST_TABLE} to be tabulated; use LatticeGaussianShift above it"
            )

    key_domains = ()

    def window(self, tail: float) -> tuple[float, float]:
        """The noise is sub-Gaussian with its own variance parameter (Canonne, Kamath, Steinke 2020, lemma 8)."""
        mu = self.steps / math.sqrt(self.variance)
        reach = math.sqrt(-2 * math.log(tail)) * mu
        return mu * mu / 2 - reach, mu * mu / 2 + reach

    def _first(self, losses: Floats) -> Floats:
        """The least integer x whose loss (steps**2 - 2 x steps) / (2 variance) is at most `losses`."""
        return np.ceil(self.steps / 2 - losses * float(self.variance / self.steps))

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Pr[X >= first] and Pr[X + steps >= first]."""
        first = self._first(losses)
        return _upper_tail(self.variance, first), _upper_tail(self.variance, first - self.steps)

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Pr[X < first] and Pr[X + steps < first]."""
        last = 1 - self._first(losses)
        return _upper_tail(self.variance, last), _upper_tail(self.variance, last + self.steps)

    def reversed(self) -> DiscreteGaussianShift:
        """The same pair: it is symmetric."""
        return self


def _upper_tail(variance: Fraction, start: Floats) -> Floats:
    """Pr[X >= start] of the discrete Gaussian."""
    table = _tail_table(variance)
    middle = len(table) // 2
    tail: Floats = table[np.clip(start + middle, 0, len(table) - 1).astype(np.int64)]
    return tail


@lru_cache(maxsize=8)
def _tail_table(variance: Fraction) -> Floats:
    """Pr[X >= k] for k = -middle .. middle, summed in blocks so that rounding stays below the pairs' precision."""
    middle = math.ceil(_REACH * math.sqrt(variance)) + 1
    x = np.arange(-middle, middle + 1, dtype=np.float64)
    weights = np.exp(-x * x / (2 * float(variance)))
    padded = np.concatenate([weights, np.zeros(-len(weights) % _BLOCK)]).reshape(-1, _BLOCK)
    inner = np.cumsum(padded, axis=1)
    sums = (inner + np.concatenate([[0.0], np.cumsum(inner[:-1, -1])])[:, None]).reshape(-1)[: len(x)]
    table: Floats = (sums / sums[-1])[::-1]
    return table


def merged(parts: Iterable[tuple[Pair, int]]) -> list[tuple[Pair, int]]:
    """The same composition with equal pairs counted together and all normal losses added into one, which is exact.

    >>> merged([(GaussianShift(Fraction(3)), 1), (GaussianShift(Fraction(2)), 4)])
    [(NormalSum(normal=Normal(square=Fraction(25, 1), moved=Fraction(0, 1), excess=Fraction(0, 1))), 1)]
    """
    counts: dict[Pair, int] = {}
    total: tuple[Fraction, ...] = (Fraction(0),) * 3
    for pair, count in parts:
        if isinstance(pair, _NormalPair):
            total = tuple(old + count * new for old, new in zip(total, pair.normal, strict=True))
        else:
            counts[pair] = counts.get(pair, 0) + count
    normal: list[tuple[Pair, int]] = [(NormalSum(Normal(*total)), 1)] if total[0] else []
    return normal + list(counts.items())
