"""What a release costs.

A loss speaks three currencies at once, and each is a true upper bound on its own: pure epsilon, zCDP rho, and a pair of
distributions that dominates the release (see `pair`). An accountant takes the one it composes best and needs to know
no mechanism by name. `delta` stands beside all three: with that probability anything may happen (a key selected by
threshold), and the three describe the rest.

>>> Loss.pure(Fraction(1, 2)).rho
Fraction(1, 8)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sfumato.privacy.pair import Pair, TwoPoint


@dataclass(frozen=True, slots=True)
class Loss:
    """What one release costs a unit; None means that this currency has no finite bound."""

    epsilon: Fraction | None
    rho: Fraction | None
    pair: Pair | None
    delta: Fraction = Fraction(0)

    @classmethod
    def pure(
        cls, epsilon: Fraction, *, rho: Fraction | None = None, pair: Pair | None = None, delta: Fraction = Fraction(0)
    ) -> Loss:
        """The loss of an epsilon-private release: the two-point pair dominates it, a closer `pair` may be given."""
        implied = epsilon * epsilon / 2  # Bun and Steinke 2016, proposition 1.4
        return cls(epsilon, implied if rho is None else min(rho, implied), pair or TwoPoint(epsilon), delta)

    @classmethod
    def concentrated(cls, rho: Fraction, pair: Pair | None = None, *, delta: Fraction = Fraction(0)) -> Loss:
        """The loss of a rho-zCDP release that no pure epsilon bounds, such as Gaussian noise."""
        return cls(None, rho, pair, delta)
