"""The lattice: how far rounding moves neighbors apart, for every type of number and at every size."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms import Exponential, Gaussian, Geometric, Laplace
from sfumato.mechanisms._noise.lattice import Lattice, add, as_array, floor_many, shifted
from sfumato.mechanisms.samplers import LIFT
from sfumato.rounding import sqrt_up

spacings = st.integers(-60, 60).map(lambda k: Lattice(Fraction(2) ** k))
finite = st.floats(allow_nan=False, allow_infinity=False)
reals = st.one_of(finite, st.fractions(-(10**6), 10**6, max_denominator=10**6), st.integers(-(2**70), 2**70))
vectors = st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(finite, min_size=n, max_size=n)] * 2))
few = settings(max_examples=150, deadline=None, derandomize=True)

LARGEST, LEAST = np.finfo(np.float64).max, 5e-324
EXTREME = (
    0.0,
    -0.0,
    LEAST,
    -LEAST,
    2.0**-1022,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.0**52 + 0.5,
    2.0**53,
    2.0**62,
    2.0**63,
    LARGEST,
)


def exact(value: Any) -> Fraction:
    """The number that a value of any type is."""
    return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(*map(int, value.as_integer_ratio()))


@few
@given(spacings, reals, reals)
def test_two_numbers_move_apart_by_at_most_the_ceiling_of_their_distance(
    lattice: Lattice, a: float | Fraction, b: float | Fraction
) -> None:
    apart = abs(Fraction(a) - Fraction(b))
    assert abs(lattice.snap(a) - lattice.snap(b)) <= lattice.steps(apart)


@few
@given(spacings, reals)
def test_a_number_is_moved_by_half_a_spacing_at_most(lattice: Lattice, a: float | Fraction) -> None:
    moved = lattice.snap(a) * lattice.spacing - Fraction(a)
    assert -lattice.spacing / 2 < moved <= lattice.spacing / 2


@few
@given(spacings, reals, st.integers(-(2**62), 2**62))
@example(Lattice(Fraction(1)), -0.5, 0)
@example(Lattice(Fraction(1)), 0.49999999999999994, 0)
@example(Lattice(Fraction(1)), 2.0**52 - 0.5, 0)
@example(Lattice(Fraction(1)), -(2.0**52), 7)
@example(Lattice(Fraction(1)), 2.0**31, 0)
@example(Lattice(Fraction(1)), 3 * 2.0**31 + 0.5, 1)
@example(Lattice(Fraction(1)), -(2.0**53) + 1, -1)
@example(Lattice(Fraction(1)), math.nextafter(2.0**83, 0), -1)
@example(Lattice(Fraction(1)), math.nextafter(-(2.0**83), 0), 1)
@example(Lattice(Fraction(1)), 2.0**83, 5)
@example(Lattice(Fraction(2) ** 900), 5e-324, -1)
@example(Lattice(Fraction(1, 2**900)), -1e300, 2**62)
@example(Lattice(Fraction(1)), np.int64(-3), 3)
@example(Lattice(Fraction(1, 4)), np.float64(0.625), 3)
def test_lifted_noise_is_added_to_the_nearest_multiple(lattice: Lattice, value: Any, noise: int) -> None:
    """In the quick way for floats and whole numbers as in the exact one."""
    assert lattice.add_noise(value, noise + LIFT) == lattice.snap(value) + noise
    assert type(lattice.add_noise(value, noise + LIFT)) is int


@few
@given(st.lists(finite, min_size=1), st.integers(-960, 960))
def test_floors_of_floats_are_exact_or_refused(values: list[float], exponent: int) -> None:
    """None where 64 bits do not do."""
    unit = Fraction(2) ** exponent
    floors = [math.floor(Fraction(value) / unit) for value in values]
    found = floor_many(np.array(values), unit)
    vanishes = any(value and value / float(unit) == 0 for value in values)
    assert (found is None) == (vanishes or max(abs(Fraction(value)) for value in values) >= unit * 2**62)
    assert found is None or found.tolist() == floors


@few
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(0, 40))
def test_shifting_never_overflows(values: list[int], digits: int) -> None:
    """As Python integers do."""
    assert shifted(np.array(values, np.int64), digits).tolist() == [value << digits for value in values]


def test_the_ceiling_is_reached() -> None:
    """The bound is tight: two numbers closer than one spacing may end at different multiples."""
    assert Lattice(Fraction(1)).snap(0.5) - Lattice(Fraction(1)).snap(0.25) == 1


@few
@given(spacings, vectors)
def test_vectors_keep_the_l1_and_the_l2_bound(lattice: Lattice, pair: tuple[list[float], list[float]]) -> None:
    """L1: floor(s / g) + size; L2: s / g + sqrt(size)."""
    size = len(pair[0])
    moves = [Fraction(a) - Fraction(b) for a, b in zip(*pair, strict=True)]
    first, second = (lattice.snap_many(np.array(x), size).tolist() for x in pair)
    steps = [a - b for a, b in zip(first, second, strict=True)]
    assert sum(map(abs, steps)) <= int(sum(map(abs, moves)) / lattice.spacing) + size
    squares = sqrt_up(sum((m * m for m in moves), Fraction(0))) / lattice.spacing + sqrt_up(Fraction(size))
    assert sum(s * s for s in steps) <= squares * squares


def test_the_mechanisms_count_the_steps_that_these_bounds_say() -> None:
    """The distance of 2.5 spacings: 3 for a number; 2 + 3 in L1 and 2.5 + sqrt(3) in L2 for three."""
    assert Laplace(2.5, 1, spacing=1)._steps == Gaussian(2.5, 1, 1e-6, spacing=1)._steps == 3
    assert Laplace(2.5, 1, size=3, spacing=1)._steps == 5
    assert float(Gaussian(2.5, 1, 1e-6, size=3, spacing=1)._steps) == pytest.approx(2.5 + math.sqrt(3), abs=1e-12)


@pytest.mark.parametrize("exponent", [-960, -40, -1, 0, 1, 40, 900])
@pytest.mark.parametrize(
    "array",
    [
        np.array([s * x for x in EXTREME for s in (1, -1)]),
        np.array([s * x for x in EXTREME for s in (1, -1)], ">f8"),
        np.array([s * (k / 2 + d) for k in range(5) for d in (0, 1e-9, -1e-9) for s in (1, -1)]),
        np.array([0.1, -0.5, 3.4e38, 1e-45, -0.0], np.float32),
        np.array([0.1, -0.5, 65504, 6e-8], np.float16),
        np.array([0.1, 1e300, -1e-300], np.longdouble),
        np.array([-(2**63), 2**63 - 1, 0, -1]),
        np.array([2**64 - 1, 2**63, 0], np.uint64),
        np.array([-128, 127], np.int8),
        np.array([1, 0.5, Fraction(1, 3), Decimal("0.7"), np.int64(2**62 + 1), np.float32(0.1), 10**400], object),
    ],
    ids=lambda a: a.dtype.str,
)
def test_a_vector_is_put_on_the_lattice_like_its_numbers(array: np.ndarray, exponent: int) -> None:
    """For every type of array and for extreme values: the same integers as in rational arithmetic."""
    lattice = Lattice(Fraction(2) ** exponent)
    many = lattice.snap_many(array, array.size).tolist()
    assert many == [lattice.snap(x) for x in array]
    assert many == [math.floor(exact(x) / lattice.spacing + Fraction(1, 2)) for x in array.tolist()]


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 2**53 + 1],
        [-1, 2**63 + 1025],
        (Fraction(2**60 + 1), 0.5),
        [np.float32(0.5), 2**53 + 1],
        [2**64, 1],
        [2**63, 1],
    ],
)
def test_a_list_of_mixed_numbers_is_not_rounded_to_floats(values: list[Any]) -> None:
    """Of some numpy makes floats, which would move a large integer by more than one unit does."""
    assert Lattice(Fraction(1)).snap_many(values, 2).tolist() == [
        math.floor(Fraction(x) + Fraction(1, 2)) for x in map(exact, values)
    ]


def test_a_list_of_floats_stays_an_array_of_floats() -> None:
    assert as_array([0.5, 1.5]).dtype == np.float64


@pytest.mark.parametrize("bad", [math.nan, math.inf, "1", None, 1j, [1.0]])
def test_what_is_no_finite_number_is_refused(bad: Any) -> None:
    with pytest.raises(OutsideRange):
        Lattice(Fraction(1)).snap(bad)
    array = np.empty(1, object)
    array[0] = bad
    with pytest.raises(OutsideRange):
        Lattice(Fraction(1)).snap_many(array, 1)


@few
@given(st.integers(-900, 800).map(lambda k: Lattice(Fraction(2) ** k)), st.integers(-(2**53), 2**53))
def test_the_value_of_a_number_leads_back_to_it(lattice: Lattice, number: int) -> None:
    value = lattice.value(number)
    assert lattice.number(value) == lattice.snap(value) == number
    assert lattice.values(np.array([number])).tolist() == lattice.values(np.array([number], object)).tolist() == [value]


@few
@given(st.integers(-960, 900).map(lambda k: Lattice(Fraction(2) ** k)), st.integers(-(2**1100), 2**1100))
def test_a_value_is_the_nearest_float_whatever_the_size(lattice: Lattice, number: int) -> None:
    """Rounded once; infinite only where no float is near."""
    wanted = number * lattice.spacing
    try:
        assert lattice.value(number) == float(wanted)
    except OverflowError:
        assert lattice.value(number) == (math.inf if number > 0 else -math.inf)


def test_a_large_value_is_released_and_not_infinite() -> None:
    assert Laplace(1, 1).release(1e300) == 1e300
    assert Laplace(1, 1, size=1).release(np.array([1e300])).tolist() == [1e300]


def test_what_is_off_the_lattice_has_no_number() -> None:
    assert Lattice(Fraction(1)).number(0.5) is None
    assert Lattice(Fraction(1)).number(math.inf) is None
    assert Lattice(Fraction(1)).number(np.float32(3)) == 3  # type: ignore[arg-type]


wide = st.integers(-(2**63), 2**63 - 1)


@few
@given(st.lists(st.tuples(wide, wide), min_size=1, max_size=5), st.booleans())
def test_adding_never_overflows(rows: list[tuple[int, int]], objects: bool) -> None:
    numbers, noise = (np.array(column, object if objects else np.int64) for column in zip(*rows, strict=True))
    assert add(numbers, noise).tolist() == [a + b for a, b in rows]


@few
@given(wide, wide, wide)
def test_the_type_of_a_sum_depends_on_the_sum_alone(total: int, a: int, b: int) -> None:
    """The same release from different exact numbers, or from another type of array, looks the same."""
    sums = [add(np.array([x], object), np.array([total - x], object)) for x in (a, b)]
    if -(2**62) < a < 2**62 and -(2**62) < total - a < 2**62:
        sums.append(add(np.array([a]), np.array([total - a])))
    assert len({(s.dtype, *s.tolist()) for s in sums}) == 1


def test_a_vector_of_whole_numbers_must_be_whole_throughout() -> None:
    """Each half would be rounded to a whole number, and the sensitivity of the vector would be exceeded."""
    with pytest.raises(OutsideRange, match="whole number"):
        Geometric(1, 1, size=2).release(np.array([1, 2.5], object))
    assert Geometric(1, 1, size=2).release([-1, 2**63]).shape == (2,)


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16])
def test_integers_of_numpy_are_read_like_integers(kind: type) -> None:
    """As a size, a sensitivity or a value; numpy's arithmetic would wrap around."""
    assert Gaussian(1, 1, 1e-6, size=kind(2), spacing=1).sigma == Gaussian(1, 1, 1e-6, size=2, spacing=1).sigma
    assert Geometric(kind(3), 1)._additive == Geometric(3, 1)._additive
    assert (
        Lattice(Fraction(1, 2**40)).snap(kind(100))
        == Lattice(Fraction(1, 2**40)).snap(Fraction(kind(100)))
        == 100 << 40
    )


def test_scores_in_an_array_of_integers_do_not_wrap_around() -> None:
    scores = np.array([2**62, 2**62 - 1])
    mechanism = Exponential(tuple("ab"), sensitivity=1, epsilon=7)
    assert mechanism._exponents(scores) == mechanism._exponents([2**62, 2**62 - 1])  # type: ignore[arg-type]


@pytest.mark.parametrize("spacing", [0.3, 3, 2**1000, Fraction(3, 4)])
def test_a_spacing_is_a_power_of_two_that_floats_can_hold(spacing: float) -> None:
    with pytest.raises(InvalidArgument, match="power of two"):
        Laplace(1, 1, spacing=spacing)


@few
@given(st.floats(2.0**-60, 2.0**60), st.integers(-40, 3))
def test_a_bound_that_is_a_float_is_covered_though_it_is_read_as_a_decimal(bound: float, finer: int) -> None:
    """The float may lie above its decimal, by less than the next multiple of any spacing not below its last digit."""
    lattice = Lattice(Fraction(2) ** (math.frexp(bound)[1] + finer))
    assert lattice.snap(bound) - lattice.snap(0.0) <= lattice.steps(Fraction(str(bound)))
