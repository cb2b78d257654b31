"""Exact noise against numpy's, draws per CPU-second, in one process and in turns: python bench/noise.py [--json path].

Numpy's noise is neither exact nor secure; it is the yardstick because everybody has it. A ratio is the median over the
repetitions of numpy's CPU time over ours, each pair measured right after one another.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from sfumato.entropy import SYSTEM
from sfumato.mechanisms.samplers import discrete_gaussian, discrete_laplace, draw_one

BATCH = 10**6
SINGLE = 10**5
REPETITIONS = 15

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison; rates are draws per CPU-second."""

    name: str
    against: str
    rate: float
    numpy_rate: float
    ratio: float
    goal: float | None
    met: bool | None


def cpu_seconds(work: Work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(name: str, ours: Work, against: str, theirs: Work, count: int, goal: float | None = None) -> Line:
    ours(), theirs()
    pairs = [(cpu_seconds(ours), cpu_seconds(theirs)) for _ in range(REPETITIONS)]
    ratio = statistics.median(b / a for a, b in pairs)
    rate, numpy_rate = (count / statistics.median(times) for times in zip(*pairs, strict=True))
    return Line(name, against, rate, numpy_rate, ratio, goal, None if goal is None else ratio >= goal)


def lines() -> list[Line]:
    random = np.random.default_rng()
    small, lattice = discrete_laplace(Fraction(20)), discrete_laplace(Fraction(2**40))
    narrow, wide = discrete_gaussian(Fraction(400)), discrete_gaussian(Fraction(4**40))

    def laplace() -> object:
        return random.laplace(0, 20, BATCH)

    def normal() -> object:
        return random.normal(0, 20, BATCH)

    def single() -> None:
        for _ in range(SINGLE):
            draw_one(small, SYSTEM)

    def numpy_single() -> None:
        for _ in range(SINGLE):
            random.laplace(0, 20)

    return [
        compare("Laplace, scale 20", lambda: small.draw(BATCH, SYSTEM), "laplace", laplace, BATCH, 1.0),
        compare("Laplace, scale 2**40", lambda: lattice.draw(BATCH, SYSTEM), "laplace", laplace, BATCH, 0.25),
        compare("Gaussian, sigma 20", lambda: narrow.draw(BATCH, SYSTEM), "normal", normal, BATCH, 0.3),
        compare("Gaussian, sigma 2**40", lambda: wide.draw(BATCH, SYSTEM), "normal", normal, BATCH),
        compare("Laplace, one at a time", single, "laplace, one", numpy_single, SINGLE),
    ]


def fill_rate() -> float:
    """Bytes of AES per CPU-second."""
    words = np.empty(1 << 20, np.uint32)
    return words.nbytes / statistics.median(cpu_seconds(lambda: SYSTEM.fill(words)) for _ in range(5 * REPETITIONS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    measured, fill = lines(), fill_rate()
    print(f"{'draws per CPU-second':24}{'Sfumato':>12}{'numpy':>12}  {'against':14}{'ratio':>7}{'goal':>9}  met")
    for line in measured:
        goal = f"{line.goal:>9.2f}  {'yes' if line.met else 'NO'}" if line.goal is not None else f"{'-':>9}"
        print(
            f"{line.name:24}{line.rate / 1e6:>10.2f} M{line.numpy_rate / 1e6:>10.2f} M  {line.against:14}"
            f"{line.ratio:>7.2f}{goal}"
        )
    print(f"{'AES-256-CTR words':24}{fill / 1e9:>7.2f} GB/s")
    if options.json:
        figures = {"lines": [asdict(line) for line in measured], "fill_bytes_per_cpu_second": fill}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
