"""What an entry costs, in whole numbers: epsilon and rho in units of 10^-9, delta in units of 10^-30.

A loss is rounded up on its way in, so the ledger never counts less than was lost; sums of whole numbers are exact.

>>> Amount.of(Loss.pure(Fraction(1, 3)))
Amount(epsilon=333333334, rho=55555556, delta=0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from sfumato.accounting.filter import Spent
from sfumato.privacy.loss import Loss

UNIT = 10**9
DELTA_UNIT = 10**30


@dataclass(frozen=True, slots=True)
class Amount:
    """A loss in units, or a sum of losses; None: no bound in this currency."""

    epsilon: int | None = 0
    rho: int | None = 0
    delta: int = 0

    @classmethod
    def of(cls, loss: Loss) -> Amount:
        """The least amount that is not below a loss."""
        Loss.read(loss)
        return cls(_ceiling(loss.epsilon, UNIT), _ceiling(loss.rho, UNIT), math.ceil(loss.delta * DELTA_UNIT))

    def plus(self, other: Amount) -> Amount:
        """Both together; a currency without bound in one has none in the sum."""
        return Amount(
            None if self.epsilon is None or other.epsilon is None else self.epsilon + other.epsilon,
            None if self.rho is None or other.rho is None else self.rho + other.rho,
            self.delta + other.delta,
        )

    @property
    def loss(self) -> Loss:
        """The loss that this amount stands for; a sum of deltas beyond 1 says no more than 1."""
        return Loss(_exact(self.epsilon), _exact(self.rho), None, min(Fraction(1), Fraction(self.delta, DELTA_UNIT)))

    @property
    def spent(self) -> Spent:
        """The amount as the sums of an accountant."""
        return Spent(_exact(self.epsilon), _exact(self.rho), Fraction(self.delta, DELTA_UNIT))


NOTHING = Amount()


def _ceiling(value: Fraction | None, unit: int) -> int | None:
    return None if value is None else math.ceil(value * unit)


def _exact(value: int | None) -> Fraction | None:
    return None if value is None else Fraction(value, UNIT)


def plain(value: int, unit: int = UNIT) -> str:
    """A number of units as one would type it, exactly.

    >>> plain(250_000_000), plain(10**21, DELTA_UNIT), plain(3 * UNIT)
    ('0.25', '1e-9', '3')
    """
    places = len(str(unit)) - 1
    sign, digits, _ = Decimal(value).as_tuple()
    exact = Decimal((sign, digits, -places))
    if exact == 0:
        return "0"
    trimmed = f"{exact:f}".rstrip("0").rstrip(".") if places else str(exact)
    if exact >= Decimal("1e-6"):
        return trimmed
    short = "".join(map(str, digits)).rstrip("0")
    power = exact.adjusted()
    return f"{short[0]}{'.' + short[1:] if len(short) > 1 else ''}e{power}"
