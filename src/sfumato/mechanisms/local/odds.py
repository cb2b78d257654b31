"""Two levels of probability: outputs that agree with the answer, and the others, in the ratio of two integers.

Every randomizer of one person's answer here draws a uniform integer below a total of integer weights, so that its
probabilities are exact fractions which any language with whole numbers can reproduce: no float, no exponential.

Claim. If each output has one of two probabilities under every answer, high / total or low / total with the same total,
and high / low <= e**epsilon, the release is epsilon-differentially private. Proof: docs/proofs/local_response.md.

>>> read_odds(Fraction(1), None) < Fraction("2.718281828459045236")       # rounded toward more privacy
True
>>> TwoLevel(Fraction(3), agreeing=1, others=1).agree                     # two coins
Fraction(3, 4)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.entropy import Entropy
from sfumato.errors import InvalidArgument, OutsideRange, ScaleTooLarge
from sfumato.mechanisms.samplers import Coin, bernoulli, uniform
from sfumato.rounding import Real, exp_bounds, exp_down, log_up, printed_up

BITS = 60  # of the fraction's denominator: the odds lie at most this far below e**epsilon
LIFT = 200  # binary digits by which integers are lifted, so that their lengths say nothing
_CLOSE = 200  # bits to which e**epsilon is known when given odds are compared with it
Places = NDArray[np.int64]


def below(bound: int, entropy: Entropy) -> int:
    """A uniform integer in 0 .. bound - 1: as many bits as bound - 1 has, drawn anew while they reach the bound."""
    digits = (bound - 1).bit_length()
    while (drawn := entropy.bits(digits) if digits else 0) >= bound:
        pass
    return drawn


def read_odds(epsilon: Fraction, odds: checks.Number | None) -> Fraction:
    """The odds between two levels: the greatest multiple of 2**-60 up to e**epsilon, or those given, if they are less.

    >>> read_odds(Fraction(11, 10), 3)
    Fraction(3, 1)
    """
    if odds is None:
        found = Fraction(exp_bounds(epsilon, BITS)[0], 1 << BITS)
        if found <= 1:
            raise ScaleTooLarge(f"epsilon must be at least 2**-{BITS}; got less; {checks.HELP['epsilon']}")
        return found
    exact = checks.positive(odds=odds)
    if not 1 < exact <= exp_down(epsilon, _CLOSE):
        raise InvalidArgument(
            f"odds must lie above 1 and not above e**epsilon, epsilon {float(epsilon):g}; got {float(exact):g}; leave "
            "them out, or give the epsilon that they cost"
        )
    return exact


def epsilon_of(odds: Fraction) -> Fraction:
    """What odds cost: their logarithm, rounded up to a number of few digits.

    >>> float(epsilon_of(Fraction(3)))
    1.0986122886681098
    """
    return printed_up(log_up(odds))


def check_places(places: Places, count: int) -> None:
    """Refuse places beyond the last: what is sent for them might be sent for no other."""
    if places.size and (int(places.min()) < 0 or int(places.max()) >= count):
        raise OutsideRange(f"places must be whole numbers from 0 to {count - 1}; got another; see `place`")


@dataclass(frozen=True, slots=True)
class TwoLevel:
    """So many outputs agree with an answer, so many do not; `odds` is how much likelier each of the former is."""

    odds: Fraction
    agreeing: int
    others: int

    @property
    def total(self) -> int:
        """All weights together."""
        return self.agreeing * self.odds.numerator + self.others * self.odds.denominator

    @property
    def agree(self) -> Fraction:
        """The probability that an output agrees with the answer."""
        return Fraction(self.agreeing * self.odds.numerator, self.total)

    def stray(self, shared: int) -> Fraction:
        """The probability of agreeing with another answer, which shares so many outputs with the true one."""
        weight = shared * self.odds.numerator + (self.agreeing - shared) * self.odds.denominator
        return Fraction(weight, self.total)

    def place(self, drawn: int) -> tuple[bool, int]:
        """Which output a uniform integer below the total means: whether it agrees, and its number among such."""
        high, low = self.odds.numerator, self.odds.denominator
        edge = self.agreeing * high
        # Both are worked out, whichever it is, with integers of one length: a clock must not tell truth from lie.
        other, agreeing = (drawn - edge + (low << LIFT)) // low, (drawn + (high << LIFT)) // high
        return ((False, other - (1 << LIFT)), (True, agreeing - (1 << LIFT)))[drawn < edge]

    def places(self, count: int, entropy: Entropy) -> tuple[NDArray[np.bool_], Places]:
        """The same for many: a coin, then a number."""
        agrees = bernoulli(Coin(Real.exactly(self.agree)), count, entropy)
        ranks = np.empty(count, np.int64)
        ranks[agrees] = uniform(self.agreeing, int(agrees.sum()), entropy)
        ranks[~agrees] = uniform(self.others, count - int(agrees.sum()), entropy) if self.others else 0
        return agrees, ranks
