"""Noisy counts as whole numbers of at least zero that still add up.

>>> tidied([7.4, -2.2, 3.9])
[6, 0, 3]

The nearest such numbers: all are lowered by one amount, what would fall below zero stays there (the projection onto the
simplex, Duchi and others 2008), and what rounding leaves over goes to the largest remainders.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def tidied(counts: Sequence[float]) -> list[int]:
    """Whole numbers of at least zero whose sum is that of the counts, rounded, or zero."""
    values = np.asarray(counts, dtype=float)
    total = max(0, round(float(values.sum())))
    falling = np.sort(values)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    kept = int(np.flatnonzero(falling > lowered)[-1]) if total else 0
    shares = np.maximum(0.0, values - lowered[kept]) if total else np.zeros(len(values))
    whole = np.floor(shares + 1e-9)
    over = total - int(whole.sum())
    for place in np.argsort(whole - shares, kind="stable")[: max(0, over)]:
        whole[place] += 1
    return [int(count) for count in whole]
