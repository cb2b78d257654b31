"""Choose one of finitely many candidates by their scores: what the mechanisms share that do so.

Claim. If one unit moves each score by at most `sensitivity`, no two scores move apart by more than twice that, and by
no more than that if all scores move in the same direction (`monotonic`, as counts do under add-remove). So a choice
that costs r for each unit of distance between scores is epsilon-private at r = epsilon / (2 * sensitivity), and at
twice that rate where scores are monotonic. Which choices do so is proved with each of them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.errors import InvalidArgument, OutsideRange, WrongShape
from sfumato.mechanisms._examples.apart import check_each_near, declared_distance, moved
from sfumato.mechanisms._noise.additive import distance
from sfumato.mechanisms._noise.lattice import came, ratio
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, settle
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.sensitivity import Norm, Sensitivity, relation

Scores = Sequence[float | Fraction]
_PLAIN = {float, int, np.float64}  # types whose values a float may hold


@dataclass(frozen=True)
class Choosing(Declared):
    """A private choice among `candidates`; the value is the vector of their scores."""

    candidates: Sequence[Any]
    sensitivity: checks.Number | Sensitivity
    epsilon: checks.Number
    monotonic: bool = False
    neighbors: Neighbors | Relation | None = None
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"candidates": ("a", "b", "c"), "sensitivity": 1, "epsilon": 1}

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "candidates", read_candidates(self.candidates))
        if self.monotonic and self.neighbors is Neighbors.REPLACE:
            raise InvalidArgument(
                "monotonic must be False under replace, where a unit's scores go up and down; got True; leave it out"
            )
        _ = self._rate

    @cached_property
    def _moves(self) -> Fraction:
        """How far one unit moves each score: no norm of a move is below its largest coordinate."""
        return distance(self.sensitivity, Norm.L2, None)

    @cached_property
    def _rate(self) -> Fraction:
        """What a score is multiplied with."""
        return Fraction(self.epsilon) / (self._moves * (1 if self.monotonic else 2))

    @property
    def loss(self) -> Loss:
        """Pure epsilon."""
        return Loss.pure(Fraction(self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy."""
        return Guarantee(self.epsilon, neighbors=relation(self.sensitivity, self.neighbors), unit=self.unit)

    def _exponents(self, scores: Scores) -> list[Fraction]:
        return [score * self._rate for score in self._scores(scores)]

    def _scores(self, scores: Scores) -> list[Fraction]:
        return [Fraction(*_finite(score)) for score in one_each(self.candidates, scores, "scores")]

    def _floats(self, scores: Scores) -> NDArray[np.float64] | None:
        """The scores as floats, in the same steps whatever they are; None where a score is no float exactly."""
        given = one_each(self.candidates, scores, "scores")
        listed = given.tolist() if isinstance(given, np.ndarray) else list(given)
        if not set(map(type, listed)) <= _PLAIN:
            return None
        try:
            floats = list(map(float, listed))
        except OverflowError:
            return None
        array = np.array(floats)
        # An integer may have more digits than a float.
        return array if floats == listed and np.isfinite(array).all() else None

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """One score falls, and the others rise if they may."""
        size, by = len(self.candidates), moved(0, declared_distance(self.sensitivity))
        rest = 0.0 if self.monotonic else by
        return (by, *[0.0] * (size - 1)), (0.0, *[rest] * (size - 1))

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """At most the sensitivity in every score."""
        most = declared_distance(self.sensitivity)
        check_each_near(value, neighbor, most, "the sensitivity, in every score", self.monotonic)

    def invalid_inputs(self) -> Sequence[Any]:
        """Scores that are none, and not one for each candidate."""
        return odd_scores(len(self.candidates))

    def fall(self, output: Any, scores: Scores) -> float:
        """How far the score of an output lies below the best one; private, like the scores."""
        return float(max(scores) - scores[self.candidates.index(output)])


def odd_scores(candidates: int) -> Sequence[Any]:
    """What is no vector of so many scores."""
    odd = (math.nan, math.inf, None, "Rumpelstiltskin", np.timedelta64(1, "s"))
    return (3, {}, [1] * (candidates + 1), *([each, *[1] * (candidates - 1)] for each in odd))


def read_candidates(candidates: Sequence[Any]) -> tuple[Any, ...]:
    """What may be chosen, each once."""
    if isinstance(candidates, str | bytes):
        raise InvalidArgument(f"candidates must be a list; got the text {candidates!r}; write ['a', 'b']")
    listed = tuple(candidates)
    if not listed:
        raise InvalidArgument("candidates must hold at least one; got none; list what may be chosen")
    if not all(isinstance(each, Hashable) for each in listed):
        raise InvalidArgument(
            "candidates must be values that can be compared; got a list or another container; use tuples"
        )
    if len(set(listed)) < len(listed):
        raise InvalidArgument("candidates must differ from each other; got one twice; list each once")
    return listed


def one_each(candidates: Sequence[Any], values: Sequence[Any], word: str) -> Sequence[Any]:
    """Refuse what is not one value a candidate."""
    listed = hasattr(values, "__len__") and not isinstance(values, Mapping | Set)  # which have an order of their own
    if not listed or len(values) != len(candidates):
        got = f"{len(values)} of them" if listed else came(values)
        raise WrongShape(f"value must be {len(candidates)} {word}, one a candidate; got {got}")
    return values


def _finite(score: float | Fraction) -> tuple[int, int]:
    try:
        return ratio(score)
    except (ValueError, OverflowError, AttributeError):
        raise OutsideRange(
            f"value must hold finite scores only; got {came(score)}; give a candidate you rule out a low score"
        ) from None
