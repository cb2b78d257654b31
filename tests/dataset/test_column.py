"""`column`: declarations, and how they meet the kind that a source stores."""

from __future__ import annotations

import datetime
import inspect
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.dataset.column import Bounds, Column, column
from sfumato.dataset.kind import Kind
from sfumato.errors import InvalidArgument, UnknownName

numbers = st.fractions(-1000, 1000) | st.floats(-1e6, 1e6) | st.integers()


def test_bounds_are_read_as_they_are_typed() -> None:
    """A float means the decimal that it prints as."""
    assert column(bounds=(0, 0.1)).bounds == Bounds(Fraction(0), Fraction(1, 10))


@given(numbers, numbers)
def test_bounds_are_a_proper_interval_or_refused(low: float, high: float) -> None:
    """And the largest absolute value is that of an end."""
    if Fraction(str(low)) < Fraction(str(high)):
        bounds = Bounds.read(low, high)
        assert -bounds.largest <= bounds.low < bounds.high <= bounds.largest
        assert bounds.largest in (abs(bounds.low), abs(bounds.high))
    else:
        with pytest.raises(InvalidArgument, match="turn them"):
            Bounds.read(low, high)


@pytest.mark.parametrize("bounds", [5, (0,), (0, 1, 2), "01", {0, 1}])
def test_bounds_are_two_numbers(bounds: object) -> None:
    """In order, so no set."""
    with pytest.raises(InvalidArgument, match=r"two numbers \(low, high\)"):
        column(bounds=bounds)  # type: ignore[arg-type]


def test_a_declaration_must_fit_its_own_type() -> None:
    """The refusal comes with the declaration, before any source."""
    with pytest.raises(InvalidArgument, match="bounds must belong to numbers; got a column of type text"):
        column(type="text", bounds=(0, 1))
    with pytest.raises(InvalidArgument, match="column's type date; got text"):
        column(type="date", keys=["2026-01-01"])


def test_keys_take_the_type_of_their_column() -> None:
    """Whole keys of a double column are doubles."""
    assert [type(key) for key in column(type="double", keys=[1, 2]).keys or ()] == [float, float]


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        (column(), Kind.TEXT),
        (column(bounds=(0, 9)), Kind.REAL),
        (column(keys=[1, 2]), Kind.INTEGER),
        (column(keys=[1, 2], bounds=(0, 9)), Kind.INTEGER),
        (column(type="date"), Kind.DATE),
        (column(type="integer", bounds=(0, 9)), Kind.INTEGER),
    ],
)
def test_without_a_schema_the_declaration_decides(declared: Column, kind: Kind) -> None:
    """As in a CSV file."""
    assert declared.untyped().kind is kind


@given(st.sampled_from(Kind), st.sampled_from([None, *Kind]))
def test_with_a_schema_the_source_decides_what_may_be_declared(stored: Kind, declared: Kind | None) -> None:
    """The result has the declared kind, or the stored one, or is refused."""
    given_column = Column(declared)
    try:
        assert given_column.stored_as(stored).kind is (declared or stored)
    except InvalidArgument as error:
        assert stored is not Kind.TEXT and "convert the column" in str(error)


def test_dates_have_keys_and_no_bounds() -> None:
    """The refusal says so, whether the bounds are dates or the column is one."""
    for bounds in (("2026-01-01", "2026-12-31"), (datetime.date(2026, 1, 1), datetime.date(2026, 12, 31))):
        with pytest.raises(InvalidArgument, match=r"for dates declare keys=sf\.dates\('2026-01-01', '2026-12-31'\)"):
            column(bounds=bounds)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"for dates declare keys=sf\.dates"):
        column(type="timestamp", bounds=(0, 1))


def test_days_are_keys_of_times_and_midnights_keys_of_days() -> None:
    """A calendar fits either, however the source stores it; a time of the day is no day."""
    day, midnight = datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1)
    assert column(keys=[day]).stored_as(Kind.TIMESTAMP).keys == (midnight,)
    assert column(type="date", keys=[midnight]).stored_as(Kind.TIMESTAMP).keys == (day,)
    with pytest.raises(InvalidArgument, match="column's type date; got timestamp"):
        column(type="date", keys=[midnight.replace(hour=12)])


def test_a_misspelled_argument_is_refused_with_the_nearest() -> None:
    """As every other slip, by name or by place."""
    with pytest.raises(UnknownName, match="column: unknown argument 'bound'; did you mean 'bounds'"):
        column(bound=(0, 1))  # type: ignore[call-arg]
    with pytest.raises(
        InvalidArgument, match=r"by name \(type, bounds, keys\); got one without; the column's own name"
    ):
        column("dept")  # type: ignore[call-arg]
    assert list(inspect.signature(column).parameters) == ["type", "bounds", "keys"]
