"""Sums of independent losses by one Fourier transform, under an exponential tilt that makes the tail of interest usual.

Claim: `TiltedSum.above` and `TiltedSum.under` are an upper and a lower bound on the hockey-stick curve of the composed
masses, whatever the tilt. Proof: docs/proofs/accounting.md, section 5, which bounds what rounding (Higham 2002, theorem
24.2), the finite window and the mass that wraps around it can do. Without the tilt the rounding of the transform alone,
about 1e-16 of the total mass, would drown a delta of 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.grid import LARGEST_LOSS, Masses
from sfumato.errors import ScaleTooLarge
from sfumato.privacy.pair import Floats

Parts = Sequence[tuple[Masses, int]]
Waves = NDArray[np.complex128]

_UNIT = 2.0**-53
_TRANSFORM = 16 * _UNIT  # relative error of a transform per doubling of its length
_OUTSIDE = math.log(2.0**43)  # at most 2**-43 of the tilted mass lies outside the window, on either side
_COARSE = 1 << 8
_CUT = 705.0  # exp of it, times the least mass of an upper bound, is more than all masses together
_NEVER = -300.0  # logarithm of a Chernoff bound on delta that is small enough for every question
LARGEST_TRANSFORM = 1 << 23
_SIGNIFICANT = 28  # bits of the step and of the tilt per step, so that their multiples are exact


def significant(x: float) -> float:
    """X rounded down to `_SIGNIFICANT` bits.

    >>> significant(0.5), significant(1e-4) <= 1e-4
    (0.5, True)
    """
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.floor(math.ldexp(mantissa, _SIGNIFICANT)), exponent - _SIGNIFICANT)


class Stack:
    """All masses end to end, for moment generating functions of their sum; `coarse` puts neighbors together."""

    def __init__(self, parts: Parts, coarse: bool = False) -> None:
        indices, masses = [], []
        for part, _ in parts:
            size = -(-len(part.finite) // _COARSE) if coarse else 1
            padded = np.concatenate([part.finite, np.zeros(-len(part.finite) % size)])
            masses.append(padded.reshape(-1, size).sum(axis=1) if coarse else part.finite)
            indices.append(part.first + (size - 1) / 2 + size * np.arange(len(masses[-1]), dtype=np.float64))
        self.counts = np.array([count for _, count in parts], dtype=np.float64)
        self.sizes = np.array([len(mass) for mass in masses])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.index = np.concatenate(indices)
        with np.errstate(divide="ignore"):
            self.log_mass: Floats = np.log(np.concatenate(masses))

    def cumulants(self, rate: float) -> tuple[float, float, float]:
        """Logarithm of the moment generating function, its slope, and about its curvature; losses count in steps."""
        exponents = rate * self.index + self.log_mass
        top = np.maximum.reduceat(exponents, self.starts)
        with np.errstate(under="ignore"):
            weights = np.exp(exponents - np.repeat(top, self.sizes))
        total = np.add.reduceat(weights, self.starts)
        weights *= self.index
        mean = np.add.reduceat(weights, self.starts) / total
        weights *= self.index
        curve = np.add.reduceat(weights, self.starts) / total - mean**2
        sums = [float((self.counts * part).sum()) for part in (np.log(total) + top, mean, np.maximum(curve, 0.0))]
        return sums[0], sums[1], sums[2]


def choose_tilt(parts: Parts, step: float, *, delta: float | None = None, epsilon: float = 0.0) -> float:
    """A tilt per step under which losses near epsilon, or near the epsilon that belongs to delta, are usual."""
    stack = Stack(parts, coarse=True)

    def too_small(rate: float) -> bool:
        log, slope, _ = stack.cumulants(rate)
        if delta is None:  # an epsilon that no sum reaches would ask for ever more
            return slope * step < epsilon and log - rate * epsilon / step > _NEVER
        return log - rate * slope - math.log1p(rate / step) > math.log(delta)

    low, high = 0.0, step
    while high < 1.0 and too_small(high):
        low, high = high, 2 * high
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return significant(min(low, 1.0)) if low > 0 else 0.0


@dataclass(frozen=True, slots=True)
class TiltedSum:
    """Composed masses at the losses (first + i) * step: how much lies there or above, and the curve at each loss."""

    first: int
    step: float
    mass: Floats
    curve: Floats
    scale: float  # logarithm of exp(-tilt * loss) * MGF at the first loss
    tilt: float
    noise: float  # rounding, as an L2 norm of the tilted masses
    outside: float  # tilted mass that may have wrapped around
    missing: float  # mass above the window
    relative: float  # relative error of everything else
    infinite: float
    raised: float  # by how much the sum may have been counted too high

    def _at(self, epsilon: float) -> tuple[float, float]:
        """The curve at epsilon as computed, and exp(-tilt * epsilon) * MGF."""
        place = math.floor(epsilon / self.step) - self.first + 1
        usual = math.exp(min(700.0, self.scale - self.tilt * (epsilon / self.step - self.first)))
        if place >= len(self.mass):
            return 0.0, usual
        gap = (self.first + place) * self.step - epsilon
        return float(self.mass[place]) * -math.expm1(-gap) + float(self.curve[place]) * math.exp(-gap), usual

    def above(self, epsilon: float) -> float:
        """An upper bound on the curve; only the trivial one before the window."""
        if epsilon < self.first * self.step:
            return math.inf
        value, usual = self._at(epsilon)
        missing = min(self.missing, 1.01 * usual)  # by Chernoff no more than that lies above epsilon at all
        return value * (1 + self.relative) + self._rounding(usual) + missing + self.infinite

    def under(self, epsilon: float) -> float:
        """A lower bound on the curve; before the window, what holds at its start."""
        value, usual = self._at(max(epsilon + self.raised, self.first * self.step))
        wrapped = self.outside * usual / (1 + self.tilt / self.step)
        return max(value * (1 - self.relative) - self._rounding(usual) - wrapped, 0.0) + self.infinite

    def _rounding(self, usual: float) -> float:
        """By Cauchy and Schwarz: the noise times the L2 norm of exp(-tilt k) min(1, (k + 1) step) over k >= 0."""
        size = len(self.mass)
        decay = -math.expm1(-2 * self.tilt)
        flat = min(float(size), 1 / decay) if decay else float(size)
        steep = min(float(size) ** 3, 2 / decay**3) if decay else float(size) ** 3
        return 1.01 * self.noise * usual * math.sqrt(min(flat, self.step**2 * steep))

    def guess(self, delta: float, side: int) -> float:
        """About where the upper bound (side 1) falls to delta, or the lower bound (side -1)."""
        usual = np.exp(np.minimum(self.scale - self.tilt * np.arange(len(self.curve)), 700.0))
        noise = self._rounding(1.0) + (self.outside / (1 + self.tilt / self.step) if side < 0 else 0.0)
        fixed = self.infinite + (self.missing if side > 0 else 0.0)
        bound = self.curve * (1 + side * self.relative) + side * noise * usual
        beyond = np.flatnonzero(bound > delta - fixed)
        place = int(beyond[-1]) + 1 if len(beyond) else 0
        if place == 0 or place >= len(self.curve):
            return (self.first + place) * self.step
        mass, curve = float(self.mass[place]), float(self.curve[place])
        rest = delta - fixed - side * noise * float(usual[place]) - curve
        part = min(1.0, max(0.0, rest / max(mass - curve, 1e-300)))
        back = -math.log1p(-part) if part < 1 else self.step
        lowered = self.raised if side < 0 else 0.0
        return (self.first + place) * self.step - min(self.step, back) - lowered


def add_up(parts: Parts, step: float, tilt: float, raised: float = 0.0) -> TiltedSum:
    """The composition of all parts, seen under the given tilt."""
    stack = Stack(parts)
    log, mean, spread = stack.cumulants(tilt)
    low, high, missing, outside = _window(parts, tilt, log, stack, spread)
    length, tilted, noise, log, size = _transformed(parts, tilt, low, high)
    # Far below the tilted mean there is nothing but rounding, and no question is asked there.
    start = max(0, math.floor(mean - 40 / (tilt + step)) - low)
    first, tilted = low + start, tilted[start:]
    index = np.arange(len(tilted), dtype=np.float64)
    scale = log - tilt * first
    with np.errstate(under="ignore"):
        y = tilted * np.exp(scale - tilt * index)
    # Losses that lie too far up for exp count as infinite above and as absent below.
    far = math.floor(LARGEST_LOSS / step)
    missing, y = missing + float(y[far:].sum()), y[:far]
    mass = np.cumsum(y[::-1])[::-1]
    # The curve at loss j is the sum over i > j of (1 - exp(-step)) exp(-step (i - 1 - j)) mass[i]: no term is negative.
    decay = np.exp(-index[:far] * step)
    later = np.cumsum((mass * decay)[::-1])[::-1]
    curve = np.append(later[1:], 0.0) / decay * math.expm1(step)
    uses = sum(count for _, count in parts)
    relative = 2.0**-36 + 16 * _UNIT * (uses + length + size + tilt * max(abs(low), abs(high)))
    return TiltedSum(first, step, mass, curve, scale, tilt, noise, outside, missing, relative, _infinite(parts), raised)


def _infinite(parts: Parts) -> float:
    """The mass of all sums with an infinite term: prod (f + i) - prod f, for finite masses f and infinite ones i."""
    finite = [max(float(part.finite.sum()), 1e-300) for part, _ in parts]
    everything = sum(count * math.log(mass + part.infinite) for mass, (part, count) in zip(finite, parts, strict=True))
    some = sum(count * math.log1p(part.infinite / mass) for mass, (part, count) in zip(finite, parts, strict=True))
    return math.exp(min(everything, 300.0)) * -math.expm1(-some)


def _window(parts: Parts, tilt: float, log: float, stack: Stack, spread: float) -> tuple[int, int, float, float]:
    """Indices that hold all but a 2**-43 of the tilted mass, the mass above them, and the tilted mass outside."""
    least = sum(count * part.first for part, count in parts)
    most = sum(count * (part.first + len(part.finite) - 1) for part, count in parts)
    high, missing = math.inf, 0.0
    more = 2 * math.sqrt(2 * _OUTSIDE / max(spread, 1.0))
    while True:  # Chernoff's bound at ever smaller rates, until it gets no better
        more /= 2
        up = stack.cumulants(tilt + more)[0]
        if not (end := math.ceil(min((up - log + _OUTSIDE) / more, 1e15))) < 0.98 * high:
            break
        high, missing = end, 1.01 * math.exp(min(700.0, up - (tilt + more) * end))
    more = math.sqrt(2 * _OUTSIDE / max(spread, 1.0))
    low = math.floor(max(-(stack.cumulants(tilt - more)[0] - log + _OUTSIDE) / more, -1e15))
    missing = 0.0 if high >= most else missing
    outside = sum(2.0**-42 for inside in (high >= most, low <= least) if not inside)
    return max(low, least), int(min(high, most)), missing, outside


def _transformed(parts: Parts, tilt: float, low: int, high: int) -> tuple[int, Floats, float, float, float]:
    """Tilted masses of the sum modulo the window's length, a bound on the L2 norm of their error, and what they lack.

    The last two numbers are the logarithm of the factor by which the masses were divided, and the sum of the absolute
    values of its terms, to which its rounding error is relative.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    if high - low + 2 > LARGEST_TRANSFORM:
        raise ScaleTooLarge(
            f"the sum of the losses needs {high - low + 2} points of the grid, more than {LARGEST_TRANSFORM}; "
            "give a coarser grid, or add the losses up by accounting.zcdp"
        )
    length = int(next_fast_len(high - low + 2, real=True))
    relative = _TRANSFORM * math.log2(length)
    product: Waves = np.ones(length // 2 + 1, dtype=np.complex128)
    offset, noise, growth, log, terms = 0, 0.0, 0.0, 0.0, 0.0
    for masses, count in parts:
        weights, top = _tilted(masses, tilt)
        total = float(weights.sum())
        log, terms = log + count * (math.log(total) + top), terms + count * (abs(math.log(total)) + abs(top))
        weights /= total
        if len(weights) > length:
            weights = np.bincount(np.arange(len(weights)) % length, weights, minlength=length).astype(np.float64)
        size = _norm(weights)
        product *= _power(rfft(weights, length), count)
        offset += count * masses.first
        noise += count * (relative + 4 * _UNIT) * size
        growth += count * (relative * math.sqrt(length) * size + (length + 4) * _UNIT)
    tilted = np.roll(irfft(product, length), (offset - low) % length)
    noise = (noise + relative * _norm(tilted)) * math.exp(min(growth, 700.0)) + 1e-280
    return length, np.maximum(tilted, 0.0), noise, log, terms


def _tilted(masses: Masses, tilt: float) -> tuple[Floats, float]:
    """Masses times exp(tilt * index), over exp(top), where the largest of them is as large as its mass."""
    exponents = tilt * np.arange(len(masses.finite), dtype=np.float64)
    with np.errstate(divide="ignore", under="ignore"):
        place = int(np.argmax(exponents + np.log(masses.finite)))
        # Beyond the cut there is no mass, or in a lower bound so little that giving some of it up does not matter.
        weights = masses.finite * np.exp(np.minimum(exponents - exponents[place], _CUT))
    return weights, tilt * (masses.first + place)


def _norm(values: Floats) -> float:
    return math.sqrt(float(np.einsum("i,i->", values, values)))  # on one thread, unlike a dot product


def _power(values: Waves, count: int) -> Waves:
    """Integer powers by repeated squaring, whose rounding error is at most 4 units per factor."""
    result = values
    for digit in bin(count)[3:]:
        result = result * result
        if digit == "1":
            result *= values
    return result
