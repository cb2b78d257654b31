"""Privacy from sampling: each unit takes part with probability `rate`, independently (Poisson sampling).

Claim: if (P, Q) dominates a release on data with and without a unit, then ((1 - rate) Q + rate P, Q) dominates the
release on a sample with and without it, and from (A, B) dominating the other direction, (A, (1 - rate) A + rate B)
dominates that. Proof: docs/proofs/accounting.md, section 3. Paper: Zhu, Dong, Wang 2022, theorem 11. It holds for
neighbors that differ by one unit more (add-remove), and only if the sample is kept secret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato import checks
from sfumato.checks import Number
from sfumato.errors import ScaleTooLarge
from sfumato.privacy.loss import Loss
from sfumato.privacy.pair import Floats, KeyDomain, Pair
from sfumato.rounding import exp_up, log_up

_LEAST = Fraction(1, 1 << 900)


@dataclass(frozen=True, slots=True)
class Sampled:
    """The pair of a release on a sample; `with_first`: P is the data with the unit, otherwise the data without."""

    pair: Pair
    rate: Fraction
    with_first: bool = True

    def __post_init__(self) -> None:
        rate = checks.inside(rate=self.rate)
        if min(rate, 1 - rate) < _LEAST:
            raise ScaleTooLarge("rate must be at least 2**-900, and as far from 1; got a nearer one; do not sample")
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "with_first", bool(self.with_first))

    @property
    def _stay(self) -> float:
        """The probability of not taking part, which a rate near 1 as a float would not tell."""
        return float(1 - self.rate)

    @property
    def _inner(self) -> Pair:
        return self.pair if self.with_first else self.pair.reversed()

    def _loss(self, inner: float) -> float:
        """The loss that an inner loss becomes: ln(1 - rate + rate e^l), or its mirror image."""
        sign = 1.0 if self.with_first else -1.0
        return sign * float(np.logaddexp(math.log(self._stay), math.log(self.rate) + sign * inner))

    def _inner_losses(self, losses: Floats) -> Floats:
        """The inner losses that become `losses`, infinite beyond what sampling allows."""
        sign = 1.0 if self.with_first else -1.0
        rate = float(self.rate)
        with np.errstate(divide="ignore", over="ignore"):
            # Of two ways to write it, the one whose rounding moves the loss by a few units in the last place only.
            near, far = np.expm1(sign * losses) + rate, np.exp(sign * losses) - self._stay
            odds = np.maximum(np.where(sign * losses > -0.5, near, far), 0.0) / rate
            inner: Floats = sign * np.log(odds)
        return inner

    def _mix(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        stay, rate = self._stay, float(self.rate)
        if self.with_first:
            return stay * q + rate * p, q
        return p, stay * p + rate * q

    @property
    def key_domains(self) -> tuple[KeyDomain, ...]:
        """The inner atoms, each at its new loss."""
        found = []
        for loss, p, q in self._inner.key_domains:
            mixed_p, mixed_q = self._mix(np.float64(p), np.float64(q))  # type: ignore[arg-type]
            found.append(KeyDomain(self._loss(loss), float(mixed_p), float(mixed_q)))
        return tuple(found)

    def window(self, tail: float) -> tuple[float, float]:
        """The inner window; for the mixture also that of the inner Q, read off the other direction."""
        low, high = self._inner.window(tail)
        if self.with_first:
            low = min(low, -self.pair.reversed().window(tail)[1])
            high = max(high, 0.0)  # beyond 0, Q has no more mass than P
        return self._loss(low), self._loss(high)

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """The inner masses, mixed."""
        return self._mix(*self._inner.below(self._inner_losses(losses)))

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """The inner masses, mixed."""
        return self._mix(*self._inner.above(self._inner_losses(losses)))

    def reversed(self) -> Sampled:
        """The other direction, which is another pair."""
        return Sampled(self.pair, self.rate, not self.with_first)


def amplified(loss: Loss, rate: Number) -> Loss:
    """What a release on a secret Poisson sample costs, where one on all units costs `loss`; for add-remove.

    Pure epsilon becomes ln(1 + rate (e^epsilon - 1)), delta beside it rate * delta; a mixture is never easier to tell
    apart than its parts, so rho stays an upper bound.

    >>> round(float(amplified(Loss.pure(1), Fraction(1, 10)).epsilon), 6)      # ln(1 + 0.1 (e - 1))
    0.158565
    """
    part, old = checks.inside(rate=rate), Loss.read(loss)
    if old.epsilon is None:
        return Loss(None, old.rho, None if old.pair is None else Sampled(old.pair, part), old.delta)
    epsilon = amplified_epsilon(old.epsilon, part)
    pair = None if old.pair is None or old.delta else Sampled(old.pair, part)
    return Loss.pure(epsilon, rho=old.rho, pair=pair, delta=part * old.delta)


def amplified_epsilon(epsilon: Number, rate: Number) -> Fraction:
    """ln(1 + rate (e^epsilon - 1)), rounded up."""
    exact, part = checks.non_negative(epsilon=epsilon), checks.inside(rate=rate)
    bits = 80 + exact.denominator.bit_length()  # e^epsilon - 1 keeps its digits for a tiny epsilon
    return min(exact, log_up(1 + part * (exp_up(exact, bits) - 1), bits))
