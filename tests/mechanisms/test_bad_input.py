"""One clear error for every call that cannot be meant: which argument, what came, what helps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import InvalidArgument, OutsideRange, ScaleTooLarge, WrongShape
from sfumato.mechanisms import (
    MECHANISMS,
    Exponential,
    Gaussian,
    GaussianThreshold,
    Geometric,
    InverseSensitivity,
    Laplace,
    LaplaceThreshold,
    PermuteAndFlip,
    ProposeTestRelease,
    Quantile,
    RandomizedResponse,
    ReportNoisyMax,
    SparseVector,
    Subsampled,
    TruncatedGeometric,
)

MAKERS: tuple[Callable[..., object], ...] = tuple(kind.example for kind in MECHANISMS)


def makers_with(parameter: str) -> list[Callable[..., object]]:
    """The makers of all mechanisms that have a parameter of this name."""
    return [kind.example for kind in MECHANISMS if parameter in {field.name for field in fields(kind)}]


SENSITIVE, WITH_DELTA = makers_with("sensitivity"), makers_with("delta")
MASKED = np.ma.array([1.0, 2.0], mask=[False, True])
NOT_POSITIVE = (0, -1, -0.5, math.nan, math.inf, -math.inf, "1", None, True)


@pytest.mark.parametrize("epsilon", NOT_POSITIVE)
@pytest.mark.parametrize("make", MAKERS)
def test_epsilon_must_be_positive_and_finite(make: Callable[..., object], epsilon: object) -> None:
    with pytest.raises(InvalidArgument, match=r"epsilon must be .*; got .*; for a strong promise"):
        make(epsilon=epsilon)


@pytest.mark.parametrize("epsilon", [10_001, 1e7, 10**400])
@pytest.mark.parametrize("make", MAKERS)
def test_an_epsilon_that_promises_nothing_is_refused_before_any_work(
    make: Callable[..., object], epsilon: float
) -> None:
    with pytest.raises(ScaleTooLarge, match=r"epsilon must lie between .* and 10000; got one beyond; for a strong"):
        make(epsilon=epsilon)
    make(epsilon=10_000)


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, math.inf, 0, "0.1"])
@pytest.mark.parametrize("make", WITH_DELTA)
def test_delta_must_be_positive_and_below_one(make: Callable[..., object], delta: object) -> None:
    with pytest.raises(InvalidArgument, match=r"delta must be .*; got .*; "):
        make(delta=delta)


@pytest.mark.parametrize("sensitivity", NOT_POSITIVE)
@pytest.mark.parametrize("make", SENSITIVE)
def test_sensitivity_must_be_positive_and_finite(make: Callable[..., object], sensitivity: object) -> None:
    with pytest.raises(InvalidArgument, match=r"sensitivity must be .*; got .*; say how far"):
        make(sensitivity=sensitivity)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Geometric(sensitivity=1, epsilon=1e-30),
        lambda: ReportNoisyMax(tuple("ab"), 1, epsilon=1e-10, spacing=2**-40),
        lambda: SparseVector(3, 1, 1e-18),
        lambda: SparseVector(3, 1, 0.001, spacing=2**-40).log_probability([True], [4]),
        lambda: ProposeTestRelease(1, (0, 8), 1e-18, 1e-6),
        lambda: Laplace(sensitivity=1, epsilon=1e-10, spacing=2**-40),
        lambda: Laplace(sensitivity=1, epsilon=1e-280),
        lambda: Laplace(sensitivity=10**300, epsilon=1),
        lambda: Gaussian(sensitivity=1, epsilon=1e-9, delta=1e-9, spacing=2**-40),
        lambda: TruncatedGeometric(epsilon=1e-9, delta=1e-9),
        lambda: GaussianThreshold(epsilon=1e-12, delta=1e-9),
        lambda: Gaussian(sensitivity=1, epsilon=1e-13, delta=1e-13),
        lambda: RandomizedResponse(epsilon=Fraction(1, 10**400)),
    ],
)
def test_a_scale_too_large_for_the_lattice_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ScaleTooLarge, match=r"must .*; got .*; "):
        make()


@pytest.mark.parametrize(
    ("release", "words"),
    [
        (lambda: Laplace(1, 1).release(math.nan), "finite number"),
        (lambda: Laplace(1, 1).release(math.inf), "finite number"),
        (lambda: Laplace(1, 1).release("3"), "finite number"),
        (lambda: Laplace(1, 1, size=2).release(np.array([0.0, math.nan])), "finite numbers"),
        (lambda: Gaussian(1, 1, 1e-6, size=1).release([math.inf]), "finite number"),
        (lambda: Geometric(1, 1).release(2.5), "whole number"),
        (lambda: Geometric(1, 1, size=2).release([1.5, 2]), "whole number"),
        (lambda: Geometric(1, 1, size=2).release([1, 2.5]), "whole number"),
        (lambda: RandomizedResponse(1).release("perhaps"), "one of the 2 categories"),
        (lambda: RandomizedResponse(1).estimate({"perhaps": 3}), "categories"),
        (lambda: LaplaceThreshold(1, 1e-6).release(-1), "number of units"),
        (lambda: GaussianThreshold(1, 1e-6).release(1.5), "number of units"),
        (lambda: TruncatedGeometric(1, 1e-6).release(True), "number of units"),
        (lambda: Exponential(tuple("ab"), 1, 1).release([1, math.nan]), "finite scores"),
        (lambda: PermuteAndFlip(tuple("ab"), 1, 1).release([1, math.nan]), "finite scores"),
        (lambda: InverseSensitivity(tuple("ab"), 1).release([1, -1]), "at least 0; got a negative"),
        (lambda: InverseSensitivity(tuple("ab"), 1).release([1, 0.5]), "a whole number"),  # type: ignore[list-item]
        (lambda: Quantile(0.5, (0, 1), 1).release([1, math.nan]), "finite number"),
        (lambda: Quantile(0.5, (0, 1), 1).release([1, "a"]), "finite number"),
        (lambda: Subsampled(Laplace(1, 1), 0.5).release([1, math.nan]), "finite number"),
        (lambda: SparseVector(3, 1, 1).release([-10_000, math.nan]), "finite number"),
        (lambda: ProposeTestRelease(0.5, (0, 1), 1, 1e-6).release([1, None]), "finite number"),
        (lambda: Quantile(0.5, (0, 1), 1, neighbors="replace").release([]), "at least one number under replace"),
        (lambda: ReportNoisyMax(tuple("ab"), 1, 1).release([1, "2"]), "finite scores"),  # type: ignore[list-item]
        (lambda: Laplace(1, 1, size=2).release(MASKED), "masked array"),
        (lambda: Geometric(1, 1, size=2).release(MASKED.astype(int)), "masked array"),
        (lambda: Laplace(1, 1).release(np.ma.masked), "finite number"),
        (lambda: Exponential(tuple("ab"), 1, 1).release(MASKED), "finite scores"),
        (lambda: Laplace(1, 1, size=2).release(np.array([1, 2], "datetime64[ns]")), "dates"),
        (lambda: Geometric(1, 1, size=2).release(np.array([1, 2], "timedelta64[ns]")), "spans of time"),
        (lambda: Laplace(1, 1, size=2).release([np.timedelta64(1, "s"), 2]), "spans of time"),
        (lambda: Laplace(1, 1).release(np.datetime64("2020-01-01")), "finite number"),
        (lambda: Laplace(1, 1).release(np.timedelta64(1, "s")), "finite number"),
        (lambda: Geometric(1, 1).release(np.timedelta64(1, "s")), "whole number"),
        (lambda: Exponential(tuple("ab"), 1, 1).release([np.timedelta64(1, "s"), 2]), "finite scores"),  # type: ignore[list-item]
        (lambda: LaplaceThreshold(1, 1e-6).release(np.timedelta64(1, "s")), "number of units"),  # type: ignore[arg-type]
    ],
)
def test_a_value_outside_the_declared_range_is_refused(release: Callable[[], object], words: str) -> None:
    with pytest.raises(OutsideRange, match=words):
        release()


@pytest.mark.parametrize(
    "release",
    [
        lambda: Laplace(1, 1).release([1.0, 2.0]),
        lambda: Laplace(1, 1).release(np.array([1.0])),
        lambda: Laplace(1, 1, size=3).release([1.0, 2.0]),
        lambda: Laplace(1, 1, size=3).release(1.0),
        lambda: Gaussian(1, 1, 1e-6, size=2).release(np.zeros((2, 2))),
        lambda: Geometric(1, 1).release([1, 2]),
        lambda: Geometric(1, 1, size=1).release(3),
        lambda: Exponential(tuple("ab"), 1, 1).release([1, 2, 3]),
        lambda: PermuteAndFlip(tuple("ab"), 1, 1).release([1]),
        lambda: InverseSensitivity(tuple("ab"), 1).release([1]),
        lambda: Quantile(0.5, (0, 1), 1).release(3),
        lambda: Subsampled(Geometric(1, 1), 0.5).release(4),  # type: ignore[arg-type]
        lambda: SparseVector(3, 1, 1).release(4),  # type: ignore[arg-type]
        lambda: ProposeTestRelease(0.5, (0, 1), 1, 1e-6).release(3),
        lambda: Quantile(0.5, (0, 1), 1).release("01"),
        lambda: Quantile(0.5, (0, 1), 1).release([[0, 1], [1, 0]]),
        lambda: ReportNoisyMax(tuple("ab"), 1, 1).release([1, 2, 3]),
        lambda: Laplace(1, 1, size=2).log_probability([1.0], [1.0, 2.0]),
    ],
)
def test_a_vector_of_the_wrong_shape_is_refused(release: Callable[[], object]) -> None:
    with pytest.raises(WrongShape, match="must"):
        release()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Laplace(1, 1, spacing=3),
        lambda: Laplace(1, 1, size=0),
        lambda: Laplace(1, 1, size=1.5),  # type: ignore[arg-type]
        lambda: Geometric(1.5, 1),  # type: ignore[arg-type]
        lambda: Exponential(tuple(""), 1, 1),
        lambda: Exponential(tuple("aa"), 1, 1),
        lambda: PermuteAndFlip(tuple(""), 1, 1),
        lambda: InverseSensitivity(tuple("aa"), 1),
        lambda: Quantile(0, (0, 1), 1),
        lambda: Subsampled(Geometric(1, 1), 0),
        lambda: Subsampled(Geometric(1, 1), 1),
        lambda: Subsampled(Geometric(1, 1, neighbors="replace"), 0.5),
        lambda: Subsampled(RandomizedResponse(1), 0.5),
        lambda: Subsampled(Laplace(1, 1, size=3), 0.5),
        lambda: Subsampled(3, 0.5),
        lambda: SparseVector(math.nan, 1, 1),
        lambda: SparseVector(3, 1, 1, hits=0),
        lambda: SparseVector(3, 1, 1, hits=1.5),  # type: ignore[arg-type]
        lambda: SparseVector(3, 1, 1, share=0),
        lambda: SparseVector(3, 1, 1, spacing=3),
        lambda: SparseVector(3, 1, 1, monotonic=True, neighbors="replace"),
        lambda: ProposeTestRelease(0, (0, 1), 1, 1e-6),
        lambda: ProposeTestRelease(2, (0, 1), 1, 1e-6),
        lambda: ProposeTestRelease(0.5, (0, 4), 1, 1e-6, spacing=1),
        lambda: ProposeTestRelease(1, (0, 4), 1, 1e-6, share=1),
        lambda: ProposeTestRelease(1, (4, 0), 1, 1e-6),
        lambda: Quantile(1.5, (0, 1), 1),
        lambda: Quantile(0.5, (1, 0), 1),
        lambda: Quantile(0.5, (0, 0), 1),
        lambda: Quantile(0.5, (0, math.nan), 1),
        lambda: Quantile(0.5, 3, 1),  # type: ignore[arg-type]
        lambda: Quantile(0.5, "01", 1),  # type: ignore[arg-type]
        lambda: Quantile(0.5, (0, 1), 1, spacing=2),
        lambda: Quantile(0.5, (0, 1), 1, spacing=3),
        lambda: Quantile(0.5, (0, 1), 1, spacing=2.0**-62),
        lambda: Quantile(0.5, (0, 1), 1, spacing=1).distance(0.5, [1]),
        lambda: ReportNoisyMax(tuple("aa"), 1, 1),
        lambda: ReportNoisyMax(tuple("ab"), 1, 1, spacing=3),
        lambda: PermuteAndFlip(tuple("ab"), 1, 1, monotonic=True, neighbors="replace"),  # type: ignore[arg-type]
        lambda: Exponential(tuple("ab"), 1, 1, monotonic=True, neighbors="replace"),  # type: ignore[arg-type]
        lambda: RandomizedResponse(1, categories=("yes",)),
        lambda: RandomizedResponse.keep(0.5),
        lambda: RandomizedResponse.truth_or_coin(0),
        lambda: RandomizedResponse.truth_or_coin(1),
        lambda: LaplaceThreshold(1, 1e-6, keys=0),
        lambda: GaussianThreshold(1, 1e-6, spacing=2),
        lambda: Laplace(1, 1).error(confidence=1),
        lambda: Laplace(1, 1).error(confidence=0),
    ],
)
def test_other_arguments_are_checked_at_the_door(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidArgument, match=r"must .*; got "):
        make()


FINITE, MISSING = "value must be a finite number; got ", "; remove or replace missing values first"
WHOLE, CONVERT = (
    "value must be a whole number; got ",
    "; convert whole numbers with int(), or use Laplace for real ones",
)


@pytest.mark.parametrize(
    ("release", "message"),
    [
        (lambda: Laplace(1, 1).release("12"), f"{FINITE}a str{MISSING}"),
        (lambda: Laplace(1, 1).release(None), f"{FINITE}a NoneType{MISSING}"),
        (lambda: Laplace(1, 1).release(math.nan), f"{FINITE}NaN or infinity{MISSING}"),
        (lambda: Gaussian(1, 1, 1e-6).release(-math.inf), f"{FINITE}NaN or infinity{MISSING}"),
        (lambda: Laplace(1, 1).release(Decimal("NaN")), f"{FINITE}NaN or infinity{MISSING}"),
        (lambda: Laplace(1, 1, size=2).release([1.0, None]), f"{FINITE}a NoneType{MISSING}"),
        (lambda: Laplace(1, 1, size=2).release(["12", "13"]), f"{FINITE}a str{MISSING}"),
        (
            lambda: Laplace(1, 1, size=2).release([1.0, math.nan]),
            f"value must hold finite numbers only; got NaN or infinity{MISSING}",
        ),
        (lambda: Geometric(1, 1).release(12.0), f"{WHOLE}a float{CONVERT}"),
        (lambda: Geometric(1, 1).release("12"), f"{WHOLE}a str{MISSING}"),
        (lambda: Geometric(1, 1).release(None), f"{WHOLE}a NoneType{MISSING}"),
        (lambda: Geometric(1, 1).release(math.nan), f"{WHOLE}NaN or infinity{MISSING}"),
        (lambda: Geometric(1, 1, size=2).release([12.0, 13.0]), f"{WHOLE}a float in a list{CONVERT}"),
        (lambda: Geometric(1, 1, size=2).release(np.array([12.0, 13.0])), f"{WHOLE}a float in a vector{CONVERT}"),
        (
            lambda: Exponential(tuple("ab"), 1, 1).release([1, math.inf]),
            "value must hold finite scores only; got NaN or infinity; give a candidate you rule out a low score",
        ),
        (
            lambda: LaplaceThreshold(1, 1e-6).release(12.0),  # type: ignore[arg-type]
            "value must be a number of units, a whole number of at least 0; got a float",
        ),
    ],
)
def test_a_refusal_names_the_type_that_came_and_never_the_value(release: Callable[[], object], message: str) -> None:
    with pytest.raises(OutsideRange) as refusal:
        release()
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    "release",
    [
        lambda: Exponential(tuple("ab"), 1, 1).release(3),  # type: ignore[arg-type]
        lambda: Laplace(1, 1, size=2).release([1.0, [2.0, 3.0]]),
        lambda: Gaussian(1, 1, 1e-6, size=2).release([[1.0], [2.0, 3.0]]),
        lambda: Geometric(1, 1, size=2).release([1, [2, 3]]),
        lambda: Laplace(1, 1).release([[1.0], [2.0, 3.0]]),
    ],
)
def test_what_is_no_vector_at_all_is_refused(release: Callable[[], object]) -> None:
    with pytest.raises(WrongShape, match=r"value must be .*; got "):
        release()


def test_what_is_no_output_has_no_probability() -> None:
    assert Laplace(1, 1, size=2).log_probability([1.0, [2.0, 3.0]], [1.0, 2.0]) == -math.inf
    assert Laplace(1, 1).log_probability("1", 1.0) == -math.inf


@pytest.mark.parametrize("make", makers_with("monotonic"))
@pytest.mark.parametrize("meant", ("False", "no", 0, 1, None, []))
def test_a_flag_is_true_or_false(make: Callable[..., object], meant: object) -> None:
    """The text "False" is true to Python, and would have halved the noise."""
    with pytest.raises(InvalidArgument, match="monotonic must be True or False"):
        make(monotonic=meant)
    assert make(monotonic=np.False_) == make(monotonic=False) != make(monotonic=True)


@pytest.mark.parametrize("kind", (Exponential, PermuteAndFlip, ReportNoisyMax))
def test_scores_come_in_the_order_of_the_candidates(kind: type) -> None:
    """Of a mapping the keys would have been taken for the scores, and a set has no order."""
    mechanism = kind((1, 2, 3), 1, 1)
    for scores in ({1: 100, 2: 0, 3: 5}, {1, 2, 3}):
        with pytest.raises(WrongShape, match="must be 3 scores, one a candidate"):
            mechanism.release(scores)
    with pytest.raises(InvalidArgument, match="candidates must be values that can be compared"):
        kind(([1], [2]), 1, 1)


def test_hits_beyond_all_floats_are_refused_for_their_noise() -> None:
    with pytest.raises(ScaleTooLarge, match="the noise must be at most"):
        SparseVector(0, 1, 1, hits=10**400)
