"""Permute and flip: choose one of finitely many candidates, never worse than the exponential mechanism.

Claim. Let one unit move each candidate's score by at most `sensitivity`, r = epsilon / (2 * sensitivity), and r twice
that for `monotonic` scores. Take the candidates in random order, toss for each a coin that shows heads with probability
p = exp(-r * (best score - its score)), and choose the first with heads. That is epsilon-differentially private; the
chosen score is at least as good as that of the exponential mechanism, in distribution. With a_k the mean, over all sets
of k other candidates, of the product of their 1 - p, a candidate's probability is p (a_0 + ... + a_(n-1)) / n.

The code tosses no coins: their number, which a clock shows, would tell the best score from the others. It adds
exponential noise of rate r to every score and chooses the largest sum, which is the same choice (`race`).
Proof: docs/proofs/permute_and_flip.md. Papers: McKenna and Sheldon 2020; Ding, Kifer, E, Steinke, Wang, Xiao, Zhang
2021.

>>> mechanism = PermuteAndFlip(candidates=("red", "green", "blue"), sensitivity=1, epsilon=1)
>>> mechanism.release([10, 200, 30])
'green'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms._examples.example import FEW, Example
from sfumato.mechanisms._noise.choosing import Choosing, Scores
from sfumato.mechanisms._noise.lattice import floor_many, power_of_two
from sfumato.mechanisms._noise.race import FINE, Race
from sfumato.mechanisms.samplers import Integers
from sfumato.rounding import down, exp_bounds, log_up, up

_DIGITS = 128


@dataclass(frozen=True)
class PermuteAndFlip(Choosing):
    """A private choice among `candidates`; the value is the vector of their scores.

        candidates    what may be chosen, each once
        sensitivity   how far one unit can move each score: a number or a `Sensitivity`
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        monotonic     whether a unit moves all scores in one direction, as counts do under add-remove: half the noise
        neighbors    'add-remove' or 'replace'; left out: the sensitivity's own relation, else add-remove
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> PermuteAndFlip(candidates=("tea", "coffee"), sensitivity=1, epsilon=1, monotonic=True).release([10, 900])
    'coffee'
    """

    @cached_property
    def _unit(self) -> Fraction:
        """The power of two in which scores are counted: so small that the noise has `FINE` of them, at least."""
        return power_of_two(1 / self._rate) / FINE

    @cached_property
    def _race(self) -> Race:
        return Race(1 / (self._rate * self._unit))

    def release(self, value: Scores, entropy: Entropy = SYSTEM) -> Any:
        """One of the candidates."""
        floors = self._floors(value)
        return self.candidates[self._race.draw(floors, lambda i: self._counted(value, i) - int(floors[i]), entropy)]

    def _floors(self, scores: Scores) -> Integers:
        """The scores as whole numbers of units, rounded down."""
        floats = self._floats(scores)
        if floats is not None and (floors := floor_many(floats, self._unit)) is not None:
            return floors
        return np.array([math.floor(score / self._unit) for score in self._scores(scores)], object)

    def _counted(self, scores: Scores, i: int) -> Fraction:
        return self._scores(scores)[i] / self._unit

    def error(self, confidence: checks.Number = 0.95) -> float:
        """How far the chosen score may lie below the best one, with this confidence: ln((n - 1) / (2 miss)) / rate."""
        miss = 1 - checks.inside(confidence=confidence)
        return up(least_fall(len(self.candidates), miss) / self._rate)

    def log_probability(self, output: Any, value: Scores) -> float:
        """The logarithm of the probability of a choice, minus infinity for what is no candidate."""
        if output not in self.candidates:
            return -math.inf
        return log_first(below_best(self._exponents(value)), self.candidates.index(output))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Scores that fall and rise, and scores that only rise."""
        plain, rising = cls(tuple("abcde"), 1, 2), cls(tuple("abcde"), 2, 1, monotonic=True)
        scores, others = (0, -40, -41, -40.5, -39), (-1, -39, -40, -39.5, -38)
        near, above = (3, 3.5, 1, 2.25, 3.5), (4, 5.5, 1, 2.25, 5)
        return (
            Example("permute and flip", plain, scores, others, tuple("abcde"), 0.999, plain.fall, FEW),
            Example("permute and flip, monotonic", rising, near, above, tuple("abcde"), 0.5, rising.fall, FEW),
        )


def below_best(exponents: Sequence[Fraction]) -> list[Fraction]:
    """How far each lies below the largest."""
    best = max(exponents)
    return [best - x for x in exponents]


def least_fall(candidates: int, miss: Fraction) -> Fraction:
    """A fall x >= 0 such that (candidates - 1) exp(-x) / 2 is at most `miss`."""
    chance = (candidates - 1) / (2 * miss)
    return log_up(chance) if chance > 1 else Fraction(0)


def log_first(below: Sequence[Fraction], place: int) -> float:
    """The logarithm of the probability that this candidate shows the first heads."""
    _, high = first_heads(below, place)
    return down(-below[place]) + math.log(up(high))


def first_heads(below: Sequence[Fraction], place: int, bits: int = _DIGITS) -> tuple[Fraction, Fraction]:
    """Bounds on the probability that every candidate before this one shows tails, in random order.

    >>> low, high = first_heads([Fraction(0), Fraction(3)], 1)      # after the best one there is no way; before it half
    >>> low == high == Fraction(1, 2)
    True
    """
    one, count = 1 << bits, 0
    lows, highs = [one], [one]  # of a_0, a_1, ... in units of 2**-bits
    for other, x in enumerate(below):
        if other == place:
            continue
        heads_low, heads_high = exp_bounds(-x, bits) if x else (one, one)
        tails_low, tails_high = one - min(heads_high, one), one - heads_low
        count += 1
        # Of the sets of k candidates among `count`, a part k / count holds the new one.
        lows = [
            ((count - k) * same + (k * tails_low * fewer >> bits)) // count
            for k, (same, fewer) in enumerate(zip([*lows, 0], [0, *lows], strict=True))
        ]
        highs = [
            -(-((count - k) * same - (-k * tails_high * fewer >> bits)) // count)
            for k, (same, fewer) in enumerate(zip([*highs, 0], [0, *highs], strict=True))
        ]
    return Fraction(sum(lows), len(below) << bits), Fraction(sum(highs), len(below) << bits)
