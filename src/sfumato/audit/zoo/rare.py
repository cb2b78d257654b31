"""Mistakes in rare events: a delta that is too small by a factor, which few samples would show.

These are caught by exact probabilities, from below.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato import rounding
from sfumato.audit.zoo.broken import Broken, broken, noise
from sfumato.entropy import Entropy
from sfumato.mechanisms.laplace_threshold import LaplaceThreshold
from sfumato.privacy.neighbors import Neighbors

RARE = Fraction(1, 10**6)
FINE = 64  # lattice steps of 1
FAR = 1_000_000  # where a neighbor's answer lies
_HONEST = LaplaceThreshold(epsilon=1, delta=RARE)


def _shown_above(threshold: int) -> Any:
    """The noisy number of people who have a key, if it lies above a threshold."""

    def sample(people: int, count: int, entropy: Entropy) -> list[int | None]:
        if people == 0:
            return [None] * count
        noisy = people + noise(count, 1, entropy)
        return [number if number > threshold else None for number in noisy.tolist()]

    return sample


def _shown_mass(threshold: int) -> Fraction:
    """Pr[1 + noise > threshold] = a**threshold / (1 + a) for a = 1/e, from below."""
    return rounding.exp_down(Fraction(-threshold)) / (1 + rounding.exp_up(Fraction(-1)))


def _propose_test_release(test_scale: Fraction, threshold: Fraction, release_scale: Fraction) -> Any:
    """A value is (distance to the nearest unstable table, answer); proposed is that nobody moves the answer by over 1.

    With noise the distance is tested against the threshold; if it passes the answer is released with noise.
    """

    def sample(value: tuple[int, int], count: int, entropy: Entropy) -> Any:
        distance, answer = value
        noisy = distance * FINE + noise(count, test_scale * FINE, entropy)
        passed = noisy > math.ceil(threshold * FINE)
        return np.where(passed, answer + noise(count, release_scale * FINE, entropy) / FINE, np.nan)

    return sample


_LECTURE = rounding.log_down(2 / RARE) / 2
_RIGHT = rounding.log_up(1 / (2 * RARE)) * 2
# At distance 0 the lecture's test passes with probability sqrt(delta / 2) / 2, and the answer is then near to 0; on the
# neighbor it is near FAR, so that it is below FAR / 2 with probability exp(-FAR / 2) / 2 at most, if it passes at all.
_PASSES = rounding.exp_down(-Fraction(math.ceil(_LECTURE * FINE) + 1, FINE)) / (
    1 + rounding.exp_up(Fraction(-1, FINE))
)  # of noise on a lattice
_STRAYS = rounding.exp_up(Fraction(-700))

RARE_EVENTS: tuple[Broken, ...] = (
    broken(
        "threshold-off-by-one",
        "A key that nobody listed is shown where its noisy number of people is above a threshold, and that is one too "
        "low. Who alone has a key is seen 1.65 times in a million, e times as often as with the right one; once was "
        "promised.",
        _shown_above(_HONEST.threshold - 1),
        (1, 0),
        delta=RARE,
        mended=_shown_above(_HONEST.threshold),
        masses=({"shown": _shown_mass(_HONEST.threshold - 1)}, {}),
    ),
    broken(
        "lecture-propose-test-release",
        "One lecture's propose-test-release: noise 1/epsilon, and ln(2/delta) / (2 epsilon) to pass. A table at which "
        "the answer may jump passes with probability sqrt(delta/2) / 2, some 350 times a delta of 1e-6.",
        _propose_test_release(Fraction(1), _LECTURE, Fraction(1)),
        ((0, 0), (0, FAR)),
        delta=RARE,
        neighbors=Neighbors.REPLACE,
        mended=_propose_test_release(Fraction(2), _RIGHT, Fraction(2)),
        masses=({"near 0": _PASSES * (1 - _STRAYS)}, {"near 0": _STRAYS}),
    ),
)
