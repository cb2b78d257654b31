"""Noise of the wrong size: the commonest mistakes, and the hardest to see in an answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.audit.draw import Sample
from sfumato.audit.zoo.broken import Broken, broken, noise, uniform
from sfumato.entropy import Entropy
from sfumato.privacy.neighbors import Neighbors

BOUND = 10  # of every row of a sum
HALF = Fraction(1, 2)


def _sum(scale: Fraction) -> Sample:
    def sample(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
        return sum(min(row, BOUND) for row in rows) + noise(count, scale, entropy)

    return sample


def _count(scale: Fraction | int) -> Sample:
    def sample(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
        return len(rows) + noise(count, scale, entropy)

    return sample


def _histogram(scale: int) -> Sample:
    """Two counts: of zeros and of ones."""

    def sample(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
        return np.stack([rows.count(key) + noise(count, scale, entropy) for key in (0, 1)], axis=1)

    return sample


def _twice(scale: int) -> Sample:
    """The count and the sum of rows of 0 or 1."""

    def sample(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
        return np.stack([exact + noise(count, scale, entropy) for exact in (len(rows), sum(rows))], axis=1)

    return sample


def _float_laplace(value: float, count: int, entropy: Entropy) -> Any:
    first = uniform(count, entropy) - 0.5
    return value - np.sign(first) * np.log1p(-2 * np.abs(first))


def _lattice_laplace(value: float, count: int, entropy: Entropy) -> Any:
    return value + noise(count, 2**20, entropy) * 2.0**-20


def _same_noise(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    drawn = noise(count, 2, entropy)
    return np.stack([len(rows) + drawn, sum(rows) + drawn], axis=1)


SCALES: tuple[Broken, ...] = (
    broken(
        "halved-sensitivity",
        "Every row of a sum is clipped to at most 10, and the noise is made for 5, half of it, 'since 10 is rare'. "
        "Sensitivity is about the rarest person, who here loses twice the epsilon.",
        _sum(Fraction(BOUND, 2)),
        ((3, 10), (3,)),
        mended=_sum(Fraction(BOUND)),
    ),
    broken(
        "epsilon-as-scale",
        "The scale of the noise is epsilon instead of 1 / epsilon. At epsilon 1 nobody sees the difference; at 0.5 the "
        "true loss is 2, and the smaller epsilon is chosen, the larger it gets.",
        _count(HALF),
        ((1, 1), (1,)),
        epsilon=HALF,
        mended=_count(2),
    ),
    broken(
        "noise-ten-percent-low",
        "Somebody rounded the scale of the noise down, by a tenth. Every answer looks a little better, and epsilon is "
        "a ninth larger than it was said to be.",
        _count(Fraction(9, 10)),
        ((1, 1), (1,)),
        samples=400_000,
        mended=_count(1),
    ),
    broken(
        "noise-five-percent-low",
        "Noise a twentieth too small, which nobody notices in an answer. It takes a million samples to be sure of it.",
        _count(Fraction(19, 20)),
        ((1, 1), (1,)),
        samples=1_000_000,
        mended=_count(1),
    ),
    broken(
        "float-laplace",
        "The textbook's formula in floats: the value minus the logarithm of a uniform number. Which floats can come "
        "out depends on the value, so that the lowest bits of an answer tell neighbors apart (Mironov 2012).",
        _float_laplace,
        (0.0, 1.0),
        samples=50_000,
        mended=_lattice_laplace,
    ),
    broken(
        "replace-mix-up",
        "A histogram gets noise for one person who comes or goes, and the promise is about one who changes. A change "
        "leaves one bin and enters another, so that two counts move and twice the epsilon is lost.",
        _histogram(1),
        ((0, 0, 1), (0, 1, 1)),
        neighbors=Neighbors.REPLACE,
        mended=_histogram(2),
    ),
    broken(
        "budget-twice",
        "Two questions are answered with the whole epsilon each, and one epsilon is promised for both. Each answer "
        "is private by itself; together they cost twice as much.",
        _twice(1),
        ((0, 1, 1), (0, 1)),
        mended=_twice(2),
    ),
    broken(
        "same-noise-twice",
        "One draw of noise is added to two answers, each of which has its share of epsilon. Their difference has no "
        "noise at all, and is exact.",
        _same_noise,
        ((0, 1, 0), (0, 1)),
        samples=20_000,
        mended=_twice(2),
    ),
)  # fmt: skip
