"""Releases from rows in which something exact slips through: a zero, a bound, a scale, a count, a row."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.audit.zoo.broken import Broken, broken, noise, uniform
from sfumato.entropy import Entropy
from sfumato.privacy.neighbors import Neighbors

LARGEST = 10  # that a value may be


def _zero_is_exact(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    if not rows:
        return np.zeros(count, np.int64)
    return np.maximum(0, len(rows) + noise(count, 1, entropy))


def _zero_is_noisy(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    return np.maximum(0, len(rows) + noise(count, 1, entropy))


def _bounds_from_data(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    return sum(rows) + noise(count, max(rows), entropy)


def _bounds_declared(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    return sum(min(row, LARGEST) for row in rows) + noise(count, LARGEST, entropy)


def _local_median(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    """The median of an odd number of values, with noise for how far one of them could move it here."""
    ordered, middle = (0, *sorted(rows), LARGEST), (len(rows) + 1) // 2
    local = max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1])
    return ordered[middle] + (noise(count, local, entropy) if local else np.zeros(count, np.int64))


def _global_median(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    return sorted(rows)[len(rows) // 2] + noise(count, LARGEST, entropy)


def _mean_by_exact_count(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    clipped = [min(row, LARGEST) for row in rows]
    return (sum(clipped) + noise(count, LARGEST, entropy)) / len(rows)


def _mean_by_noisy_count(rows: tuple[int, ...], count: int, entropy: Entropy) -> Any:
    clipped = [min(row, LARGEST) for row in rows]
    size = np.maximum(1, len(rows) + noise(count, 2, entropy))
    return (sum(clipped) + noise(count, 2 * LARGEST, entropy)) / size


def _name_and_shame(rows: tuple[str, ...], count: int, entropy: Entropy) -> Any:
    places = (uniform(count, entropy) * len(rows)).astype(np.int64)
    return [rows[place] for place in places.tolist()]


def _sampled_rows(rows: tuple[str, ...], count: int, entropy: Entropy) -> Any:
    kept = uniform(count * len(rows), entropy).reshape(count, len(rows)) < 0.5
    return [frozenset(row for row, keep in zip(rows, line, strict=True) if keep) for line in kept.tolist()]


TABLES: tuple[Broken, ...] = (
    broken(
        "zero-without-noise",
        "A count is never shown below zero, and an empty table is answered by 0 at once, 'there is nobody to protect'. "
        "Whoever sees another number knows that somebody is there.",
        _zero_is_exact,
        ((), (1,)),
        samples=20_000,
        mended=_zero_is_noisy,
    ),
    broken(
        "bounds-from-data",
        "The noise of a sum is made for the largest value in the data. One person with a large value changes the size "
        "of the noise, which everybody can see.",
        _bounds_from_data,
        ((1, 1, 1), (1, 1, 1, LARGEST)),
        mended=_bounds_declared,
    ),
    broken(
        "local-sensitivity",
        "A median gets noise for how far one person could move it in this very table. Where that is nothing the answer "
        "is exact, and a neighbor's is not: the noise itself gives away where the data lies.",
        _local_median,
        ((0, 10, 10, 10, 10), (0, 0, 10, 10, 10)),
        neighbors=Neighbors.REPLACE,
        samples=20_000,
        mended=_global_median,
    ),
    broken(
        "mean-by-exact-count",
        "Values are clipped and their sum gets noise, but it is divided by the exact number of rows. The fractions "
        "that come out, and the size of the noise, tell how many rows there are.",
        _mean_by_exact_count,
        ((4, 4), (4, 4, 4)),
        mended=_mean_by_noisy_count,
    ),
    broken(
        "name-and-shame",
        "One row of a hundred is drawn at random and published as it is, 'so that hardly anybody can be seen'. "
        "With probability 1/100 somebody loses everything, which is no promise with a delta of 1e-6.",
        _name_and_shame,
        (tuple(f"row {n}" for n in range(100)), tuple(f"row {n}" for n in range(99))),
        delta=Fraction(1, 10**6),
    ),
    broken(
        "random-sampling",
        "Half of the rows are drawn at random and published. Being left out by chance protects nobody who is in: that "
        "row could not have come from a table without it.",
        _sampled_rows,
        (("ada", "bob", "eve"), ("ada", "bob")),
        samples=20_000,
    ),
)  # fmt: skip
