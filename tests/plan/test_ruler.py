"""Lines of cells for quantiles: the engine's addresses are in order and where the edges say, and cells lie in cells."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.sql.dialect import DUCKDB
from sfumato.engines.sql.weights import address
from sfumato.statistics.quantile.ruler import OCTAVES, OPENED, Ruler, simplest
from sfumato.statistics.ranges import Range

BOUNDS: tuple[tuple[str, str] | None, ...] = (
    None, ("0", "200000"), ("-10", "10"), ("0.1", "0.3"), ("5", "6"), ("0", "100"), ("-7", "-3"), ("0.5", "2.5"),
    ("-1e-30", "1e-30"), ("0", "1e18"), ("-3e59", "1e59"), ("-9223372036854775808", "9223372036854775807"),
)  # fmt: skip
ODD = (
    0.0, -0.0, 1.0, -1.0, -7.0, 8.0, -8.0, 0.1, -0.1, 1234.56, 1e-9, -1e-9, 123456789.123, 5e-324, -5e-324, 2.0**-32,
    -(2.0**-32), 2.0**63, 2.0**64, -(2.0**64), 1.7e308, -1.7e308, math.inf, -math.inf,
)  # fmt: skip
CONNECTION = duckdb.connect(config={"threads": 1})
RULERS = [(bounds, whole) for bounds in BOUNDS for whole in (False, True)]


def ruler_of(bounds: tuple[str, str] | None, whole: bool) -> Ruler:
    return Ruler.of(None if bounds is None else Range(*map(Fraction, bounds)), whole)


def addresses(ruler: Ruler, values: list[float]) -> list[int]:
    """What the engine says."""
    sql = f"SELECT {address(DUCKDB, ruler, 'x')} FROM (SELECT unnest(CAST(? AS DOUBLE[])) AS x)"
    return [place for (place,) in CONNECTION.execute(sql, [values]).fetchall()]


def near(ruler: Ruler) -> list[float]:
    """Odd values, and those around the ends of the line and around some of its edges."""
    places = (0, 1, 2, ruler.size // 3, ruler.size // 2 - 1, ruler.size // 2, ruler.size // 2 + 1, ruler.size - 1)
    edges = [float(ruler.edge(place)) for place in (*places, ruler.size) if 0 <= place <= ruler.size]
    beside = [math.nextafter(edge, way) for edge in edges for way in (-math.inf, math.inf)]
    return sorted([*ODD, *edges, *beside])


@pytest.mark.parametrize(("bounds", "whole"), RULERS, ids=str)
def test_addresses_are_in_the_order_of_the_values(bounds: tuple[str, str] | None, whole: bool) -> None:
    """Whatever the value: infinite, enormous, tiny, beside an edge; none is off the line."""
    ruler = ruler_of(bounds, whole)
    found = addresses(ruler, near(ruler))
    assert found == sorted(found)
    assert found[0] == 0 and found[-1] == ruler.size - 1
    assert addresses(ruler, [-0.0]) == addresses(ruler, [0.0])


@given(st.sampled_from(RULERS), st.lists(st.floats(allow_nan=False), min_size=2, max_size=30))
def test_random_addresses_are_in_the_order_of_the_values(
    which: tuple[tuple[str, str] | None, bool], values: list[float]
) -> None:
    """And where the edges say, up to one cell; beyond the ends of the line in its first and last cell."""
    ruler, values = ruler_of(*which), sorted(values)
    found = addresses(ruler, values)
    assert found == sorted(found)
    for value, place in zip(values, found, strict=True):
        assert is_near(ruler, value, place)


@pytest.mark.parametrize(("bounds", "whole"), RULERS, ids=str)
def test_addresses_are_where_the_edges_say(bounds: tuple[str, str] | None, whole: bool) -> None:
    """Up to one cell, since engines compute in doubles."""
    ruler = ruler_of(bounds, whole)
    for value, place in zip(near(ruler), addresses(ruler, near(ruler)), strict=True):
        assert is_near(ruler, value, place), value


def is_near(ruler: Ruler, value: float, place: int) -> bool:
    above = place >= ruler.size - 2 or value < ruler.edge(place + 2)
    return above and (place <= 1 or value >= ruler.edge(place - 1))


def test_a_whole_number_or_a_power_of_two_is_not_beside_its_cell() -> None:
    """On a line without bounds, of either sign: its cell begins there or before, and ends after it."""
    ruler = Ruler.of(None, False)
    sizes = [2.0**n for n in range(-31, 64)] + [float(n) for n in range(1, 30)]
    values = [*sizes, *(-size for size in sizes)]
    for value, place in zip(values, addresses(ruler, values), strict=True):
        assert ruler.edge(place) <= Fraction(value) < ruler.edge(place + 1), value


@pytest.mark.parametrize(("bounds", "whole"), RULERS, ids=str)
def test_cells_lie_in_cells(bounds: tuple[str, str] | None, whole: bool) -> None:
    """Each cell has at most 4,096 of the next depth; the first ones fit into the wide cells of the landmarks."""
    ruler = ruler_of(bounds, whole)
    assert ruler.shifts[-1] == 0
    assert all(0 < outer - inner <= OPENED for outer, inner in pairwise(ruler.shifts))
    assert (ruler.size - 1) >> ruler.shifts[0] < (1 << OPENED if bounds else 2 * OCTAVES << 7)
    assert ruler.coarse % (1 << ruler.shifts[0]) == 0
    assert -(-ruler.size // ruler.coarse) <= (256 if bounds else 8 * OCTAVES)
    assert (ruler.size - 1).bit_length() <= 37  # an address has 40 digits in the engine


@pytest.mark.parametrize(("bounds", "whole"), RULERS, ids=str)
def test_edges_rise_and_hold_the_bounds(bounds: tuple[str, str] | None, whole: bool) -> None:
    """From the lower bound, or just before, to the upper one, or beyond; whole numbers with bounds have whole edges."""
    ruler = ruler_of(bounds, whole)
    step = max(1, ruler.size // 999)
    edges = [ruler.edge(place) for place in [*range(0, ruler.size, step), ruler.size]]
    assert all(before < after for before, after in pairwise(edges))
    if bounds is not None:
        assert edges[0] <= Fraction(bounds[0]) < edges[0] + 1 and Fraction(bounds[1]) <= edges[-1]
        assert not whole or all(edge.denominator == 1 for edge in edges)
    else:
        assert edges[0] == -edges[-1] and ruler.edge(ruler.size // 2) == 0


@given(st.fractions(-(10**6), 10**6), st.fractions(Fraction(1, 10**9), 10**3))
def test_the_simplest_number_has_the_fewest_digits(low: Fraction, width: Fraction) -> None:
    """It is in the cell, and no number of the cell has fewer decimals, or ends in more zeros."""
    found = simplest(low, low + width)
    assert low <= found < low + width
    scale = Fraction(10) ** 12
    while (found * scale / 10).denominator == 1 and scale > Fraction(1, 10**12):
        scale /= 10
    coarser = scale / 10
    assert found == 0 or math.ceil(low * coarser) / coarser >= low + width


@pytest.mark.parametrize("value", ("1234.56", "0.1", "-7", "0", "123456789.123", "1e-9", "-273.15", "1e18"))
def test_the_simplest_number_near_a_number_of_few_digits_is_that(value: str) -> None:
    """However the cell around it lies."""
    true, width = Fraction(value), max(abs(Fraction(value)), Fraction(1)) / 10**13
    for before, after in ((0, 1), (1, 1), (7, 2), (1, 9)):
        assert simplest(true - before * width, true + after * width) == true
    assert simplest(true, true) == true
