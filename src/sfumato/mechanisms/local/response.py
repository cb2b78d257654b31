"""What the randomizers of one person's answer share: their promise, and how one answer among several is read.

A response costs a pure epsilon, and its neighbors are two answers of one person: any answer may replace any other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms.local.odds import below
from sfumato.mechanisms.local.scale import Bounds, Scale
from sfumato.mechanisms.mechanism import Declared, Protected
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors


class Response(Declared):
    """A release of one person's answer."""

    epsilon: checks.Number
    unit: Protected

    @property
    def loss(self) -> Loss:
        """Pure epsilon."""
        return Loss.pure(Fraction(self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy of all that one person answers, which another answer may replace."""
        return Guarantee(self.epsilon, neighbors=Neighbors.REPLACE, unit=self.unit)


class ChoiceResponse(Response):
    """A response to a question with several answers, of which one is true; outputs agree with some of them."""

    categories: Sequence[Any]
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "categories": ("a", "b", "c")}

    @property
    def agree(self) -> Fraction:
        """The probability that an output agrees with the true answer."""
        raise NotImplementedError

    @property
    def stray(self) -> Fraction:
        """The probability that an output agrees with an answer that is not the true one."""
        raise NotImplementedError

    @property
    def spread(self) -> float:
        """The mean squared error of the shares of n people times n, on average over the categories; exact."""
        return float(spread(self.agree, self.stray, len(self.categories)))

    def place(self, value: Any) -> int:
        """Where an answer stands among the categories."""
        try:
            return self._places[value]
        except (KeyError, TypeError):
            raise OutsideRange(
                f"value must be one of the {len(self.categories)} categories; got something else"
            ) from None

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {category: place for place, category in enumerate(self.categories)}

    def error(self, confidence: checks.Number = 0.95, answers: int = 1) -> float:
        """How far a share estimated from this many answers may be off: Hoeffding's bound, good for any number."""
        return hoeffding(confidence, answers) / float(self.agree - self.stray)

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """Two answers."""
        first, second, *_ = self.categories
        return first, second

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no answer."""
        return "Rumpelstiltskin", None, math.nan, ["a"]


class NumberResponse(Response):
    """A response to a question for a number between bounds, which is rounded to the nearest step."""

    bounds: Bounds
    steps: int
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "bounds": (0, 16)}

    @cached_property
    def scale(self) -> Scale:
        """The places between the bounds."""
        return Scale.read(self.bounds, self.steps)

    @property
    def total(self) -> int:
        """A uniform integer below it decides."""
        raise NotImplementedError

    def output(self, place: int, drawn: int) -> int:
        """The output for a place and a uniform integer below `total`."""
        raise NotImplementedError

    def release(self, value: checks.Number, entropy: Entropy = SYSTEM) -> int:
        """The output to send for the true number `value`."""
        return self.output(self.scale.place(value), below(self.total, entropy))

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """Both bounds."""
        low, high = self.bounds
        return low, high

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no number."""
        return "Rumpelstiltskin", None, math.nan, math.inf, [1]


class BoxesResponse(Response):
    """A response to a question with boxes, of which several may be ticked."""

    boxes: Sequence[Any]

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """One box, and another one."""
        first, second, *_ = self.boxes
        return (first,), (second,)

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no collection of boxes."""
        return ["Rumpelstiltskin"], [None], [math.nan], 3


def read_categories(categories: Sequence[Any]) -> tuple[Any, ...]:
    """Two or more different answers."""
    listed = tuple(categories)
    if len(set(listed)) < max(2, len(listed)):
        raise InvalidArgument(f"categories must be two or more different ones; got {len(listed)}; list each once")
    return listed


def hoeffding(confidence: checks.Number, answers: int) -> float:
    """How far a mean of so many numbers in [0, 1] may be off."""
    miss = float(1 - checks.inside(confidence=confidence))
    return math.sqrt(math.log(2 / miss) / (2 * checks.whole(least=1, answers=answers)))


def spread(agree: Fraction, stray: Fraction, answers: int) -> Fraction:
    """The mean squared error of a share times n, on average over the answers: exact for every set of n people.

    Of n people each answer is true for some, and these numbers add up to n, so what the average is does not depend on
    them: (agree (1 - agree) + (k - 1) stray (1 - stray)) / (k (agree - stray)**2).
    """
    return (agree * (1 - agree) + (answers - 1) * stray * (1 - stray)) / (answers * (agree - stray) ** 2)
