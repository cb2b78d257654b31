"""What attackers tried on joins, UNION ALL and public tables: each was a wrong answer, a charge or a leak once."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.curator.curator import Curator
from sfumato.dataset.table import Through
from sfumato.errors import InvalidArgument, Refused, SourceNotFound, UnsupportedQuery
from sfumato.ledger.ledger import Ledger
from sfumato.privacy.guarantee import Guarantee

MANY = 10**6  # epsilon: hardly any noise


def rounded(curator: Curator, question: str, column: str = "n") -> list[int]:
    return [round(row[column]) for row in curator.ask(question, epsilon=1_000).rows]


def test_keys_to_be_found_beside_those_of_a_public_table() -> None:
    """The public table and the table of its keys had one name: the engine failed when it was charged."""
    frame = pd.DataFrame({"id": range(400), "city": ["x"] * 400, "product": [1, 2] * 200})
    products = sf.public(pd.DataFrame({"product": [1, 2], "kind": ["a", "b"]}))
    tables = {"people": sf.table(frame, unit="id", max_rows_per_unit=1), "products": products}
    asked = sf.Curator(tables, budget=Guarantee(100, 1e-3))
    question = "SELECT city, kind, COUNT(*) AS n FROM people JOIN products USING (product) GROUP BY city, kind"
    answer = asked.ask(question, epsilon=20, delta=1e-6)
    assert [(row["city"], row["kind"]) for row in answer.rows] == [("x", "a"), ("x", "b")]


@pytest.mark.parametrize(
    ("right", "asked", "expected"),
    (
        ("SELECT id, 1 AS y FROM visits", "COUNT(v.y)", 10),
        ("SELECT id, COALESCE(x, 0) AS y FROM visits", "COUNT(v.y)", 10),
        ("SELECT id, COALESCE(SUM(x), 0) AS y FROM visits GROUP BY id", "COUNT(v.y)", 10),
        ("SELECT id, 1 AS y FROM visits", "SUM(CASE WHEN v.y IS NULL THEN 1 ELSE 0 END)", 90),
        ("SELECT id, x AS y FROM visits", "COUNT(v.y)", 10),
        ("SELECT id, x * 2 > 1 AND NOT x IN (7) AS y FROM visits", "COUNT(v.y)", 10),
        ("SELECT id, x BETWEEN 0 AND 2 OR FALSE AS y FROM visits", "COUNT(v.y)", 10),
        ("SELECT id, x IS NULL AS y FROM visits", "COUNT(v.y)", 10),
        ("SELECT id, CASE WHEN x > 1 THEN x ELSE 0 END AS y FROM visits", "COUNT(v.y)", 10),
    ),
)
def test_what_a_left_join_did_not_find_is_missing(right: str, asked: str, expected: int) -> None:
    """A constant of the right side was there for everybody."""
    visits = sf.table(pd.DataFrame({"id": range(10), "x": 1.0}), unit="id", max_rows_per_unit=1)
    people = sf.table(pd.DataFrame({"id": range(100)}), unit="id", max_rows_per_unit=1)
    curator = sf.Curator({"people": people, "visits": visits}, budget=MANY)
    question = f"SELECT {asked} AS n FROM people LEFT JOIN ({right}) AS v ON people.id = v.id"
    assert rounded(curator, question) == [expected]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"a": range(200), "b": range(200, 400), "x": [3] * 200}), "t.parquet")
    pq.write_table(pa.table({"c": range(200), "d": range(200, 400)}), "s.parquet")
    return tmp_path


def two(ledger: Ledger, means: dict[str, str], versions: tuple[str, str] = ("1", "1")) -> Curator:
    first = sf.table("t.parquet", unit={"p": "a", "q": "b"}, max_rows_per_unit=1, version=versions[0])
    second = sf.table("s.parquet", unit=means, max_rows_per_unit=1, version=versions[1])
    return sf.Curator({"t": first, "s": second}, budget=MANY, ledger=ledger)


@pytest.mark.usefixtures("folder")
def test_units_that_mean_something_else_are_another_question() -> None:
    """What is compared follows from what columns mean, which no stored answer knew; a ledger holds one meaning."""
    ledger = Ledger.in_memory()
    by_names = "SELECT COUNT(*) AS n FROM t JOIN s ON t.a = s.c AND t.b = s.d"
    crossed = "SELECT COUNT(*) AS n FROM t JOIN s ON t.a = s.d AND t.b = s.c"
    assert rounded(two(ledger, {"p": "c", "q": "d"}), by_names) == [200]
    with pytest.raises(Refused, match="must keep the unit"):
        two(ledger, {"q": "c", "p": "d"})
    assert rounded(two(Ledger.in_memory(), {"q": "c", "p": "d"}), crossed) == [0]


@pytest.mark.usefixtures("folder")
def test_versions_of_several_tables_are_kept_apart() -> None:
    """The labels of two tables, one after the other, could be those of two others."""
    ledger, means = Ledger.in_memory(), {"p": "c", "q": "d"}
    question = "SELECT COUNT(*) AS n FROM t JOIN s ON t.a = s.c AND t.b = s.d"
    two(ledger, means, ("2, t 3", "1")).ask(question, epsilon=1)
    again = two(ledger, means, ("2", "1, t 3")).ask(question, epsilon=1)
    assert again.receipt.notes == two(Ledger.in_memory(), means).ask(question, epsilon=1).receipt.notes


@pytest.mark.usefixtures("folder")
def test_a_public_file_that_says_something_else_is_another_question() -> None:
    """Its keys and bounds may be the same."""
    ledger, found = Ledger.in_memory(), []
    for kinds in (["a", "b", "b"], ["a", "b", "a"], ["a", "b", "a"]):
        pq.write_table(pa.table({"x": [1, 2, 3], "kind": kinds}), "kinds.parquet")
        tables = {"t": sf.table("t.parquet", unit="a", max_rows_per_unit=1), "kinds": sf.public("kinds.parquet")}
        curator = sf.Curator(tables, budget=MANY, ledger=ledger)
        answer = curator.ask("SELECT kind, COUNT(*) AS n FROM t JOIN kinds USING (x) GROUP BY kind", epsilon=1_000)
        found.append((*(round(row["n"]) for row in answer.rows), "asked before" in str(answer.receipt.notes)))
    assert found == [(0, 200, False), (200, 0, False), (200, 0, True)]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ("people", "PEOPLE", "main.people", "Main.People", "seen"))
def test_a_private_table_of_a_database_has_no_public_spelling(name: str) -> None:
    """With its schema, or through a view, it was another source."""
    with duckdb.connect("x.db") as engine:
        engine.execute("CREATE TABLE people AS SELECT range AS id FROM range(5); CREATE VIEW seen AS FROM people")
    private = sf.table("duckdb:///x.db#people", unit="id")
    with pytest.raises((InvalidArgument, SourceNotFound)):
        sf.Curator({"people": private, "known": sf.public(f"duckdb:///x.db#{name}")}, budget=1)


@pytest.mark.usefixtures("folder")
def test_a_database_has_one_name() -> None:
    """Like any file: behind a hard link its people would have a second budget, or be public."""
    with duckdb.connect("x.db") as engine:
        engine.execute("CREATE TABLE people AS SELECT range AS id FROM range(5)")
    private = sf.table("duckdb:///x.db#people", unit="id")
    os.link("x.db", "y.db")
    with pytest.raises(InvalidArgument, match="hard link"):
        sf.Curator({"people": private}, budget=1)
    with pytest.raises(InvalidArgument, match="hard link"):
        sf.public("duckdb:///y.db#people")


def test_what_a_ledger_has_as_private_is_not_public_elsewhere(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not in another process, and not when a glob finds it later; then the owner's log alone says why."""
    (folder / "more").mkdir()
    pq.write_table(pa.table({"a": [1]}), "more/1.parquet")
    sf.Curator({"t": sf.table("t.parquet", unit="a")}, budget=9, ledger="ledger.db")
    with pytest.raises(InvalidArgument, match="the ledger has it as private"):
        others = {"s": sf.table("s.parquet", unit={"a": "c"}), "t": sf.public("t.parquet")}
        sf.Curator(others, budget=9, ledger="ledger.db")
    pq.write_table(pa.table({"a": [2]}), "2.parquet")
    curator = sf.Curator({"m": sf.table("more/*.parquet", unit="a"), "p": sf.public("2.parquet")}, budget=9)
    os.symlink(folder / "2.parquet", folder / "more" / "2.parquet")
    with pytest.raises(Refused, match="the owner's log says which") as refusal:
        curator.ask("SELECT COUNT(*) AS n FROM m", epsilon=1)
    assert "parquet" not in str(refusal.value) and curator.remaining().epsilon == 9
    assert "a source must be public or private; got 2.parquet as public 'p'" in caplog.text


