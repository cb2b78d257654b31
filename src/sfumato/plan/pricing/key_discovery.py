"""Keys that nobody listed: shown where enough units have them, at the price of a share and of a delta.

A unit with k keys gives each of them the weight 1 / k (Laplace noise), or 1 / sqrt(k) (Gaussian), so that all of them
together have the norm 1: no limit has to be chosen or bought. A key is shown if its noisy score exceeds the threshold.
A unit alone with k keys would see any of them with probability delta at most, for every k up to the number of keys that
a unit keeps. Found keys no longer take weight from the others, so a second round finds rarer ones. The first one has a
tenth of the share, since popular keys need little, and the second one the rest (decision 0027).
Where a unit is one row it has one key, and one round finds as much as can be found. If rows are all that is counted,
this round has the whole share, and counts them.
Proof: docs/proofs/unknown_keys.md. Papers: Gopi and others 2020; Swanberg and others 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import Norm
from sfumato.statistics.share import Share

FULL = 1 << 20  # steps of the weight 1
MOST_KEYS = 64  # of a unit that count
ROUNDS = (Fraction(1, 10), Fraction(9, 10))  # of the share, and of delta


@dataclass(frozen=True, slots=True)
class Round:
    """One look for keys."""

    share: Share
    delta: Fraction
    neighbors: Neighbors
    most_keys: int

    @property
    def weights(self) -> tuple[int, ...]:
        """The weight of each key, in steps, of a unit with 1, 2, 3, ... keys, rounded down."""
        counts = range(1, self.most_keys + 1)
        if self.share.norm is Norm.L1:
            return tuple(FULL // keys for keys in counts)
        return tuple(math.isqrt(FULL * FULL // keys) for keys in counts)

    @property
    def moves(self) -> int:
        """How far one unit can move the scores of keys that others have too: in L1, or the square of it in L2."""
        size = FULL if self.share.norm is Norm.L1 else FULL * FULL
        return size if self.neighbors is Neighbors.ADD_REMOVE else 2 * size

    @property
    def threshold(self) -> int:
        """The least score, in steps, that no unit alone exceeds with any of its keys but with probability delta."""
        noise = self.share.noise(self.moves)
        return max(
            weight + noise.reach(1 - 2 * self.delta / keys) for keys, weight in enumerate(self.weights, 1)
        )  # by symmetry, one side has half of what both have

    @property
    def people(self) -> float:
        """About how many units with one key each are shown half of the time."""
        return self.threshold / FULL


@dataclass(frozen=True, slots=True)
class KeyDiscovery:
    """How the keys of a question are found: what it costs, and the probability that a unit's own key appears.

    `single`: every unit is one row, so it has one key. `counts`: the noisy scores are the answer as well, since every
    unit is one row.
    """

    share: Share
    delta: Fraction
    neighbors: Neighbors
    counts: bool = False
    single: bool = False

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The looks, each with its part."""
        if self.counts or self.single:
            return (Round(self.share, self.delta, self.neighbors, most_keys=1),)
        return tuple(Round(self.share.part(part), self.delta * part, self.neighbors, MOST_KEYS) for part in ROUNDS)
