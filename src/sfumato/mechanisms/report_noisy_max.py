"""Report noisy max: add geometric noise to every score and name the candidate with the largest.

Claim. Let one unit move each candidate's score by at most `sensitivity`, which is at most `steps` multiples of the
lattice's spacing. Add to every score on the lattice independent noise with Pr[noise = k] proportional to
exp(-k / scale), k = 0, 1, 2, ..., scale = 2 * steps / epsilon (half of it for `monotonic` scores), and choose among the
candidates with the largest sum, each with the same probability. That is epsilon-differentially private, and it is
exactly permute and flip on the scores as rounded: the same probability of every choice. (Noise of Gumbel's law would be
exactly the exponential mechanism; it has no exact form on a lattice. Laplace noise is neither, and worse than both.)
Proof: docs/proofs/report_noisy_max.md. Papers: Dwork and Roth 2014, section 3.3; Ding, Kifer, E, Steinke, Wang, Xiao,
Zhang 2021.

>>> mechanism = ReportNoisyMax(candidates=("red", "green", "blue"), sensitivity=1, epsilon=1)
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
from sfumato.mechanisms._noise.lattice import Lattice, shifted
from sfumato.mechanisms._noise.noise import LARGEST_SCALE
from sfumato.mechanisms._noise.race import FINE, Race
from sfumato.mechanisms.permute_and_flip import below_best, least_fall, log_first
from sfumato.mechanisms.samplers import Integers
from sfumato.rounding import up


@dataclass(frozen=True)
class ReportNoisyMax(Choosing):
    """A private choice among `candidates`; the value is the vector of their scores. Fast for many candidates.

        candidates    what may be chosen, each once
        sensitivity   how far one unit can move each score: a number or a `Sensitivity`
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        monotonic     whether a unit moves all scores in one direction, as counts do under add-remove: half the noise
        neighbors    'add-remove' or 'replace'; left out: the sensitivity's own relation, else add-remove
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row
        spacing       the spacing of the scores' lattice, a power of two; left out: far finer than the noise

    >>> ReportNoisyMax(candidates=range(1_000), sensitivity=1, epsilon=1, spacing=1).release([0] * 999 + [100])
    999
    """

    spacing: checks.Number | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._scale  # refuse at once what cannot be released later

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice.for_noise(self._moves, 1 / self._rate, LARGEST_SCALE, self.spacing)

    @cached_property
    def _scale(self) -> Fraction:
        """The scale of the noise, in multiples of the lattice's spacing."""
        return self._lattice.steps(self._moves) * (1 if self.monotonic else 2) / Fraction(self.epsilon)

    @cached_property
    def _digits(self) -> int:
        """Binary digits of the noise below the lattice's spacing, so that ties between sums are rare."""
        return max(0, (FINE // math.ceil(self._scale)).bit_length())

    @cached_property
    def _race(self) -> Race:
        return Race(self._scale * (1 << self._digits))

    def _numbers(self, scores: Scores) -> Integers:
        floats = self._floats(scores)
        if floats is not None:
            return self._lattice.snap_many(floats, len(self.candidates))
        return np.array([self._lattice.snap(score) for score in self._scores(scores)], object)

    def release(self, value: Scores, entropy: Entropy = SYSTEM) -> Any:
        """One of the candidates."""
        numbers = shifted(self._numbers(value), self._digits)
        return self.candidates[self._race.draw(numbers, lambda i: Fraction(0), entropy)]

    def error(self, confidence: checks.Number = 0.95) -> float:
        """How far the chosen score may lie below the best one, with this confidence; rounding may add a spacing."""
        miss = 1 - checks.inside(confidence=confidence)
        return up((least_fall(len(self.candidates), miss) * self._scale + 1) * self._lattice.spacing)

    def log_probability(self, output: Any, value: Scores) -> float:
        """The logarithm of the probability of a choice, minus infinity for what is no candidate."""
        if output not in self.candidates:
            return -math.inf
        exponents = [number / self._scale for number in self._numbers(value).tolist()]
        return log_first(below_best(exponents), self.candidates.index(output))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Scores that fall and rise, and scores that only rise."""
        plain, rising = cls(tuple("abcde"), 1, 2, spacing=0.5), cls(tuple("abc"), 2, 1, monotonic=True)
        scores, others = (3, 3.5, 1, 2.25, 3.5), (2, 4.5, 2, 3.25, 4.5)
        return (
            Example("report noisy max", plain, scores, others, tuple("abcde"), 0.5, plain.fall, FEW),
            Example("report noisy max, far", rising, (0, 50, 0), (2, 50, 0), tuple("abc"), 0.999, rising.fall, FEW),
        )
