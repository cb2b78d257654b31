"""Composition by privacy-loss distribution, with a bracket: the true value is never outside it.

Claim: for releases with the given losses, whose parameters are fixed in advance, `delta(epsilon).high` is a delta and
`epsilon(delta).high` an epsilon that holds for all of them together; no smaller number than `.low` holds for the pairs
that the losses name. Proof: docs/proofs/accounting.md. Papers: Sommer, Meiser, Mohammadi 2019; Koskela, Jälkö, Honkela
2020; Doroshenko et al. 2022; Zhu, Dong, Wang 2022.

>>> from fractions import Fraction
>>> from sfumato.privacy.loss import Loss
>>> compose([(Loss.pure(Fraction(1, 10)), 100)]).epsilon(1e-6)
Bracket(low=4.7745..., high=4.7745...)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from sfumato import checks, rounding
from sfumato.accounting import convert
from sfumato.accounting.grid import ALIGNED, LARGEST_LOSS, dominated, dominating
from sfumato.accounting.tilted import add_up, choose_tilt, significant
from sfumato.checks import Number
from sfumato.errors import InvalidArgument, ScaleTooLarge
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.pair import PRECISION, TINY, Pair
from sfumato.privacy.shifts import merged
from sfumato.privacy.unit import Unit
from sfumato.rounding import up

LARGEST_GRID = 1 << 24
_TAIL = 2.0**-27  # of delta: what a pair's window may leave out
_MERGED = 2.0**10  # times as much for the lower bound, which merges the tail instead of giving it up
_LEAST_PROMISE = Fraction(1, 10**9)  # where epsilon 0 would hold, which no guarantee says
_SMALLEST = 2.0**-120  # a delta below it is reported as about this
_LEAST_DELTA = Fraction(1, 1 << 900)  # a delta below it is treated as none
_POSITION = 2.0**-48  # how far off the losses of one release may be, by rounding
_FARTHEST = Fraction(10**6)  # an epsilon beyond it is treated as this, for the upper bound
_MOST = 1 << 40  # releases
_FINEST, _COARSEST = 2.0**-900, 100.0  # steps of the grid


class Bracket(NamedTuple):
    """Two numbers with the true one between them."""

    low: float
    high: float


class Curve(Protocol):
    """Bounds on a hockey-stick curve."""

    def above(self, epsilon: float) -> float:
        """An upper bound on delta at epsilon."""

    def under(self, epsilon: float) -> float:
        """A lower bound on delta at epsilon."""

    def guess(self, delta: float, side: int) -> float:
        """About where the upper bound (side 1) or the lower bound (side -1) falls to delta."""


def compose(parts: Iterable[Loss | tuple[Loss, int]], *, grid: float | None = None) -> LossDistribution:
    """The composition of losses, or of (loss, count); `grid` is the spacing of losses, by default chosen to fit."""
    counted, pairs = _counted(parts), []
    for loss, count in counted:
        if loss.pair is None:
            raise InvalidArgument("a loss without a dominating pair has no distribution; use accounting.zcdp")
        pairs.append((loss.pair, count))
    if not pairs:
        raise InvalidArgument("there is nothing to compose; give at least one loss")
    if sum(count for _, count in pairs) > _MOST:
        raise ScaleTooLarge(f"parts must be at most {_MOST} releases; got more; add them up by accounting.sequential")
    together = merged(pairs)
    step = _fitting(together) if grid is None else significant(_spacing(grid))
    if max(_width(pair, 1e-40) for pair, _ in together) > step * LARGEST_GRID:
        raise InvalidArgument(f"grid must be coarser; {step:g} needs more than {LARGEST_GRID} points")
    return LossDistribution(counted, tuple(together), step)


def _counted(parts: Iterable[Loss | tuple[Loss, int]]) -> tuple[tuple[Loss, int], ...]:
    """Every loss with its number of uses, equal ones counted together; a bare loss is used once."""
    if not isinstance(parts, Iterable):
        raise InvalidArgument(f"parts must be a list; got a {type(parts).__name__}; give [(mechanism.loss, 50)]")
    counts: dict[Loss, int] = {}
    for part in parts:
        loss, count = part if isinstance(part, tuple) and len(part) == 2 else (part, 1)
        if not isinstance(loss, Loss):
            raise InvalidArgument(
                f"parts must be losses, or losses with their number; got a {type(loss).__name__}; "
                "give (mechanism.loss, 50)"
            )
        counts[loss] = counts.get(loss, 0) + checks.whole(1, count=count)
    return tuple(counts.items())


def _spacing(grid: Number) -> float:
    exact = checks.positive(grid=grid)
    if not _FINEST <= exact <= _COARSEST:
        raise InvalidArgument(f"grid must lie between {_FINEST:g} and {_COARSEST:g}; got {grid!r}; 1e-4 is usual")
    return float(exact)


def _width(pair: Pair, tail: float) -> float:
    low, high = (min(max(end, -LARGEST_LOSS), LARGEST_LOSS) for end in pair.window(tail))
    return high - low


def _fitting(pairs: Sequence[tuple[Pair, int]]) -> float:
    """A step that makes the bracket narrow and the transform at most about a million points long."""
    uses = sum(count for _, count in pairs)
    deviation = math.sqrt(sum(count * (_width(pair, 1e-3) / 6) ** 2 for pair, count in pairs))
    step = max(
        deviation / min(2**15, 2**11 * math.sqrt(uses)),
        max(_width(pair, 1e-40) for pair, _ in pairs) / 2**20,
    )
    return significant(min(step, _COARSEST)) if step > _FINEST else 2.0**-13


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """The composition of `losses`, each with its number of uses."""

    losses: tuple[tuple[Loss, int], ...]
    pairs: tuple[tuple[Pair, int], ...]
    step: float

    @property
    def _uses(self) -> int:
        return sum(count for _, count in self.pairs)

    @property
    def _failure(self) -> float:
        """The probability that any of the releases fails: 1 - prod (1 - delta)."""
        if any(float(loss.delta) == 1 for loss, _ in self.losses):
            return 1.0
        return -math.expm1(sum(count * math.log1p(-float(loss.delta)) for loss, count in self.losses))

    def _directions(self) -> list[tuple[tuple[Pair, int], ...]]:
        turned = tuple((pair.reversed(), count) for pair, count in self.pairs)
        return [self.pairs] if turned == self.pairs else [self.pairs, turned]

    def _curves(self, pairs: tuple[tuple[Pair, int], ...], tail: float, **near: float) -> tuple[Curve, Curve]:
        """Curves for the upper and for the lower bound."""
        if len(pairs) == 1 and pairs[0][1] == 1:
            return (Single(pairs[0][0]),) * 2
        uses = self._uses
        upper = [(dominating(pair, self.step, tail / uses), count) for pair, count in pairs]
        tilt = choose_tilt(upper, self.step, **near)
        high = add_up(upper, self.step, tilt)
        while tilt and "epsilon" in near and not high.above(near["epsilon"]) < 1:  # too much tilt for this question
            tilt = tilt / 4 if tilt > self.step else 0.0
            high = add_up(upper, self.step, tilt)
        lower = [(dominated(pair, self.step, tail * _MERGED / uses), count) for pair, count in pairs]
        if not all(part.finite.any() for part, _ in lower):
            return high, Nothing()
        return high, add_up(lower, self.step, tilt, raised=uses * ALIGNED * self.step)

    def delta(self, epsilon: Number) -> Bracket:
        """The probability of a loss beyond epsilon, in the sense of (epsilon, delta)."""
        exact = checks.non_negative(epsilon=epsilon)
        e = float(min(exact, _FARTHEST))
        off = self._uses * _POSITION * (1 + e)
        low = high = 0.0
        for pairs in self._directions():
            upper, lower = self._curves(pairs, _SMALLEST * _TAIL, epsilon=e)
            low = max(low, _known(lower.under(e + off), 0.0) if exact < _FARTHEST else 0.0)
            high = max(high, _known(upper.above(max(0.0, e - off)), 1.0))
        fails = self._failure
        high = min(1.0, high + fails * (1 + PRECISION))
        return Bracket(min(low * (1 - fails) + fails * (1 - PRECISION), high), high)

    def epsilon(self, delta: Number) -> Bracket:
        """The least epsilon that holds with this delta."""
        exact = checks.below_one(delta=delta)
        if exact < _LEAST_DELTA:
            return Bracket(self.epsilon(_SMALLEST).low, min(self._basic(exact), self._concentrated(exact)))
        d, fails = float(exact), self._failure
        if fails == 1:
            return Bracket(0.0, min(self._basic(exact), self._concentrated(exact)))
        low, high = 0.0, 0.0
        for pairs in self._directions():
            upper, lower = self._curves(pairs, d * _TAIL, delta=d)
            rest = d * (1 - PRECISION) - fails * (1 + PRECISION)
            high = max(high, _least(upper.above, rest, upper.guess(rest, 1)) if rest > 0 else math.inf)
            kept = max(0.0, d * (1 + PRECISION) - fails * (1 - PRECISION)) / (1 - fails)
            low = max(low, _most(lower.under, kept, lower.guess(kept, -1)) if kept > 0 else 0.0)
        high += self._uses * _POSITION * (1 + high)
        low -= self._uses * _POSITION * (1 + low)
        high = min(high, self._basic(exact), self._concentrated(exact))
        return Bracket(max(0.0, min(low, high)), high)

    def guarantee(
        self, delta: Number, *, neighbors: Neighbors | Relation, unit: Unit | str | Iterable[str] = ()
    ) -> Guarantee:
        """The promise of all releases together at this delta: the upper end of epsilon, rounded up.

        A loss does not say under which relation it holds, so `neighbors` has to be given: that of the mechanisms.
        """
        high = self.epsilon(delta).high
        if high == math.inf:
            raise InvalidArgument(
                f"delta must be larger, for no epsilon holds with this one; got {delta!r}; "
                "give more than the releases' own deltas add up to, for example 1e-6"
            )
        return Guarantee(max(rounding.printed_up(Fraction(high)), _LEAST_PROMISE), delta, neighbors, unit)

    def _basic(self, delta: Fraction) -> float:
        """Basic composition, where all losses are pure."""
        total = Fraction(0)
        for loss, count in self.losses:
            if loss.epsilon is None:
                return math.inf
            total += count * loss.epsilon
        return up(total) if sum(count * loss.delta for loss, count in self.losses) <= delta else math.inf

    def _concentrated(self, delta: Fraction) -> float:
        """Composition by zCDP."""
        total, left = Fraction(0), delta - sum(count * loss.delta for loss, count in self.losses)
        for loss, count in self.losses:
            if loss.rho is None or left <= 0:
                return math.inf
            total += count * loss.rho
        return up(convert.zcdp_epsilon(total, left))


@dataclass(frozen=True, slots=True)
class Single:
    """The curve of one pair, straight from its masses."""

    pair: Pair

    def _parts(self, epsilon: float) -> tuple[float, float]:
        at = np.array([epsilon])
        p, q = (float(mass[0]) for mass in self.pair.above(at))
        grown = math.exp(min(epsilon + math.log(q), 700.0)) if q > TINY else 0.0  # exp(epsilon) alone may overflow
        value, size = p - grown, p + grown
        for loss, p_atom, _ in self.pair.key_domains:
            if loss > epsilon:
                value -= p_atom * math.expm1(epsilon - loss)
                size += p_atom * (1 + min(abs(loss), LARGEST_LOSS))  # the loss itself has a relative error
        return value, size

    def above(self, epsilon: float) -> float:
        """The curve and its slack."""
        value, size = self._parts(epsilon)
        return max(value, 0.0) + 4 * PRECISION * size + 1e-280

    def under(self, epsilon: float) -> float:
        """The curve less its slack, and less what masses too small for a float may hide."""
        if epsilon > LARGEST_LOSS:
            return 0.0
        value, size = self._parts(epsilon)
        return max(value - 4 * PRECISION * size - 2 * TINY * math.exp(epsilon), 0.0)

    def guess(self, delta: float, side: int) -> float:
        """By bisection over the window, for both bounds."""
        low, high = 0.0, max(0.0, self.pair.window(delta * _TAIL)[1])
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self._parts(middle)[0] > delta else (low, middle)
        return high


@dataclass(frozen=True, slots=True)
class Nothing:
    """The lower curve where no better one can be computed."""

    def above(self, epsilon: float) -> float:
        """No upper bound."""
        return math.inf

    def under(self, epsilon: float) -> float:
        """Zero lies under every curve."""
        return 0.0

    def guess(self, delta: float, side: int) -> float:
        """Nowhere."""
        return 0.0


def _known(value: float, otherwise: float) -> float:
    """The value, or what is safe where it is not a number, which comparisons would let through."""
    return value if math.isfinite(value) else otherwise


def _least(curve: Callable[[float], float], delta: float, guess: float) -> float:
    """An epsilon near the guess with curve(epsilon) <= delta: checked, so safe whatever the guess."""
    guess = _known(guess, 0.0)
    move = 2.0**-46 * (1 + abs(guess))
    epsilon = max(guess, 0.0)
    if epsilon == 0.0 and curve(0.0) <= delta:
        return 0.0
    while move < 1e4:
        if curve(epsilon) <= delta:
            return epsilon
        epsilon, move = max(guess, 0.0) + move, 2 * move
    return math.inf


def _most(curve: Callable[[float], float], delta: float, guess: float) -> float:
    """An epsilon near the guess with curve(epsilon) >= delta, or zero."""
    guess = _known(guess, 0.0)
    move, epsilon = 2.0**-46 * (1 + abs(guess)), guess
    while epsilon > 0:
        if curve(epsilon) >= delta:
            return epsilon
        epsilon, move = guess - move, 2 * move
    return 0.0
