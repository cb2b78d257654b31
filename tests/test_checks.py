"""`checks`: what is typed is what is meant, and a refusal names the argument, the rule and the value."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import checks
from sfumato.errors import InvalidArgument, SfumatoError

LAW = settings(deadline=None)


@pytest.mark.parametrize("tenth", [0.1, Fraction(1, 10), Decimal("0.1"), np.float64(0.1)])
def test_a_number_means_the_decimal_it_prints_as(tenth: checks.Number) -> None:
    assert checks.number(epsilon=tenth) == Fraction(1, 10)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_a_float_of_another_width_means_its_binary_value(kind: type) -> None:
    """What float16 prints for 0.1 is 0.1, but it stores 0.09998; no shorter decimal is meant by it."""
    for text in ("0.1", "3", "1e-3"):
        assert checks.number(epsilon=kind(text)) == Fraction(*kind(text).as_integer_ratio())
    for nonsense in (kind("nan"), kind("inf")):
        with pytest.raises(InvalidArgument, match="epsilon must be a finite number"):
            checks.number(epsilon=nonsense)


def test_what_a_subclass_prints_does_not_matter() -> None:
    class Sly(float):
        def __str__(self) -> str:
            return "0.001"

        __repr__ = __str__

    class SlyDecimal(Decimal):
        def __str__(self) -> str:
            return "0.001"

    assert checks.number(epsilon=Sly(0.1)) == checks.number(epsilon=SlyDecimal("0.1")) == Fraction(1, 10)


@pytest.mark.parametrize("three", [3, 3.0, Fraction(3), Decimal(3), np.int64(3), np.uint8(3)])
def test_whole_numbers_of_every_type_are_read_as_python_fractions(three: checks.Number) -> None:
    exact = checks.number(epsilon=three)
    assert exact == 3
    assert type(exact) is Fraction
    assert type(exact.numerator) is int


@LAW
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_is_read_as_the_decimal_that_gives_it_back(x: float) -> None:
    assert float(checks.number(x=x)) == x


@pytest.mark.parametrize("nonsense", [math.nan, math.inf, -math.inf, Decimal("NaN"), Decimal("Infinity"), 1j])
def test_what_is_not_finite_is_refused(nonsense: checks.Number) -> None:
    with pytest.raises(InvalidArgument, match="epsilon must be a finite number"):
        checks.number(epsilon=nonsense)


@pytest.mark.parametrize("nonsense", ["1", None, True, [1], np.True_, np.array([1.0, 2.0]), np.timedelta64(3, "s")])
def test_what_is_not_a_number_is_refused(nonsense: checks.Number) -> None:
    with pytest.raises(InvalidArgument, match="epsilon must be a number"):
        checks.number(epsilon=nonsense)


CASES = [
    (checks.positive, [1e-300, 1, 10**400], [0, -1, -1e-300]),
    (checks.non_negative, [0, 0.0, 7], [-1, -1e-300]),
    (checks.below_one, [0, 0.5, Fraction(10**30 - 1, 10**30)], [1, 1.0, -0.1]),
    (checks.probability, [0, 0.5, 1], [-1e-9, 1.000001]),
    (checks.inside, [1e-300, 0.95], [0, 1]),
]


@pytest.mark.parametrize(("check", "good", "bad"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_a_check_takes_what_its_rule_allows_and_refuses_the_rest(check, good, bad) -> None:  # type: ignore[no-untyped-def]
    assert [check(delta=value) for value in good] == [checks.number(delta=value) for value in good]
    for value in bad:
        with pytest.raises(InvalidArgument, match=r"^delta must be .*; got .*; "):
            check(delta=value)


def test_a_whole_number_is_a_python_int_of_at_least_what_was_asked() -> None:
    assert checks.whole(k=0) == 0
    assert type(checks.whole(1, k=np.int64(4))) is int
    for nonsense in (0, -1, 2.0, True, "2", Fraction(2), np.timedelta64(3, "s")):
        with pytest.raises(InvalidArgument, match="k must be a whole number of at least 1"):
            checks.whole(1, k=nonsense)


def test_a_refusal_says_what_was_expected_what_came_and_what_helps() -> None:
    with pytest.raises(InvalidArgument) as refusal:
        checks.positive(epsilon=-1)
    assert str(refusal.value) == (
        "epsilon must be positive; got -1; for a strong promise choose 1 or less, for example 0.5"
    )


def test_a_refusal_is_both_one_of_ours_and_a_value_error() -> None:
    assert issubclass(InvalidArgument, ValueError)
    assert issubclass(InvalidArgument, SfumatoError)
