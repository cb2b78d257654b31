"""`sfumato init`: from a file to a project that loads, without a look at the values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import psycopg
import pytest
from sqlalchemy import make_url

from cli.conftest import Call
from cli.running import on_terminal
from engines.loading import postgres_address
from sfumato.cli.init.declare import Said, toml_key, toml_value
from sfumato.cli.init.draft import risk
from sfumato.dataset.kind import Kind
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee
from sfumato.project import load

NEW = ("-o", "new.toml")
ALL = """SELECT 1 AS person, 2.5 AS spent, 'north' AS region, DATE '2026-01-02' AS day, true AS member,
TIMESTAMP '2026-01-02 10:00:00' AS t"""


@pytest.fixture
def parquet(folder: Path) -> Path:
    """One row of every kind."""
    duckdb.sql(f"COPY ({ALL}) TO '{folder / 'all kinds.parquet'}'")
    return folder / "all kinds.parquet"


def test_a_csv_becomes_a_project_that_loads_and_answers(call: Call, folder: Path) -> None:
    """Nobody is asked where there is no terminal; what is missing is marked with its reason."""
    shown = call("init", "visits.csv", *NEW)
    assert shown.code == 0, shown.err
    text = (folder / "new.toml").read_text()
    assert '# unit = "person" ' in text and "to declare: the column that identifies a person" in text
    assert all(f"# {name} = {{ ... }}" in text for name in ("region", "spent", "day"))
    assert "Declare the unit of visits first" in shown.out and "sfumato ask" in shown.out
    assert list(load("new.toml").tables["visits"].columns) == ["person", "region", "spent", "day"]
    answer = call("ask", "SELECT COUNT(*) AS n FROM visits", "-e", "0.5", "-p", "new.toml")
    assert answer.code == 0 and "protected: one row" in answer.out


def test_a_parquet_file_says_what_kind_of_declaration_each_column_needs(
    call: Call, folder: Path, parquet: Path
) -> None:
    """Bounds for numbers, keys for texts, dates for dates and times; a truth value needs nobody's word."""
    assert call("init", parquet.name, *NEW).code == 0
    lines = (folder / "new.toml").read_text().splitlines()
    found = {line.split(" = ")[0]: line for line in lines}
    assert "bounds = [LOWEST, HIGHEST]" in found["# spent"] and "needed to sum or average it" in found["# spent"]
    assert "keys = [" in found["# region"] and "needed to group by it" in found["# region"]
    assert "dates = [" in found["# day"] and 'type = "date", dates' in found["# t"]
    assert found["member"].startswith("member = { keys = [true, false] }")
    assert load("new.toml").tables["all_kinds"].columns["member"].keys == (True, False)


def test_a_column_that_cannot_be_asked_about_is_listed_with_its_type(call: Call, folder: Path) -> None:
    """Else its owner would look for it; a question about it says the same."""
    duckdb.sql(f"COPY (SELECT 1 AS person, ['a'] AS tags, TIME '10:00' AS clock) TO '{folder / 'odd.parquet'}'")
    assert call("init", "odd.parquet", *NEW).code == 0
    text = (folder / "new.toml").read_text()
    assert "# tags " in text and "# cannot be queried: VARCHAR[]" in text and "# cannot be queried: TIME" in text
    assert list(load("new.toml").tables["odd"].columns) == ["person"]
    refused = call("ask", "SELECT COUNT(Tags) AS n FROM odd", "-e", "0.5", "-p", "new.toml")
    assert refused.code == 3 and "column 'tags' must be a number, a text" in refused.err and "VARCHAR[]" in refused.err


def test_the_examples_in_the_comments_can_be_taken_as_they_are(call: Call, folder: Path, parquet: Path) -> None:
    """Taking away the sign before a date column gives a project that loads."""
    call("init", parquet.name, *NEW)
    text = (folder / "new.toml").read_text()
    for name in ("day", "t"):
        text = text.replace(f"\n# {name} = ", f"\n{name} = ")
    (folder / "new.toml").write_text(text)
    assert len(load("new.toml").tables["all_kinds"].columns["day"].keys or ()) == 365


