"""One person's answer to a question with k answers, as an output that agrees with it more often than by chance.

Claim. Each answer agrees with `s` of the outputs, and any two answers share the same number of them (`blocks`). An
output that agrees has the weight `high`, any other one `low`, high / low <= e**epsilon: the total of the weights is the
same for every answer, so the release is epsilon-differentially private, and the share of people with an answer is
estimated without bias from how many outputs agree with it. Proof: docs/proofs/local_response.md.

>>> three = BlockResponse(1, "abcdefghij", Subsets(3))
>>> three.agree, three.stray                                # chances to agree with one's own answer, and with another
(Fraction(..., ...), Fraction(..., ...))
>>> round(three.spread, 3)                                  # n times the mean squared error of a share
2.91
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
from sfumato.mechanisms._examples.example import FEW, Example, around
from sfumato.mechanisms.local.blocks import Blocks, Integers, Rows, Singles, Subsets, Weights
from sfumato.mechanisms.local.hyperplanes import Hyperplanes
from sfumato.mechanisms.local.odds import TwoLevel, below, check_places, read_odds
from sfumato.mechanisms.local.response import ChoiceResponse, read_categories
from sfumato.mechanisms.mechanism import ROW, Protected, settle

__all__ = ["BlockResponse", "Subsets"]


@dataclass(frozen=True)
class BlockResponse(ChoiceResponse):
    """An output that agrees with the true answer more often than with another; the value is one of the categories.

    Outputs are integers of at most 63 bits; `blocks` says which of them agree with which category.

        epsilon       what one answer costs; 1 or less is strong, above 10 hardly protects
        categories    the possible answers, two or more
        blocks        which outputs agree: Singles(), Subsets(size), Hyperplanes(order, dimension) or Rows(bits)
        odds          how much likelier an output is that agrees; left out: e**epsilon, rounded down to 60 bits
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> BlockResponse(1.1, ("yes", "no"), odds=3).release("yes") in (0, 1)
    True
    """

    epsilon: checks.Number
    categories: Sequence[Any]
    blocks: Blocks = Singles()  # noqa: RUF009
    odds: checks.Number | None = None
    unit: Protected = ROW

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "categories", read_categories(self.categories))
        self.blocks.check(len(self.categories))
        object.__setattr__(self, "odds", read_odds(Fraction(self.epsilon), self.odds))

    @cached_property
    def levels(self) -> TwoLevel:
        """The two weights, and how many outputs have which."""
        agreeing, others, _ = self.blocks.sizes(len(self.categories))
        return TwoLevel(Fraction(self.odds or 0), agreeing, others)

    @property
    def agree(self) -> Fraction:
        """The probability that an output agrees with the true answer."""
        return self.levels.agree

    @cached_property
    def stray(self) -> Fraction:
        """The probability that an output agrees with an answer that is not the true one."""
        return self.levels.stray(self.blocks.sizes(len(self.categories))[2])

    def release(self, value: Any, entropy: Entropy = SYSTEM) -> int:
        """The output to send for the true answer `value`."""
        return self.output(self.place(value), below(self.levels.total, entropy))

    def output(self, place: int, drawn: int) -> int:
        """The output for the answer at `place` and a uniform integer below `levels.total`: what a device works out."""
        agrees, rank = self.levels.place(drawn)
        answers, at = len(self.categories), np.array([place])
        # Both are worked out, whichever is sent: a clock must not tell truth from lie.
        other = self.blocks.others(answers, at, np.array([rank % max(1, self.levels.others)]))
        agreeing = self.blocks.agreeing(answers, at, np.array([rank % self.levels.agreeing]))
        return int((other, agreeing)[agrees][0])

    def release_all(self, places: Integers, entropy: Entropy = SYSTEM) -> Integers:
        """The outputs of many people, for the places of their true answers among the categories."""
        check_places(places, len(self.categories))
        agrees, ranks = self.levels.places(places.size, entropy)
        outputs = np.empty(places.size, np.int64)
        for chosen, choose in ((agrees, self.blocks.agreeing), (~agrees, self.blocks.others)):
            if chosen.any():
                outputs[chosen] = choose(len(self.categories), places[chosen], ranks[chosen])
        return outputs

    def support(self, outputs: Integers, weights: Weights | None = None) -> Weights:
        """How many outputs agree with each category, or their weights."""
        return self.blocks.support(len(self.categories), outputs, weights)

    def log_probability(self, output: int, value: Any) -> float:
        """The logarithm of the probability of an output for a true answer."""
        shown = np.array([output])
        if not self.blocks.is_output(len(self.categories), shown)[0]:
            return -math.inf
        high, low = Fraction(self.odds or 0).as_integer_ratio()
        agrees = bool(self.blocks.agrees(np.array([self.place(value)]), shown)[0])
        return math.log(high if agrees else low) - math.log(self.levels.total)

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Every kind of blocks, and odds that are given."""
        pairs = tuple((1 << i) + (1 << j) for i in range(6) for j in range(i))
        kinds = (
            ("subsets", cls(1, tuple("abcdef"), Subsets(2)), pairs),
            ("hyperplanes over 2", cls(Fraction(1, 2), tuple("abcdefg"), Hyperplanes(2, 3)), around(0, 6)),
            ("hyperplanes over 4", cls(1, tuple("abcde"), Hyperplanes(4, 3)), around(0, 20)),
            ("rows", cls(0.7, tuple("abcde"), Rows(3)), around(0, 15)),
        )
        coins = Example("local, coins", cls(1.1, ("yes", "no"), odds=3), "yes", "no", (0, 1), 0.998, None)
        return *(Example(f"local, {name}", made, "c", "b", all, 1, None, FEW) for name, made, all in kinds), coins
