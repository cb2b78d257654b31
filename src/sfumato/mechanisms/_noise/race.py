"""Which of several scores is the largest after exponential noise was added to each: permute and flip, without coins.

Claim. Let score i be floors[i] + rest(i) with 0 <= rest(i) < 1, and let E_i be independent with Pr[E_i > t] =
exp(-t / scale). `Race.draw` returns the i with the largest score + E_i: exactly the choice of permute and flip at the
rate 1 / scale. Proof: docs/proofs/permute_and_flip.md, "The same with noise" and "What the code does".

The whole part of E_i is geometric and its binary digits behind the point are independent of it, so they are drawn only
where the whole parts leave the largest sum open: less than once in scale / 3 draws. Until then the steps and the words
drawn depend on the number of scores alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from sfumato.entropy import Entropy
from sfumato.mechanisms._noise.lattice import add
from sfumato.mechanisms.samplers import LIFT, Coin, Geometric, Integers, draw_lifted

FINE = 1 << 32  # the least scale at which a race is decided by whole parts, but for less than one in 2**30
_FEW = 256  # scores whose noise comes from a block
_MORE = 64  # digits behind the point that are drawn at a time


class Race:
    """The index of the largest score with noise; `scale` is that of the noise, in the unit of the scores' floors.

    >>> from sfumato.entropy import SYSTEM
    >>> Race(Fraction(1, 1000)).draw(np.array([3, 9, 4]), lambda i: Fraction(0), SYSTEM)  # hardly any noise
    1
    """

    def __init__(self, scale: Fraction, more: int = _MORE) -> None:
        self.scale = scale
        self.more = more
        self.noise = Geometric(scale)

    def draw(self, floors: Integers, rest: Callable[[int], Fraction], entropy: Entropy) -> int:
        """One independent choice; `rest` is asked for what a floor leaves out, where that matters."""
        sums = add(floors, self._drawn(len(floors), entropy))
        # A sum lies in [its floor, its floor + 2): whoever is 2 below the largest floor has lost.
        open_ = np.flatnonzero(sums >= sums.max() - 1)
        if len(open_) == 1:
            return int(open_[0])
        return self._decide([(int(i), int(sums[i]) + rest(int(i))) for i in open_], entropy)

    def _drawn(self, count: int, entropy: Entropy) -> Integers:
        """The whole parts of the noise: few from a block drawn ahead, which is many times as fast."""
        if count > _FEW:
            return self.noise.draw(count, entropy)
        lifted = [draw_lifted(self.noise, entropy) for _ in range(count)]
        if max(lifted) >= 2 * LIFT:
            return np.array([each - LIFT for each in lifted], object)
        drawn: Integers = (np.array(lifted, np.uint64) - np.uint64(LIFT)).astype(np.int64)
        return drawn

    def _decide(self, open_: Sequence[tuple[int, Fraction]], entropy: Entropy) -> int:
        """The largest among these, each still without the digits of its noise behind the point."""
        unit = Fraction(1)
        while True:
            unit /= 1 << self.more
            open_ = [(i, low + unit * self._digits(unit, entropy)) for i, low in open_]
            highest = max(low for _, low in open_)
            open_ = [(i, low) for i, low in open_ if low + unit > highest]
            if len(open_) == 1:
                return open_[0][0]

    def _digits(self, unit: Fraction, entropy: Entropy) -> int:
        """The next digits of an exponential variable, as a multiple of `unit`: Pr[L = l] ~ exp(-l * unit / scale)."""
        while True:
            drawn = entropy.bits(self.more)
            if Coin.exp(drawn * unit / self.scale).toss(entropy):
                return drawn
