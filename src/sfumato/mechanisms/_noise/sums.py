"""How far a weighted sum of independent noises reaches: for differences, totals, means of released numbers.

Claim. Let S be the sum of w X over independent integer noises X. For discrete Laplace noise |S| exceeds r + sum |w|
with at most the probability that the same sum of continuous Laplace noises exceeds r. For discrete Gaussian noise of
variance v it exceeds r + sum |w| / 2 with at most prod exp(1 / (8 v)) times the probability that a normal variable of
variance sum w**2 v exceeds r. Proof: docs/proofs/noise.md.

Reaches of single noises added up would be far too wide: two Laplace noises of scale 1 stay within 4.1, not within 7.4,
at 95 %. All of this is post-processing of released numbers, so it may be done in floats; every error is bounded and
added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np

from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.rounding import down, up

Noise = LaplaceNoise | GaussianNoise
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
_OUTWARD = 1 + 1e-9
_ALIAS = 1e-12  # of probability: what lies beyond one period of the Fourier series
_LEAST = 1e-8  # of probability: below it Chernoff's bound serves, since the series errs by up to 1e-9
_RELATIVE = 1e-6  # of the miss probability: what the series may leave out
_TINY = 1e-12  # of the widest noise: nothing counts for less
_MOST_WAVES = 200_000
_TILTS = np.arange(1, 200) / 200
_NARROW = 0.1  # how much more probable than rounded normal noise it may be, as a logarithm
_FINE = Fraction(1 << 40)  # a scale at which one step is nothing
_ANGLES = 64  # directions in half a plane; between two of them a chord is 0.03 % too long at most


@dataclass(frozen=True, slots=True)
class Term:
    """So many independent draws of a noise, each counted with a weight."""

    noise: Noise
    weight: float
    draws: int = 1


@lru_cache(maxsize=4096)
def reach(terms: tuple[Term, ...], miss: Fraction) -> float:
    """A number that the absolute value of the sum exceeds with probability `miss` at most.

    >>> noise = LaplaceNoise(Fraction(1 << 20))
    >>> one, two, hundred = (reach((Term(noise, 1.0, n),), Fraction(1, 20)) / 2**20 for n in (1, 2, 100))
    >>> round(one, 2), round(two, 2), round(hundred, 1)
    (3.0, 4.11, 27.7)
    """
    used = [term for term in terms if term.weight and term.draws]
    if not used:
        return 0.0
    if len(used) == 1 and used[0].draws == 1:
        return abs(used[0].weight) * used[0].noise.reach(1 - miss) * _OUTWARD
    if isinstance(used[0].noise, GaussianNoise):
        return _gaussian(used, miss) * _OUTWARD
    laplace = [(term.weight, term.noise) for term in used if isinstance(term.noise, LaplaceNoise)]
    assert len(laplace) == len(used), "one question has one kind of noise"
    scales = np.array([abs(weight) * up(noise.scale) for weight, noise in laplace])
    draws = np.array([term.draws for term in used], dtype=float)
    rounding = sum(abs(term.weight) * term.draws for term in used)
    return (_laplace(scales, draws, down(miss)) + rounding) * _OUTWARD


def _gaussian(terms: Sequence[Term], miss: Fraction) -> float:
    """The normal quantile with two corrections, or the sub-Gaussian bound where noise is too narrow for them."""
    variances = [up(term.noise.variance) for term in terms if isinstance(term.noise, GaussianNoise)]
    assert len(variances) == len(terms), "one question has one kind of noise"
    parts = list(zip(terms, variances, strict=True))
    sigma = math.sqrt(sum(term.weight**2 * term.draws * variance for term, variance in parts))
    excess = sum(term.draws / (8 * variance) for term, variance in parts)
    if excess > _NARROW:
        return sigma * math.sqrt(2 * math.log(2 / down(miss)))
    rounding = sum(abs(term.weight) * term.draws for term in terms) / 2
    return sigma * -NormalDist().inv_cdf(down(miss) * math.exp(-excess) / 2) + rounding


def _laplace(scales: Floats, draws: Floats, miss: float) -> float:
    """The reach of a sum of continuous Laplace noises: by its characteristic function, as Davies 1973 inverts it."""
    widest = float(scales.max())
    scales = np.maximum(scales / widest, _TINY)
    deviation = math.sqrt(float(2 * (draws * scales**2).sum()))
    scales, deviation = scales / deviation, deviation * widest
    if miss / 2 < _LEAST:
        return deviation * _chernoff(scales, draws, miss / 2)
    if draws.sum() == 2:
        return deviation * _two(float(scales.max()), float(scales.min()), miss)
    period = _chernoff(scales, draws, _ALIAS)
    waves, heights, error = _series(scales, draws, math.pi / period, miss * _RELATIVE)
    low, high = 0.0, period
    for _ in range(50):
        middle = (low + high) / 2
        tail = 0.5 - float((heights * np.sin(waves * middle)).sum()) / math.pi + error
        low, high = (low, middle) if tail <= miss / 2 else (middle, high)
    return deviation * high


def _two(wide: float, narrow: float, miss: float) -> float:
    """The reach of the sum of two, whose tail has a formula; scales that are nearly equal count as equal."""
    low, high = 0.0, 2 * wide * math.log(4 / miss)
    for _ in range(50):
        x = (low + high) / 2
        if narrow > 0.999 * wide:
            tail = (1 + x / (2 * wide)) * math.exp(-x / wide)
        else:
            tail = (wide**2 * math.exp(-x / wide) - narrow**2 * math.exp(-x / narrow)) / (wide**2 - narrow**2)
        low, high = (low, x) if tail <= miss else (x, high)
    return high


def _chernoff(scales: Floats, draws: Floats, miss: float) -> float:
    """A number that the sum exceeds, on one side, with probability `miss` at most; any tilt proves one."""
    tilts = _TILTS / scales.max()
    growth = -(draws * np.log1p(-((tilts[:, None] * scales) ** 2))).sum(axis=1)
    return float(((growth - math.log(miss)) / tilts).min())


def _series(scales: Floats, draws: Floats, step: float, enough: float) -> tuple[Floats, Floats, float]:
    """Frequencies, amplitudes, and how far the series may be off: what it leaves out, and its other periods."""
    end = 1.0
    while end < step * _MOST_WAVES and _log_wave(scales, draws, end) > math.log(enough):
        end *= 2
    places: Floats = np.arange(min(math.ceil(end / step), _MOST_WAVES), dtype=np.float64) + 0.5
    waves: Floats = places * step
    logs = np.zeros(len(waves))
    for scale, draw in zip(scales, draws, strict=True):
        logs -= draw * np.log1p((scale * waves) ** 2)
    last = float(places[-1] + 0.5) * step
    falls = float((2 * draws * (scales * last) ** 2 / (1 + (scales * last) ** 2)).sum())  # at least like this power
    left_out = math.exp(_log_wave(scales, draws, last)) / (math.pi * falls)
    return waves, np.exp(logs) / places, left_out + 4 * _ALIAS


def _log_wave(scales: Floats, draws: Floats, at: float) -> float:
    return float(-(draws * np.log1p((scales * at) ** 2)).sum())


@dataclass(frozen=True)
class Plane:
    """Two sums over the same noises: how far a A + b B reaches, for all a and b.

    The noises are symmetric and log-concave, so their reach is a norm of the weights (Meyer and Reisner 1991, Bobkov
    2010): between two directions it lies below the chord. That makes one table of directions honest for all ratios.
    """

    terms: tuple[tuple[Noise, int, float, float], ...]  # noise, draws, weight in A, weight in B
    miss: Fraction

    @cached_property
    def table(self) -> Floats:
        """Reaches in directions that go half around the plane."""
        found = []
        for angle in range(_ANGLES):
            x, y = math.cos(math.pi * angle / _ANGLES), math.sin(math.pi * angle / _ANGLES)
            found.append(reach(tuple(Term(n, x * a * self.scale + y * b, k) for n, k, a, b in self.terms), self.miss))
        return np.array([*found, found[0]])

    @cached_property
    def scale(self) -> float:
        """What makes A and B equally large, so that the directions are spread evenly."""
        first, second = (
            math.sqrt(sum(k * weight**2 * noise.deviation() ** 2 for noise, k, weight in part))
            for part in (
                [(noise, k, a) for noise, k, a, _ in self.terms],
                [(noise, k, b) for noise, k, _, b in self.terms],
            )
        )
        return second / first if first and second else 1.0

    def reach(self, a: Floats, b: Floats) -> Floats:
        """How far a A + b B reaches, for each of several pairs."""
        x, y = np.broadcast_arrays(np.asarray(a, dtype=float) / self.scale, np.asarray(b, dtype=float))
        angle = np.mod(np.arctan2(y, x), math.pi)
        place = np.minimum((angle * (_ANGLES / math.pi)).astype(int), _ANGLES - 1)
        before, width, length = place * (math.pi / _ANGLES), math.pi / _ANGLES, np.hypot(x, y)
        first, second = np.sin(before + width - angle) / math.sin(width), np.sin(angle - before) / math.sin(width)
        found: Floats = length * (first * self.table[place] + second * self.table[place + 1]) * _OUTWARD
        return found


@dataclass(frozen=True)
class ScaledPlane:
    """The plane of Laplace noises of one scale, by that of a scale at which whole numbers hardly matter.

    A continuous Laplace noise of another scale reaches in proportion to it; rounding adds at most one step of each
    draw (see the claim above). So one table serves all questions with the same weights.
    """

    plane: Plane
    factor: float
    terms: tuple[tuple[Noise, int, float, float], ...]

    def reach(self, a: Floats, b: Floats) -> Floats:
        """How far a A + b B reaches, for each of several pairs."""
        x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        rounding = sum(draws * np.abs(x * above + y * below) for _, draws, above, below in self.terms)
        found: Floats = (self.plane.reach(a, b) * self.factor + rounding) * _OUTWARD
        return found


def plane(terms: tuple[tuple[Noise, int, float, float], ...], miss: Fraction) -> Plane | ScaledPlane:
    """The plane of two sums; its table is worked out once."""
    scales = {noise.scale for noise, *_ in terms if isinstance(noise, LaplaceNoise)}
    if len(scales) != 1 or not all(isinstance(noise, LaplaceNoise) for noise, *_ in terms):
        return _plane(terms, miss)
    fine = LaplaceNoise(_FINE)
    table = _plane(tuple((fine, draws, above, below) for _, draws, above, below in terms), miss)
    return ScaledPlane(table, up(scales.pop() / _FINE), terms)


@lru_cache(maxsize=64)
def _plane(terms: tuple[tuple[Noise, int, float, float], ...], miss: Fraction) -> Plane:
    return Plane(terms, miss)
