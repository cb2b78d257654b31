"""What goes in and what comes out: sources, odd values and names, roles, refusals, JSON, words."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.curator.measurement.progress import Phase
from sfumato.errors import InvalidArgument, SfumatoError
from sfumato.risk import Estimate
from sfumato.risk.counting.codes import Coded
from sfumato.risk.counting.search import LONG, choose_size, estimate

ROWS = {"Age": [28, 31, 31, 44], "Zip code": ["1", "2", "2", "2"], "income": [1.5, 2.5, 3.5, 4.5]}


def sources(folder: Path) -> dict[str, Any]:
    """The same table everywhere."""
    table = pa.table(ROWS)
    pq.write_table(table, folder / "t.parquet")
    table.to_pandas().to_csv(folder / "t[1].csv", index=False, sep=";")
    with duckdb.connect(str(folder / "t.db")) as database:
        database.register("rows", table)
        database.execute('CREATE TABLE "my table" AS SELECT * FROM rows')
    return {
        "parquet": folder / "t.parquet", "csv": str(folder / "t[1].csv"), "arrow": table, "pandas": table.to_pandas(),
        "polars": polars.from_arrow(table), "duckdb": f"duckdb:///{folder / 't.db'}#my table",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["parquet", "csv", "arrow", "pandas", "polars", "duckdb"])
def test_every_source_gives_the_same_report(kind: str, tmp_path: Path) -> None:
    """Names in any case, with blanks, in files whose names look like patterns."""
    report = sf.risk_report(sources(tmp_path)[kind], columns=["AGE", "zip CODE"])
    assert report.columns == ("Age", "Zip code")
    assert [(each.unique, each.groups, each.smallest) for each in report.growth] == [(2, 3, 1), (2, 3, 1)]
    assert report.uniqueness("zip code").unique == 1


def test_missing_values_and_nan_are_alike_and_zero_is_one_number() -> None:
    """Five floats that make three groups, and texts that differ by a blank."""
    nan = pa.array([float("nan"), float("nan"), 0.0, -0.0, None, None], pa.float64(), from_pandas=False)
    report = sf.risk_report(pa.table({"x": nan, "t": ["a", "a ", "A", "a", None, None]}), columns=["x", "t"])
    assert report.uniqueness("x").groups == 3 and report.uniqueness("x").unique == 0
    assert report.uniqueness("t").groups == 4 and report.uniqueness("t").unique == 2


def test_dates_lists_and_wide_numbers_are_compared_by_value() -> None:
    """Whatever has an equal in the column is not unique."""
    day, instant = datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12)
    table = pa.table(
        {
            "day": [day, day, None], "time": [instant, instant, instant + datetime.timedelta(microseconds=1)],
            "list": [[1, 2], [1, 2], [2, 1]], "texts": [["a, b"], ["a, b"], ["a", "b"]],
            "big": pa.array([2**64 - 1, 2**64 - 1, 0], pa.uint64()),
            "flag": [True, True, None], "price": pa.array([1, 1, 2]).cast(pa.decimal128(25, 2)),
        }
    )  # fmt: skip
    report = sf.risk_report(table, columns=table.column_names, subsets=1)
    assert {each.columns[0]: (each.unique, each.groups) for each in report.all_sets} == dict.fromkeys(
        table.column_names, (1, 2)
    )


def test_roles_say_what_a_column_is_and_what_is_left_out() -> None:
    """Direct identifiers by their values or their names are not searched unasked, nor are constants."""
    table = pa.table(
        {
            "code": [f"x{i}" for i in range(100)], "email": ["a@b"] * 50 + ["c@d"] * 50, "country": ["AT"] * 100,
            "age": [i % 10 for i in range(100)], "zip": [i // 10 for i in range(100)],
            "person_id": [i // 2 for i in range(100)],
        }
    )  # fmt: skip
    report = sf.risk_report(table)
    assert report.columns == ("age", "zip") and report.share == 1.0
    assert {each.name: each.role for each in report.profiles} == {
        "code": "identifier", "email": "identifier", "country": "constant", "age": "quasi", "zip": "quasi",
        "person_id": "identifier",
    }  # fmt: skip
    assert set(report.suggested) == {"age", "zip"}
    assert any("left out of the search: code, email, person_id" in note for note in report.notes)
    assert any("person_id sounds like a person's number" in note for note in report.notes)
    named = sf.risk_report(table, columns=["code", "age"])
    assert named.growth[0].unique == 100 and any("Direct identifiers are among" in note for note in named.notes)


def test_one_row_is_reported_plainly(tmp_path: Path) -> None:
    """Everything singles it out, and the report says so."""
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    report = sf.risk_report(tmp_path / "one.csv")
    assert report.share == 1.0 and report.anonymity.k == 1
    assert "The table has one row" in report.describe()


def test_a_thousand_columns_are_looked_at_and_the_likeliest_searched() -> None:
    """Twenty of them, and the report says so; when all are named, sets become smaller."""
    table = pa.table({f"c{i}": [j % (2 + i % 7) for j in range(30)] for i in range(1_000)})
    report = sf.risk_report(table)
    assert len(report.columns) == 20 and len(report.profiles) == 1_000
    assert any("20 columns with most values" in note for note in report.notes)


BAD = [
    ({"columns": ["agee"]}, "unknown column 'agee'; did you mean 'Age'"),
    ({"columns": []}, "names of columns must be texts"),
    ({"columns": [3]}, "names of columns must be texts"),
    ({"columns": ["Age"], "unit": "Age"}, "in columns or in unit; got both"),
    ({"columns": ["Age"], "sensitive": "age"}, "in columns or in sensitive; got both"),
    ({"sums": "Zip code", "columns": ["Age"], "p": 0}, "p must be positive"),
    ({"sums": "name", "columns": ["Age"]}, "must hold numbers to be added up"),
    ({"by": "Age"}, "belong to sums"),
    ({"link": pa.table({"Age": [1]})}, "link and on belong together"),
    ({"link": pa.table({"x": [1]}), "on": "Age"}, "unknown column 'Age'"),
    ({"subsets": 0}, "subsets must be a whole number of at least 1"),
    ({"memory": 0}, "memory must be positive"),
    ({"memory": 1e-7}, "must fit into"),
    ({"colums": ["Age"]}, "unknown argument 'colums'; did you mean 'columns'"),
    ({"progress": 3}, "progress must be callable"),
]


@pytest.mark.parametrize(("options", "said"), BAD, ids=[said for _, said in BAD])
def test_what_cannot_be_meant_is_refused_in_words(options: dict[str, Any], said: str) -> None:
    """Each names what was expected."""
    table = pa.table({**ROWS, "name": ["a", "b", "c", "d"]})
    with pytest.raises(SfumatoError, match=said):
        sf.risk_report(table, **options)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3 is broken; 2 fields were expected, 3 came"),
        ("a,b\n1,2\n1\n", "line 3 is broken"),
        ("a,b\n", "must have rows; it has none"),
        ("", "must begin with a line of names"),
        ("1,2\n3,4\n", "must be column names; got a number"),
        ("a,a\n1,2\n", "names must differ"),
    ],
)
def test_a_file_that_is_no_table_is_refused_and_no_row_is_forgotten(content: str, said: str, tmp_path: Path) -> None:
    """With the line that is broken: it is the owner's file."""
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InvalidArgument, match=said):
        sf.risk_report(tmp_path / "t.csv")


