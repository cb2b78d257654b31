"""One line of examples for every mechanism; the shared suite does the rest.

A case is a mechanism, two values that are neighbours at the declared distance, and outputs that carry all but a
negligible part of the probability under both. Lattices are coarse here, so that all outputs can be listed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from sfumato.mechanisms import (
    BlockResponse,
    BoxResponse,
    DuchiResponse,
    Exponential,
    Gaussian,
    GaussianThreshold,
    Geometric,
    Hyperplanes,
    InverseSensitivity,
    Laplace,
    LaplaceThreshold,
    PaddedResponse,
    PermuteAndFlip,
    PiecewiseResponse,
    ProposeTestRelease,
    Quantile,
    RandomizedResponse,
    ReportNoisyMax,
    Rows,
    SparseVector,
    Subsampled,
    Subsets,
    TruncatedGeometric,
    UnaryResponse,
)
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.sensitivity import Norm, Sensitivity


def _plain(output: Any) -> Hashable:
    return tuple(output.tolist()) if isinstance(output, np.ndarray) else output


def _miss(output: Any, value: Any) -> float:
    """How far the worst number of an output is off."""
    return float(np.max(np.abs(np.asarray(output, float) - np.asarray(value, float))))


@dataclass(frozen=True)
class Case:
    """A mechanism with two neighbouring values and all its outputs."""

    name: str
    mechanism: Any
    value: Any
    neighbour: Any
    outputs: tuple[Any, ...]
    tight: float = 1.0  # which part of the promised loss these neighbours really cost, at least
    misses: Callable[[Any, Any], float] | None = _miss
    draws: int = 20_000  # fewer where a draw is dear

    def log_probabilities(self, value: Any) -> np.ndarray:
        """The distribution of the outputs listed, worked out once."""
        return _log_probabilities(self.name, value)

    def _log_probabilities(self, value: Any) -> np.ndarray:
        return np.array([self.mechanism.log_probability(output, value) for output in self.outputs])

    def releases(self, count: int, entropy: Any) -> list[Hashable]:
        """Independent releases of the value."""
        return [_plain(self.mechanism.release(self.value, entropy)) for _ in range(count)]


def around(low: float, high: float, step: float = 1) -> tuple[Any, ...]:
    numbers = range(int(low / step), int(high / step) + 1)
    return tuple(n if step == 1 else n * step for n in numbers)


def floats(numbers: Iterable[Any]) -> tuple[float, ...]:
    return tuple(float(n) for n in numbers)


def square(side: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(itertools.product(side, repeat=2))


def shown(low: float, high: float, step: float = 1) -> tuple[Any, ...]:
    return (None, *around(low, high, step))


def said(answers: int, hits: int) -> tuple[Any, ...]:
    """All that can be said of so many answers: the last hit is the last word."""
    words = {
        every[: ends[hits - 1] + 1 if len(ends := [i for i, yes in enumerate(every) if yes]) >= hits else None]
        for every in itertools.product((False, True), repeat=answers)
    }
    return tuple(sorted(words))


FALL = lambda output, scores: max(scores) - scores["abcde".index(output)]  # noqa: E731

_laplace, _fine = Laplace(2, 1, spacing=1), Laplace(1, Fraction(1, 2), spacing=0.25)
_selection = [LaplaceThreshold(1, 1e-4), TruncatedGeometric(1, 1e-4)]
_median, _ninth = Quantile(0.5, (0, 15), 2, 1), Quantile(0.9, (0, 16), 3, 0.5, "replace")
_tested = ProposeTestRelease(2, (0, 40), 2, 1e-3, spacing=1)

CASES = (
    Case("laplace", _laplace, 3.0, 5.0, floats(around(-70, 75))),
    Case("laplace, fine", _fine, 0.5, -0.5, around(-70, 70, 0.25)),
    Case(
        "laplace, vector",
        Laplace(2, 2, size=2, spacing=1),
        (0.0, 1.0),
        (1.0, 2.0),
        square(floats(around(-50, 50))),
        0.49,
    ),
    Case(
        "laplace, L2",
        Laplace(Sensitivity(1, Norm.L2), 2, size=2, spacing=1),
        (0.0, 1.0),
        (1.0, 1.0),
        square(floats(around(-40, 40))),
        0.2,
    ),
    Case("geometric", Geometric(1, 0.5), 7, 8, around(-70, 90)),
    Case("geometric, far", Geometric(3, 1), -2, 1, around(-100, 100)),
    Case("geometric, vector", Geometric(2, 1, size=2), (4, 4), (5, 3), square(around(-50, 60))),
    Case("gaussian", Gaussian(1, 1, 1e-4, spacing=1), 10.0, 11.0, floats(around(-60, 80)), 0.999),
    Case("gaussian, large epsilon", Gaussian(2, 5, 1e-6, spacing=0.5), 0.0, -2.0, around(-40, 40, 0.5), 0.999),
    Case(
        "gaussian, vector",
        Gaussian(1, 2, 1e-3, size=2, spacing=1),
        (1.0, 2.0),
        (2.0, 2.0),
        square(floats(around(-40, 45))),
        0.0,
    ),
    Case(
        "exponential",
        Exponential(tuple("abcde"), 1, 2),
        (0, -40, -41, -40.5, -39),
        (-1, -39, -40, -39.5, -38),
        tuple("abcde"),
        0.999,
        FALL,
    ),
    Case(
        "exponential, monotonic",
        Exponential(tuple("abc"), 2, 1, monotonic=True),
        (0, 50, 0),
        (2, 50, 0),
        tuple("abc"),
        0.999,
        FALL,
    ),
    Case(
        "permute and flip",
        PermuteAndFlip(tuple("abcde"), 1, 2),
        (0, -40, -41, -40.5, -39),
        (-1, -39, -40, -39.5, -38),
        tuple("abcde"),
        0.999,
        FALL,
        5_000,
    ),
    Case(
        "permute and flip, monotonic",
        PermuteAndFlip(tuple("abcde"), 2, 1, monotonic=True),
        (3, 3.5, 1, 2.25, 3.5),
        (4, 5.5, 1, 2.25, 5),
        tuple("abcde"),
        0.5,
        FALL,
        5_000,
    ),
    Case(
        "report noisy max",
        ReportNoisyMax(tuple("abcde"), 1, 2, spacing=0.5),
        (3, 3.5, 1, 2.25, 3.5),
        (2, 4.5, 2, 3.25, 4.5),
        tuple("abcde"),
        0.5,
        FALL,
        5_000,
    ),
    Case(
        "report noisy max, far",
        ReportNoisyMax(tuple("abc"), 2, 1, monotonic=True),
        (0, 50, 0),
        (2, 50, 0),
        tuple("abc"),
        0.999,
        FALL,
        5_000,
    ),
    Case(
        "inverse sensitivity of a count",
        InverseSensitivity(tuple(range(12)), 2),
        tuple(abs(z - 7) for z in range(12)),
        tuple(abs(z - 8) for z in range(12)),
        tuple(range(12)),
        0.49,
        lambda output, distances: distances[output],
        5_000,
    ),
    Case(
        "median",
        _median,
        (1, 2, 2, 3, 7, 9, 11, 11),
        (1, 2, 2, 3, 7, 9, 11),
        around(0, 15),
        0.4,
        _median.distance,
        5_000,
    ),
    Case("ninth tenth", _ninth, (1, 2, 2, 3, 7), (1, 2, 2, 3, 0), around(0, 16, 0.5), 0.5, _ninth.distance, 5_000),
    Case("propose-test-release, unstable", _tested, (0, 40), (0, 40, 40), shown(-70, 110), 0.3, None, 5_000),
    Case("propose-test-release, stable", _tested, (5, 6, 6, 6, 8), (5, 6, 6, 6), shown(-70, 90), 0.0, None, 5_000),
    Case(
        "propose-test-release, replace",
        ProposeTestRelease(1, (0, 15), 2, 1e-3, Fraction(1, 3), 0.5, "replace"),
        (2, 3, 3.5, 4, 9),
        (2, 3, 3.5, 15, 9),
        shown(-50, 70, 0.5),
        0.0,
        None,
        5_000,
    ),
    Case("sparse vector", SparseVector(2, 1, 3, spacing=1), (9, 9, -9), (8, 8, -8), said(3, 1), 0.9, None, 5_000),
    Case(
        "sparse vector, two hits",
        SparseVector(2, 1, 4, hits=2, share=0.5, spacing=0.5),
        (1, 1, 1, 3, 3),
        (2, 2, 2, 2, 2),
        said(5, 2),
        0.4,
        None,
        5_000,
    ),
    Case(
        "sparse vector, monotonic",
        SparseVector(2, 1, 4, monotonic=True, spacing=1),
        (1, 1, 1, 1, 2, 2),
        (2, 2, 2, 2, 2, 2),
        said(6, 1),
        0.99,
        None,
        5_000,
    ),
    Case("subsampled", Subsampled(Geometric(1, 2), 0.25), (1,) * 4, (1,) * 3, around(-40, 45), 0.4, None, 5_000),
    Case(
        "subsampled, one unit",
        Subsampled(Laplace(2, 1, spacing=0.5), 0.75),
        (1.5, 2),
        (1.5,),
        around(-90, 90, 0.5),
        0.4,
        None,
        5_000,
    ),
    Case(
        "subsampled gaussian",
        Subsampled(Gaussian(1, 1, 1e-3, spacing=1), 0.5),
        (1, 1, 1),
        (1, 1),
        floats(around(-60, 60)),
        0.0,
        None,
        5_000,
    ),
    Case("coin toss", RandomizedResponse.truth_or_coin(), "yes", "no", ("yes", "no"), misses=None),
    Case("randomized response", RandomizedResponse(Fraction(7, 10)), "no", "yes", ("yes", "no"), misses=None),
    Case("k-ary response", RandomizedResponse(1, categories="abcd"), "b", "d", tuple("abcd"), misses=None),
    Case("kept answer", RandomizedResponse.keep(0.6, categories="abc"), "a", "b", tuple("abc"), misses=None),
    *(
        Case(
            f"local, {name}",
            BlockResponse(epsilon, tuple("abcdefg"[:answers]), blocks),
            "c",
            "b",
            outputs,
            1,
            None,
            5_000,
        )
        for name, epsilon, answers, blocks, outputs in (
            ("subsets", 1, 6, Subsets(2), tuple((1 << i) + (1 << j) for i in range(6) for j in range(i))),
            ("hyperplanes over 2", Fraction(1, 2), 7, Hyperplanes(2, 3), around(0, 6)),
            ("hyperplanes over 4", 1, 5, Hyperplanes(4, 3), around(0, 20)),
            ("rows", 0.7, 5, Rows(3), around(0, 15)),
        )
    ),
    Case("local, coins", BlockResponse(1.1, ("yes", "no"), odds=3), "yes", "no", (0, 1), 0.998, None),
    Case("unary", UnaryResponse(1, "abcd"), "b", "d", around(0, 15), 1, None, 5_000),
    Case("one box", BoxResponse(1, "abc"), frozenset("ac"), frozenset("b"), around(0, 5), 1, None, 5_000),
    Case("every box", BoxResponse(2, "abcd", True, 1), frozenset("a"), frozenset("d"), around(0, 15), 1, None, 5_000),
    Case("padded boxes", PaddedResponse(1, "abcd", 2), frozenset("ac"), frozenset("b"), around(0, 4), 0.5, None, 5_000),
    Case(
        "padded boxes, one",
        PaddedResponse(1, "abcd", 1, Subsets(2)),
        frozenset("a"),
        frozenset(),
        tuple((1 << i) + (1 << j) for i in range(5) for j in range(i)),
        1,
        None,
        5_000,
    ),
    Case("duchi", DuchiResponse(1, (0, 10), 20), 10, 0, (0, 1), 1, None, 5_000),
    Case("duchi, near", DuchiResponse(1, (0, 10), 20), 3.5, 4, (0, 1), 0.02, None, 5_000),
    Case("piecewise", PiecewiseResponse(2, (-5, 5), 10), -5, 3, around(0, 15), 1, None, 5_000),
    Case("piecewise, wide", PiecewiseResponse(1, (0, 1), 8, 11), 0.5, 0.625, around(0, 18), 1, None, 5_000),
    Case("laplace threshold", _selection[0], 1, 0, shown(1, 60), 0.4, None),
    Case("laplace threshold, many people", _selection[0], 20, 21, shown(1, 90), 0.0, None),
    Case(
        "laplace threshold, replace",
        LaplaceThreshold(1, 1e-3, keys=2, neighbours=Neighbours.REPLACE),
        1,
        0,
        shown(1, 250),
        0.0,
        None,
    ),
    Case("gaussian threshold", GaussianThreshold(1, 1e-3, spacing=1), 1, 0, shown(1, 80), 0.1, None),
    Case(
        "gaussian threshold, many people",
        GaussianThreshold(1, 1e-3, keys=2, spacing=0.5),
        20,
        21,
        shown(1, 130, 0.5),
        0.0,
        None,
    ),
    Case("truncated geometric", _selection[1], 1, 0, (True, False), 0.999, None),
    Case("truncated geometric, few people", _selection[1], 7, 6, (True, False), 0.999, None),
    Case("truncated geometric, many keys", TruncatedGeometric(2, 1e-3, keys=2), 1, 0, (True, False), 0.49, None),
)


@cache
def _log_probabilities(name: str, value: Any) -> np.ndarray:
    case = next(case for case in CASES if case.name == name)
    return case._log_probabilities(value)
