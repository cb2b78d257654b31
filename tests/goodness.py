"""Do samples follow a distribution? Chi-square with cells merged until each expects enough."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

FALSE_ALARM = 1e-7  # below the 1e-6 per test that the suite allows itself


def p_value(
    samples: ArrayLike, log_weight: Callable[[np.ndarray], np.ndarray], reach: int, expect: float = 50
) -> float:
    """The chi-square p-value of integer samples against weights exp(log_weight(k)) on -reach .. reach.

    Cells are runs of neighboring integers, each with at least `expect` expected samples; what lies beyond `reach`
    counts with the outermost cells, so a sampler with too heavy tails does not escape.
    """
    samples = np.clip(np.asarray(samples, dtype=np.int64), -reach, reach)
    support = np.arange(-reach, reach + 1)
    weights = np.exp(log_weight(support.astype(float)))
    expected = weights / weights.sum() * samples.size
    cells = np.minimum((np.cumsum(expected) / expect).astype(int), int(samples.size / expect) - 1)
    observed = np.bincount(cells, np.bincount(samples + reach, minlength=support.size))
    wanted = np.bincount(cells, expected)
    used = wanted > 0
    statistic = ((observed[used] - wanted[used]) ** 2 / wanted[used]).sum()
    return float(chi2.sf(statistic, used.sum() - 1))
