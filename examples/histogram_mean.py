"""The mean from a private histogram against the perturbed mean, by simulation: `python examples/histogram_mean.py`.

A thousand numbers between -4 and 4 are released three ways: as a histogram of 20 bins from which the mean follows (and
every other question about the numbers, too), as their mean with noise, and as `AVG` in SQL. Each is repeated; errors
are root mean squares. Writes a chart, histogram_mean.svg unless another name is given.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import charts

PEOPLE, BOUND, BINS = 1_000, 4, 20
EPSILONS = (0.1, 0.3, 1.0)
REPETITIONS = 15

# Repeatable numbers; the noise that protects them is not.
VALUES = np.clip(np.random.default_rng(2026).normal(0, 1, PEOPLE), -BOUND, BOUND)
TRUTH = float(VALUES.mean())


def curator() -> sf.Curator:
    """Whose rows are these numbers; to measure errors it answers again and again, which an owner would not allow."""
    table = sf.table(pd.DataFrame({"x": VALUES}), columns={"x": sf.column(bounds=(-BOUND, BOUND))}, neighbors="replace")
    return sf.Curator({"numbers": table}, budget=10**6, replay=False)


def methods(asked: sf.Curator) -> dict[str, Callable[[float], float]]:
    """Three ways to a private mean; each takes epsilon."""
    sensitivity = sf.Sensitivity(2 * BOUND / PEOPLE, neighbors="replace")  # of a mean of a known number of people
    return {
        "private histogram": lambda e: sf.histogram(asked, "numbers", "x", bins=BINS, epsilon=e).mean().value,
        "perturbed mean": lambda e: sf.mechanisms.Laplace(sensitivity=sensitivity, epsilon=e).release(TRUTH),
        "AVG in SQL": lambda e: asked.ask("SELECT AVG(x) AS mean FROM numbers", epsilon=e).rows[0]["mean"],
    }


def error(method: Callable[[float], float], epsilon: float) -> tuple[float, float]:
    """The root mean square error over the repetitions, and its own standard error, about."""
    squares = np.array([(method(epsilon) - TRUTH) ** 2 for _ in range(REPETITIONS)])
    root = math.sqrt(squares.mean())
    return root, float(squares.std(ddof=1)) / math.sqrt(REPETITIONS) / (2 * root)


def main(path: str = "histogram_mean.svg") -> dict[tuple[str, float], float]:
    """Print one run and all errors, write the chart, return the errors."""
    counts, edges = np.histogram(VALUES, bins=BINS, range=(-BOUND, BOUND))
    binned = float(counts @ (edges[:-1] + edges[1:]) / 2 / PEOPLE)
    found = methods(curator())
    print(
        f"true mean {TRUTH:.4f}, from the exact histogram {binned:.4f}: its bins alone cost {abs(binned - TRUTH):.4f}"
    )
    print("one run at epsilon 0.3: " + ", ".join(f"{name} {method(0.3):.4f}" for name, method in found.items()))
    print(f"\nroot mean square error of {REPETITIONS} repetitions\n")
    print(f"{'epsilon':>18}" + "".join(f"{epsilon:>10g}" for epsilon in EPSILONS))
    errors, points = {}, []
    for name, method in found.items():
        roots = [error(method, epsilon) for epsilon in EPSILONS]
        print(f"{name:>18}" + "".join(f"{root:>10.4f}" for root, _ in roots))
        for epsilon, (root, usual) in zip(EPSILONS, roots, strict=True):
            errors[name, epsilon] = root
            points.append(charts.Point(f"{epsilon:g}", root, max(0.0, root - 2 * usual), root + 2 * usual, series=name))
    title = f"Error of a private mean of {PEOPLE:,} numbers in [-{BOUND}, {BOUND}]"
    charts.with_intervals(points, charts.Names("epsilon", "root mean square error", title, "method")).save(path)
    print(f"\nchart: {path}")
    return errors


if __name__ == "__main__":
    main(*sys.argv[1:2])