def test_a_search_that_takes_hours_is_estimated_and_confirmed() -> None:
    """Refused with the estimate, shown to a function that may say yes, and the usual size is one that is quick."""
    table = pa.table({f"c{i}": [j * (i + 1) % 11 for j in range(40)] for i in range(60)})
    with pytest.raises(InvalidArgument, match=r"sets of up to 9 of 60 columns on 40 rows: about \d+ days"):
        sf.risk_report(table, columns=table.column_names, subsets=9)
    seen: list[Estimate] = []
    with pytest.raises(InvalidArgument, match="confirm it: yes=True"):
        sf.risk_report(table, columns=table.column_names, subsets=9, yes=lambda wanted: bool(seen.append(wanted)))
    assert seen[0].seconds > LONG and seen[0].size == 9
    large = Coded(("a",) * 30, (pa.array([0]).to_numpy().astype("int32"),) * 30, (10**6,) * 30)
    assert choose_size(large) == 3 and estimate(large, 3).sets == 30 + 435 + 4060


def test_progress_is_told_and_what_it_raises_does_not_matter() -> None:
    """Phases by name."""
    told: list[Phase] = []
    sf.risk_report(pa.table(ROWS), columns=["Age", "income"], progress=told.append)
    assert told[0].name == "reading the table" and any("trying sets" in phase.name for phase in told)
    sf.risk_report(pa.table(ROWS), columns=["Age"], progress=lambda phase: 1 / 0)


def test_json_holds_all_of_it_with_the_notice(tmp_path: Path) -> None:
    """Also what JSON has no word for."""
    table = pa.table({"d": [datetime.date(2026, 1, 1)] * 2, "x": [float("inf")] * 2, "s": ["flu"] * 2, "v": [1.0, 2.0]})
    report = sf.risk_report(table, columns=["d", "x"], sensitive="s", sums="v", by=["d", "x"], link=table, on=["d"])
    content = json.loads(report.to_json(tmp_path / "r.json"))
    assert json.loads((tmp_path / "r.json").read_text()) == content
    assert content["notice"].startswith("For the owner only: not private") and content["is_private"] is False
    assert content["diversity"][0]["examples"][0] == {"values": ["2026-01-01", "inf"], "size": 2, "value": "flu"}
    assert content["dominance"]["cells"][0]["keys"] == ["2026-01-01", "inf"]
    assert content["anonymity"]["k"] == 2 and len(content["all_sets"]) == 3
    assert content["linkage"]["share"] == 0


def test_words_say_first_that_it_is_not_private() -> None:
    """In every form."""
    report = sf.risk_report(pandas.DataFrame(ROWS), columns=["Age"])
    assert str(report).startswith("For the owner only: not private.") and report.notice in report.to_html()
    assert "not private" in json.dumps(report.plot().to_dict())


def test_a_set_that_was_not_tried_is_named() -> None:
    """And one that was is found in any order."""
    report = sf.risk_report(pa.table(ROWS), columns=["Age", "income", "Zip code"], subsets=1)
    with pytest.raises(InvalidArgument, match="a set that was tried; got income, zip code"):
        report.uniqueness("income", "zip code")
    assert report.uniqueness("income", "age").unique == 4


def test_files_of_a_report_are_for_its_owner_alone(tmp_path: Path) -> None:
    """Unless they are there: a longer file is replaced, and keeps its mode."""
    report = sf.risk_report(pa.table(ROWS), columns=["Age"])
    (tmp_path / "old.json").write_text("x" * 1_000_000)
    (tmp_path / "old.json").chmod(0o640)
    report.to_html(tmp_path / "new.html")
    assert report.to_json(tmp_path / "old.json") == (tmp_path / "old.json").read_text(encoding="utf-8")
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("new.html", "old.json")] == [0o600, 0o640]
