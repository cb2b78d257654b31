"""`public`: keys from a published list."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.dataset.public import keys_from
from sfumato.errors import InvalidArgument, UnknownName

DATA = pa.table({"Region": ["south", "north", None, "south"], "code": [3, 1, 3, None]})


def in_duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "x.db")) as engine:
        engine.register("data", DATA)
        engine.execute('CREATE SCHEMA s; CREATE TABLE s."t ""1""" AS SELECT * FROM data')
    return f'duckdb:///{folder}/x.db#s.t "1"'


def in_parquet(folder: Path) -> Path:
    pq.write_table(DATA, folder / "x.parquet")
    return folder / "x.parquet"


def in_csv(folder: Path) -> Path:
    (folder / "x.csv").write_text('code;Region\n3;"south"\n1;north\n3;\n;south\n')
    return folder / "x.csv"


PLACES: list[Callable[[Path], object]] = [
    in_duckdb,
    in_parquet,
    in_csv,
    lambda _: DATA,
    lambda _: DATA.to_pandas(),
    lambda _: pl.from_arrow(DATA),
]


@pytest.mark.parametrize("place", PLACES)
def test_keys_come_once_each_in_order_of_appearance_without_missing_ones(
    place: Callable[[Path], object], tmp_path: Path
) -> None:
    """From every kind of source alike, whatever the case of the column's name."""
    source = place(tmp_path)
    assert keys_from(source, "region") == ("south", "north")
    assert keys_from(source, "code", type="integer") == (3, 1)


def test_keys_of_a_csv_are_texts_unless_a_type_is_given(tmp_path: Path) -> None:
    """Also dates."""
    (tmp_path / "x.csv").write_text("day\n2026-01-01\n")
    assert keys_from(tmp_path / "x.csv", "day") == ("2026-01-01",)
    assert keys_from(tmp_path / "x.csv", "day", type="date") == (datetime.date(2026, 1, 1),)
    with pytest.raises(InvalidArgument, match=r"x\.csv, column 'day': keys must be readable as integer"):
        keys_from(tmp_path / "x.csv", "day", type="integer")


def test_a_column_without_keys_is_refused() -> None:
    """Unknown, empty, or of a type that cannot be a key."""
    with pytest.raises(UnknownName, match="did you mean 'Region'"):
        keys_from(DATA, "regoin")
    with pytest.raises(InvalidArgument, match="got none"):
        keys_from(pd.DataFrame({"x": pd.Series([], dtype=str)}), "x")
    with pytest.raises(InvalidArgument, match="got list"):
        keys_from(pa.table({"x": [[1]]}), "x")
