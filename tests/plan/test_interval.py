"""Intervals hold whatever the operations give, for numbers from within."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sfumato.statistics.ranges import Range, hull

NUMBERS = st.fractions(-50, 50, max_denominator=8)


@st.composite
def inside(draw: st.DrawFn) -> tuple[Range, Fraction]:
    """An interval and a number of it."""
    a, b, c = sorted((draw(NUMBERS), draw(NUMBERS), draw(NUMBERS)))
    return Range(a, c), b


def holds(value_range: Range, number: Fraction | int) -> bool:
    return value_range.low <= number <= value_range.high


@given(inside(), inside())
def test_arithmetic_stays_inside(one: tuple[Range, Fraction], two: tuple[Range, Fraction]) -> None:
    """Sum, difference, product, negation, absolute value, rounding, quotient and hull."""
    (i, x), (j, y) = one, two
    assert holds(i + j, x + y) and holds(i - j, x - y) and holds(i * j, x * y) and holds(-i, -x)
    assert holds(i.absolute(), abs(x)) and abs(x) <= i.largest
    assert all(holds(i.rounded(), step(x)) for step in (math.floor, math.ceil, round))
    assert all(holds(i.rounded(), math.copysign(math.floor(abs(x) + Fraction(1, 2)), x)) for _ in "1")
    quotient = i.over(j)
    if quotient is None:
        assert holds(j, 0)
    else:
        assert holds(quotient, x / y)
    both = hull([i, j])
    assert both is not None and holds(both, x) and holds(both, y)


@given(inside(), inside())
def test_arithmetic_is_no_wider_than_it_must_be(one: tuple[Range, Fraction], two: tuple[Range, Fraction]) -> None:
    """Both ends of a sum, a difference and a product are reached by ends."""
    (i, _), (j, _) = one, two
    ends = [(a, b) for a in (i.low, i.high) for b in (j.low, j.high)]
    for result, values in (
        (i + j, [a + b for a, b in ends]),
        (i - j, [a - b for a, b in ends]),
        (i * j, [a * b for a, b in ends]),
    ):
        assert result.low in values and result.high in values
    assert i.absolute().low >= 0


def test_the_hull_with_something_unknown_is_unknown() -> None:
    """One value without bounds leaves nothing known, and so does no value at all."""
    assert hull([Range(Fraction(0), Fraction(1)), None]) is None
    assert hull([]) is None
