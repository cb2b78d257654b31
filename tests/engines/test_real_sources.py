"""What one person moves in sources as they are: files, frames and databases with everything that they may hold.

Each case is a way in which one person's rows changed what other people's rows counted as, or made a question fail.
"""

from __future__ import annotations

import csv
import datetime
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement.measure import measure_all
from sfumato.dataset.column import column
from sfumato.dataset.table import Table, table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import EngineFailed, InvalidArgument, UnsupportedQuery
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.share import Share


class Recorder:
    """Keeps what arrives; returns large numbers."""

    def __init__(self) -> None:
        self.record: list[tuple[str, list[int], int]] = []

    def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
        self.record.append((label, list(exact), moves))
        return [10**9] * len(exact)


def recorded(declared: Table, question: str, **options: Any) -> list[tuple[str, list[int], int]]:
    plan = Curator({"t": declared}, budget=Guarantee(9)).plan(question, 1, Options(**options))
    recorder = Recorder()
    with DuckdbEngine().run(plan) as run:
        measure_all(plan, run, recorder)
    return recorder.record


def farthest(here: Table, there: Table, question: str, **options: Any) -> float:
    """By how many times its claim the release that moves most moves between two neighbors."""
    pairs = zip(recorded(here, question, **options), recorded(there, question, **options), strict=True)
    return max(sum(abs(a - b) for a, b in zip(x, y, strict=True)) / moves for (_, x, moves), (_, y, _) in pairs)


def exact(declared: Table, question: str) -> list[float]:
    """The exact counts, in rows."""
    return [value / 2**20 for value in recorded(declared, question)[-1][1]]


NAN_WRITERS: dict[str, Callable[[list[float], Path], None]] = {
    "arrow": lambda xs, path: pq.write_table(
        pa.table({"person": range(len(xs)), "x": pa.array(xs, pa.float64())}), path
    ),
    "arrow, four bytes": lambda xs, path: pq.write_table(
        pa.table({"person": range(len(xs)), "x": pa.array(xs, pa.float32())}), path
    ),
    "arrow, row groups": lambda xs, path: pq.write_table(
        pa.table({"person": range(len(xs)), "x": pa.array(xs, pa.float64())}), path, row_group_size=300
    ),
    "polars": lambda xs, path: pl.DataFrame({"person": range(len(xs)), "x": xs}).write_parquet(path),
}


@pytest.mark.parametrize("writer", NAN_WRITERS)
@pytest.mark.parametrize(
    "question",
    (
        "SELECT COUNT(*) AS n FROM t WHERE x > 5",
        "SELECT x > 5 AS big, COUNT(*) AS n FROM t GROUP BY 1",
        "SELECT SUM(x) AS s FROM t",
        "SELECT AVG(x) AS a FROM t",
        "SELECT COUNT(x) AS n FROM t WHERE NOT (x < 5)",
    ),
)
def test_what_is_no_number_does_not_wait_for_other_peoples_values(writer: str, question: str, tmp_path: Path) -> None:
    """Statistics of a parquet file leave NaN out; one more value in the file must not change how NaN compares."""
    tables = []
    for name, more in (("here", []), ("there", [10.0])):
        NAN_WRITERS[writer]([1.0, 2.0, 3.0] + [math.nan] * 1_000 + more, tmp_path / f"{name}.parquet")
        declared = {"x": column(bounds=(0, 20))}
        tables.append(table(tmp_path / f"{name}.parquet", unit="person", max_rows_per_unit=1, columns=declared))
    assert farthest(tables[0], tables[1], question) <= 1


@pytest.mark.parametrize("name", ("u0", "U0", "k0", "x0", "c0", "g", "s", "one", "place", "n0", "f0", "source", "kept"))
def test_a_column_with_a_name_of_the_engine_does_not_stand_in_for_it(name: str) -> None:
    """Whatever the owner calls a column, a person is known by the unit's columns."""
    base = [(person, float(person % 7)) for person in range(20)]
    more = [(999, float(1_000 + i)) for i in range(50)]
    here, there = (
        table(pd.DataFrame(rows, columns=["person", name]), unit="person", columns={name: column(bounds=(0, 9))})
        for rows in (base, base + more)
    )
    for question in (f'SELECT COUNT("{name}") AS n FROM t', f'SELECT SUM("{name}") AS n FROM t WHERE "{name}" >= 0'):
        assert farthest(here, there, question, max_rows_per_unit=1) <= 1


