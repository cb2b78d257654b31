"""Composition side by side with dp-accounting, in one run: brackets, widths and processor time.

Both compute a full bracket at delta 1e-6 on a grid of 1e-4: an upper (pessimistic) and a lower (optimiztic) epsilon.
Processor time is the best of several repetitions, from nothing to the two numbers.

    python bench/accounting.py [--json FILE] [--repeat 5]
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import time
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.accounting import compose
from sfumato.privacy.loss import Loss
from sfumato.privacy.pair import TwoPoint
from sfumato.privacy.sampled import Sampled
from sfumato.privacy.shifts import GaussianShift, LaplaceShift

DELTA, GRID = 1e-6, 1e-4
NAMES = (
    "1,000 Gaussian, sigma 20",
    "10,000 sampled, rate .01, sigma 1",
    "100 Laplace, 0.1",
    "50 Laplace, 50 Gaussian, 20 RR",
)
EXACT = (8.306225050, None, 4.692667, None)  # where a closed form or many digits are known

_RNG = np.random.default_rng(7)
LAPLACE, SIGMAS, RESPONSES = (
    _RNG.uniform(a, b, n).tolist() for a, b, n in ((0.01, 0.1, 50), (20, 60, 50), (0.01, 0.1, 20))
)


def _loss(pair: Any) -> Loss:
    return Loss(None, None, pair)


def _parts(number: int) -> list[tuple[Loss, int]]:
    match number:
        case 0:
            return [(_loss(GaussianShift(Fraction(1, 20))), 1000)]
        case 1:
            return [(_loss(Sampled(GaussianShift(Fraction(1)), Fraction(1, 100))), 10_000)]
        case 2:
            return [(_loss(LaplaceShift(Fraction(1, 10))), 100)]
        case _:
            return [
                *((_loss(LaplaceShift(Fraction(e))), 1) for e in LAPLACE),
                *((_loss(GaussianShift(1 / Fraction(s))), 1) for s in SIGMAS),
                *((_loss(TwoPoint(Fraction(e))), 1) for e in RESPONSES),
            ]


def ours(number: int) -> tuple[float, float]:
    return tuple(compose(_parts(number), grid=GRID).epsilon(DELTA))  # type: ignore[return-value]


def theirs(number: int) -> tuple[float, float]:
    from dp_accounting.pld import privacy_loss_distribution as pld

    def epsilon(pessimistic: bool) -> float:
        options: dict[str, Any] = {"value_discretization_interval": GRID, "pessimistic_estimate": pessimistic}
        if not pessimistic:
            options["use_connect_dots"] = False  # it has no optimiztic form
        match number:
            case 0:
                total = pld.from_gaussian_mechanism(20.0, **options).self_compose(1000)
            case 1:
                total = pld.from_gaussian_mechanism(1.0, sampling_prob=0.01, **options).self_compose(10_000)
            case 2:
                total = pld.from_laplace_mechanism(10.0, **options).self_compose(100)
            case _:
                parts = [pld.from_laplace_mechanism(1 / e, **options) for e in LAPLACE]
                parts += [pld.from_gaussian_mechanism(s, **options) for s in SIGMAS]
                options.pop("use_connect_dots", None)
                parts += [pld.from_randomized_response(2 / (1 + math.exp(e)), 2, **options) for e in RESPONSES]
                total = parts[0]
                for part in parts[1:]:
                    total = total.compose(part)
        return float(total.get_epsilon_for_delta(DELTA))

    return epsilon(False), epsilon(True)


def measure(bracket: Callable[[int], tuple[float, float]], number: int, repeat: int) -> dict[str, float]:
    best = math.inf
    low = high = math.nan
    for _ in range(repeat):
        start = time.process_time()
        low, high = bracket(number)
        best = min(best, time.process_time() - start)
    return {"low": low, "high": high, "width": high - low, "cpu_ms": best * 1e3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    systems: dict[str, Callable[[int], tuple[float, float]]] = {"sfumato": ours}
    if find_spec("dp_accounting"):
        systems["dp-accounting"] = theirs
    else:
        print("dp-accounting is not installed, so there is nothing to compare with: pip install dp-accounting")
    rows = []
    print(f"{'':34}{'':15}{'low':>13}{'high':>13}{'width':>10}{'CPU ms':>9}")
    for number, name in enumerate(NAMES):
        figures = {system: measure(bracket, number, options.repeat) for system, bracket in systems.items()}
        for system, f in figures.items():
            print(f"{name:34}{system:15}{f['low']:13.9f}{f['high']:13.9f}{f['width']:10.1e}{f['cpu_ms']:9.1f}")
        row: dict[str, Any] = {"workload": name, "exact": EXACT[number], **figures}
        if len(figures) == 2:
            a, b = figures.values()
            row |= {"cpu_ratio": b["cpu_ms"] / a["cpu_ms"], "width_ratio": b["width"] / a["width"]}
            print(f"{'':34}{row['cpu_ratio']:.1f} times less CPU, {row['width_ratio']:.3g} times narrower")
        rows.append(row)
    if options.json:
        options.json.write_text(json.dumps({"delta": DELTA, "grid": GRID, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
