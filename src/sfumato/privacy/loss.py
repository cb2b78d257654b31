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

from sfumato import checks
from sfumato.checks import Number
from sfumato.errors import InvalidArgument
from sfumato.privacy.pair import Pair, TwoPoint


@dataclass(frozen=True, slots=True)
class Loss:
    """What one release costs a unit; None means that this currency has no finite bound."""

    epsilon: Fraction | None
    rho: Fraction | None
    pair: Pair | None
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", checks.non_negative(epsilon=self.epsilon))
        if self.rho is not None:
            object.__setattr__(self, "rho", checks.non_negative(rho=self.rho))
        object.__setattr__(self, "delta", checks.probability(delta=self.delta))

    @classmethod
    def pure(
        cls, epsilon: Number, *, rho: Number | None = None, pair: Pair | None = None, delta: Number = Fraction(0)
    ) -> Loss:
        """The loss of an epsilon-private release: the two-point pair dominates it, a closer `pair` may be given."""
        exact = checks.non_negative(epsilon=epsilon)
        implied = exact * exact / 2  # Bun and Steinke 2016, proposition 1.4
        least = implied if rho is None else min(checks.non_negative(rho=rho), implied)
        return cls(exact, least, pair or TwoPoint(exact), checks.probability(delta=delta))

    @classmethod
    def concentrated(cls, rho: Number, pair: Pair | None = None, *, delta: Number = Fraction(0)) -> Loss:
        """The loss of a rho-zCDP release that no pure epsilon bounds, such as Gaussian noise."""
        return cls(None, checks.non_negative(rho=rho), pair, checks.probability(delta=delta))

    @classmethod
    def read(cls, value: Loss) -> Loss:
        """Refuse what is no loss, and say where a loss is found.

        >>> Loss.read(0.5)
        Traceback (most recent call last):
            ...
        sfumato.errors.InvalidArgument: loss must be a Loss; got a float; give mechanism.loss, ...
        """
        if isinstance(value, cls):
            return value
        raise InvalidArgument(
            f"loss must be a Loss; got a {type(value).__name__}; give mechanism.loss, "
            "or (mechanism.loss, 50) where fifty of them are composed"
        )