@pytest.mark.parametrize("unit", ("person", "r", None))
@pytest.mark.parametrize("keys", (["a"], ["A"], ["a", "A"], ["b", "a"]))
def test_letters_are_compared_as_they_are_whatever_the_collation(
    unit: str | None, keys: list[str], tmp_path: Path
) -> None:
    """A column COLLATE NOCASE: 'a' and 'A' are two keys and two people."""
    tables = []
    for name, first in (("here", []), ("there", [("A", 999)])):
        with duckdb.connect(str(tmp_path / f"{name}.db")) as database:
            database.execute("CREATE TABLE t (r VARCHAR COLLATE NOCASE, person INTEGER)")
            database.executemany("INSERT INTO t VALUES (?, ?)", [*first, *(("a", n) for n in range(200))])
        source = f"duckdb:///{tmp_path}/{name}.db#t"
        tables.append(table(source, unit=unit, columns={"r": column(keys=keys)}))
    for question in ("SELECT r, COUNT(*) AS n FROM t GROUP BY r", "SELECT COUNT(*) AS n FROM t WHERE r = 'a'"):
        assert farthest(tables[0], tables[1], question, max_rows_per_unit=1) <= 1
    if unit == "person":
        small = exact(tables[1], "SELECT r, COUNT(*) AS n FROM t GROUP BY r")
        assert small == [{"a": 200, "A": 1, "b": 0}[key] for key in keys]


def test_a_line_break_in_a_field_is_a_field(tmp_path: Path) -> None:
    """A CSV file by a proper writer, one address in two lines: every row counts, and nothing fails."""
    path = tmp_path / "t.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [("person", "note"), *((n, "plain") for n in range(500)), (500, "one\ntwo"), (501, "x")]
        )
    assert exact(table(path, unit="person", max_rows_per_unit=1), "SELECT COUNT(*) AS n FROM t") == [502]


class Odd:
    """An object that cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError


ODD_FRAMES: dict[str, Callable[[], Any]] = {
    "categories that print alike": lambda: pd.DataFrame({"p": [1, 2], "x": pd.Categorical(["1", 1])}),
    "objects that cannot be printed": lambda: pd.DataFrame({"p": [1, 2], "x": pd.Series([Odd(), "a"], dtype=object)}),
    "half a character in a string column": lambda: pd.DataFrame(
        {"p": [1, 2], "x": pd.Series(["\ud800", "a"], dtype=pd.StringDtype("python"))}
    ),
    "seconds far out": lambda: pd.DataFrame({"p": [1, 2], "x": np.array(["2020-01-01", "300000-01-01"], "M8[s]")}),
    "milliseconds far out": lambda: pd.DataFrame({"p": [1, 2], "x": np.array([0, 2**62]).view("M8[ms]")}),
    "half a character": lambda: pd.DataFrame({"p": [1, 2], "x": pd.Series(["\ud800", "a"], dtype=object)}),
    "half a character in the unit": lambda: pd.DataFrame({"x": [1, 2], "p": pd.Series(["\ud800", "a"], dtype=object)}),
    "bytes that are no text": lambda: pa.table({"p": [1, 2], "x": _broken_text()}),
    "bytes that are no text in the unit": lambda: pa.table({"x": [1, 2], "p": _broken_text()}),
    "bytes that are no text, as dictionary": lambda: pa.table({"p": [1, 2], "x": _broken_text().dictionary_encode()}),
}


def _broken_text() -> Any:
    return pa.array([b"\xff\xfe", b"a"], pa.binary()).cast(pa.string(), safe=False)


@pytest.mark.parametrize("name", ODD_FRAMES)
def test_no_value_of_a_frame_makes_a_question_fail(name: str) -> None:
    """Objects, categories and bytes of any kind are texts, or missing."""
    declared = table(ODD_FRAMES[name](), unit="p", max_rows_per_unit=1)
    assert exact(declared, "SELECT COUNT(*) AS n FROM t") == [2]
    assert exact(declared, "SELECT COUNT(x) AS n FROM t")[0] >= 1


FAR = 1_700_000_000_000_000  # microseconds taken for seconds
COARSE: dict[str, Callable[[], Any]] = {
    "arrow seconds": lambda: pa.table({"p": [1], "d": pa.array([FAR]).cast(pa.timestamp("s", "UTC"))}),
    "arrow milliseconds": lambda: pa.table({"p": [1], "d": pa.array([FAR * 1_000]).cast(pa.timestamp("ms", "UTC"))}),
    "arrow seconds without a zone": lambda: pa.table({"p": [1], "d": pa.array([0]).cast(pa.timestamp("s"))}),
    "polars milliseconds without a zone": lambda: pl.DataFrame({"p": [1], "d": [0]}).with_columns(
        pl.col("d").cast(pl.Datetime("ms"))
    ),
    "polars whole numbers of 128 bits": lambda: pl.DataFrame({"p": [1], "d": [0]}).with_columns(
        pl.col("d").cast(pl.Int128)
    ),
    "pandas seconds": lambda: pa.table({"p": [1], "d": pa.array([0]).cast(pa.timestamp("s", "UTC"))}).to_pandas(),
    "polars milliseconds": lambda: pl.DataFrame({"p": [1], "d": [0]}).with_columns(
        pl.col("d").cast(pl.Datetime("ms", "UTC"))
    ),
}


@pytest.mark.parametrize("name", COARSE)
def test_instants_that_an_engine_may_fail_on_are_refused_by_their_type(name: str) -> None:
    """Seconds and milliseconds with a zone: whether one is too far out is a property of a row."""
    declared = table(COARSE[name](), unit="p", max_rows_per_unit=1)
    assert "d" not in declared.columns
    assert exact(declared, "SELECT COUNT(*) AS n FROM t") == [1]
    with pytest.raises(UnsupportedQuery):
        recorded(declared, "SELECT COUNT(d) AS n FROM t")


def test_parquet_times_in_milliseconds_are_refused_by_their_type(tmp_path: Path) -> None:
    """The reader fails on one that is too far out, so nothing may be asked of the column, and nothing touches it."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"p": [1, 2], "d": pa.array([0, 2**62]).cast(pa.timestamp("ms"))}), path)
    assert exact(table(path, unit="p", max_rows_per_unit=1), "SELECT COUNT(*) AS n FROM t") == [2]
    with pytest.raises(InvalidArgument, match="microseconds"):
        table(path, unit="p", columns={"d": column(keys=[datetime.datetime(2026, 1, 1)])})


