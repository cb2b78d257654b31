"""What the textbook's mechanisms would err with all of epsilon: exact formulas where there are some, else simulated.

Nothing here is private: an oracle looks at the exact table to choose the best limit in hindsight.
"""

from __future__ import annotations

import math

import numpy as np

from accuracy_tables.shapes import Numbers


def mean_error(values: Numbers, low: float, high: float, epsilon: float = 1, most: float = 1) -> float:
    """RMSE of a mean from two noisy sums, of parts above and below: 2 h sqrt(1 + m^2) M / (n epsilon)."""
    half, middle = (high - low) / 2, (high + low) / 2
    off = (float(values.mean()) - middle) / half
    return 2 * half * math.sqrt(1 + off * off) * most / (len(values) * epsilon)


def sum_error(most: float, epsilon: float = 1) -> float:
    """RMSE of Laplace noise for a sum to which a person gives `most`."""
    return math.sqrt(2) * most / epsilon


def variance_errors(values: Numbers, low: float, high: float, repeat: int, seed: int = 0) -> tuple[float, float]:
    """RMSE of variance and standard deviation from noisy sums of 1, z, z^2, a third of epsilon for each; simulated."""
    random = np.random.default_rng([len(values), seed, 6])
    half, middle = (high - low) / 2, (high + low) / 2
    z, n = (values - middle) / half, len(values)
    noise = random.laplace(0, 3, (3, repeat))
    count = np.maximum(n + noise[0], 2)
    first, second = np.clip((z.sum() + noise[1]) / count, -1, 1), np.clip(((z * z).sum() + noise[2]) / count, 0, 1)
    found = half * half * np.clip((second - first**2) * count / (count - 1), 0, 1)
    truth = float(np.var(values, ddof=1))
    deviation = np.sqrt(found) - math.sqrt(truth)
    return float(np.sqrt(np.mean((found - truth) ** 2))), float(np.sqrt(np.mean(deviation**2)))


def quantile_error(values: Numbers, level: float, low: float, high: float, epsilon: float = 1) -> float:
    """RMSE of the exponential mechanism over the whole range, exactly.

    A point's score is how far its rank is from the quantile's; one person moves it by max(level, 1 - level).
    """
    edges = np.concatenate([[low], np.sort(np.clip(values, low, high)), [high]])
    rank = np.arange(len(edges) - 1)
    score = -np.abs(rank - level * len(values)) * epsilon / (2 * max(level, 1 - level))
    with np.errstate(divide="ignore"):
        weight = np.log(np.diff(edges)) + score
    share = np.exp(weight - weight.max())
    truth = float(np.quantile(values, level))
    left, right = edges[:-1] - truth, edges[1:] - truth
    squares = (left * left + left * right + right * right) / 3  # of a uniform point between two values
    return math.sqrt(float((share * squares).sum() / share.sum()))


def limits(contributions: Numbers) -> Numbers:
    """Limits that an oracle tries: every eighth of an octave, and the largest contributions."""
    top = max(1.0, math.log2(max(2.0, float(contributions.max()))))
    return np.unique(np.concatenate([2 ** np.arange(0, top + 0.125, 0.125), np.sort(contributions)[-300:]]))


def best_sum(contributions: Numbers, epsilon: float = 1) -> float:
    """RMSE of a sum with the best fixed limit in hindsight."""
    tried, ordered = limits(contributions), np.sort(contributions)
    sums = np.concatenate([[0], np.cumsum(ordered)])
    at = np.searchsorted(ordered, tried, side="right")
    lost = (sums[-1] - sums[at]) - tried * (len(ordered) - at)
    return float(np.sqrt(2 * (tried / epsilon) ** 2 + lost**2).min())


def best_mean(rows: Numbers, sums: Numbers, low: float, high: float, epsilon: float = 1) -> float:
    """RMSE of a mean with the best fixed limit of rows in hindsight; people beyond it are scaled down."""
    half, middle = (high - low) / 2, (high + low) / 2
    truth, best = float(sums.sum() / rows.sum()), math.inf
    for limit in limits(rows):
        weight = np.minimum(1, limit / rows)
        count = float((weight * rows).sum())
        mean = float((weight * sums).sum()) / count
        noise = 2 * half * math.sqrt(1 + ((mean - middle) / half) ** 2) * limit / (count * epsilon)
        best = min(best, math.hypot(noise, mean - truth))
    return best
