"""Quantiles from numbers of rows along a line: right without noise, and equal values give that value."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.remembered import Remembered
from sfumato.curator.answers.rows import rows_of
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement.measure import measure_all
from sfumato.curator.measurement.release import NoisyReleaser, Releaser
from sfumato.dataset.column import column
from sfumato.dataset.table import table
from sfumato.mechanisms._noise.noise import LaplaceNoise
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.quantile.line import Line, Seen, quantile_of
from sfumato.statistics.quantile.ruler import Ruler
from sfumato.statistics.ranges import Range
from sfumato.statistics.share import Share
from sfumato.statistics.steps import ROW
from sources import Seeded

RULER = Ruler.of(Range(Fraction(0), Fraction(99)), whole=True)  # a hundred addresses
NONE = LaplaceNoise(Fraction(1, 10**4))  # a noise that is always zero
ADDRESSES = st.lists(st.integers(0, RULER.size - 1), min_size=1, max_size=40).map(sorted)
EDGES = st.sets(st.integers(1, RULER.size - 1), max_size=20).map(lambda inner: (0, *sorted(inner), RULER.size))
POINTS = st.integers(1, 31).map(lambda part: Fraction(part, 32))  # of which doubles know all digits


def line_of(rows: Sequence[int], edges: tuple[int, ...], noise: LaplaceNoise = NONE) -> Line:
    counts = [sum(low <= row < high for row in rows) for low, high in pairwise(edges)]
    return Line(RULER, edges, tuple(counts), noise)


def around(rows: Sequence[int], point: Fraction) -> tuple[int, int]:
    """The two rows between which a share of all rows lies below; the same one but for ties."""
    rank = point * len(rows)
    return rows[math.ceil(rank) - 1], rows[min(math.floor(rank), len(rows) - 1)]


@given(ADDRESSES, EDGES, POINTS)
def test_without_noise_a_quantile_is_in_its_window(rows: list[int], edges: tuple[int, ...], point: Fraction) -> None:
    """Both rows that SQL takes; the window reaches no farther than one more row on either side, but for empty cells."""
    whole = line_of(rows, edges)
    line = replace(whole, counts=tuple(count * ROW for count in whole.counts))
    first, end = line.window(point, 0.0, 0.0, 0.01)
    rank, last = point * (len(rows) - 1), len(rows) - 1
    assert edges[first] <= rows[math.floor(rank)] <= rows[math.ceil(rank)] < edges[end]
    low, high = rows[max(0, math.floor(rank) - 1)], rows[min(last, math.ceil(rank) + 1)]
    assert all(not line.counts[cell] for cell in range(first, end) if not edges[cell] <= high or edges[cell + 1] <= low)


@given(ADDRESSES, EDGES, POINTS)
def test_without_noise_the_balance_tips_at_the_quantile(
    rows: list[int], edges: tuple[int, ...], point: Fraction
) -> None:
    """In the cell of one of the middle rows, or between their cells."""
    line = line_of(rows, edges)
    low, high = around(rows, point)
    place = line.tips(point, 0.0)
    assert bisect_right(edges, low) - 1 <= place <= bisect_right(edges, high)
    assert edges[bisect_right(edges, low) - 1] <= line.address(place) <= edges[bisect_right(edges, high)]


@given(ADDRESSES, EDGES, POINTS, st.lists(st.integers(-9, 9), min_size=21, max_size=21), st.sampled_from((1, 20)))
def test_with_any_noise_a_window_is_one(
    rows: list[int], edges: tuple[int, ...], point: Fraction, noise: list[int], scale: int
) -> None:
    """At least one cell of the line; the rising balance rises; the answer is in its interval, and on the line."""
    exact = line_of(rows, edges, LaplaceNoise(Fraction(scale)))
    counts = tuple(count + off for count, off in zip(exact.counts, noise, strict=False))
    line = Line(RULER, edges, counts, exact.noise)
    for seen in (line, line.cleared()):
        first, end = seen.window(point, 0.0, 0.0, 0.01)
        assert 0 <= first < end <= len(edges) - 1
        assert (np.diff(seen.rising(point, 0.0)) >= 0).all()
        assert 0 <= seen.tips(point, 0.0) <= len(edges) - 1
    for share in (Fraction(0), point, Fraction(1)):
        for lost in (0.0, 2.5, None):
            found = quantile_of(Seen(line, exact), share, lost, 0.05)
            assert 0 <= found.low <= found.value <= found.high <= 99
            assert found.value.is_integer()


@given(ADDRESSES, EDGES, POINTS)
def test_what_the_limit_took_away_widens_the_window(rows: list[int], edges: tuple[int, ...], point: Fraction) -> None:
    """Never narrower than without loss, and the whole line where nobody knows how much was lost."""
    line = line_of(rows, edges)
    windows = [line.window(point, 0.0, lost, 0.01) for lost in (0.0, 1.0, 7.0, 1e9)]
    for (first, end), (wider_first, wider_end) in pairwise(windows):
        assert wider_first <= first and end <= wider_end
    assert windows[-1] == (0, len(edges) - 1)
    assert quantile_of(Seen(line, line), point, None, 0.05).interval == (0, 99)


def test_a_line_of_nothing_says_so() -> None:
    """No rows, or fewer than none: the middle of the bounds, and all of them as interval."""
    empty = Line(RULER, (0, 50, 100), (3, -3), LaplaceNoise(Fraction(2)))
    found = quantile_of(Seen(empty, empty), Fraction(1, 2), 0.0, 0.05)
    assert (found.value, *found.interval) == (50, 0, 99)


def test_a_last_look_that_sees_nothing_does_not_move_the_value() -> None:
    """Its noise may be larger than all rows; the value is still where the other look has it, its interval wide."""
    place = line_of([30] * 50 + [60] * 49, (0, 25, 35, 100), LaplaceNoise(Fraction(1)))
    nothing = Line(RULER, (0, 25, 35, 100), (300, -900, 500), LaplaceNoise(Fraction(500)))
    found = quantile_of(Seen(nothing, place), Fraction(1, 2), 0.0, 0.05)
    assert 25 <= found.value <= 35 and found.interval == (0, 99)


def test_nothing_is_read_off_the_ends_of_the_line() -> None:
    """Where noise in many cells puts the middle before the first edge, the value is at that edge, not farther out."""
    noisy = Line(RULER, (0, 40, *range(41, 61), 100), (50, *[-2] * 20, 30), LaplaceNoise(Fraction(4)))
    assert noisy.tips(Fraction(1, 2), 0.0) < 1  # it says so
    found = quantile_of(Seen(noisy, noisy), Fraction(1, 2), 0.0, 0.05)
    assert found.value == 40 and found.interval[0] == 0


class Exact:
    """Adds no noise."""

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        return list(exact)

    def select(self, label: str, exact: object, threshold: int, moves: int, share: Share) -> set[tuple[object, ...]]:
        raise AssertionError("all keys are public")


EQUAL: dict[tuple[float, float] | None, tuple[float, ...]] = {
    None: (0, 1, -1, -8, 3, -7, 1234.56, 0.1, -0.5, -273.15, 123456.789, 1e-9, -1e15, 1e19),
    (0, 200_000): (0, 200_000, 1234.56, 0.1, 199_999.99),
    (-10, 10): (-10, 10, -7, -0.1, 3.14),
    (0, 1): (0.5, 0.123456),
    (1e-30, 3e-30): (2e-30,),
    (0, 1e18): (1e17,),
}


def quantiles(
    value: float, bounds: tuple[float, float] | None, kind: str, releaser: Releaser
) -> tuple[dict[str, float], dict[str, tuple[float, float] | None]]:
    """Answers about 3,000 people who have all the same value."""
    frame = pd.DataFrame({"pid": range(3_000), "x": [value] * 3_000}).astype({"x": kind})
    declared = table(frame, unit="pid", columns={"x": column(bounds=bounds)})
    question = "SELECT MEDIAN(x) AS m, QUANTILE_CONT(x, 0.9) AS q, MIN(x) AS low, MAX(x) AS high FROM t"
    plan = Curator({"t": declared}, budget=Guarantee(9)).plan(question, 4, Options(max_rows_per_unit=1))
    (row,) = rows_of(plan, measure_all(plan, Remembered(plan), releaser))
    return row.values, row.intervals


@pytest.mark.parametrize(
    ("bounds", "value", "kind"),
    [
        (bounds, value, kind)
        for bounds, values in EQUAL.items()
        for value in values
        for kind in (("float64", "int64") if isinstance(value, int) and value in (0, -1, -8, 3, 10) else ("float64",))
    ],
)
def test_equal_values_give_that_value(bounds: tuple[float, float] | None, value: float, kind: str) -> None:
    """Of few digits and with or without bounds, to the last digit: quantiles also with noise, at epsilon 4."""
    exact, intervals = quantiles(value, bounds, kind, Exact())
    assert set(exact.values()) == {value}
    assert all(low <= value <= high for low, high in filter(None, intervals.values()))
    noisy, intervals = quantiles(value, bounds, kind, NoisyReleaser(Seeded(5)))
    assert noisy["m"] == noisy["q"] == value
    assert all(low <= value <= high for low, high in (intervals["m"] or (0, 0), intervals["q"] or (0, 0)))


@pytest.mark.parametrize(
    ("value", "bounds", "near"),
    (
        (123456789.123, None, 0.2),
        (1 / 3, None, 1e-9),
        (1 / 3, (0, 200_000), 1e-5),
        (1e-12, None, 1e-9),
        (-1e-12, None, 1e-9),
        (1e9, (0, 200_000), 1e9 - 200_000),
    ),
)
def test_other_equal_values_give_one_as_near_as_cells_are_small(
    value: float, bounds: tuple[float, float] | None, near: float
) -> None:
    """Of many digits, tiny ones, and those beyond the bounds, which count as these."""
    found, _ = quantiles(value, bounds, "float64", NoisyReleaser(Seeded(5)))
    assert abs(found["m"] - value) <= near and abs(found["q"] - value) <= near


@pytest.mark.parametrize("value", (math.inf, -math.inf, 1e300))
def test_enormous_values_without_bounds_are_at_the_end_of_the_line(value: float) -> None:
    """Beyond 2**64 they are not told apart; the interval has no end there."""
    found, intervals = quantiles(value, None, "float64", NoisyReleaser(Seeded(5)))
    low, high = intervals["m"] or (0, 0)
    assert abs(found["m"]) >= 1.8e19 and low <= value <= high and math.isinf(high - low)