def test_no_value_is_read(call: Call, folder: Path) -> None:
    """Two files of one schema give the same draft, whatever is in them."""
    drafts = []
    for row in ("1,north,2.5,2026-01-01", "999999,secret place,1e9,1900-01-01"):
        (folder / "visits.csv").write_text(f"person,region,spent,day\n{row}\n")
        shown = call("init", "visits.csv", "--force", *NEW)
        drafts.append((shown.out, (folder / "new.toml").read_text()))
    assert drafts[0] == drafts[1]


def test_options_declare_what_a_terminal_would_be_asked(call: Call, folder: Path) -> None:
    """Unit, rows, columns, epsilon, delta and ledger; then a question by region is answered at once."""
    said = ("--unit", "Person", "--max-rows-per-unit", "3", "--epsilon", "2", "--delta", "1e-9", "--ledger", "other.db")
    columns = ("--column", "region=north, south", "--column", "spent=0 100", "--column", "day=2026-01-01 2026-01-31")
    shown = call("init", "visits.csv", *NEW, *said, *columns)
    assert shown.code == 0 and "Declare the unit" not in shown.out and "to declare" not in shown.out
    project = load("new.toml")
    visits = project.tables["visits"]
    assert visits.unit.columns == ("person",) and visits.max_rows_per_unit == 3
    assert visits.columns["region"].keys == ("north", "south")
    assert (project.budget.epsilon, project.ledger) == (2, str(folder / "other.db"))
    question = "SELECT region, AVG(spent) AS spent FROM visits GROUP BY region"
    assert call("ask", question, "-e", "1", "-p", "new.toml").code == 0


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--unit", "persn"), "unknown column 'persn'; did you mean 'person'"),
        (("--column", "regoin=a, b"), "unknown column 'regoin'"),
        (("--column", "region"), "--column must be NAME=WHAT"),
        (("--column", "region="), "must be bounds, keys or dates"),
        (("--column", "spent=100 0"), "low below high"),
        (("--unit", "person", "--row-each"), "got --unit and --row-each"),
        (("--max-rows-per-unit", "3"), "--max-rows-per-unit must come with a unit"),
        (("--epsilon", "0"), "epsilon must be positive"),
        (("-o", "none/new.toml"), "cannot be written"),
    ],
)
def test_a_wrong_declaration_writes_no_file(call: Call, folder: Path, options: tuple[str, ...], line: str) -> None:
    """It is refused before."""
    shown = call("init", "visits.csv", *(NEW if "-o" not in options else ()), *options)
    assert shown.code == 2 and line in shown.err.replace("\n  hint: ", "; ")
    assert not (folder / "new.toml").exists()


def test_a_ledger_that_is_there_already_is_said(call: Call) -> None:
    """A second project in one folder would share it; one with a ledger of its own says nothing."""
    assert "ledger.db exists already" not in call("init", "visits.csv", *NEW).out
    call("ask", "SELECT COUNT(*) AS n FROM visits", "-e", "0.5")
    assert "ledger.db exists already" in call("init", "visits.csv", *NEW, "--force").out
    assert "there already" not in call("init", "visits.csv", *NEW, "--force", "--ledger", "other.db").out


def test_several_tables_share_one_file(call: Call, folder: Path, parquet: Path) -> None:
    """The unit is declared where it is; two of one name are refused."""
    assert call("init", "visits.csv", parquet.name, *NEW, "--unit", "person").code == 0
    assert [table.unit.columns for table in load("new.toml").tables.values()] == [("person",), ("person",)]
    assert "rename one" in call("init", "visits.csv", "visits.csv", "-o", "two.toml").err


def test_paths_start_at_the_project_file(call: Call, folder: Path) -> None:
    """A file elsewhere, an absolute one, a name that looks like a pattern, a pattern, a table in DuckDB."""
    (folder / "sub").mkdir()
    assert call("init", "visits.csv", "-o", "sub").code == 0
    assert 'source = "../visits.csv"' in (folder / "sub" / "sfumato.toml").read_text()
    assert call("init", str(folder / "visits.csv"), "-o", "sub/b.toml").code == 0
    (folder / "a[1].csv").write_text("x\n1\n")
    for number, source in enumerate(("a[1].csv", "v*.csv", "duckdb:///d.db#people")):
        with duckdb.connect(str(folder / "d.db")) as engine:
            engine.execute("CREATE TABLE IF NOT EXISTS people (person INTEGER, age INTEGER)")
        shown = call("init", source, "-o", f"sub/{number}.toml")
        assert shown.code == 0, shown.err
        assert len(load(folder / "sub" / f"{number}.toml").tables) == 1


