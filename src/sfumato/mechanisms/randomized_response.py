"""Randomized response: each person perturbs the own answer, and the crowd's share is estimated from the noisy answers.

Claim. Answering truly with probability e**epsilon / (e**epsilon + k - 1), else with one of the other k - 1 categories
at random, is epsilon-differentially private for the answer (neighbors: another true answer), and no epsilon-private
protocol for two answers tells more. For k = 2 the lectures write the same thing in three ways:

    keep the answer with probability p                     epsilon = ln(p / (1 - p))
    tell the truth with probability p, else toss a coin    epsilon = ln(1 + 2p / (1 - p))
    toss a coin: heads the truth, tails toss again         the one above with p = 1/2, epsilon = ln 3

Proof: docs/proofs/randomized_response.md. Papers: Warner 1965; Kairouz, Oh, Viswanath 2014.

>>> coin = RandomizedResponse.truth_or_coin(Fraction(1, 2))
>>> round(float(coin.loss.epsilon), 6)                          # ln 3
1.098612
>>> coin.estimate({"yes": 600, "no": 400})["yes"].value         # 2 * 0.6 - 1/2
0.7
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from sfumato import checks
from sfumato.entropy import SYSTEM, Entropy
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms._examples.example import Example
from sfumato.mechanisms.mechanism import ROW, Declared, Protected, settle
from sfumato.mechanisms.samplers import Coin, Integers, bernoulli, uniform
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors
from sfumato.rounding import Real, down, exp_bounds, exp_down, log_up

Found = TypeVar("Found")
YES_NO = ("yes", "no")
_CLOSE = Fraction(1, 1 << 60)  # how far above the logarithm of the odds an epsilon may have been rounded
_SLACK = 1e-9  # relative, for the quantiles' own rounding


class Share(NamedTuple):
    """An estimated share: its value as estimated, its standard error, and an interval inside [0, 1] that covers."""

    value: float
    error: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class RandomizedResponse(Declared):
    """Randomized response over `categories`; the value is one category, and so is the output.

    Give `epsilon`, or for an exact chance of keeping the answer one of the constructors `keep` and `truth_or_coin`.

        epsilon       what one answer costs; 1 or less is strong, above 10 hardly protects
        categories    the possible answers, two or more; left out: 'yes' and 'no'
        unit          whose privacy: a `Unit`, a column's name or several; left out: one row

    >>> RandomizedResponse(epsilon=1, categories=("never", "once", "often")).guarantee
    Guarantee(epsilon=1, neighbors='replace')
    """

    epsilon: checks.Number
    categories: Sequence[Any] = YES_NO
    unit: Protected = ROW
    example_parameters: ClassVar[Mapping[str, Any]] = {"epsilon": 1}
    _keep: Fraction | None = None  # the exact chance, where it is a fraction

    def __post_init__(self) -> None:
        settle(self)
        object.__setattr__(self, "categories", tuple(self.categories))
        if len(set(self.categories)) < max(2, len(self.categories)):
            raise InvalidArgument(
                f"categories must be two or more different ones; got {len(self.categories)}; list each"
            )
        if self._keep is not None:
            object.__setattr__(self, "_keep", checks.inside(keep=self._keep))
            odds = self._odds(self._keep, len(self.categories))
            if odds <= 1 or not 0 <= self._exact - log_up(odds) < _CLOSE:
                raise InvalidArgument(
                    "epsilon must be that of the chance to keep the answer; got another; use `keep` or `truth_or_coin`"
                )

    @property
    def _exact(self) -> Fraction:
        return Fraction(self.epsilon)

    @classmethod
    def keep(
        cls, probability: checks.Number, categories: Sequence[Any] = YES_NO, unit: Protected = ROW
    ) -> RandomizedResponse:
        """Keep the answer with this probability, else give one of the others."""
        p = checks.inside(probability=probability)
        odds = cls._odds(p, len(categories))
        if odds <= 1:
            raise InvalidArgument(
                f"probability must be above one in {len(categories)}; got {probability!r}; 0.75 is usual"
            )
        return cls(log_up(odds), categories, unit, p)

    @staticmethod
    def _odds(keep: Fraction, categories: int) -> Fraction:
        """How much likelier the true answer is than any other."""
        return keep * (categories - 1) / (1 - keep)

    @classmethod
    def truth_or_coin(cls, truth: checks.Number = Fraction(1, 2), unit: Protected = ROW) -> RandomizedResponse:
        """Tell the truth with this probability, else answer by a fair coin; 1/2 is the coin-toss survey."""
        return cls.keep((1 + checks.inside(truth=truth)) / 2, unit=unit)

    @cached_property
    def _coin(self) -> Coin:
        if self._keep is not None:
            return Coin(Real.exactly(self._keep))
        # e^x / (e^x + k - 1); for k = 2 the logistic function, else the same at x - ln(k - 1).
        others, x = len(self.categories) - 1, self._exact
        if others == 1:
            return Coin(Real.logistic(x))

        def bounds(bits: int) -> tuple[int, int]:
            work = bits + 16
            low, high = exp_bounds(-x, work)  # e^-x, so that nothing overflows
            one = 1 << work
            return (one << bits) // (one + others * high), -((-one << bits) // (one + others * low))

        return Coin(Real(bounds))

    @property
    def truth(self) -> float:
        """The probability that the answer given is the true one."""
        if self._keep is not None:
            return float(self._keep)
        return 1 / (1 + (len(self.categories) - 1) * math.exp(-float(self._exact)))

    @property
    def loss(self) -> Loss:
        """Pure epsilon."""
        return Loss.pure(self._exact)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon-differential privacy of one answer, which another answer may replace."""
        return Guarantee(self.epsilon, neighbors=Neighbors.REPLACE, unit=self.unit)

    def release(self, value: Any, entropy: Entropy = SYSTEM) -> Any:
        """The answer to give for the true answer `value`."""
        place = self._look_up(self._columns, value)
        # Both are drawn and both answers worked out, in arrays of one number: Python's own integers and branches take
        # other times for 0 and for 1, and a clock would tell truth from lie.
        true, other = bernoulli(self._coin, 1, entropy), uniform(len(self.categories) - 1, 1, entropy)
        return self.categories[np.where(true, place, other + (other >= place)).item()]

    def _place(self, value: Any) -> int:
        return self._look_up(self._places, value)

    def _look_up(self, known: Mapping[Any, Found], value: Any) -> Found:
        try:
            return known[value]
        except (KeyError, TypeError):
            raise OutsideRange(
                f"value must be one of the {len(self.categories)} categories; got something else"
            ) from None

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {category: place for place, category in enumerate(self.categories)}

    @cached_property
    def _columns(self) -> dict[Any, Integers]:
        """The places as arrays of one number."""
        return {category: np.array([place]) for category, place in self._places.items()}

    def error(self, confidence: checks.Number = 0.95, answers: int = 1) -> float:
        """How far a share estimated from this many answers may be off: Hoeffding's bound, good for any number."""
        miss = float(1 - checks.inside(confidence=confidence))
        spread = math.sqrt(math.log(2 / miss) / (2 * checks.whole(least=1, answers=answers)))
        return spread / self._gain

    def sum_error(self, people: int) -> float:
        """The standard deviation that the noise gives to an estimated number of people (two categories)."""
        return math.sqrt(checks.whole(least=1, people=people) * self.truth * self._lie) / self._gain

    def variance(self, share: float) -> float:
        """The variance of the estimate from one answer, for this true share; it includes sampling a person."""
        seen = self._lie + share * self._gain
        return seen * (1 - seen) / self._gain**2

    @property
    def _lie(self) -> float:
        """The probability of each answer that is not the true one."""
        if self._keep is not None:
            return float((1 - self._keep) / (len(self.categories) - 1))
        return self.truth * math.exp(-float(self._exact))

    @property
    def _gain(self) -> float:
        """How much more often a category is answered by those it is true for; never rounded to zero."""
        return self.truth * -math.expm1(-float(self._exact))

    def estimate(self, answers: Mapping[Any, int], confidence: checks.Number = 0.95) -> dict[Any, Share]:
        """The share of each category among n people, from how often each was answered.

        Value and standard error are reported as they are, also outside [0, 1] where few answered; each interval covers
        the true share with this confidence, for any number of people drawn at random (Clopper and Pearson 1934).
        """
        total = sum(checks.whole(answers=count) for count in answers.values())
        if total < 1 or not set(answers) <= set(self.categories):
            raise OutsideRange("answers must count the categories of this question, at least one; got something else")
        miss = down(1 - checks.inside(confidence=confidence))
        shares = {}
        for category in self.categories:
            seen = answers.get(category, 0) / total
            value = (seen - self._lie) / self._gain
            error = math.sqrt(max(0.0, seen * (1 - seen)) / total) / self._gain
            ends = [(end - self._lie) / self._gain for end in seen_interval(answers.get(category, 0), total, miss)]
            shares[category] = Share(value, error, clipped(ends[0], ends[1], (0.0, 1.0)))
        return shares

    def people_for(self, accuracy: checks.Number) -> int:
        """How many answers bring the standard error of a share's noise down to `accuracy` (two categories)."""
        bound = checks.positive(accuracy=accuracy)
        # Fewer people would do for a larger growth, so it is rounded down, and known to more digits than it is near 1.
        bits = 80 + self._exact.denominator.bit_length()
        growth = exp_down(self._exact, bits) if self._keep is None else self._odds(self._keep, len(self.categories))
        return math.ceil(growth / ((growth - 1) ** 2 * bound**2))

    def log_probability(self, output: Any, value: Any) -> float:
        """The logarithm of the probability of an answer for a true answer."""
        if output not in self.categories:
            return -math.inf
        probability = self.truth if self._place(value) == self._place(output) else self._lie
        return math.log(probability) if probability > 0 else -math.inf

    def neighboring_inputs(self) -> tuple[Any, Any]:
        """Two answers."""
        first, second, *_ = self.categories
        return first, second

    def invalid_inputs(self) -> Sequence[Any]:
        """What is no answer."""
        return "Rumpelstiltskin", None, math.nan, ["yes"]

    @classmethod
    def examples(cls) -> Sequence[Example]:
        """Two answers and more, by epsilon and by the chance of keeping them."""
        four, kept = cls(1, categories="abcd"), cls.keep(0.6, categories="abc")
        return (
            Example("coin toss", cls.truth_or_coin(), "yes", "no", YES_NO, misses=None),
            Example("randomized response", cls(Fraction(7, 10)), "no", "yes", YES_NO, misses=None),
            Example("k-ary response", four, "b", "d", tuple("abcd"), misses=None),
            Example("kept answer", kept, "a", "b", tuple("abc"), misses=None),
        )


def clipped(low: float, high: float, ends: tuple[float, float]) -> tuple[float, float]:
    """An interval clipped to what is possible; one that lies wholly beyond an end keeps its width there.

    Clipping alone would make it a point, which claims to know the value exactly. A wider interval covers no less.

    >>> clipped(-0.25, 0.5, (0, 1)), clipped(1.25, 1.5, (0, 1))
    ((0, 0.5), (0.75, 1))
    """
    least, greatest = ends
    if low >= greatest:
        return max(least, greatest - (high - low)), greatest
    if high <= least:
        return least, min(greatest, least + (high - low))
    return max(least, low), min(greatest, high)


def seen_interval(count: float, total: float, miss: float) -> tuple[float, float]:
    """Clopper and Pearson's interval for the probability of an answer that `count` of `total` people gave.

    A probability lies below it only if `count` or more answers have a chance of at most miss / 2, likewise above it.
    """
    from scipy.special import betaincinv

    low = float(betaincinv(count, total - count + 1, miss / 2)) if count else 0.0
    high = float(betaincinv(total - count, count + 1, miss / 2)) if count < total else 0.0  # of the other answers
    return low * (1 - _SLACK), 1 - high * (1 - _SLACK)
