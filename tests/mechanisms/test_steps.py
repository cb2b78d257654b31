"""A clock beside the output: the steps of a release, and the words it draws, are the same whatever the value is.

Steps are the bytecode that runs in the package, recorded by a tracer, so nothing here depends on a clock. What may
differ is what happens once in 2**16 draws or less often: these sources of words are repeatable, and no draw below is
such a one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.mechanisms import (
    Gaussian,
    GaussianThreshold,
    Geometric,
    Laplace,
    LaplaceThreshold,
    PermuteAndFlip,
    RandomizedResponse,
    ReportNoisyMax,
    TruncatedGeometric,
)
from sources import Seeded

SEEDS = range(12)
Steps = tuple[tuple[str, int], ...]


class Watched(Seeded):
    """A repeatable source that writes down what it is asked for."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.asked: list[tuple[str, int]] = []

    def fill(self, words: NDArray[np.uint32]) -> None:
        self.asked.append(("fill", words.size))
        super().fill(words)

    def bits(self, count: int) -> int:
        self.asked.append(("bits", count))
        return super().bits(count)


def steps(release: Callable[[], object]) -> Steps:
    """The bytecode that a call runs in this package: the function and the offset of each instruction."""
    taken: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_globals.get("__name__", "").startswith("sfumato."):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            taken.append((frame.f_code.co_qualname, frame.f_lasti))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        release()
    finally:
        sys.settrace(before)
    return tuple(taken)


def ways(
    mechanism: Any, values: tuple[Any, ...], seeds: Iterable[int] = SEEDS
) -> set[tuple[Steps, tuple[tuple[str, int], ...]]]:
    """All the ways that releases of these values take, with what they draw; one if values and draws do not show."""
    found = set()
    for value in values:
        for seed in seeds:
            entropy = Watched(seed)
            mechanism.release(values[0], entropy)  # what is worked out once, and the block drawn ahead
            entropy.asked.clear()
            found.add((steps(lambda v=value, e=entropy: mechanism.release(v, e)), tuple(entropy.asked)))
    return found


SCORES = ((1.0, 0.0, 0.0), (0.0, 1.0, 1.0), (0, 5, -3), (0.1, 2**-30, 1e5), (7.5, 7.5, 7.5), (0.0, 0.0, 40.0))
FLOATS = (0.0, 1.0, 0.1, 0.5, -3.25, 2**-60, 4_000.0, 4_095.5, 4_096.5, -1e6, 1e12)
CASES = [
    ("permute and flip", PermuteAndFlip(("a", "b", "c"), 1, 1), SCORES),
    ("report noisy max", ReportNoisyMax(("a", "b", "c"), 1, 1), SCORES),
    ("report noisy max, ties", ReportNoisyMax(("a", "b", "c"), 1, 3, spacing=1), ((2, 2, 2), (0, 2, 1), (9, 0, 0))),
    ("laplace threshold", LaplaceThreshold(1, 1e-2), (0, 1, 2, 5, 6, 40)),
    ("gaussian threshold", GaussianThreshold(1, 1e-2), (0, 1, 2, 5, 6, 40)),
    ("truncated geometric", TruncatedGeometric(1, 1e-2), (0, 1, 2, 5, 6, 40, 1_000)),
    ("randomized response", RandomizedResponse(1), ("yes", "no")),
    ("randomized response, three", RandomizedResponse(0.5, "abc"), tuple("abc")),
    ("kept answer", RandomizedResponse.keep(0.6, "abc"), tuple("abc")),
    ("laplace", Laplace(1, 1), FLOATS),
    ("gaussian", Gaussian(1, 1, 1e-6), FLOATS),
    ("geometric", Geometric(1, 1), (0, 1, -7, 256, 257, 10**6)),
]


@pytest.mark.parametrize(("mechanism", "values"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_every_value_and_every_draw_takes_the_same_steps(mechanism: Any, values: tuple[Any, ...]) -> None:
    """The same instructions in the same order, and the same words drawn: a clock has nothing to tell apart."""
    assert len(ways(mechanism, values)) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_many_candidates_take_the_same_steps_for_the_same_words(seed: int) -> None:
    """Of 300 draws one in some hundred releases is decided by more words, whatever the scores are."""
    mechanism = PermuteAndFlip(range(300), 1, 1)
    assert len(ways(mechanism, ((0.0,) * 300, (1.0,) * 150 + (30.0,) * 150), (seed,))) == 1


def test_the_tracer_sees_a_branch() -> None:
    """Power: scores that no float holds take the exact way, which is another one."""
    mechanism = PermuteAndFlip(("a", "b", "c"), 1, 1)
    assert len(ways(mechanism, ((1.0, 0.0, 0.0), (Fraction(1, 3), 0, 0)))) == 2
