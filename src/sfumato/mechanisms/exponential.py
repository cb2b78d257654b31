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
from functools import cached_property
from typing import Any

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, OutsideRange, WrongShape
from sfumato.mechanisms.additive import distance
from sfumato.mechanisms.lattice import came, ratio
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, settle
from sfumato.mechanisms.samplers import Selection
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbours import Neighbours, Relation
from sfumato.privacy.sensitivity import Norm, Sensitivity, relation
from sfumato.rounding import down, log_up, up


@dataclass(frozen=True)
class Exponential(Declared):
    """A private choice among `candidates`; the value is the vector of their scores.

        candidates    what may be chosen, each once
        sensitivity   how far one unit can move each score: a number or a `Sensitivity`
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        monotonic     whether a unit moves all scores in one direction, as counts do under add-remove: half the noise
        neighbours    'add-remove' or 'replace'; left out: the sensitivity's own relation, else add-remove
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> Exponential(candidates=("tea", "coffee"), sensitivity=1, epsilon=1, monotonic=True).release([10, 900])
    'coffee'
    """

    candidates: Sequence[Any]
    sensitivity: checks.Number | Sensitivity
    epsilon: checks.Number
    monotonic: bool = False
    neighbours: Neighbours | Relation | None = None
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "candidates", tuple(self.candidates))
        if not self.candidates:
            raise InvalidArgument("candidates must hold at least one; got none; list what may be chosen")
        if len(set(self.candidates)) < len(self.candidates):
            raise InvalidArgument("candidates must differ from each other; got one twice; list each once")
        if self.monotonic and self.neighbours is Neighbours.REPLACE:
            raise InvalidArgument(
                "monotonic must be False under replace, where a unit's scores go up and down; got True; leave it out"
            )
        _ = self._rate

    @cached_property
    def _rate(self) -> Fraction:
        """What a score is multiplied with."""
        moves = distance(self.sensitivity, Norm.L2, None)  # no norm of a move is below its largest coordinate
        return Fraction(self.epsilon) / (moves * (1 if self.monotonic else 2))

    @property
    def loss(self) -> Loss:
        """Pure epsilon, and less in zCDP than pure epsilon implies."""
        epsilon = Fraction(self.epsilon)
        return Loss.pure(epsilon, rho=epsilon * epsilon / 8)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy."""
        return Guarantee(self.epsilon, neighbours=relation(self.sensitivity, self.neighbours), unit=self.unit)

    def _exponents(self, scores: Sequence[float | Fraction]) -> list[Fraction]:
        listed = hasattr(scores, "__len__")
        if not listed or len(scores) != len(self.candidates):
            got = f"{len(scores)} of them" if listed else came(scores)
            raise WrongShape(f"value must be {len(self.candidates)} scores, one a candidate; got {got}")
        return [Fraction(*_finite(score)) * self._rate for score in scores]

    def release(self, value: Sequence[float | Fraction], entropy: Entropy = SYSTEM) -> Any:
        """One of the candidates."""
        return self.candidates[Selection(self._exponents(value)).draw(entropy)]

    def error(self, confidence: checks.Number = 0.95) -> float:
        """How far the chosen score may lie below the best one, with this confidence: ln(candidates / miss) / rate."""
        miss = 1 - checks.inside(confidence=confidence)
        return up(log_up(len(self.candidates) / miss) / self._rate)

    def log_probability(self, output: Any, value: Sequence[float | Fraction]) -> float:
        """The logarithm of the probability of a choice, minus infinity for what is no candidate."""
        if output not in self.candidates:
            return -math.inf
        exponents = self._exponents(value)
        highest = max(exponents)
        total = math.fsum(math.exp(down(x - highest)) for x in exponents)
        return down(exponents[self.candidates.index(output)] - highest) - math.log(total)


def _finite(score: float | Fraction) -> tuple[int, int]:
    try:
        return ratio(score)
    except (ValueError, OverflowError, AttributeError):
        raise OutsideRange(
            f"value must hold finite scores only; got {came(score)}; give a candidate you rule out a low score"
        ) from None
