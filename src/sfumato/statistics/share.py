"""A part of what a question may cost, and the noise that it pays for.

With delta = 0 all noise of a question is discrete Laplace, distances are in L1 and shares are of epsilon. With
discrete Gaussian noise distances are in L2 and shares are of rho, for concentrated privacy: rho-zCDP adds up exactly,
whatever the scales will be, and converts to (epsilon, delta) once (docs/proofs/accounting.md, section 6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sfumato.mechanisms._noise.noise import LARGEST_SCALE, LARGEST_SIGMA, GaussianNoise, LaplaceNoise, just_above
from sfumato.privacy.sensitivity import Norm

_MOST = 1 << 62  # lattice steps of a limit; products with a weight then fit 128 bits


@dataclass(frozen=True, slots=True)
class Share:
    """An amount of epsilon (L1, Laplace noise) or of rho (L2, Gaussian noise)."""

    norm: Norm
    amount: Fraction

    def __bool__(self) -> bool:
        return self.amount > 0

    def part(self, of: Fraction) -> Share:
        """A fraction of it."""
        return Share(self.norm, self.amount * of)

    def less(self, *others: Share) -> Share:
        """What is left of it without others."""
        return Share(self.norm, self.amount - sum((other.amount for other in others), Fraction(0)))

    def noise(self, moves: int) -> LaplaceNoise | GaussianNoise:
        """The noise for what one unit moves by: `moves` is the L1 distance, or the square of the L2 distance."""
        if self.norm is Norm.L1:
            return LaplaceNoise(moves / self.amount)
        return GaussianNoise(just_above(moves / (2 * self.amount)))

    def variance(self) -> float:
        """About the variance of the noise for a distance of 1."""
        return float(2 / self.amount**2 if self.norm is Norm.L1 else 1 / (2 * self.amount))

    def drawable(self) -> bool:
        """Whether the noise of a histogram, in which one unit moves by 2 at most, can be drawn."""
        if self.norm is Norm.L1:
            return LARGEST_SCALE * self.amount >= 2
        return LARGEST_SIGMA**2 * self.amount >= 1

    def largest(self) -> int:
        """The largest limit whose noise can still be drawn, twice for one unit that is replaced."""
        if self.norm is Norm.L1:
            return max(1, min(int(LARGEST_SCALE * self.amount) // 4, _MOST))
        return max(1, min(math.isqrt(int(2 * self.amount * LARGEST_SIGMA**2)) // 4, _MOST))

    def __str__(self) -> str:
        """In words."""
        return f"{'epsilon' if self.norm is Norm.L1 else 'rho'} {float(self.amount):g}"
