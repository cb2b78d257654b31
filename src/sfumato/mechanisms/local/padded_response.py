"""One person's ticks in very many boxes: one of them drawn at random, sent as an answer to "which of these?".

Claim. A person may tick at most `most` boxes. A slot below `most` is drawn whatever they are: the box in it, or "none"
beyond the last, is released by a `BlockResponse` over the boxes and "none". Whatever the slot, the outputs of two
people have probabilities within e**epsilon, and so have their mixtures. Proof: docs/proofs/local_response.md. Papers:
Qin et al. 2016; Wang, Li, Jha 2018 (padding and sampling).

>>> from sfumato.mechanisms.local import Hyperplanes
>>> round(PaddedResponse(1, range(400), 3, Hyperplanes.fitting(4, 401)).spread, 1)       # 9 times that of one of k
33.2
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.mechanisms._examples.example import FEW, Example, around
from sfumato.mechanisms.local.block_response import BlockResponse
from sfumato.mechanisms.local.blocks import Blocks, Integers, Singles, Subsets, Weights
from sfumato.mechanisms.local.box_response import Ticks, check_ticks, read_most, ticked
from sfumato.mechanisms.local.odds import below
from sfumato.mechanisms.local.response import BoxesResponse, hoeffding, read_categories
from sfumato.mechanisms.mechanism import ROW, Protected, settle
from sfumato.mechanisms.samplers import uniform


@dataclass(frozen=True)
class PaddedResponse(BoxesResponse):
    """The output for one of the boxes that are ticked, or for none; the value is the collection of those ticked.

        epsilon       what one answer costs; 1 or less is strong, above 10 hardly protects
        boxes         what may be ticked, two or more
        most          how many boxes one person may tick
        blocks        which outputs agree with which box; see `BlockResponse`
        odds          how much likelier an output is that agrees; left out: e**epsilon, rounded down to 60 bits
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> 0 <= PaddedResponse(1, ("cough", "fever", "rash"), most=1).release(["rash"]) < 4
    True
    """

    epsilon: checks.Number
    boxes: Sequence[Any]
    most: int
    blocks: Blocks = Singles()  # noqa: RUF009
    odds: checks.Number | None = None
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1, "boxes": ("a", "b", "c"), "most": 2}

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "boxes", read_categories(self.boxes))
        object.__setattr__(self, "most", read_most(len(self.boxes), self.most))
        object.__setattr__(self, "odds", self.inner.odds)

    @cached_property
    def inner(self) -> BlockResponse:
        """The response over the places of the boxes, and one more for none."""
        return BlockResponse(self.epsilon, range(len(self.boxes) + 1), self.blocks, self.odds)

    @property
    def spread(self) -> float:
        """The mean squared error times n that the response alone gives to a share of n people."""
        return self.most**2 * self.inner.spread

    def release(self, value: Collection[Any], entropy: Entropy = SYSTEM) -> int:
        """What to send for the boxes that are ticked."""
        places = self.places(value)
        return self.output(places, [below(self.most, entropy), below(self.inner.levels.total, entropy)])

    def output(self, places: Collection[int], drawn: Sequence[int]) -> int:
        """What is sent, for two uniform integers: a slot below `most`, and one below the inner total."""
        slots = [*sorted(places), *[len(self.boxes)] * self.most]  # filled up, so that every slot is looked up alike
        return self.inner.output(slots[drawn[0]], drawn[1])

    def release_all(self, ticks: Ticks, entropy: Entropy = SYSTEM) -> Integers:
        """What many people send."""
        check_ticks(ticks, len(self.boxes), self.most)
        slot = uniform(self.most, len(ticks), entropy)
        in_slot = ticks & (np.cumsum(ticks, axis=1) == slot[:, None] + 1)
        places = np.where(in_slot.any(axis=1), np.argmax(in_slot, axis=1), len(self.boxes))
        return self.inner.release_all(places, entropy)

    def places(self, value: Collection[Any]) -> list[int]:
        """The places of the boxes that are ticked."""
        return ticked(self._places, self.most, value)

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {box: place for place, box in enumerate(self.boxes)}

    def support(self, outputs: Integers, weights: Weights | None = None) -> Weights:
        """How many outputs agree with each box, or their weights."""
        return self.inner.support(outputs, weights)[:-1]

    def error(self, confidence: checks.Number = 0.95, answers: int = 1) -> float:
        """How far a share estimated from this many answers may be off: Hoeffding's bound."""
        return self.most * hoeffding(confidence, answers) / float(self.inner.agree - self.inner.stray)

    def log_probability(self, output: int, value: Collection[Any]) -> float:
        """The logarithm of the probability of what is sent for the boxes that are ticked."""
        places = self.places(value)
        slots = [*places, *[len(self.boxes)] * (self.most - len(places))]
        logs = [self.inner.log_probability(output, place) for place in slots]
        highest = max(logs)
        if highest == -math.inf:
            return highest
        return highest + math.log(math.fsum(math.exp(each - highest) for each in logs) / self.most)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Two boxes, and one with outputs that are sets."""
        two, one = cls(1, "abcd", 2), cls(1, "abcd", 1, Subsets(2))
        pairs = tuple((1 << i) + (1 << j) for i in range(5) for j in range(i))
        return (
            Example("padded boxes", two, frozenset("ac"), frozenset("b"), around(0, 4), 0.5, None, FEW),
            Example("padded boxes, one", one, frozenset("a"), frozenset(), pairs, 1, None, FEW),
        )
