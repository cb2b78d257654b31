"""`kind`: one kind for the many names of a type, and none for what cannot be asked about."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.dataset.kind import NAMES, Kind, kind_named, kind_of, may_be_read_as, read_kind, without_parts
from sfumato.errors import InvalidArgument

SUPPORTED = {
    "UHUGEINT": Kind.INTEGER,
    "Int64": Kind.INTEGER,
    "int64[pyarrow]": Kind.INTEGER,
    "DECIMAL(10,2)": Kind.REAL,
    "decimal128(10, 2)[pyarrow]": Kind.REAL,
    "ENUM('a[3]', 'b')": Kind.TEXT,
    "Enum(categories=['a('])": Kind.TEXT,
    "dictionary<values=string, indices=int8, ordered=0>": Kind.TEXT,
    "dictionary<values=int64, indices=int8, ordered=0>": Kind.INTEGER,
    "category": Kind.TEXT,
    "date32[day]": Kind.DATE,
    "datetime64[ns, UTC]": Kind.TIMESTAMP,
    "Datetime(time_unit='us', time_zone=None)": Kind.TIMESTAMP,
    "timestamp[us, tz=UTC][pyarrow]": Kind.TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP,
}
UNSUPPORTED = (
    "INTEGER[]",
    "INTEGER[3]",
    "ENUM('a')[]",
    "STRUCT(k INTEGER)",
    "list<item: int64>[pyarrow]",
    "fixed_size_list<item: int8>[2]",
    "List(Int64)",
    "BLOB",
    "TIME",
    "INTERVAL",
    "timedelta64[ns]",
    "null",
    "",
)


@pytest.mark.parametrize("name", SUPPORTED)
def test_a_type_has_one_kind_whatever_its_width_and_maker(name: str) -> None:
    """DuckDB, Arrow, pandas and polars name the same thing differently."""
    assert kind_named(name) is SUPPORTED[name]


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_nested_or_binary_type_has_no_kind(name: str) -> None:
    """Such a column cannot be asked about, whatever its elements are."""
    assert kind_named(name) is None


@given(st.sampled_from(sorted(NAMES)), st.integers(0, 9))
def test_an_array_of_anything_has_no_kind(name: str, size: int) -> None:
    """The law behind the examples."""
    assert kind_named(f"{name}[]") is None
    assert kind_named(f"{name}[{size}]") is None


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    """The owner sees what may be declared."""
    with pytest.raises(InvalidArgument, match="integer, double, text, boolean, date, timestamp; got 'color'"):
        read_kind("color")
    with pytest.raises(InvalidArgument, match="type must be one of"):
        read_kind(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", Kind)
def test_the_word_for_a_kind_and_its_sql_type_mean_that_kind(kind: Kind) -> None:
    """What a message says can be declared."""
    assert read_kind(str(kind)) is kind
    assert read_kind(kind.value) is kind


def test_a_truth_value_is_no_number_and_a_time_no_date() -> None:
    """Python counts them as such."""
    assert kind_of(True) is Kind.BOOLEAN
    assert kind_of(datetime.datetime(2026, 1, 1)) is Kind.TIMESTAMP
    with pytest.raises(InvalidArgument, match="got a bytes"):
        kind_of(b"")


def test_a_type_is_read_as_another_by_total_casts_only() -> None:
    """Text is parsed, whole numbers become real ones, dates times, and times their days."""
    allowed = {(a, b) for a in Kind for b in Kind if may_be_read_as(a, b) and a is not b and a is not Kind.TEXT}
    assert allowed == {(Kind.INTEGER, Kind.REAL), (Kind.DATE, Kind.TIMESTAMP), (Kind.TIMESTAMP, Kind.DATE)}
    assert all(may_be_read_as(Kind.TEXT, kind) for kind in Kind)


def test_a_message_shows_no_value_of_an_enumeration() -> None:
    """An enumeration may have been made from the rows."""
    assert without_parts("ENUM('Alice', 'Bob')[]") == "ENUM(...)"
    assert without_parts("BLOB") == "BLOB"
