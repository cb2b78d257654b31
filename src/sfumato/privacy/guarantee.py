"""What is promised, and how to read it.

The promise (epsilon, delta): for any two neighboring data sets x, y and any set S of outputs,

    Pr[M(x) in S] <= e^epsilon Pr[M(y) in S] + delta.

Everything a person may want to know follows from that line alone, and every method here is one such consequence:
what an observer may believe afterwards, how an event's probability may change, how well any test can tell x from y,
what is left for a group. Numbers are kept exactly; results are floats rounded outward, so that none of them promises
more than the line above.

>>> promise = Guarantee(epsilon=1)
>>> promise.posterior(0.1)                        # a belief of 10 % grows to at most 23.2 %
(0.039270..., 0.231969...)
>>> Guarantee(epsilon=3, delta=1e-9)
Guarantee(epsilon=3, delta=1e-09)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Literal

from sfumato import checks, rounding
from sfumato.checks import Number
from sfumato.errors import InvalidArgument, Refused
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.unit import Unit

About = Literal["membership", "value"]

ROW = Unit()
STRONG, WEAK = 1, 10
FAILING = 1_000  # by default a posterior may leave its range with a probability of this many deltas, or of 1 %
_VANISHING = 10_000  # e^-epsilon beyond it is taken as 0, which is outward


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Guarantee:
    """(epsilon, delta)-differential privacy for one unit."""

    epsilon: Fraction
    delta: Fraction
    neighbors: Neighbors
    unit: Unit

    def __init__(
        self,
        epsilon: Number,
        delta: Number = 0,
        neighbors: Neighbors | Relation = Neighbors.ADD_REMOVE,
        unit: Unit | str | Iterable[str] = ROW,
    ) -> None:
        object.__setattr__(self, "epsilon", checks.positive(epsilon=epsilon))
        object.__setattr__(self, "delta", checks.below_one(delta=delta))
        object.__setattr__(self, "neighbors", Neighbors.read(neighbors))
        object.__setattr__(self, "unit", Unit.read(unit))

    def __repr__(self) -> str:
        parts = [f"epsilon={_plain(self.epsilon)}"]
        if self.delta:
            parts.append(f"delta={_plain(self.delta)}")
        if self.neighbors is not Neighbors.ADD_REMOVE:
            parts.append(f"neighbors={self.neighbors.value!r}")
        if self.unit != ROW:
            parts.append(f"unit={self.unit!r}")
        return f"Guarantee({', '.join(parts)})"

    def group(self, k: int) -> Guarantee:
        """The promise to any k units together: k epsilon, and delta (e^(k epsilon) - 1) / (e^epsilon - 1).

        Where that delta reaches 1 nothing is promised to such a group, and the question is refused.

        >>> Guarantee(epsilon=0.1).group(5)
        Guarantee(epsilon=0.5)
        """
        size = checks.whole(1, k=k)
        if size == 1 or self.delta == 0:
            return Guarantee(size * self.epsilon, self.delta, self.neighbors, self.unit)
        # delta (1 + e^epsilon + ...) exceeds its last term, so this also keeps the exponentials below small
        if (size - 1) * self.epsilon >= rounding.log_up(1 / self.delta):
            raise self._nothing_left(size)
        bits = 80 + self.epsilon.denominator.bit_length()  # e^epsilon - 1 keeps its digits for a tiny epsilon
        top = rounding.exp_up(size * self.epsilon, bits) - 1
        delta = rounding.printed_up(self.delta * top / (rounding.exp_down(self.epsilon, bits) - 1))
        if delta >= 1:
            raise self._nothing_left(size)
        return Guarantee(size * self.epsilon, delta, self.neighbors, self.unit)

    def posterior(
        self, prior: Number, about: About = "membership", failing: Number | None = None
    ) -> tuple[float, float]:
        """The range of what an observer may believe afterwards, who gave a statement about one unit the chance `prior`.

        About "membership": in the data or not (under replace: this unit or another in its place); the odds move by at
        most e^epsilon. About a "value" of the unit: add-remove protects it through removal and addition, so the odds
        move by e^(2 epsilon); under replace by e^epsilon. The observer may know every other unit; what he believes
        about the population may move freely.

        With delta > 0 no range holds for every output. The one returned holds except with probability `failing` (by
        default 1000 delta, at most 1 %), in return for a factor 1 / (1 - 2 delta / failing) on the odds: outputs where
        the loss exceeds epsilon + s, on either side, have together at most the probability 2 delta / (1 - e^-s).

        >>> Guarantee(epsilon=1).posterior(0.1, about="value")
        (0.014814..., 0.450853...)
        """
        belief = checks.probability(prior=prior)
        if about not in ("membership", "value"):
            raise InvalidArgument(f"about must be 'membership' or 'value'; got {about!r}")
        exception = self._failing() if failing is None else checks.inside(failing=failing)
        units = 2 if about == "value" and self.neighbors is Neighbors.ADD_REMOVE else 1
        try:
            odds = self.group(units)._least_odds(exception)
        except Refused:
            odds = Fraction(0)
        low = belief * odds / (belief * odds + 1 - belief) if belief < 1 else belief
        high = belief / (belief + (1 - belief) * odds) if belief > 0 else belief
        return rounding.down(low), rounding.up(high)

    def probability(self, p: Number) -> tuple[float, float]:
        """The range of an event's probability on a neighboring data set, where it is p on this one.

        >>> from math import log
        >>> low, high = Guarantee(epsilon=log(5 / 4)).probability(0.5)
        >>> round(low, 9), round(high, 9)
        (0.4, 0.6)
        """
        chance = checks.probability(p=p)
        return rounding.down(self._least(chance)), rounding.up(1 - self._least(1 - chance))

    def tradeoff(self, alpha: Number) -> float:
        """The least rate of misses of any test that takes one data set for its neighbor with probability alpha.

        >>> Guarantee(epsilon=1).tradeoff(0.05)
        0.864085...
        """
        return rounding.down(self._least(1 - checks.probability(alpha=alpha)))

    @property
    def strength(self) -> str:
        """The promise in a word or two, by epsilon: up to 1, up to 10, beyond."""
        if self.epsilon <= STRONG:
            return "strong"
        return "better than nothing" if self.epsilon <= WEAK else "hardly protects"

    def warnings(self, size: int) -> tuple[str, ...]:
        """What to mend before this is promised to `size` units; the size is a public declaration, never a count.

        >>> Guarantee(epsilon=1, delta=1e-9).warnings(size=10_000)
        ()
        """
        if self.delta * checks.whole(1, size=size) < 1:
            return ()
        return (
            f"delta = {_short(self.delta)} is not below 1/{size}: publishing one unit at random, name and all, would "
            f"keep this promise; choose far less than {1 / size:.1g}.",
        )

    def describe(self, size: int | None = None) -> str:
        """The promise in plain words, for whoever is in the data.

        >>> print(Guarantee(epsilon=0.5).describe().splitlines()[0])
        Protected is one row: whether it is in the data or not.
        """
        lines = [
            f"Protected is {self.unit}: {_DIFFERENCE[self.neighbors]}.",
            f"Whatever is published, the odds in a bet on that {self._factor()}.",
        ]
        if self.neighbors is Neighbors.ADD_REMOVE:
            lines.append(f"A guess of 10 % that you are in the data may become {self._ten_percent('membership')}.")
        twice = self.neighbors is Neighbors.ADD_REMOVE
        why = " (a value counts twice: a removal and an addition)" if twice else ""
        lines.append(f"A guess of 10 % at a value of yours may become {self._ten_percent('value')}{why}.")
        if self.delta:
            lines.append(
                f"With a probability of up to {_short(self.delta)} (delta) anything may happen, even that your data "
                f"are published as they are. The figures above hold except with a probability of "
                f"{_short(self._failing())}."
            )
        lines.append(f"Strength: {self.strength} (epsilon = {_short(self.epsilon)}).")
        lines += [f"Warning: {warning}" for warning in (() if size is None else self.warnings(size))]
        lines.append(
            "Not protected: facts about people in general. If the data show that smoking causes cancer, everyone "
            "learns that about a smoker, whether he is in the data or not."
        )
        return "\n".join(lines)

    def _least(self, p: Fraction) -> Fraction:
        """A lower bound on the probability that the neighbor gives an event of probability p."""
        odds = _shrink(self.epsilon)
        by_event = odds * (p - self.delta)
        missing = 1 - p
        if missing and not odds:
            return max(Fraction(0), by_event)
        by_complement = 1 - self.delta - (missing / odds if missing else 0)
        return max(Fraction(0), by_event, by_complement)

    def _least_odds(self, exception: Fraction) -> Fraction:
        """The factor below which the odds fall with at most the probability `exception`."""
        if self.delta == 0:
            return _shrink(self.epsilon)
        return max(Fraction(0), 1 - 2 * self.delta / exception) * _shrink(self.epsilon)

    def _nothing_left(self, size: int) -> Refused:
        return Refused(
            f"a group of {size} is promised nothing: its delta would be 1 or more; ask for a smaller group, or promise "
            f"a smaller epsilon than {_short(self.epsilon)} or a smaller delta than {_short(self.delta)}"
        )

    def _failing(self) -> Fraction:
        return min(Fraction(1, 100), FAILING * self.delta)

    def _factor(self) -> str:
        odds = self._least_odds(self._failing())
        if odds < Fraction(1, 1_000_000):
            return "may move by a factor of a million or more, which protects nobody"
        return f"move by a factor of at most {_short(1 / odds)}"

    def _ten_percent(self, about: About) -> str:
        return f"at most {_short(100 * Fraction(self.posterior(Fraction(1, 10), about)[1]))} %"


_DIFFERENCE = {
    Neighbors.ADD_REMOVE: "whether it is in the data or not",
    Neighbors.REPLACE: "what it contains (the number of units is public)",
}


def _shrink(epsilon: Fraction) -> Fraction:
    """A fraction just below e^-epsilon."""
    return rounding.exp_down(-epsilon) if epsilon <= _VANISHING else Fraction(0)


def _plain(x: Fraction) -> str:
    """The number as one would type it, if that is exact; otherwise as a fraction."""
    if x.denominator == 1:
        return str(x.numerator)
    return repr(float(x)) if x < 2**53 and Fraction(str(float(x))) == x else repr(x)


def _short(x: Fraction) -> str:
    """The number in three digits, rounded up."""
    context = Context(prec=3, rounding=ROUND_CEILING)
    return f"{float(context.divide(Decimal(x.numerator), Decimal(x.denominator))):,g}"
