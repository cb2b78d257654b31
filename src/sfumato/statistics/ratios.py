"""Sums, differences and ratios of released numbers, each with an interval of its own.

What the noise of several numbers does together is known (`mechanisms.sums`), so no reach is added to another. What the
limit takes away is one-sided and common: all groups of a measure together miss at most `lost`, whichever they are, in
the norm that the limit is in. With Gaussian noise that is L2, so that a sum of k groups may miss sqrt(k) times as much.

A ratio m = A / B solves A - m B = 0. So it is among those m for which the released A - m B is not farther from zero
than noise and loss explain (Fieller 1940). As B is surely not zero, and both sides are convex in m, these m are an
interval, and any m outside that is tested proves an end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.mechanisms._noise.noise import LaplaceNoise
from sfumato.mechanisms._noise.sums import Floats, Noise, Plane, ScaledPlane, Term, plane, reach
from sfumato.statistics.estimate import Estimate

Truths = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
_HALVINGS, _DOUBLINGS = 60, 200


@dataclass(frozen=True, slots=True)
class Part:
    """Released numbers that count alike: how many, and the weight of each in A and in B."""

    numbers: int
    above: float
    below: float = 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """The released numbers of one measure; all of them together miss `lost` at most, None: nobody knows."""

    noise: Noise
    parts: tuple[Part, ...]
    lost: int | None
    signed: bool = False

    def hidden(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """How far below and above what is released of x A + y B the truth may lie, by what the limit took away."""
        weights = np.array([x * part.above + y * part.below for part in self.parts])
        down, up = (self._together(np.maximum(0.0, sign * weights)) for sign in (-1.0, 1.0))
        if self.signed:
            down = up = self._together(np.abs(weights))
        lost = math.inf if self.lost is None else float(self.lost)
        return _times(down, lost), _times(up, lost)

    def _together(self, weights: Floats) -> Floats:
        """How much of what is lost counts, at most: losses have a norm in L1, with Gaussian noise in L2."""
        if isinstance(self.noise, LaplaceNoise):
            return np.asarray(weights.max(axis=0))
        numbers = np.array([float(part.numbers) for part in self.parts])
        return np.sqrt(np.tensordot(numbers, weights**2, axes=1))


def _times(weights: Floats, lost: float) -> Floats:
    found: Floats = np.where(weights > 0, weights * lost if lost < math.inf else lost, 0.0)
    return found


def linear(sources: Sequence[Source], value: float, miss: Fraction) -> Estimate:
    """A sum A of released numbers, where noise alone goes beyond the interval with probability `miss` at most."""
    terms = [Term(source.noise, part.above, part.numbers) for source in sources for part in source.parts]
    off = reach(tuple(terms), miss)
    one, none = np.ones(1), np.zeros(1)
    hidden = [source.hidden(one, none) for source in sources]
    low = value - off - sum(float(down[0]) for down, _ in hidden)
    return Estimate(value, low, value + off + sum(float(up[0]) for _, up in hidden))


def quotients(sources: Sequence[Source], above: Floats, below: Floats, miss: Fraction) -> tuple[Floats, Floats]:
    """The ends of A / B for several pairs of released A and B that are made alike; without ends where B may be zero."""
    turned = np.sign(below)
    above, below = above * turned, below * turned
    terms = tuple((s.noise, part.numbers, part.above, part.below) for s in sources for part in s.parts)
    solver = _Solver(tuple(sources), plane(terms, miss), above, below)
    sure = below > solver.off(np.zeros(1), np.ones(1))[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.where(sure, above / below, 0.0)
    low, high = (solver.end(start, sure, side) for side in (-1.0, 1.0))
    return np.where(sure, low, -math.inf), np.where(sure, high, math.inf)


@dataclass(frozen=True, slots=True)
class _Solver:
    sources: tuple[Source, ...]
    plane: Plane | ScaledPlane
    above: Floats
    below: Floats

    def off(self, x: Floats, y: Floats) -> Floats:
        """How far x A + y B may be released above the truth."""
        found: Floats = self.plane.reach(x, y) + sum(source.hidden(x, y)[0] for source in self.sources)
        return found

    def outside(self, m: Floats, side: float) -> Truths:
        """Whether noise and loss do not explain that A / B is m; side -1: m is too small for it, 1: too large."""
        x = np.full_like(m, -side)
        beyond: Truths = -side * (self.above - m * self.below) > self.off(x, -m * x)
        return beyond

    def end(self, start: Floats, sure: Truths, side: float) -> Floats:
        """The end of the interval on one side: first far enough out, then halving; each step keeps a proven m."""
        step = np.maximum(np.abs(start), 1e-300) * 1e-3 + self.plane.reach(np.ones(1), np.zeros(1)) / (
            np.where(sure, self.below, 1.0)
        )
        inner, outer = start, start + side * step
        for _ in range(_DOUBLINGS):
            found = self.outside(outer, side) | ~sure
            if bool(found.all()):
                break
            inner = np.where(found, inner, outer)
            step = np.where(found, step, 2 * step)
            outer = np.where(found, outer, start + side * step)
        proven = self.outside(outer, side)
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            is_out = self.outside(middle, side)
            inner, outer = np.where(is_out, inner, middle), np.where(is_out, middle, outer)
        end: Floats = np.where(proven, outer, side * math.inf)
        return end
