"""Two distributions that dominate a release on neighboring data, seen through the privacy loss ln(P/Q).

Whatever an observer can learn from the release about which neighbor it came from, he can learn at least as well from
one draw of P or Q (Zhu, Dong, Wang 2022). So a pair is all that an accountant needs. It is given by the masses of the
loss L = ln(P/Q): a continuous part through `below` and `above`, and point masses (`key_domains`).

Masses here are floats with a relative error below `PRECISION`, or below `TINY`; whoever uses them adds that slack
outward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.rounding import up

Floats = NDArray[np.float64]
PRECISION = 2.0**-40
TINY = 2.0**-960  # masses below it are unknown: lost to underflow, or beyond the end of a table


class KeyDomain(NamedTuple):
    """A point mass of the loss: Pr_P[L = loss] = p, Pr_Q[L = loss] = q."""

    loss: float
    p: float
    q: float


class Pair(Protocol):
    """The pair (P, Q)."""

    @property
    def key_domains(self) -> tuple[KeyDomain, ...]:
        """Point masses of the loss, apart from the continuous part."""

    def window(self, tail: float) -> tuple[float, float]:
        """Losses (low, high) with Pr_P[L < low] <= tail and Pr_P[L > high] <= tail."""

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Pr_P[L <= l] and Pr_Q[L <= l] of the continuous part."""

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """Pr_P[L > l] and Pr_Q[L > l] of the continuous part."""

    def reversed(self) -> Pair:
        """The pair (Q, P)."""


@dataclass(frozen=True, slots=True)
class TwoPoint:
    """Randomized response: it dominates every epsilon-private release (Kairouz, Oh, Viswanath 2015)."""

    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.non_negative(epsilon=self.epsilon))

    @property
    def key_domains(self) -> tuple[KeyDomain, ...]:
        """The losses +epsilon and -epsilon."""
        e = up(self.epsilon)
        keep, flip = 1 / (1 + math.exp(-e)), math.exp(-e) / (1 + math.exp(-e))
        return KeyDomain(e, keep, flip), KeyDomain(-e, flip, keep)

    def window(self, tail: float) -> tuple[float, float]:
        """All losses."""
        return -up(self.epsilon), up(self.epsilon)

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """Nothing is continuous."""
        nothing = np.zeros_like(losses)
        return nothing, nothing

    above = below

    def reversed(self) -> TwoPoint:
        """The same pair: it is symmetric."""
        return self


def hockey_stick(pair: Pair, epsilon: float) -> float:
    """The least delta at which one release dominated by `pair` is (epsilon, delta)-private, rounded up.

    >>> hockey_stick(TwoPoint(Fraction(1)), 1.0) < 1e-11
    True
    """
    # Losses are rounded, and one may lie at epsilon itself. For any set A of losses that holds all above epsilon, and
    # none below epsilon - 2 slack, P(A) - exp(epsilon - 2 slack) Q(A) is an upper bound; so cut in the middle.
    slack = PRECISION * max(1.0, abs(epsilon))
    p, q = (float(mass[0]) for mass in pair.above(np.array([epsilon - slack])))
    # Each mass is known to PRECISION, which a sum of positive masses keeps; exp, log and the rest add a few ulps.
    grown = math.exp(epsilon - 2 * slack + math.log(q)) if q > TINY else 0.0
    delta = p * (1 + 2 * PRECISION) + TINY - grown * (1 - 2 * PRECISION)
    for atom in pair.key_domains:  # the same bound for an atom, whose q is p exp(-loss)
        if atom.loss > epsilon - slack:
            delta -= atom.p * (1 + 2 * PRECISION) * math.expm1(epsilon - 2 * slack - atom.loss)
    return 1.0 if math.isnan(delta) else min(1.0, max(0.0, delta))  # max(0.0, nan) would be 0.0
