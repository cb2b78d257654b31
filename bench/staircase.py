"""What staircase noise would gain over discrete Laplace noise on a lattice: python bench/staircase.py.

Both are epsilon-private for a sensitivity of `steps` multiples of the spacing. Staircase (Geng and Viswanath 2014):
mass constant on `width` of every `steps` integers and e**epsilon times lower on the rest; `width` is the best for each
measure. A line has the staircase's figure over discrete Laplace's; below 1 it gains. See decisions/0017.
"""

from __future__ import annotations

import numpy as np


def laplace(epsilon: float, steps: int, reach: int) -> np.ndarray:
    """Masses of |noise| = 0, 1, ..., reach."""
    mass = np.exp(-epsilon / steps * np.arange(reach + 1))
    mass[1:] *= 2
    return mass / mass.sum()


def staircase(epsilon: float, steps: int, width: int, reach: int) -> np.ndarray:
    """Masses of |noise|: the first `width` integers of every stair are the high ones."""
    size = np.arange(reach + 1)
    mass = np.exp(-epsilon * (size // steps + (size % steps >= width)))
    mass[1:] *= 2
    return mass / mass.sum()


def measures(mass: np.ndarray) -> np.ndarray:
    """Mean size, root mean square, half-widths of 95 % and 99 %."""
    size, below = np.arange(len(mass)), np.cumsum(mass)
    halves = [np.searchsorted(below, confidence) for confidence in (0.95, 0.99)]
    return np.array([(mass * size).sum(), np.sqrt((mass * size**2).sum()), *halves], float)


def main() -> None:
    print("epsilon  steps   mean size   root mean square   95 %   99 %    (95 % at the width best for the mean)")
    for steps in (1, 2, 64, 512):
        for epsilon in (0.1, 1, 3, 10):
            reach = int(60 * steps / epsilon) + 4 * steps
            usual = measures(laplace(epsilon, steps, reach))
            widths = np.unique(np.geomspace(1, steps, 200).round().astype(int))
            all_of = np.array([measures(staircase(epsilon, steps, width, reach)) for width in widths])
            best, at_mean = all_of.min(axis=0), all_of[all_of[:, 0].argmin(), 2]
            gain = np.where(best == usual, 1.0, best / np.maximum(usual, 1e-300))
            at_mean = at_mean / usual[2] if usual[2] else 1.0
            print(
                f"{epsilon:7} {steps:6} {gain[0]:11.4f} {gain[1]:18.4f} {gain[2]:6.3f} {gain[3]:6.3f} {at_mean:14.3f}"
            )


if __name__ == "__main__":
    main()
