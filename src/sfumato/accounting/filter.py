"""When to stop, and what was spent so far, for questions that are chosen after seeing answers.

Claim: whatever is asked, and however it depends on earlier answers, all that a `Filter(epsilon, delta)` admits is
together (epsilon, delta)-private. It has two arms, and admits what either admits:

    A  sum of epsilon <= epsilon                    and sum of delta <= delta / 2
    B  sum of rho <= the rho that gives (epsilon, delta / 4)   and sum of delta <= delta / 4

Proof: docs/proofs/accounting.md, section 8: any event splits by the arm that held to the end. Papers: Rogers, Roth,
Ullman, Vadhan 2016; Feldman and Zrnic 2021. With delta = 0 arm A has the whole budget.

Claim of the `Odometer`: for every event E, every number e and every rule when to stop, P[E, report <= e] <= exp(e) Q[E,
report <= e] + delta. The report is the smaller of two: the sum of epsilon, sound at delta / 2 as arm A of a filter; and
the zCDP conversion of the least level 2**(k - 11), k = 1, 2, ..., that holds the sum of rho, each level being a filter
of its own with delta / 4 * (6 / pi**2) / k**2 (proof in section 8). With delta = 0 it is the sum of epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from sfumato import checks
from sfumato.accounting.convert import zcdp_epsilon, zcdp_rho
from sfumato.errors import BudgetExhausted
from sfumato.privacy.loss import Loss
from sfumato.rounding import up

_ZERO = Fraction(0)
_BASEL = Fraction(6079, 10_000)  # below 6 / pi**2, so the sum of _BASEL / k**2 over all k is below 1
_LEAST_LEVEL = Fraction(1, 1 << 10)


@lru_cache(maxsize=64)
def _rho_limit(epsilon: Fraction, delta: Fraction) -> Fraction:
    return zcdp_rho(epsilon, delta) if delta > 0 else _ZERO


class Remaining(NamedTuple):
    """What each arm has left; an arm that was overrun has nothing."""

    epsilon: Fraction
    rho: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True)
class Spent:
    """Sums over all releases so far; None: some release had no bound in this currency."""

    epsilon: Fraction | None = _ZERO
    rho: Fraction | None = _ZERO
    delta: Fraction = _ZERO

    def __post_init__(self) -> None:
        for name in ("epsilon", "rho", "delta"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, checks.non_negative(**{name: value}))

    def plus(self, loss: Loss) -> Spent:
        """One release more."""
        Loss.read(loss)
        return Spent(_add(self.epsilon, loss.epsilon), _add(self.rho, loss.rho), self.delta + loss.delta)


def _add(total: Fraction | None, more: Fraction | None) -> Fraction | None:
    return None if total is None or more is None else total + more


@dataclass(frozen=True, slots=True)
class Filter:
    """A budget, and what was spent of it.

    >>> budget = Filter(Fraction(1), Fraction(1, 10**9)).spend(Loss.pure(Fraction(3, 4)))
    >>> budget.remaining.epsilon
    Fraction(1, 4)
    """

    epsilon: Fraction
    delta: Fraction = _ZERO
    spent: Spent = Spent()

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive(epsilon=self.epsilon))
        object.__setattr__(self, "delta", checks.below_one(delta=self.delta))

    def _basic(self, spent: Spent) -> bool:
        return spent.epsilon is not None and spent.epsilon <= self.epsilon and spent.delta <= self.delta / 2

    def _concentrated(self, spent: Spent) -> bool:
        if self.delta == 0 or spent.rho is None or spent.delta > self.delta / 4:
            return False
        return spent.rho <= _rho_limit(self.epsilon, self.delta / 4)

    def admits(self, loss: Loss) -> bool:
        """Whether a release of this loss may still be made."""
        after = self.spent.plus(loss)
        return self._basic(after) or self._concentrated(after)

    def spend(self, loss: Loss) -> Filter:
        """The budget after a release of this loss, or a refusal."""
        if self.admits(loss):
            return replace(self, spent=self.spent.plus(loss))
        left = self.remaining
        raise BudgetExhausted(
            f"Not enough budget: {_row('epsilon', loss.epsilon, left.epsilon)}; {_row('rho', loss.rho, left.rho)}; "
            f"{_row('delta', loss.delta, left.delta)}.",
            fix="Ask for less, or ask the owner for a larger budget.",
        )

    @property
    def remaining(self) -> Remaining:
        """What each arm has left, and the delta left for releases that may fail."""
        epsilon = (
            self.epsilon - self.spent.epsilon if self._basic(self.spent) and self.spent.epsilon is not None else _ZERO
        )
        live = self._concentrated(self.spent) and self.spent.rho is not None
        rho = _rho_limit(self.epsilon, self.delta / 4) - (self.spent.rho or _ZERO) if live else _ZERO
        share = self.delta / 2 if self._basic(self.spent) else self.delta / 4
        return Remaining(epsilon, rho, max(_ZERO, share - self.spent.delta))


def _row(name: str, requested: Fraction | None, left: Fraction) -> str:
    return f"{name} {'without bound' if requested is None else f'{up(requested):.6g}'} requested, {up(left):.6g} left"


@dataclass(frozen=True, slots=True)
class Odometer:
    """A counter that runs on: what was spent so far, for a delta fixed in advance; it stops nobody.

    >>> Odometer(delta=1e-9).after(Loss.pure(0.5)).after(Loss.pure(0.25)).epsilon
    Fraction(3, 4)

    It may be read at any time, also to decide whether to ask on; the module's head says what exactly is claimed.
    """

    delta: Fraction = _ZERO
    spent: Spent = Spent()

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", checks.below_one(delta=self.delta))

    def after(self, loss: Loss) -> Odometer:
        """The odometer after a release of this loss."""
        return replace(self, spent=self.spent.plus(loss))

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon that holds so far with `delta`; None: none does."""
        found = []
        if self.spent.epsilon is not None and self.spent.delta <= self.delta / 2:
            found.append(self.spent.epsilon)
        if self.delta > 0 and self.spent.rho is not None and self.spent.delta <= self.delta / 4:
            level, k = _LEAST_LEVEL, 1
            while level < self.spent.rho:
                level, k = 2 * level, k + 1
            found.append(zcdp_epsilon(level, self.delta / 4 * _BASEL / k**2))
        return min(found, default=None)
