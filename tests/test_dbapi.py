"""DB-API 2.0: what the standard asks for, what other tools do with it, and that every question is charged."""

from __future__ import annotations

import datetime
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

from sfumato import dbapi
from sfumato.errors import BudgetExhausted, SfumatoError, UnsupportedQuery
from sfumato.project import load

PROJECT = """
[budget]
epsilon = 100.0
[populations.staff]
tables = ["payroll"]
epsilon = 1.0
[tables.people]
source = "people.csv"
unit = "person"
max_rows_per_unit = 2
[tables.people.columns]
region = { keys = ["north", "south", "it's"] }
income = { type = "double", bounds = [0, 100000] }
day = { type = "date", dates = ["2026-01-01", "2026-01-03"] }
[tables.payroll]
source = "payroll.csv"
unit = "clerk"
max_rows_per_unit = 1
"""
BY_REGION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of two populations."""
    folder = tmp_path_factory.mktemp("project")
    rows = [f"{i % 500},{('north', 'south')[i % 2]},{20_000 + i},2026-01-0{1 + i % 3}" for i in range(1_000)]
    (folder / "people.csv").write_text("\n".join(["person,region,income,day", *rows]))
    (folder / "payroll.csv").write_text("\n".join(["clerk", *map(str, range(300))]))
    (folder / "sfumato.toml").write_text(PROJECT)
    return folder


@pytest.fixture
def connection(folder: Path) -> Iterator[dbapi.Connection]:
    with dbapi.connect(folder, epsilon=1) as connection:
        yield connection


def left(folder: Path, population: str = "everyone") -> float:
    """What is left to a population."""
    with load(folder).open_ledger() as ledger:
        return float(ledger.remaining(population).epsilon)


def test_the_module_says_what_the_standard_asks_for() -> None:
    """Globals, the tree of errors, constructors and type objects."""
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "named")
    tree = {
        "Error": SfumatoError, "InterfaceError": dbapi.Error, "DatabaseError": dbapi.Error, "Warning": Exception,
        **dict.fromkeys(
            ("DataError", "OperationalError", "IntegrityError", "InternalError", "ProgrammingError",
             "NotSupportedError"), dbapi.DatabaseError,
        ),
    }  # fmt: skip
    assert all(getattr(dbapi, name).__base__ is base for name, base in tree.items())
    assert dbapi.Date(2026, 1, 2) == datetime.date(2026, 1, 2) and dbapi.Binary(b"x") == b"x"
    assert dbapi.TimestampFromTicks(0).time() == dbapi.TimeFromTicks(0) and dbapi.DateFromTicks(0).year in (1969, 1970)
    kinds = (float, int, str, datetime.date, datetime.datetime, bytes)
    codes = ("NUMBER", "STRING", "DATETIME", "BINARY")
    equal = {code: [kind.__name__ for kind in kinds if kind == getattr(dbapi, code)] for code in codes}
    assert equal == {"NUMBER": ["float", "int"], "STRING": ["str"], "DATETIME": ["date", "datetime"], "BINARY": []}
    assert dbapi.BINARY != dbapi.ROWID


def test_a_question_gives_rows_description_and_answer(connection: dbapi.Connection) -> None:
    """Rows one by one, some, the rest, by iteration; and the answer with its intervals."""
    cursor = connection.cursor()
    assert cursor.description is None and cursor.rowcount == -1 and cursor.answer is None
    assert cursor.execute(BY_REGION) is cursor and cursor.rowcount == 3
    assert cursor.description == [
        ("region", str, None, None, None, None, None),
        ("n", float, None, None, None, None, None),
    ]
    assert cursor.description[1][1] == dbapi.NUMBER
    first, more, rest = cursor.fetchone(), cursor.fetchmany(), cursor.fetchall()
    assert first is not None and [row[0] for row in (first, *more, *rest)] == ["north", "south", "it's"]
    assert cursor.fetchone() is None and cursor.fetchmany(5) == [] and cursor.fetchall() == []
    assert [row[0] for row in cursor.execute(BY_REGION)] == ["north", "south", "it's"]
    assert cursor.answer is not None and cursor.answer.intervals["n"][0][0] < first[1]  # type: ignore[index]
    assert "epsilon" in cursor.answer.receipt.remaining


def test_intervals_may_be_columns(folder: Path) -> None:
    """Beside each estimate; keys have none, and nothing is lost where an analyst names a column like them."""
    question = "SELECT region, COUNT(*) AS n, SUM(income) AS n_low FROM people GROUP BY region"
    with dbapi.connect(folder, epsilon=1, intervals=True) as connection, connection.cursor() as cursor:
        cursor.execute(question)
        names = [column[0] for column in cursor.description or ()]
        assert names == ["region", "n", "n_low", "n_high", "n_low", "n_low_low", "n_low_high"]
        assert all(low < n < high for _, n, low, high, *_ in cursor)


@pytest.mark.parametrize(
    ("question", "parameters"),
    (
        (
            "SELECT COUNT(*) AS n FROM people WHERE region = :region AND income > :income",
            {"region": "north", "income": 0},
        ),
        ("SELECT COUNT(*) AS n FROM people WHERE region = ? AND income > ?", ["north", 0]),
        ("SELECT COUNT(*) AS n FROM people WHERE region = $region AND income > 0", {"region": "north"}),
        ("SELECT COUNT(*) AS n FROM people WHERE region = 'north' AND income > 0", ()),
        ("SELECT COUNT(*) AS n FROM people WHERE region = 'north' AND income > 0", None),
    ),
)
def test_parameters_are_bound_and_the_same_question_is_free(folder: Path, question: str, parameters: Any) -> None:
    """However they are written: the ledger knows the question again."""
    with dbapi.connect(folder, epsilon=1) as connection:
        before = (
            connection.cursor()
            .execute("SELECT COUNT(*) AS n FROM people WHERE region = 'north' AND income > 0")
            .fetchall()
        )
        left_before = left(folder)
        assert connection.cursor().execute(question, parameters).fetchall() == before
    assert left(folder) == left_before


def test_a_hostile_parameter_is_a_text_and_nothing_else(connection: dbapi.Connection) -> None:
    """It finds the one region of that name, or none."""
    cursor = connection.cursor()
    question = "SELECT COUNT(*) AS n FROM people WHERE region = :region"
    for text in ("' OR 1=1 --", "it's"):
        ((n,),) = cursor.execute(question, {"region": text}).fetchall()
        assert abs(n) < 100
    day = "SELECT COUNT(*) AS n FROM people WHERE day = ?"
    assert cursor.execute(day, [datetime.date(2026, 1, 2)]).fetchone()[0] > 200  # type: ignore[index]


def test_each_statement_may_have_its_own_epsilon(folder: Path) -> None:
    """And costs exactly that."""
    with dbapi.connect(folder, epsilon=1, analyst="ana") as connection:
        cursor = connection.cursor()
        before = left(folder)
        cursor.epsilon = 0.25
        cursor.execute("SELECT COUNT(*) AS n FROM people WHERE income < 30000")
        assert before - left(folder) == pytest.approx(0.25)
        assert connection.cursor().epsilon == 1 and cursor.epsilon == 0.25
        with pytest.raises(dbapi.ProgrammingError, match="epsilon must be positive; got 0"):
            cursor.epsilon = 0


def test_rolling_back_gives_nothing_back(folder: Path) -> None:
    """Commit and rollback are there, and do nothing."""
    with dbapi.connect(folder, epsilon=0.5) as connection:
        connection.cursor().execute("SELECT COUNT(*) AS n FROM people WHERE income < 40000")
        spent = left(folder)
        connection.rollback()
        connection.commit()
    assert left(folder) == spent


def test_the_table_tells_the_population(folder: Path) -> None:
    """Unless it is named; then other tables are not there."""
    with dbapi.connect(folder, epsilon=0.5) as connection:
        connection.cursor().execute("SELECT COUNT(*) AS n FROM payroll")
        connection.cursor().execute("SELECT COUNT(*) AS n FROM payroll WHERE clerk > :clerk", {"clerk": "1"})
        with pytest.raises(dbapi.OperationalError, match="requested") as refusal:
            connection.cursor().execute("SELECT COUNT(*) AS n FROM payroll WHERE clerk > '2'")
        assert isinstance(refusal.value.__cause__, BudgetExhausted)
        assert str(refusal.value) == str(refusal.value.__cause__)
    with (
        dbapi.connect(folder, epsilon=0.5, population="everyone") as connection,
        pytest.raises(dbapi.ProgrammingError, match="unknown table 'payroll'"),
    ):
        connection.cursor().execute("SELECT COUNT(*) AS n FROM payroll")


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        ({"epsilon": -1}, "epsilon must be positive"),
        ({"epsilon": 1, "confidense": 0.9}, "unknown argument 'confidense'; did you mean 'confidence'"),
        ({"epsilon": 1, "population": "staf"}, "unknown population 'staf'; did you mean 'staff'"),
        ({"epsilon": 1, "project": "elsewhere.toml"}, "no project file"),
    ),
)
def test_what_is_wrong_is_refused_at_the_door(folder: Path, arguments: dict[str, Any], message: str) -> None:
    """In the standard's words, with the house's message."""
    with pytest.raises(dbapi.ProgrammingError, match=message):
        dbapi.connect(**{"project": folder, **arguments})


def test_a_refused_question_costs_nothing_and_leaves_nothing_to_fetch(folder: Path) -> None:
    """The house's own refusal is the cause."""
    with dbapi.connect(folder, epsilon=1) as connection:
        cursor = connection.cursor().execute(BY_REGION)
        before = left(folder)
        with pytest.raises(dbapi.ProgrammingError, match="did you mean region") as refusal:
            cursor.execute("SELECT COUNT(regin) AS n FROM people")
        assert isinstance(refusal.value.__cause__, UnsupportedQuery) and left(folder) == before
        assert cursor.answer is None and cursor.description is None and cursor.rowcount == -1
        with pytest.raises(dbapi.InterfaceError, match="call execute first"):
            cursor.fetchone()
        with pytest.raises(dbapi.ProgrammingError, match="as many as placeholders, 1; got 2"):
            cursor.execute("SELECT COUNT(*) AS n FROM people WHERE region = ?", ["a", "b"])
        with pytest.raises(dbapi.ProgrammingError, match=r"%s is no placeholder here; write \? or :name"):
            cursor.execute("SELECT COUNT(*) AS n FROM people WHERE region = %s", ["north"])
        with pytest.raises(dbapi.NotSupportedError, match="call execute for each"):
            cursor.executemany(BY_REGION, [{}])
        with pytest.raises(dbapi.ProgrammingError, match="size must be a whole number"):
            cursor.execute(BY_REGION).fetchmany(-1)


