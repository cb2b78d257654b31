"""The sparse vector technique as six papers have it; two are right (Lyu, Su, Li 2017, figure 1; numbers are theirs).

Which of many questions are above a threshold: the threshold gets noise once, each question its own, and it stops after
`TOPS` answers 'above'. Noise lies on a lattice of 1/16, fine enough that ties do not matter.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.draw import Sample
from sfumato.audit.zoo.broken import Broken, broken, noise
from sfumato.entropy import Entropy

FINE = 16  # lattice steps of 1, by which one unit moves every question


def _asked(scales: tuple[Fraction, Fraction], *, tops: int | None, numbers: bool = False) -> Sample:
    """Compare answers with 0: 1 above, 0 below, missing after the end; `numbers`: show the noisy answer instead of 1.

    `scales` are those of the noise on the threshold and on each answer; 0: no noise.
    """

    def sample(answers: tuple[int, ...], count: int, entropy: Entropy) -> Any:
        threshold = noise(count, scales[0] * FINE, entropy)[:, None]
        noisy = np.tile(np.array(answers) * FINE, (count, 1))
        if scales[1]:
            noisy = noisy + noise(count * len(answers), scales[1] * FINE, entropy).reshape(noisy.shape)
        return _stopped(noisy, noisy >= threshold, tops, numbers)

    return sample


def _stopped(noisy: NDArray[np.int64], above: NDArray[np.bool_], tops: int | None, numbers: bool) -> Any:
    shown = np.where(above, noisy / FINE, -99.0) if numbers else above.astype(np.float64)
    if tops is not None:
        before: NDArray[np.int64] = np.cumsum(above, axis=1) - above
        shown = np.where(before >= tops, np.nan, shown)
    return shown


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
DOWN_UP = ((0,) * 5 + (0,) * 5, (1,) * 5 + (-1,) * 5)

SPARSE_VECTOR: tuple[Broken, ...] = (
    broken(
        "sparse-vector-3",
        "Lecture notes of 2011: instead of 'above', the noisy answer that was compared is shown. It tells how high "
        "the noisy threshold can be at most, and with it something of every question before.",
        _asked((1 / HALF, 1 / HALF), tops=1, numbers=True),
        ((0,) * 12 + (1,), (1,) * 12 + (0,)),
        samples=200_000,
        mended=_asked((1 / HALF, 2 / HALF), tops=1),
    ),
    broken(
        "sparse-vector-4",
        "Lee and Clifton 2014: the noise of the answers does not grow with how many may be above. With ten of them "
        "the loss is (1 + 6 * 10) / 4 epsilon in the worst case.",
        _asked((1 / QUARTER, 4 / Fraction(3)), tops=10),
        ((0,) * 5 + (0,) * 10, (1,) * 5 + (-1,) * 10),
        samples=60_000,
        mended=_asked((1 / QUARTER, 2 * 10 / Fraction(3, 4)), tops=10),
    ),
    broken(
        "sparse-vector-5",
        "Stoddard and others 2014: only the threshold gets noise, the answers get none. Then of two answers the larger "
        "one is known, and 'below, above' is impossible where the first is larger.",
        _asked((1 / HALF, Fraction(0)), tops=None),
        ((0, 1), (1, 0)),
        samples=20_000,
        mended=_asked((1 / HALF, 4 / HALF), tops=2),
    ),
    broken(
        "sparse-vector-6",
        "Chen and others 2015: it never stops, however many answers are above. Each of them costs something, and "
        "nobody counts.",
        _asked((1 / HALF, 1 / HALF), tops=None),
        DOWN_UP,
        samples=60_000,
        mended=_asked((1 / HALF, 20 / HALF), tops=10),
    ),
)
