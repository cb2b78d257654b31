"""One person's ticks in several boxes: one box drawn at random with its tick, or all boxes, each perhaps turned over.

Claim. A box is drawn whatever the ticks are, and its tick kept with probability high / (high + low), else turned over;
with high / low <= e**epsilon the release is epsilon-differentially private. If every box is sent, two people differ in
at most d = min(boxes, 2 * most) of them, and (high / low)**d <= e**epsilon. Proof: docs/proofs/local_response.md.

>>> BoxResponse(1.1, "abc", odds=3).agree
Fraction(3, 4)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms._examples.example import FEW, Example, around
from sfumato.mechanisms.local.blocks import Integers
from sfumato.mechanisms.local.odds import LIFT, below, read_odds
from sfumato.mechanisms.local.response import BoxesResponse, hoeffding, read_categories
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.mechanisms.samplers import Coin, bernoulli, uniform
from sfumato.rounding import Real

Ticks = NDArray[np.bool_]
Packed = NDArray[np.uint8]


def read_most(boxes: int, most: int | None) -> int:
    """How many boxes one person may tick: all of them, unless said."""
    limit = boxes if most is None else checks.whole(least=1, most=most)
    if limit > boxes:
        raise InvalidArgument(f"most must be at most the number of boxes, {boxes}; got {most}; leave it out")
    return limit


def ticked(boxes: dict[Any, int], most: int, value: Collection[Any]) -> list[int]:
    """The places of the boxes that are ticked, in their order."""
    try:
        places = sorted({boxes[each] for each in value})
    except (KeyError, TypeError):
        raise OutsideRange(f"value must be a list of some of the {len(boxes)} boxes; got something else") from None
    if len(places) > most:
        raise OutsideRange(f"value must hold at most {most} of the boxes; got more; declare a larger `most`")
    return places


def mask(places: Collection[int]) -> int:
    """The boxes that are ticked as bits of one number, which is read in the same steps for every box."""
    return sum(1 << place for place in set(places))


def check_ticks(ticks: Ticks, boxes: int, most: int) -> None:
    """Refuse rows of another length, or with more ticks than are allowed."""
    if ticks.ndim != 2 or ticks.shape[1] != boxes or (ticks.sum(axis=1) > most).any():
        raise OutsideRange(f"ticks must be rows of {boxes} truth values, at most {most} of them true; got others")


@dataclass(frozen=True)
class BoxResponse(BoxesResponse):
    """One box and its tick, as 2 * box + tick, or a bit for every box; the value is the collection of those ticked.

        epsilon       what one answer costs; 1 or less is strong, above 10 hardly protects
        boxes         what may be ticked, two or more
        every         whether all boxes are sent, at a part of epsilon each; left out: one of them, drawn at random
        most          how many boxes one person may tick; left out: all
        odds          how much likelier a tick is kept than turned over; left out: e**epsilon, rounded down, or its root
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> 0 <= BoxResponse(1, ("cough", "fever", "rash")).release(["cough", "rash"]) < 6
    True
    """

    epsilon: checks.Number
    boxes: Sequence[Any]
    every: bool = False
    most: int | None = None
    odds: checks.Number | None = None
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "boxes": ("a", "b", "c")}

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "boxes", read_categories(self.boxes))
        object.__setattr__(self, "every", bool(self.every))
        object.__setattr__(self, "most", read_most(len(self.boxes), self.most))
        object.__setattr__(self, "odds", read_odds(Fraction(self.epsilon) / self.differing, self.odds))

    @property
    def differing(self) -> int:
        """How many bits that are sent two people may differ in."""
        return min(len(self.boxes), 2 * int(self.most or 0)) if self.every else 1

    @cached_property
    def _levels(self) -> tuple[int, int]:
        return Fraction(self.odds or 0).as_integer_ratio()

    @property
    def agree(self) -> Fraction:
        """The probability that a tick arrives as one."""
        return Fraction(self._levels[0], sum(self._levels))

    @property
    def stray(self) -> Fraction:
        """The probability that an empty box arrives as ticked."""
        return 1 - self.agree

    def release(self, value: Collection[Any], entropy: Entropy = SYSTEM) -> int:
        """What to send for the boxes that are ticked."""
        places = self.places(value)
        total = sum(self._levels)
        if not self.every:
            return self.output(places, [below(len(self.boxes) * total, entropy)])
        return self.output(places, [below(total, entropy) for _ in self.boxes])

    def output(self, places: Collection[int], drawn: Sequence[int]) -> int:
        """What is sent: one integer below boxes * (high + low) decides, or one below high + low for each box."""
        (high, low), ticks = self._levels, mask(places)
        if self.every:
            return sum((ticks >> i & 1 ^ (each >= high)) << i for i, each in enumerate(drawn))
        # Lifted, so that the integers divided have the same length for a tick that is kept and one turned over.
        lifted, rest = divmod(drawn[0] + (high + low << LIFT), high + low)
        box = lifted - (1 << LIFT)
        return 2 * box + (ticks >> box & 1 ^ (rest >= high))

    def release_all(self, ticks: Ticks, entropy: Entropy = SYSTEM) -> Integers | Packed:
        """What many people send: numbers, or rows of packed bits (box i is bit i % 8 of byte i // 8)."""
        check_ticks(ticks, len(self.boxes), int(self.most or 0))
        count, wide = ticks.shape
        coin = Coin(Real.exactly(self.stray))
        if self.every:
            turned = bernoulli(coin, count * wide, entropy).reshape(count, wide)
            return np.packbits(ticks ^ turned, axis=1, bitorder="little")
        box = uniform(wide, count, entropy)
        sent = ticks[np.arange(count), box] ^ bernoulli(coin, count, entropy)
        return 2 * box + sent

    def places(self, value: Collection[Any]) -> list[int]:
        """The places of the boxes that are ticked."""
        return ticked(self._places, int(self.most or 0), value)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {box: place for place, box in enumerate(self.boxes)}

    def error(self, confidence: checks.Number = 0.95, answers: int = 1) -> float:
        """How far a share may be off that is estimated from this many answers to its box: Hoeffding's bound."""
        return hoeffding(confidence, answers) / float(self.agree - self.stray)

    def log_probability(self, output: int, value: Collection[Any]) -> float:
        """The logarithm of the probability of what is sent for the boxes that are ticked."""
        (high, low), chosen, wide = self._levels, self.places(value), len(self.boxes)
        total = math.log(high + low)
        if not 0 <= output < (1 << wide if self.every else 2 * wide):
            return -math.inf
        if not self.every:
            is_kept = (output // 2 in chosen) == bool(output & 1)
            return math.log(high if is_kept else low) - total - math.log(wide)
        turned = (output ^ sum(1 << place for place in chosen)).bit_count()
        return turned * math.log(low) + (wide - turned) * math.log(high) - wide * total

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """One box is sent, and every box."""
        one, every = cls(1, "abc"), cls(2, "abcd", True, 1)
        return (
            Example("one box", one, frozenset("ac"), frozenset("b"), around(0, 5), 1, None, FEW),
            Example("every box", every, frozenset("a"), frozenset("d"), around(0, 15), 1, None, FEW),
        )
