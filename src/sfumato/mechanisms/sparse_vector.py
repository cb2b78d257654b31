"""The sparse vector technique: which of many answers lie above a threshold, paying for the first few that do.

Claim. Let one unit move each answer by at most `sensitivity`, at most `steps` multiples of the lattice's spacing, and
c = `hits`. Add to the threshold, once, discrete Laplace noise of scale steps / epsilon_1, and to each answer noise of
scale 2 c steps / epsilon_2 (half of it where answers are `monotonic`); say for each answer whether its sum is at
least the noisy threshold, and stop after c times yes. That is (epsilon_1 + epsilon_2)-differentially private, however
many times no was said, and also if each question is chosen after the answers before. This is algorithm 1 of the paper;
algorithms 3 to 6 there are not private.
Proof: docs/proofs/sparse_vector.md. Papers: Lyu, Su, Li 2017; Dwork, Naor, Reingold, Rothblum, Vadhan 2009.

>>> mechanism = SparseVector(threshold=100, sensitivity=1, epsilon=1)
>>> mechanism.release([-500, 0, 800, 900])
(False, False, True)
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import BudgetExhausted, InvalidArgument, ScaleTooLarge, WrongShape
from sfumato.mechanisms._examples.apart import check_each_near, declared_distance, moved
from sfumato.mechanisms._examples.example import FEW, Example
from sfumato.mechanisms._noise.additive import distance
from sfumato.mechanisms._noise.lattice import Lattice, came
from sfumato.mechanisms._noise.noise import LARGEST_SCALE, LaplaceNoise
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, settle
from sfumato.mechanisms.samplers import draw_one
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.pair import Floats
from sfumato.privacy.sensitivity import Norm, Sensitivity, relation
from sfumato.rounding import up

_FINE = 1 << 10  # points of the default lattice within what one unit moves, so that probabilities can be summed
_MOST = 1 << 24  # values of the threshold's noise that are summed over
_LEAST = 2.0**-40  # of a probability: what its sum may leave out


@dataclass(frozen=True)
class SparseVector(Declared):
    """The value is a list of answers; the output says for each whether it lies above, up to the last hit.

        threshold     what an answer is compared with
        sensitivity   how far one unit can move each answer: a number or a `Sensitivity`
        epsilon       what all comparisons cost together; 1 or less is strong, above 10 hardly protects
        hits          after so many answers above the threshold it ends
        monotonic     whether a unit moves all answers in one direction, as counts do under add-remove: half the noise
        share         which part of epsilon the threshold gets; left out: 1 / (1 + (2 hits)^(2/3)), the best one
        spacing       the lattice's spacing, a power of two; left out: about a thousandth of the sensitivity
        neighbors    'add-remove' or 'replace'; left out: the sensitivity's own relation, else add-remove
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> stream = SparseVector(threshold=100, sensitivity=1, epsilon=1, hits=2).start()
    >>> stream.ask(-500), stream.ask(900), stream.left
    (False, True, 1)
    """

    threshold: checks.Number
    sensitivity: checks.Number | Sensitivity
    epsilon: checks.Number
    hits: int = 1
    monotonic: bool = False
    share: checks.Number | None = None
    spacing: checks.Number | None = None
    neighbors: Neighbors | Relation | None = None
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"threshold": 2, "sensitivity": 1, "epsilon": 1}

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "threshold", checks.number(threshold=self.threshold))
        object.__setattr__(self, "hits", checks.whole(1, hits=self.hits))
        if self.share is not None:
            object.__setattr__(self, "share", checks.inside(share=self.share))
        if self.monotonic and self.neighbors is Neighbors.REPLACE:
            raise InvalidArgument(
                "monotonic must be False under replace, where a unit's answers go up and down; got True; leave it out"
            )
        if max(self._bar.scale, self._noise.scale) > LARGEST_SCALE:
            raise ScaleTooLarge(
                "the noise must be at most 2**60 times the lattice's spacing; got more; give a larger epsilon"
            )

    @cached_property
    def _lattice(self) -> Lattice:
        moves = distance(self.sensitivity, Norm.L2, None)  # no norm of a move is below its largest coordinate
        return Lattice.for_noise(moves, moves, _FINE if self.spacing is None else LARGEST_SCALE, self.spacing)

    @cached_property
    def _steps(self) -> int:
        return self._lattice.steps(distance(self.sensitivity, Norm.L2, None))

    @cached_property
    def _first(self) -> Fraction:
        """What the threshold costs: the rest of epsilon, all of it, is for the answers."""
        weight = min(self.hits, LARGEST_SCALE) * (1 if self.monotonic else 2)  # more are refused for their noise
        best = Fraction(round(2**32 / (1 + weight ** (2 / 3))) or 1, 2**32)  # any share is private
        return Fraction(self.epsilon) * (best if self.share is None else Fraction(self.share))

    @cached_property
    def _bar(self) -> LaplaceNoise:
        return LaplaceNoise(self._steps / self._first)

    @cached_property
    def _noise(self) -> LaplaceNoise:
        times = self.hits * (1 if self.monotonic else 2)
        return LaplaceNoise(times * self._steps / (Fraction(self.epsilon) - self._first))

    @property
    def loss(self) -> Loss:
        """Pure epsilon, for all comparisons together."""
        return Loss.pure(Fraction(self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy."""
        return Guarantee(self.epsilon, neighbors=relation(self.sensitivity, self.neighbors), unit=self.unit)

    def start(self, entropy: Entropy = SYSTEM) -> Stream:
        """A stream of comparisons with one noisy threshold; epsilon is spent when it starts."""
        return Stream(self, entropy)

    def release(self, value: Iterable[float], entropy: Entropy = SYSTEM) -> tuple[bool, ...]:
        """Whether each answer lies above, up to the last hit; later answers are not looked at."""
        if not isinstance(value, Iterable) or isinstance(value, str):
            raise WrongShape(f"value must be a list of answers; got {came(value)}; ask one by one after start()")
        stream, said = self.start(entropy), []
        for answer in value:
            said.append(stream.ask(answer))
            if not stream.left:
                break
        return tuple(said)

    def error(self, confidence: checks.Number = 0.95) -> float:
        """An answer at least so far from the threshold is put on its right side, with this confidence."""
        miss = (1 - checks.inside(confidence=confidence)) / 2
        reach = self._bar.reach(1 - miss) + self._noise.reach(1 - miss)
        return up((reach + 2) * self._lattice.spacing)  # rounding of two numbers, and a tie, which says yes

    def log_probability(self, output: Sequence[bool], value: Sequence[float]) -> float:
        """The logarithm of the probability of what is said, summed over the noise of the threshold."""
        if not hasattr(output, "__len__"):
            return -math.inf
        said, hits = list(output), sum(map(bool, output))
        ends = hits == self.hits
        if hits > self.hits or len(said) > len(value) or not (said[-1:] == [True] if ends else len(said) == len(value)):
            return -math.inf
        bar = self._lattice.snap(Fraction(self.threshold))
        gaps = [bar - self._lattice.snap(answer) for answer in value[: len(said)]]
        reach = 32 * math.ceil(self._bar.scale) + 1
        while reach <= _MOST:
            drawn = np.arange(-reach, reach + 1, dtype=np.float64)
            logs = self._log_bar(drawn)
            outside = logs[0] + math.log(2 * math.ceil(self._bar.scale))  # at least all that lies beyond
            for yes, gap in zip(said, gaps, strict=True):
                logs = logs + self._log_said(drawn + float(gap), yes)
            total = float(np.logaddexp.reduce(logs))
            if outside < total + math.log(_LEAST):
                return total
            reach *= 2
        raise ScaleTooLarge("spacing must be larger to sum probabilities up; got too small a one; give one near 1")

    def _log_bar(self, drawn: Floats) -> Floats:
        rate = up(1 / self._bar.scale)
        logs: Floats = math.log(math.tanh(rate / 2)) - rate * np.abs(drawn)
        return logs

    def _log_said(self, needed: Floats, yes: bool) -> Floats:
        """The logarithm of Pr[noise >= needed], or of Pr[noise < needed]."""
        rate = up(1 / self._noise.scale)
        other = -needed if yes else needed - 1  # the noise is symmetric: Pr[noise <= other]
        with np.errstate(over="ignore"):
            low = rate * np.minimum(other, 0.0) - math.log1p(math.exp(-rate))
            high = np.log1p(-np.exp(-rate * (np.maximum(other, 0.0) + 1)) / (1 + math.exp(-rate)))
        return np.where(other < 0, low, high)

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """Many answers go up and the last one down, if they may."""
        above = float(self.threshold)
        below = moved(above, -declared_distance(self.sensitivity))
        if self.monotonic:
            return [below] * 3, [above] * 3
        return [below] * 5 + [above], [above] * 5 + [below]

    def check_neighbors(self, value: Any, neighbor: Any) -> None:
        """At most the sensitivity in every answer."""
        most = declared_distance(self.sensitivity)
        check_each_near(value, neighbor, most, "the sensitivity, in every answer", self.monotonic)

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no list of numbers; far below the threshold, so that all of them are read."""
        low = float(self.threshold) - 1e9
        return 4, *([low, each] for each in (math.nan, math.inf, None, "Rumpelstiltskin"))

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """One hit, two hits, and answers that only rise."""
        one, two = cls(2, 1, 3, spacing=1), cls(2, 1, 4, hits=2, share=0.5, spacing=0.5)
        rising, up_to_two = cls(2, 1, 4, monotonic=True, spacing=1), (1, 1, 1, 1, 2, 2)
        return (
            Example("sparse vector", one, (9, 9, -9), (8, 8, -8), _sequences(3, 1), 0.9, None, FEW),
            Example("sparse vector, two hits", two, (1, 1, 1, 3, 3), (2,) * 5, _sequences(5, 2), 0.4, None, FEW),
            Example("sparse vector, monotonic", rising, up_to_two, (2,) * 6, _sequences(6, 1), 0.99, None, FEW),
        )


class Stream:
    """Comparisons one by one; after the last hit it answers no more, for ever. It cannot be copied or stored.

    Threads take turns, and after a fork only the process that started it goes on: two that answer with one noisy
    threshold would say yes more often than was paid for.
    """

    __slots__ = ("_bar", "_entropy", "_left", "_mechanism", "_process", "_turn")

    def __init__(self, mechanism: SparseVector, entropy: Entropy) -> None:
        self._mechanism, self._entropy = mechanism, entropy
        exact = mechanism._lattice.snap(Fraction(mechanism.threshold))
        self._bar = exact + draw_one(mechanism._bar.sampler, entropy)
        self._left = mechanism.hits
        self._turn, self._process = threading.Lock(), SYSTEM.process()

    @property
    def left(self) -> int:
        """How many times it may still say yes."""
        return self._left

    def ask(self, answer: float) -> bool:
        """Whether an answer lies above the threshold, as far as noise lets it be said."""
        if self._process != SYSTEM.process():  # first of all: another process may hold the copied lock
            raise InvalidArgument(
                "a stream must be asked in the process that started it; got another one; start one in each, at its "
                "own epsilon"
            )
        with self._turn:
            if not self._left:
                raise BudgetExhausted(
                    f"the stream may say yes {self._mechanism.hits} times; all were said; start another, at its own "
                    "epsilon"
                )
            number = self._mechanism._lattice.snap(answer)  # before anything is drawn: a bad answer costs nothing
            above = number + draw_one(self._mechanism._noise.sampler, self._entropy) >= self._bar
            self._left -= above
            return above

    def __reduce__(self) -> NoReturn:
        raise InvalidArgument("a stream must not be copied or stored; got a request to; it would answer twice as often")


def _sequences(answers: int, hits: int) -> tuple[tuple[bool, ...], ...]:
    """All that can be said of so many answers: the last hit is the last word.

    >>> _sequences(2, 1)
    ((False, False), (False, True), (True,))
    """
    words = {
        every[: ends[hits - 1] + 1 if len(ends := [i for i, yes in enumerate(every) if yes]) >= hits else None]
        for every in itertools.product((False, True), repeat=answers)
    }
    return tuple(sorted(words))
