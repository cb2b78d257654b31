"""Estimates put in order: shares on the simplex, running sums that rise, means inside their bounds.

Unbiased shares may be below 0 and add up to something else than 1. What is nearest to them in the sense of least
squares and looks as it should is often wanted for a table; it is a little biased, and its interval is that of the
estimate itself.

>>> simplex([0.7, 0.5, -0.1]).round(6).tolist()
[0.6, 0.4, 0.0]
>>> rising([0.3, 0.2, 1.1]).round(6).tolist()
[0.25, 0.25, 1.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.surveys.estimates.statistic import Estimate
from sfumato.surveys.question import Choice, Number, Question

Values = NDArray[np.float64]


def simplex(values: Sequence[float]) -> Values:
    """The nearest shares that are not negative and add up to one."""
    given = np.asarray(values, float)
    falling = np.sort(given)[::-1]
    above = (np.cumsum(falling) - 1) / np.arange(1, given.size + 1)
    return np.asarray(np.maximum(given - above[np.flatnonzero(falling > above)[-1]], 0.0))


def rising(values: Sequence[float]) -> Values:
    """The nearest sequence between 0 and 1 that never falls (pool adjacent violators), then cut."""
    means: list[float] = []
    counts: list[int] = []
    for value in values:
        means.append(float(value))
        counts.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            count = counts.pop() + counts[-1]
            mean = (means.pop() * (count - counts[-1]) + means[-1] * counts[-1]) / count
            means[-1], counts[-1] = mean, count
    return np.asarray(np.clip(np.repeat(means, counts), 0.0, 1.0))


def tidied(question: Question, found: list[Estimate]) -> list[Estimate]:
    """The estimates with what they are in order."""
    values = np.array([each.value for each in found])
    if isinstance(question, Choice) and question.kind == "ordinal" and question.skip == "public":
        sums = rising(np.cumsum(values)[:-1].tolist())
        tidy = np.diff(np.concatenate(([0.0], sums, [1.0])))
    elif isinstance(question, Choice):
        tidy = simplex(values.tolist())
    elif isinstance(question, Number):
        tidy = np.clip(values, float(question.scale.low), float(question.scale.high))
    else:
        tidy = np.clip(values, 0.0, 1.0)
    return [replace(each, tidy=float(value)) for each, value in zip(found, tidy, strict=True)]
