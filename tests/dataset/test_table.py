"""`table`: declarations meet a schema; nothing depends on rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.dataset.column import Bounds, Column, column
from sfumato.dataset.kind import Kind
from sfumato.dataset.table import Table, table
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.unit import Unit

PEOPLE = pa.table({"person_id": [1], "Income": [1.5], "region": ["north"], "tags": [[1]]})
incomes = st.lists(st.tuples(st.integers(0, 9), st.floats(allow_nan=False), st.text()), max_size=5)


def test_a_table_knows_every_column_and_its_kind() -> None:
    """Declared or not, in the source's order and spelling."""
    people = table(PEOPLE, unit="PERSON_ID", columns={"income": column(bounds=(0, 9)), "region": {"keys": ["north"]}})
    assert people.unit == Unit(("person_id",))
    assert list(people.columns) == ["person_id", "Income", "region"]
    assert people.columns["Income"] == Column(Kind.REAL, Bounds.read(0, 9))
    assert people.columns["region"].keys == ("north",)
    assert people.kind("INCOME") is Kind.REAL
    assert (people.neighbors, people.version, people.max_rows_per_unit) == (Neighbors.ADD_REMOVE, "1", None)


def test_a_table_cannot_be_changed() -> None:
    """Nor can its columns, nor through the mapping that declared them."""
    declared = {"region": column(keys=["north"])}
    people = table(PEOPLE, columns=declared)
    declared.clear()
    assert people.columns["region"].keys == ("north",)
    with pytest.raises(TypeError):
        people.columns["region"] = Column()  # type: ignore[index]
    with pytest.raises(AttributeError):
        people.version = "2"  # type: ignore[misc]
    assert hash(people) == hash(table(PEOPLE, columns={"region": column(keys=["north"])}))


@given(incomes, incomes)
def test_any_rows_of_one_schema_give_the_same_declaration(one: list[Any], other: list[Any]) -> None:
    """Whatever they are, and however many."""

    def declared(rows: list[Any]) -> tuple[object, ...]:
        schema = pa.schema([("person_id", pa.int64()), ("income", pa.float64()), ("region", pa.string())])
        data = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
        made = table(data, unit="person_id", columns={"income": column(bounds=(0, 9))}, max_rows_per_unit=3)
        return made.unit, made.neighbors, dict(made.columns), made.version, made.max_rows_per_unit, made.source.label

    assert declared(one) == declared(other)


def test_a_file_with_no_rows_and_one_with_many_are_the_same_table(tmp_path: Path) -> None:
    """Equal as values, since a file is its path."""
    path = tmp_path / "x.parquet"
    pq.write_table(PEOPLE, path)
    many = table(path, unit="person_id")
    pq.write_table(PEOPLE.slice(0, 0), path)
    assert table(path, unit="person_id") == many


def test_the_types_of_a_csv_follow_from_the_declaration(tmp_path: Path) -> None:
    """Bounds mean numbers, keys their own kind, the rest is text."""
    (tmp_path / "x.csv").write_text("id;age;sex;day;note\ngarbage")
    people = table(
        tmp_path / "x.csv",
        unit=["id", "day"],
        columns={"age": column(bounds=(0, 120)), "sex": column(keys=[1, 2]), "day": column(type="date")},
    )
    assert {name: each.kind for name, each in people.columns.items()} == {
        "id": Kind.TEXT,
        "age": Kind.REAL,
        "sex": Kind.INTEGER,
        "day": Kind.DATE,
        "note": Kind.TEXT,
    }


def test_a_unit_column_may_have_keys() -> None:
    """The days of (person, day) are worth grouping by."""
    assert (
        table(PEOPLE, unit=["person_id", "region"], columns={"region": column(keys=["north"])}).columns["region"].keys
    )


def test_where_a_row_is_a_person_nobody_has_more_than_one() -> None:
    """And more cannot be declared."""
    assert table(PEOPLE).max_rows_per_unit == 1
    assert table(PEOPLE).unit == Unit()
    with pytest.raises(InvalidArgument, match="max_rows_per_unit must be 1 where a row is a person"):
        table(PEOPLE, max_rows_per_unit=2)


REFUSED: dict[str, dict[str, Any]] = {
    "unknown column 'person'; did you mean 'person_id'": {"unit": "person"},
    "unknown column 'regions'; did you mean 'region'": {"columns": {"regions": column()}},
    "column 'tags' must be a number.*got list": {"columns": {"tags": column()}},
    "column 'tags' must be": {"unit": "tags"},
    "at least one column; got none": {"unit": []},
    "each column once": {"unit": ["person_id", "Person_ID"]},
    "names of columns; got 3": {"unit": 3},
    "columns must map names": {"columns": ["region"]},
    "column 'region': a declaration must be column": {"columns": {"region": ["north"]}},
    "column 'region': unknown declaration 'key'; did you mean 'keys'": {"columns": {"region": {"key": ["north"]}}},
    "declared once": {"columns": {"region": column(), "REGION": column()}},
    "column 'region': bounds must belong to numbers; got a column of type text": {
        "columns": {"region": {"bounds": (0, 1)}}
    },
    "column 'region': keys must be of the column's type text; got integer": {"columns": {"region": {"keys": [1]}}},
    "column 'Income': type must be one that double can be read as; got integer": {
        "columns": {"income": {"type": "int"}}
    },
    "neighbors must be 'add-remove' or 'replace'; got 'swap'": {"neighbors": "swap"},
    "version must be a short text; got 2026": {"version": 2026},
    "version must be a short text; got ''": {"version": ""},
    "max_rows_per_unit must be a whole number of at least 1; got 0": {"unit": "person_id", "max_rows_per_unit": 0},
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_declaration_that_does_not_fit_is_refused(message: str) -> None:
    """With the column, what was expected and what came."""
    with pytest.raises(InvalidArgument, match=message):
        table(PEOPLE, **REFUSED[message])


def test_an_unknown_column_has_its_own_class() -> None:
    """So that a program can offer the names."""
    with pytest.raises(UnknownName, match="an Arrow table"):
        table(PEOPLE).find("incom")


def test_a_table_does_not_print_its_rows() -> None:
    """A frame would."""
    assert "north-by-northwest" not in repr(table(pd.DataFrame({"region": ["north-by-northwest"]})))
    assert isinstance(table(PEOPLE), Table)


def test_a_misspelled_argument_of_a_table_is_refused_with_the_nearest() -> None:
    """And one that is missing is named."""
    with pytest.raises(UnknownName, match="table: unknown argument 'max_rows'; did you mean 'max_rows_per_unit'"):
        table(PEOPLE, max_rows=3)  # type: ignore[call-arg]
    with pytest.raises(InvalidArgument, match="table: source must be given"):
        table()  # type: ignore[call-arg]
