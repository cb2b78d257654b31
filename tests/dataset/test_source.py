"""`source`: the schema of files, frames and DuckDB tables, clear refusals, and never a row."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.dataset.kind import Kind
from sfumato.dataset.sources.source import CsvFiles, DuckdbTable, Frame, ParquetFiles, read_source
from sfumato.errors import InvalidArgument, SourceNotFound

SCHEMA = {"id": Kind.INTEGER, "name": Kind.TEXT, "paid": Kind.REAL, "born": Kind.DATE, "ok": Kind.BOOLEAN}
ROWS = {
    "id": [1, 2],
    "name": ["Ann", None],
    "paid": [1.5, 2.5],
    "born": [datetime.date(1990, 1, 1)] * 2,
    "ok": [True, False],
    "tags": [["a"], []],
}
SECRET = "s3cret"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_parquet(path: Path, **columns: list[Any]) -> None:
    pq.write_table(pa.table(columns or ROWS), path)


def write_duckdb(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as engine:
        for statement in statements:
            engine.execute(statement)


# --- parquet


def test_a_parquet_file_says_its_schema_without_the_columns_of_other_types(here: Path) -> None:
    """A list cannot be asked about; it is left out, not fatal."""
    write_parquet(here / "people.parquet")
    source = read_source("people.parquet")
    assert isinstance(source, ParquetFiles)
    assert list(source.schema().items()) == list(SCHEMA.items())
    assert "tags" in source.types()
    assert source.label == "people.parquet"


def test_only_the_footer_of_a_parquet_file_is_read(here: Path) -> None:
    """With every data page destroyed the schema is the same."""
    path = here / "people.parquet"
    write_parquet(path)
    whole = path.read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    path.write_bytes(whole[:4] + b"\xff" * (len(whole) - footer - 4) + whole[-footer:])
    with pytest.raises(duckdb.Error):
        duckdb.read_parquet(str(path)).fetchall()
    assert read_source(path).schema() == SCHEMA


def test_all_files_of_a_glob_have_one_schema(here: Path) -> None:
    """Also of one width: a value too wide for the first file's type would fail, and tell of itself."""
    write_parquet(here / "a.parquet", id=pa.array([1], pa.int32()))
    write_parquet(here / "b.parquet", id=pa.array([1], pa.int32()))
    assert read_source("*.parquet").schema() == {"id": Kind.INTEGER}
    write_parquet(here / "c.parquet", id=pa.array([1], pa.int64()))
    with pytest.raises(InvalidArgument, match=r"got others in c\.parquet"):
        read_source("*.parquet").schema()


def test_the_names_of_folders_are_no_columns(here: Path) -> None:
    """They are values of rows."""
    (here / "region=north").mkdir()
    write_parquet(here / "region=north" / "x.parquet", id=[1])
    assert list(read_source("**/*.parquet").schema()) == ["id"]


def test_a_folder_with_brackets_is_no_pattern(here: Path) -> None:
    """Only what the owner typed is."""
    folder = here / "data[1]"
    folder.mkdir()
    write_parquet(folder / "x.parquet", id=[1])
    assert read_source("x.parquet", folder=folder).schema() == {"id": Kind.INTEGER}


def test_what_is_no_parquet_is_refused_in_constant_words(here: Path) -> None:
    """The engine's own message is not passed on."""
    (here / "x.parquet").write_text(SECRET)
    with pytest.raises(InvalidArgument, match=r"x\.parquet cannot be read as parquet") as refusal:
        read_source("x.parquet").schema()
    assert SECRET not in str(refusal.value) and refusal.value.__cause__ is None


def test_parquet_columns_equal_but_for_case_are_refused(here: Path) -> None:
    """DuckDB would rename one in silence."""
    pq.write_table(pa.table([[1], [[1]], [2]], names=["a", "l", "A"]), here / "x.parquet")
    with pytest.raises(InvalidArgument, match="got 'A' twice"):
        read_source("x.parquet").schema()


# --- CSV


