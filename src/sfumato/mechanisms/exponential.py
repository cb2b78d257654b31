"""The exponential mechanism: choose one of finitely many candidates, the better the likelier.

Claim. Let one unit move each candidate's score by at most `sensitivity`. Then choosing candidate i with probability
proportional to exp(epsilon * score_i / (2 * sensitivity)) is epsilon-differentially private, and it is even
epsilon**2/8-zCDP, since its log-ratios lie in an interval of length epsilon. If one unit can only move all scores in
the same direction (`monotonic`, as a count under add-remove), the factor 2 is not needed.
Proof: docs/proofs/exponential.md. Papers: McSherry and Talwar 2007; Cesar and Rogers 2021.

>>> mechanism = Exponential(candidates=("red", "green", "blue"), sensitivity=1, epsilon=1)
>>> mechanism.release([10, 200, 30])
'green'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms._examples.example import Example
from sfumato.mechanisms._noise.choosing import Choosing, Scores
from sfumato.mechanisms.samplers import Selection
from sfumato.privacy.loss import Loss
from sfumato.rounding import down, log_up, up


@dataclass(frozen=True)
class Exponential(Choosing):
    """A private choice among `candidates`; the value is the vector of their scores.

        candidates    what may be chosen, each once
        sensitivity   how far one unit can move each score: a number or a `Sensitivity`
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        monotonic     whether a unit moves all scores in one direction, as counts do under add-remove: half the noise
        neighbors    'add-remove' or 'replace'; left out: the sensitivity's own relation, else add-remove
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> Exponential(candidates=("tea", "coffee"), sensitivity=1, epsilon=1, monotonic=True).release([10, 900])
    'coffee'
    """

    @property
    def loss(self) -> Loss:
        """Pure epsilon, and less in zCDP than pure epsilon implies."""
        epsilon = Fraction(self.epsilon)
        return Loss.pure(epsilon, rho=epsilon * epsilon / 8)

    def release(self, value: Scores, entropy: Entropy = SYSTEM) -> Any:
        """One of the candidates."""
        return self.candidates[Selection(self._exponents(value)).draw(entropy)]

    def error(self, confidence: checks.Number = 0.95) -> float:
        """How far the chosen score may lie below the best one, with this confidence: ln(candidates / miss) / rate."""
        miss = 1 - checks.inside(confidence=confidence)
        return up(log_up(len(self.candidates) / miss) / self._rate)

    def log_probability(self, output: Any, value: Scores) -> float:
        """The logarithm of the probability of a choice, minus infinity for what is no candidate."""
        if output not in self.candidates:
            return -math.inf
        exponents = self._exponents(value)
        highest = max(exponents)
        total = math.fsum(math.exp(down(x - highest)) for x in exponents)
        return down(exponents[self.candidates.index(output)] - highest) - math.log(total)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Scores that fall and rise, and scores that only rise."""
        five, three = cls(tuple("abcde"), 1, 2), cls(tuple("abc"), 2, 1, monotonic=True)
        scores, others = (0, -40, -41, -40.5, -39), (-1, -39, -40, -39.5, -38)
        return (
            Example("exponential", five, scores, others, tuple("abcde"), 0.999, five.fall),
            Example("exponential, monotonic", three, (0, 50, 0), (2, 50, 0), tuple("abc"), 0.999, three.fall),
        )
