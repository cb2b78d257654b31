"""The most that may be spent, and whether a sum is still within it.

A budget is the budget of `accounting.filter.Filter`, whose claim and two arms are stated there. Here the limits of
both arms are rounded down to whole units once, so that a decision compares whole numbers only. A sum of whole units
is within a limit exactly if it is within the limit's whole part: the decisions are those of the filter.

The limit of rho comes from a numerical search. It is part of the budget and is written into the ledger with it, so
that a later version with a better search decides an old ledger as it was decided then.

>>> half = Budget(Fraction(1, 2))
>>> half.admits(Amount(epsilon=500_000_000)), half.admits(Amount(epsilon=500_000_001))
(True, False)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from sfumato import checks
from sfumato.accounting.convert import zcdp_epsilon
from sfumato.accounting.filter import Filter
from sfumato.ledger.records.amount import DELTA_UNIT, UNIT, Amount

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NEVER = -1  # a limit that no sum is within


class _Limits(NamedTuple):
    """The basic arm: epsilon, half; the concentrated arm: rho, quarter."""

    epsilon: int
    half: int
    rho: int
    quarter: int


@lru_cache(maxsize=1024)
def _greatest_rho(epsilon: Fraction, delta: Fraction) -> int:
    return math.floor(Filter(epsilon, delta).remaining.rho * UNIT)


@dataclass(frozen=True, slots=True)
class Budget:
    """At most (epsilon, delta) together; `until`, in microseconds since 1970, is the first moment when it has ended.

    `rho` is the limit of the concentrated arm in units; with delta = 0 that arm is closed.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    until: int | None = None
    rho: int | None = None
    _limits: _Limits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon, delta = checks.positive(epsilon=self.epsilon), checks.below_one(delta=self.delta)
        rho = self.rho
        if delta == 0:
            rho = None
        elif rho is None:
            rho = _greatest_rho(epsilon, delta)
        basic = math.floor(epsilon * UNIT), math.floor(delta / 2 * DELTA_UNIT)
        other = (_NEVER, _NEVER) if rho is None else (checks.whole(rho=rho), math.floor(delta / 4 * DELTA_UNIT))
        for name, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho), ("_limits", _Limits(*basic, *other))):
            object.__setattr__(self, name, value)

    def _basic(self, spent: Amount, delta: int = 0) -> bool:
        limits = self._limits
        return spent.epsilon is not None and spent.epsilon <= limits.epsilon and spent.delta + delta <= limits.half

    def _concentrated(self, spent: Amount, delta: int = 0) -> bool:
        limits = self._limits
        return spent.rho is not None and spent.rho <= limits.rho and spent.delta + delta <= limits.quarter

    def admits(self, spent: Amount) -> bool:
        """Whether a sum is within one of the two arms."""
        return self._basic(spent) or self._concentrated(spent)

    def left(self, spent: Amount, delta: int = 0) -> Amount:
        """What each arm has left for a question that needs this delta, and what is left of delta itself."""
        limits = self._limits
        share = limits.half if self._basic(spent) else limits.quarter if self._concentrated(spent) else spent.delta
        return Amount(
            limits.epsilon - (spent.epsilon or 0) if self._basic(spent, delta) else 0,
            limits.rho - (spent.rho or 0) if self._concentrated(spent, delta) else 0,
            share - spent.delta,
        )

    def greatest_epsilon(self, spent: Amount, delta: int = 0) -> int:
        """The greatest epsilon of a pure question that still fits: by its epsilon, or by its rho of epsilon**2 / 2."""
        left = self.left(spent, delta)
        return max(left.epsilon or 0, math.isqrt(2 * UNIT * (left.rho or 0)))

    def ended(self, at: int) -> bool:
        """Whether the budget has ended at a moment."""
        return self.until is not None and at >= self.until

    def filter(self, spent: Amount) -> Filter:
        """The same budget in the accountant's words."""
        return Filter(self.epsilon, self.delta, spent.spent)

    @property
    def sound(self) -> bool:
        """Whether its rho keeps its promise, which is computed afresh."""
        return self.rho is None or zcdp_epsilon(Fraction(self.rho, UNIT), self.delta / 4) <= self.epsilon


def moment(at: int) -> str:
    """Microseconds since 1970 as a date and time."""
    try:
        return f"{EPOCH + timedelta(microseconds=at):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:  # a clock that was set wrongly, or an entry that was
        return "outside the years 1 to 9999"
