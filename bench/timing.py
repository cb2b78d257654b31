"""What durations tell beside outputs: the certified epsilon of (output, duration) for mechanisms that claim 1.

Each mechanism is released on two neighboring inputs in turns, timed by the finest clock of this machine, and judged as
`sfumato audit --timing` does. A figure is a lower bound that holds for this machine and this load; on a busy machine
it is smaller. An epsilon above 1 means that the clock gives away more than the mechanism promises.

Run: python bench/timing.py [--samples 100000] [--json path]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sfumato.audit import Game, game
from sfumato.audit.by_name import NAMES, mechanism_game
from sfumato.mechanisms import (
    BlockResponse,
    BoxResponse,
    GaussianThreshold,
    Geometric,
    Laplace,
    LaplaceThreshold,
    PaddedResponse,
    PermuteAndFlip,
    RandomizedResponse,
    ReportNoisyMax,
    TruncatedGeometric,
    UnaryResponse,
)

THREE = ("a", "b", "c")
# Inputs that may take longer than others. Beside them each mechanism is timed on its own neighbors, by its name;
# subsampling claims 0.62 there.
PAIRS: tuple[tuple[str, Any, Any, Any], ...] = (
    ("permute and flip, ten", PermuteAndFlip(tuple("abcdefghij"), 1, 1), (1.0,) + 9 * (0.0,), (0.0,) + 9 * (1.0,)),
    ("permute and flip, 0 and 1", PermuteAndFlip(THREE, 1, 1), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
    ("report noisy max, 0 and 1", ReportNoisyMax(THREE, 1, 1), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
    ("noisy max, whole, 0 and 1", ReportNoisyMax(THREE, 1, 1, spacing=1), (0, 0, 0), (1, 1, 1)),
    ("report noisy max, whole", ReportNoisyMax(THREE, 1, 1, spacing=1), (1, 0, 0), (0, 1, 1)),
    ("Laplace, 100.1 and 101.1", Laplace(1, 1), 100.1, 101.1),
    ("Laplace, 4095.5 and 4096.5", Laplace(1, 1), 4095.5, 4096.5),
    ("Laplace, 0.5 and 0.1", Laplace(1, 1), 0.5, 0.1),
    ("geometric, 256 and 257", Geometric(1, 1), 256, 257),
    ("Laplace threshold, 0 and 1", LaplaceThreshold(1, 1e-6), 0, 1),
    ("Laplace threshold, 14 and 15", LaplaceThreshold(1, 1e-6), 14, 15),
    ("Gaussian threshold, 0 and 1", GaussianThreshold(1, 1e-6), 0, 1),
    ("Gaussian threshold, 25 and 26", GaussianThreshold(1, 1e-6), 25, 26),
    ("randomized response, three", RandomizedResponse(1, THREE), "a", "c"),
    ("block response", BlockResponse(1, THREE), "a", "c"),
    ("unary response", UnaryResponse(1, THREE), "a", "c"),
    ("box response, one and none", BoxResponse(1, THREE), frozenset("a"), frozenset()),
    ("box response, a and c", BoxResponse(1, THREE), frozenset("a"), frozenset("c")),
    ("padded response, one and none", PaddedResponse(1, THREE, 2), frozenset("a"), frozenset()),
    ("padded response, a and c", PaddedResponse(1, THREE, 2), frozenset("a"), frozenset("c")),
    ("truncated geometric, 0 and 1", TruncatedGeometric(1, 1e-6), 0, 1),
    ("truncated geometric, 28 and 29", TruncatedGeometric(1, 1e-6), 28, 29),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One mechanism: what is certified, the median nanoseconds on each input, and the event that shows it."""

    name: str
    certified: float
    value_ns: float
    neighbor_ns: float
    event: str


def measure(name: str, claimed: Game, samples: int) -> Line:
    finding = claimed.play_timing(samples)
    assert finding.durations is not None
    return Line(name, finding.certified, *finding.durations, finding.best.words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000, help="releases for each input")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    print(f"{'claimed epsilon: 1':32}{'certified':>9}{'ns':>9}{'ns':>9}  by the event")
    lines = []
    games = [(name, game(*pair)) for name, *pair in PAIRS]
    games += [(f"{name}, as audited", mechanism_game(name, {})) for name in NAMES]
    for name, claimed in games:
        lines.append(line := measure(name, claimed, options.samples))
        print(
            f"{line.name:32}{line.certified:>9.2f}{line.value_ns:>9.0f}{line.neighbor_ns:>9.0f}  {line.event}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(line) for line in lines], indent=2) + "\n")


if __name__ == "__main__":
    main()