def test_of_a_csv_file_only_the_first_line_is_read(here: Path) -> None:
    """The rest may be anything; every column is text."""
    (here / "x.csv").write_bytes(b'\xef\xbb\xbfid, "income, gross"\r\n\xff\xfe"broken,,,\n' + b"\0" * 99)
    source = read_source("x.csv")
    assert source.schema() == {"id": Kind.TEXT, "income, gross": Kind.TEXT}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_follows_from_the_header(here: Path, delimiter: str) -> None:
    """Rows are not asked."""
    (here / "x.csv").write_text(delimiter.join(("id", "a b", "c")) + "\n1,2;3|4\t5\n")
    source = read_source("x.csv")
    assert isinstance(source, CsvFiles) and source.delimiter == delimiter
    assert list(source.schema()) == ["id", "a b", "c"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begin with a line of names"),
        (b"\n1,2\n", "begin with a line of names"),
        (b"\xff\xfe,b\n", "begin with a line of names"),
        (b"a" * (1 << 20), "begin with a line of names"),
        (b"ann," + SECRET.encode() + b",31000\n", "must be column names; got a number"),
        (b",a,b\n", r"to_csv\(index=False\)"),
        (b'id,"' + SECRET.encode() + b"\n" + SECRET.encode() + b'"\n', "empty or broken"),
        (b"id,a,ID\n", "got 'ID' twice"),
    ],
)
def test_a_csv_file_without_a_proper_header_is_refused(here: Path, content: bytes, message: str) -> None:
    """And what may be a row is not shown."""
    (here / "x.csv").write_bytes(content)
    with pytest.raises(InvalidArgument, match=message) as refusal:
        read_source("x.csv").schema()
    assert SECRET not in str(refusal.value)


def test_csv_files_of_one_glob_have_one_header(here: Path) -> None:
    """In the same order, since rows are read by position."""
    (here / "a.csv").write_text("a,b\n")
    (here / "b.csv").write_text("b,a\n")
    with pytest.raises(InvalidArgument, match=r"got others in b\.csv"):
        read_source("*.csv").schema()


# --- frames


def test_a_frame_says_its_schema(here: Path) -> None:
    """In pandas dates are objects, and objects are text."""
    assert read_source(pl.DataFrame(ROWS)).schema() == SCHEMA
    assert read_source(pa.table(ROWS)).schema() == SCHEMA
    frame = pd.DataFrame({name: values for name, values in ROWS.items() if name != "tags"})
    assert read_source(frame).schema() == {**SCHEMA, "born": Kind.TEXT}


def test_a_pandas_column_of_objects_is_text_whatever_it_holds() -> None:
    """A kind that followed from the values would tell of them."""
    for values in ([1, 2], ["a"], [None], [object()], []):
        assert read_source(pd.DataFrame({"x": pd.Series(values, dtype=object)})).schema() == {"x": Kind.TEXT}
        assert read_source(pd.DataFrame({"x": pd.Categorical(values)})).schema() == {"x": Kind.TEXT}


def test_a_column_of_python_objects_in_polars_is_left_out() -> None:
    """No engine can read it."""
    assert read_source(pl.DataFrame({"x": [object()], "y": [1]})).schema() == {"y": Kind.INTEGER}


def test_an_engine_gets_only_the_columns_that_can_be_asked_about() -> None:
    """Otherwise a column that nobody named would make it fail."""
    periods = pd.DataFrame({"p": pd.period_range("2026", periods=2), "x": [1, 2]})
    objects = pl.DataFrame({"p": [object()] * 2, "x": [1, 2]})
    lists = pa.table({"p": [[1], []], "x": [1, 2]})
    for frame in (periods, objects, lists):
        source = Frame(frame)
        assert list(source.schema()) == ["x"]
        with duckdb.connect() as engine:
            engine.register("rows", source.readable(source.schema()))
            assert engine.execute("FROM rows").fetchall() == [(1,), (2,)]
    whole = pd.DataFrame({"x": [1]})
    assert list(Frame(whole).readable(Frame(whole).schema()).columns) == list(whole.columns)


def test_a_frame_is_silent_about_its_rows_and_equal_only_to_itself() -> None:
    """A printed frame shows rows; compared frames compare them."""
    frame = pd.DataFrame({"x": [SECRET]})
    assert SECRET not in repr(Frame(frame))
    assert Frame(frame) == Frame(frame) != Frame(frame.copy())
    assert hash(Frame(frame)) == hash(Frame(frame))
    assert [read_source(f).label for f in (frame, pl.DataFrame(), pa.table({}))] == [
        "a pandas frame",
        "a polars frame",
        "an Arrow table",
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pl.LazyFrame({"a": [1]}), r"got a LazyFrame; collect it first"),
        (pa.record_batch({"a": [1]}), "Table.from_batches"),
        (
            type("DataFrame", (), {"__module__": "pyspark.sql.dataframe"})(),
            r"saveAsTable\('visits'\), then 'spark:visits'",
        ),
        ({"a": [1]}, "got a dict"),
        (None, "got a NoneType"),
    ],
)
def test_what_is_no_source_is_refused_with_help(given: object, message: str) -> None:
    """What to do is in the message."""
    with pytest.raises(InvalidArgument, match=message):
        read_source(given)