@pytest.mark.parametrize("unit", ("us", "ns"))
@pytest.mark.parametrize("zone", (None, "UTC", "Europe/Berlin"))
def test_finer_instants_are_read_in_utc(unit: str, zone: str | None) -> None:
    """Micro- and nanoseconds, with and without a zone."""
    noon = pd.Timestamp("2026-01-01 12:00", tz=zone).tz_convert("UTC") if zone else pd.Timestamp("2026-01-01 12:00")
    frame = pa.table(
        {"p": [1, 2], "d": pa.array([int(noon.as_unit(unit).asm8.astype(int))] * 2).cast(pa.timestamp(unit, zone))}
    )
    declared = table(
        frame, unit="p", max_rows_per_unit=1, columns={"d": column(keys=[datetime.datetime(2026, 1, 1, 12)])}
    )
    expected = 2 if zone != "Europe/Berlin" else 0  # noon in Berlin is eleven in UTC
    assert exact(declared, "SELECT d, COUNT(*) AS n FROM t GROUP BY d") == [expected]


@pytest.mark.parametrize("type", ("UUID", "ENUM('a', 'b')", "DECIMAL(20, 3)", "TIMESTAMPTZ", "VARCHAR"))
def test_a_unit_of_any_type_in_a_database_is_a_unit(type: str, tmp_path: Path) -> None:
    """It is grouped as it is stored; a question does not fail for its type."""
    value = {"UUID": "uuid()", "ENUM('a', 'b')": "'a'", "TIMESTAMPTZ": "now()"}.get(type, "7")
    declared = table(five_rows(tmp_path, f"CAST({value} AS {type})"), unit="u")
    assert recorded(declared, "SELECT COUNT(*) AS n FROM t", max_rows_per_unit=1)


def test_a_unit_of_bytes_is_refused_when_it_is_declared(tmp_path: Path) -> None:
    """A type of which nothing can be declared is no unit; nothing is asked."""
    with pytest.raises(InvalidArgument, match="BLOB"):
        table(five_rows(tmp_path, "CAST('x' AS BLOB)"), unit="u")


def five_rows(folder: Path, value: str) -> str:
    """The address of a table with one column, u."""
    with duckdb.connect(str(folder / "t.db")) as database:
        database.execute(f"CREATE TABLE t AS SELECT {value} AS u FROM range(5)")
    return f"duckdb:///{folder}/t.db#t"


def test_a_question_that_fails_harms_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database in which something failed is not used again."""
    path = tmp_path / "t.parquet"
    pd.DataFrame({"p": [1, 2]}).to_parquet(path)
    declared = table(path, unit="p", max_rows_per_unit=1)
    plan = Curator({"t": declared}, budget=Guarantee(9)).plan("SELECT COUNT(*) AS n FROM t", 1, Options())
    seen = []
    for _ in "12":
        with pytest.raises(EngineFailed), DuckdbEngine().run(plan) as run:
            seen.append(run.session)
            raise ValueError
    assert exact(declared, "SELECT COUNT(*) AS n FROM t") == [2]


def test_the_last_day_of_all_counts() -> None:
    """31 December 9999, the usual open end."""
    last = datetime.date(9999, 12, 31)
    declared = table(
        pa.table({"p": [1, 2], "d": [last, last]}), unit="p", max_rows_per_unit=1, columns={"d": column(keys=[last])}
    )
    assert exact(declared, "SELECT d, COUNT(*) AS n FROM t GROUP BY d") == [2]


def test_a_frame_that_is_written_meanwhile_is_read_as_it_was() -> None:
    """The owner overwrites the unit's column between two passes: the question does not see it."""
    frame = pd.DataFrame({"p": range(100), "x": [1.0] * 100})
    declared = table(frame, unit="p", columns={"x": column(bounds=(0, 1))})
    plan = Curator({"t": declared}, budget=Guarantee(9)).plan("SELECT COUNT(*) AS n FROM t", 1, Options())

    class Writing(Recorder):
        def release(self, label: str, exact: Sequence[int], moves: int, share: Share) -> list[int]:
            frame["p"].to_numpy(copy=False).flags.writeable = True
            frame.loc[:, "p"] = 7
            return super().release(label, exact, moves, share)

    writing = Writing()
    with DuckdbEngine().run(plan) as run:
        measure_all(plan, run, writing)
    assert writing.record[-1][1] == [100 * 2**20]