def test_what_is_closed_answers_nothing(folder: Path) -> None:
    """Closing twice is fine."""
    connection = dbapi.connect(folder, epsilon=1)
    with connection.cursor() as cursor:
        cursor.execute(BY_REGION)
    for use in (cursor.fetchall, lambda: cursor.execute(BY_REGION)):
        with pytest.raises(dbapi.InterfaceError, match="a cursor must be open"):
            use()
    other = connection.cursor().execute(BY_REGION)
    connection.close()
    connection.close()
    with pytest.raises(dbapi.InterfaceError):
        other.execute(BY_REGION)
    assert other.answer is None  # that of an earlier execution would be taken for this one's
    for use in (connection.cursor, connection.commit, connection.rollback, other.fetchall):
        with pytest.raises(dbapi.InterfaceError, match="a connection must be open"):
            use()


def test_pandas_reads_a_question(connection: dbapi.Connection) -> None:
    """With parameters, and in chunks; its warning is about drivers that it does not test."""
    question = "SELECT region, COUNT(*) AS n FROM people WHERE income > :least GROUP BY region"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        frame = pandas.read_sql(question, connection, params={"least": 100})
        chunks = list(pandas.read_sql(question, connection, params={"least": 100}, chunksize=2))
        with pytest.raises(dbapi.ProgrammingError, match="did you mean income"):
            pandas.read_sql("SELECT COUNT(incme) AS n FROM people", connection)
    assert list(frame.columns) == ["region", "n"] and frame["n"].dtype == float
    assert pandas.concat(chunks, ignore_index=True).equals(frame)


def test_polars_reads_a_question(connection: dbapi.Connection) -> None:
    """With parameters; days stay days."""
    frame = polars.read_database(
        "SELECT day, COUNT(*) AS n FROM people WHERE income > :least GROUP BY day",
        connection,
        execute_options={"parameters": {"least": 100}},
    )
    assert frame.schema == {"day": polars.Date, "n": polars.Float64} and frame.height == 3


def test_threads_share_a_connection(connection: dbapi.Connection) -> None:
    """Each with its cursor; all questions are answered."""
    found: list[float] = []

    def ask(income: int) -> None:
        ((n,),) = connection.cursor().execute("SELECT COUNT(*) AS n FROM people WHERE income > ?", [income]).fetchall()
        found.append(n)

    threads = [threading.Thread(target=ask, args=[20_000 + i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(900 < n < 1_100 for n in found)


def test_importing_sfumato_does_not_import_it() -> None:
    """It is a door for those who want it."""
    program = "import sfumato, sys; print('sfumato.dbapi' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