def test_names_of_a_pandas_frame_are_texts_and_differ() -> None:
    """Also numbers as labels, and several levels."""
    for columns in ([0, 1], ["a", "a"], pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])):
        with pytest.raises(InvalidArgument, match="names must"):
            read_source(pd.DataFrame([[1, 2]], columns=columns)).schema()


# --- DuckDB


def test_a_duckdb_table_says_its_schema(here: Path) -> None:
    """Names whatever their case, schemas before a dot; four slashes are an absolute path."""
    write_duckdb(
        here / "x.db",
        'CREATE TABLE People (id INT, "a b" DECIMAL(9, 2), l INT[])',
        "CREATE SCHEMA s; CREATE TABLE s.t (z DATE)",
    )
    source = read_source("duckdb:///x.db#people")
    assert source == DuckdbTable(str(here / "x.db"), "people")
    assert source == read_source(f"duckdb:///{here}/x.db#people")
    assert source.schema() == {"id": Kind.INTEGER, "a b": Kind.REAL}
    assert read_source("duckdb:///x.db#s.t").schema() == {"z": Kind.DATE}
    assert source.label == "x.db#people"


def test_what_is_not_a_table_of_a_duckdb_file_is_refused(here: Path) -> None:
    """File, table, view, address: each has its message."""
    write_duckdb(here / "x.db", "CREATE TABLE people (id INT)", "CREATE VIEW v AS SELECT count(*) AS n FROM people")
    (here / "no.db").write_text("text " * 99)
    for address, error, message in (
        ("duckdb:///y.db#people", SourceNotFound, "found none at"),
        ("duckdb:///x.db#poeple", SourceNotFound, "unknown table 'poeple'; did you mean 'people'"),
        ("duckdb:///x.db#v", InvalidArgument, "got a view"),
        ("duckdb:///no.db#t", InvalidArgument, "cannot be opened as a DuckDB file"),
        ("duckdb:///x.db", InvalidArgument, "duckdb:///file.db#table"),
    ):
        with pytest.raises(error, match=message):
            read_source(address).schema()


# --- all


def test_a_source_that_is_not_there_is_refused(here: Path) -> None:
    """A path, and a glob without a match."""
    for pattern in ("people.parquet", "*.parquet", "people.csv", "*.csv"):
        with pytest.raises(SourceNotFound, match="found none at"):
            read_source(pattern).schema()


def test_an_unknown_ending_or_address_is_refused_without_its_password() -> None:
    """An address may hold one."""
    with pytest.raises(InvalidArgument, match=r"must end in \.parquet or \.csv; got 'people\.xlsx'"):
        read_source("people.xlsx")
    for address in (f"mysql://ann:{SECRET}@host/db#t", f"s3://{SECRET}/x.parquet", f"iceberg:{SECRET}"):
        with pytest.raises(InvalidArgument, match="got an address of") as refusal:
            read_source(address)
        assert SECRET not in str(refusal.value)


def test_the_same_file_has_the_same_identity_by_any_name(here: Path) -> None:
    """By a relative path, a link, or a glob that finds it among others."""
    for name in ("a.parquet", "b.parquet"):
        write_parquet(here / name)
    os.symlink(here / "a.parquet", here / "link.parquet")
    a, link, both = (read_source(p).identity for p in ("a.parquet", here / "link.parquet", "[ab].parquet"))
    assert a == link and a < both
    assert not a & read_source("b.parquet").identity


def test_a_source_stays_the_same_when_the_process_changes_its_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are made absolute when they are read."""
    write_parquet(here / "x.parquet", id=[1])
    source = read_source("x.parquet")
    monkeypatch.chdir("/")
    assert source.schema() == {"id": Kind.INTEGER}
    assert read_source(source) is source