@pytest.mark.parametrize("how", ("UNION ALL SELECT id, n FROM", "JOIN"))
def test_with_cannot_double_the_tables_for_ever(how: str) -> None:
    """Twenty lines made a million tables; a plan of them never ended, and UNION ALL counted no growth."""
    queries = ["a0 AS (SELECT id, COUNT(*) AS n FROM t GROUP BY id)"]
    for i in range(40):
        last = f"{how} a{i}" if how != "JOIN" else f"AS x JOIN a{i} AS y ON x.id = y.id"
        chosen = "id, n" if how != "JOIN" else "x.id, x.n"
        queries.append(f"a{i + 1} AS (SELECT {chosen} FROM a{i} {last})")
    curator = sf.Curator({"t": sf.table(pd.DataFrame({"id": [1]}), unit="id")}, budget=1)
    with pytest.raises(UnsupportedQuery, match="read tables 100 times"):
        curator.quote(f"WITH {', '.join(queries)} SELECT COUNT(*) AS n FROM a40", epsilon=1)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("kind", ("csv", "parquet"))
def test_an_explanation_names_no_file_of_anybody(kind: str) -> None:
    """With a file for each person the SQL that ran said who is among them, exactly."""
    os.mkdir("people")
    for name in ("ann", "bob"):
        frame = pd.DataFrame({"who": [name], "x": [1.0]})
        getattr(frame, f"to_{kind}")(f"people/{name}.{kind}", index=False)
    table = sf.table(f"people/*.{kind}", unit="who", max_rows_per_unit=1)
    curator = sf.Curator({"t": table, "o": sf.table("t.parquet", unit={"who": "a"})}, budget=9)
    for rows in ("t", "t JOIN (SELECT who, COUNT(*) AS n FROM t GROUP BY who) AS s ON t.who = s.who", "o"):
        said = curator.ask(f"SELECT COUNT(*) AS n FROM {rows}", epsilon=1).explanation
        assert not [each for each in ("ann.", "bob.", os.getcwd()) if each in said]
        assert "The engine ran" in said


@pytest.mark.parametrize("through", (sf.through("Orders", on="ID"), sf.through("orders", on="id", key="iD")))
def test_a_key_of_a_parent_may_be_spelled_in_any_case(through: Through) -> None:
    """It was declared without a word, and failed when it was charged."""
    orders = sf.table(pd.DataFrame({"person": range(3), "Id": [10, 20, 20]}), unit="person")
    items = sf.table(pd.DataFrame({"id": [10, 10, 20, 99]}), unit=through)
    curator = sf.Curator({"orders": orders, "items": items}, budget=MANY)
    assert rounded(curator, "SELECT COUNT(*) AS n FROM items") == [4]
    assert rounded(curator, "SELECT COUNT(*) AS n FROM items JOIN orders ON items.id = orders.id") == [4]
