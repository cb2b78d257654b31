"""`keys`: what may be listed, in which order, and calendars."""

from __future__ import annotations

import datetime
import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.dataset.keys import MOST_KEYS, dates, in_kind, read_keys
from sfumato.dataset.kind import Kind
from sfumato.errors import InvalidArgument

NOON = datetime.datetime(2026, 1, 1, 12)
days = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))

REFUSED = {
    "a list": "north",
    "a list;": 7,
    "1 to 1,000,000 values; got none": [],
    "1 to 1,000,000 values; got more": range(10**12),
    "got more": itertools.count(),
    "one type; got integer and text": [1, "1"],
    "got boolean and integer": [1, True],
    "got one twice": ["a", "a"],
    "twice": [1, 1.0],
    "missing": ["a", None],
    "infinite": [1.0, math.inf],
    "without a zone": [NOON.replace(tzinfo=datetime.UTC)],
    "64 bits": [2**63],
    "got a list": [[1]],
    "column's type double; got integer": [0.5, 2**53 + 1],
}


@pytest.mark.parametrize("message", REFUSED)
def test_keys_that_cannot_be_meant_are_refused(message: str) -> None:
    """Each with what was expected."""
    with pytest.raises(InvalidArgument, match=message):
        read_keys(REFUSED[message])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrap", [list, tuple, np.array, pd.Series, pl.Series, pa.array], ids=lambda wrap: wrap.__name__
)
@pytest.mark.parametrize("values", [[2, 1], ["b", "a"], [0.5, 0.25], [True, False], [NOON]], ids=str)
def test_keys_may_come_in_any_list_or_array(wrap: type, values: list[object]) -> None:
    """They become plain values in the given order."""
    keys = read_keys(wrap(values))
    assert keys == tuple(values)
    assert [type(key) for key in keys] == [type(value) for value in values]


def test_times_of_numpy_in_nanoseconds_are_times() -> None:
    """Their item() is an integer."""
    assert read_keys(np.array(["2026-01-01T12"], "datetime64[ns]")) == (NOON,)
    assert read_keys(np.array(["2026-01-01"], "datetime64[D]")) == (NOON.date(),)


@pytest.mark.parametrize("missing", [pd.NaT, pd.NA, np.datetime64("NaT"), np.float64("nan")], ids=str)
def test_every_kind_of_missing_value_is_refused(missing: object) -> None:
    """NaT is a datetime, and would pass for a key."""
    with pytest.raises(InvalidArgument):
        read_keys([missing])


def test_a_set_is_sorted() -> None:
    """An answer must not have another order in every process."""
    assert read_keys({"south", "east", "north"}) == ("east", "north", "south")


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1, unique=True))
def test_whole_keys_of_a_real_column_stay_the_same_numbers(whole: list[int]) -> None:
    """They become doubles, exactly."""
    assert in_kind(whole, Kind.REAL) == tuple(whole)
    assert all(isinstance(key, float) for key in in_kind(whole, Kind.REAL))


@given(days, days, st.sampled_from(["week", "month", "year"]))
def test_dates_rise_from_the_first_and_stay_within_the_last(
    first: datetime.date, last: datetime.date, step: str
) -> None:
    """The first is always there; the day of the month is kept, or the month's last."""
    first, last = sorted((first, last))
    listed = dates(first, last, step)  # type: ignore[arg-type]
    assert listed[0] == first
    assert listed[-1] <= last
    assert all(a < b for a, b in itertools.pairwise(listed))
    if step != "week":
        assert all(day.day == first.day or (day + datetime.timedelta(1)).day == 1 for day in listed)


def test_months_from_the_31st_end_on_their_last_day_and_recover() -> None:
    """A short month does not shorten the next."""
    assert [day.day for day in dates("2024-01-31", "2024-05-31", "month")] == [31, 29, 31, 30, 31]
    assert [str(day) for day in dates("2024-02-29", "2028-02-29", "year")][::4] == ["2024-02-29", "2028-02-29"]


def test_the_calendar_ends_without_an_error() -> None:
    """The year 10000 does not exist."""
    for step in ("day", "week", "month", "year"):
        assert dates("9999-12-31", "9999-12-31", step) == (datetime.date.max,)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "last", "step", "message"),
    [
        ("2026-02-30", "2026-03-01", "day", "year-month-day; got '2026-02-30'"),
        ("2026-01-01", NOON, "day", "year-month-day"),
        ("2026-01-02", "2026-01-01", "day", "turn them"),
        ("2026-01-01", "2026-01-02", "hour", "step must be day, week, month, year; got 'hour'"),
        ("0001-01-01", "9999-12-31", "day", f"1 to {MOST_KEYS:,} values; got more"),
    ],
)
def test_dates_that_cannot_be_meant_are_refused(first: str, last: str, step: str, message: str) -> None:
    """Also too many of them."""
    with pytest.raises(InvalidArgument, match=message):
        dates(first, last, step)  # type: ignore[arg-type]
