"""The inverse sensitivity mechanism: choose an answer, the likelier the fewer units would have to change for it.

Claim. Let d(z) be the least number of steps, each to a neighbor, from the data to a data set whose true answer is z.
Then choosing z with probability proportional to exp(-epsilon * d(z) / 2) is epsilon-differentially private, whatever
the question is, and even epsilon**2/8-zCDP. The true answer has d = 0 and is the likeliest one.
Proof: docs/proofs/inverse_sensitivity.md. Papers: Asi and Duchi 2020; McSherry and Talwar 2007.

>>> count = InverseSensitivity(candidates=range(100), epsilon=1)
>>> true = 42
>>> 0 <= count.release([abs(z - true) for z in range(100)]) < 100
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms._examples.apart import check_each_near
from sfumato.mechanisms._examples.example import FEW, Example
from sfumato.mechanisms._noise.choosing import odd_scores, one_each, read_candidates
from sfumato.mechanisms._noise.threshold import people
from sfumato.mechanisms.exponential import Exponential
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, settle
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.rounding import up


@dataclass(frozen=True)
class InverseSensitivity(Declared):
    """A private answer from a finite range; the value is the distance d(z) of each candidate, a whole number.

        candidates    all possible answers, each once
        epsilon       what one release costs; 1 or less is strong, above 10 hardly protects
        neighbors    'add-remove' or 'replace': the steps that the distances count
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> InverseSensitivity(candidates=("low", "middle", "high"), epsilon=1).release([60, 0, 80])
    'middle'
    """

    candidates: Sequence[Any]
    epsilon: checks.Number
    neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"candidates": ("a", "b", "c"), "epsilon": 1}

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "candidates", read_candidates(self.candidates))

    @cached_property
    def _choice(self) -> Exponential:
        return Exponential(self.candidates, 1, self.epsilon)

    @property
    def loss(self) -> Loss:
        """Pure epsilon, and less in zCDP than pure epsilon implies."""
        return self._choice.loss

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy."""
        return Guarantee(self.epsilon, neighbors=self.neighbors, unit=self.unit)

    def _scores(self, distances: Sequence[int]) -> list[Fraction]:
        return [Fraction(-people(each)) for each in one_each(self.candidates, distances, "distances")]

    def release(self, value: Sequence[int], entropy: Entropy = SYSTEM) -> Any:
        """One of the candidates."""
        return self._choice.release(self._scores(value), entropy)

    def error(self, confidence: checks.Number = 0.95) -> float:
        """The distance that the answer has at most, with this confidence, if one candidate is the true answer."""
        return up(Fraction(self._choice.error(confidence)))

    def log_probability(self, output: Any, value: Sequence[int]) -> float:
        """The logarithm of the probability of an answer, minus infinity for what is no candidate."""
        return self._choice.log_probability(output, self._scores(value))

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """Distances, which one unit moves by 1."""
        return tuple(range(len(self.candidates))), (1, *range(len(self.candidates) - 1))

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """One step in every distance."""
        check_each_near(value, neighbor, Fraction(1), "one step, in every distance", False)

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no distance for each candidate."""
        rest = [1] * (len(self.candidates) - 1)
        return (*odd_scores(len(self.candidates)), [0.5, *rest], [-1, *rest])

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """A count of 7, and of 8."""
        count, numbers = cls(tuple(range(12)), 2), tuple(range(12))
        seven, eight = (tuple(abs(z - true) for z in numbers) for true in (7, 8))
        name = "inverse sensitivity of a count"
        return (Example(name, count, seven, eight, numbers, 0.49, lambda z, distances: distances[z], FEW),)