def test_on_a_terminal_the_owner_is_asked(folder: Path) -> None:
    """Unit with a guess, rows, each column, and epsilon as risk; what cannot be read is asked again."""
    typed = ["persn", "", "3", "north, south", "0 hundred, ", "0 100", "done", "abc", "2"]
    shown = on_terminal("init", "visits.csv", "--force", folder=folder, typed=typed, width=120)
    assert shown.code == 0, shown.out
    assert "did you mean 'person'" in shown.out and "a number is needed; got 'abc'" in shown.out
    assert "someone 10\N{NO-BREAK SPACE}% sure that you are in the data becomes" in shown.out
    assert "at most 23.2\N{NO-BREAK SPACE}% sure" in shown.out
    project = load(folder)
    visits = project.tables["visits"]
    assert (project.budget.epsilon, visits.unit.columns, visits.max_rows_per_unit) == (2, ("person",), 3)
    assert visits.columns["spent"].bounds is not None and visits.columns["day"].keys is None


def test_on_a_terminal_every_row_may_be_a_person_and_questions_may_be_left_out(folder: Path) -> None:
    """The word 'row'; and --no-questions."""
    shown = on_terminal("init", "visits.csv", "--force", folder=folder, typed=["row", "done", ""])
    assert shown.code == 0 and "# no unit: every row is a different person" in (folder / "sfumato.toml").read_text()
    assert on_terminal("init", "visits.csv", "--force", "--no-questions", folder=folder).code == 0


@pytest.mark.parametrize(
    ("text", "toml"),
    [
        ("0 200000", "{ bounds = [0, 200000] }"),
        ("-1.5 to 2e3", "{ bounds = [-1.5, 2000.0] }"),
        ("0..120", "{ bounds = [0, 120] }"),
        ("north, 'south'", '{ keys = ["north", "south"] }'),
        ("1, 2, 3", "{ keys = [1, 2, 3] }"),
        ("2026-01-01 2026-12-31", '{ dates = ["2026-01-01", "2026-12-31"] }'),
        ("2026-01-01 to 2026-12-31 month", '{ dates = ["2026-01-01", "2026-12-31", "month"] }'),
        ('say "hi"', '{ keys = ["say \\"hi"] }'),
    ],
)
def test_a_few_words_declare_a_column(text: str, toml: str) -> None:
    """Bounds, keys or dates."""
    assert Said.read(text).toml() == toml


def test_a_declaration_that_does_not_fit_the_type_is_refused() -> None:
    """Bounds of a text, keys of another kind."""
    for text, kind in (("0 1", Kind.TEXT), ("a, b", Kind.REAL), ("0 1", Kind.DATE)):
        with pytest.raises(InvalidArgument):
            Said.read(text, kind)


def test_names_and_texts_are_written_so_that_toml_reads_them() -> None:
    """Also with blanks, quotes, other alphabets and signs that no file should hold."""
    import tomllib

    for text in ("a b", 'say "x"', "straße", "back\\slash", "tab\there", "\x7f", "", "a.b"):
        assert tomllib.loads(f"{toml_key(text)} = {toml_value(text)}") == {text: text}


def test_risk_is_rounded_outward() -> None:
    """At most means at most."""
    assert risk(Guarantee(epsilon=1)).endswith("at most 23.2 % sure")
    assert risk(Guarantee(epsilon=10)).endswith("at most 100 % sure")


def test_a_table_in_postgres_is_named_by_itself_and_its_password_is_not_written(
    call: Call, folder: Path, postgres: Callable[[], str]
) -> None:
    address, schema = postgres_address(postgres())
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {schema}.visits (person bigint, spent double precision)")
        connection.execute(f"INSERT INTO {schema}.visits SELECT n, n FROM generate_series(1, 50) n")
    secret = make_url(address).password or "hunter-2"
    source = f"{make_url(address).set(password=secret).render_as_string(hide_password=False)}#{schema}.visits"
    shown = call("init", source, "--unit", "person", "--column", "spent=0 100", "--no-questions", *NEW)
    assert shown.code == 0 and "new.toml: visits" in shown.out, shown.err
    text = (folder / "new.toml").read_text()
    assert secret not in text + shown.out and "[tables.visits]" in text and "set PGPASSWORD" in text
    assert load("new.toml").tables["visits"].columns["spent"].bounds is not None
