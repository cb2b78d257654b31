"""`project`: a file says what the Python calls say, and every slip is found with its place."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.dataset.column import column, dates
from sfumato.dataset.table import table
from sfumato.errors import InvalidArgument, SourceNotFound, UnknownName
from sfumato.privacy.guarantee import Guarantee
from sfumato.project import EVERYONE, load

WHOLE = """
[ledger]
url = "sqlite:///ledger.db"
[budget]
epsilon = 3.0
delta = 1e-9
[populations.staff]
tables = ["payroll"]
epsilon = 0.1
[tables.people]
source = "data/people.parquet"
version = "2026-11"
unit = ["person_id", "day"]
neighbors = "replace"
max_rows_per_unit = 5
[tables.people.columns]
income = { type = "double", bounds = [0, 200000] }
region = { keys = ["north", "south"] }
age = { range = [0, 120] }
decade = { range = [0, 90, 10] }
day = { dates = ["2026-01-01", "2026-12-31", "month"] }
[tables.payroll]
source = "payroll.csv"
unit = "id"
"""
LEAST = '[budget]\nepsilon = 1\n[tables.people]\nsource = "payroll.csv"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    day = [datetime.date(2026, 1, 1)]
    columns = {"person_id": [1], "day": day, "income": [1.0], "region": ["north"], "age": [1], "decade": [10]}
    pq.write_table(pa.table(columns), tmp_path / "data" / "people.parquet")
    (tmp_path / "payroll.csv").write_text("id,pay\n")
    return tmp_path


def write(folder: Path, text: str) -> Path:
    (folder / "sfumato.toml").write_text(text)
    return folder / "sfumato.toml"


def test_a_project_file_declares_what_python_declares(folder: Path) -> None:
    """The same table, the same promise; paths start in the file's folder."""
    project = load(write(folder, WHOLE))
    people = table(
        folder / "data" / "people.parquet",
        unit=["person_id", "day"],
        neighbors="replace",
        version="2026-11",
        max_rows_per_unit=5,
        columns={
            "income": column(type="double", bounds=(0, 200_000)),
            "region": column(keys=["north", "south"]),
            "age": column(keys=range(121)),
            "decade": column(keys=range(0, 100, 10)),
            "day": column(keys=dates("2026-01-01", "2026-12-31", "month")),
        },
    )
    assert project.tables["people"] == people
    assert project.budget == Guarantee(epsilon=3, delta=1e-9)
    assert project.ledger == f"sqlite:///{folder}/ledger.db"


def test_every_table_is_in_one_population(folder: Path) -> None:
    """Those that none names are everyone's; a float means what was typed."""
    project = load(write(folder, WHOLE))
    assert {name: set(each.tables) for name, each in project.populations.items()} == {
        "staff": {"payroll"},
        EVERYONE: {"people"},
    }
    assert project.populations["staff"].budget.epsilon == Fraction(1, 10)
    assert project.populations[EVERYONE].budget == project.budget


def test_a_short_file_is_enough_and_a_folder_may_be_named(folder: Path) -> None:
    """The rest has defaults."""
    write(folder, LEAST)
    project = load(folder)
    assert project.ledger == str(folder / "ledger.db")
    assert project.tables["people"].max_rows_per_unit == 1
    assert list(project.populations) == [EVERYONE]


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("ledger.db", "{folder}/ledger.db"),
        ("sqlite:///a/ledger.db", "sqlite:///{folder}/a/ledger.db"),
        ("sqlite:////var/ledger.db", "sqlite:////var/ledger.db"),
        ("postgresql+psycopg://host/db", "postgresql+psycopg://host/db"),
    ],
)
def test_the_ledger_is_where_the_file_says(folder: Path, url: str, found: str) -> None:
    """A relative file lies beside the project file."""
    assert load(write(folder, f'{LEAST}[ledger]\nurl = "{url}"\n')).ledger == found.format(folder=folder)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", ""])
def test_a_ledger_that_forgets_is_refused(folder: Path, url: str) -> None:
    """Every command would begin with nothing spent."""
    with pytest.raises(InvalidArgument, match=r"ledger\.url: .*outlive its process"):
        load(write(folder, f'{LEAST}[ledger]\nurl = "{url}"\n'))


SLIPS = [
    ("[tables.people]", "[tabels.people]", r"^tabels: unknown key; did you mean 'tables'\?$"),
    ("max_rows_per_unit", "max_rows", r"^tables\.people\.max_rows: unknown key; did you mean 'max_rows_per_unit'\?$"),
    (
        "[tables.people.columns]",
        "[tables.people.colums]",
        r"^tables\.people\.colums: unknown key; did you mean 'columns'\?$",
    ),
    ("bounds", "bound", r"^tables\.people\.columns\.income\.bound: unknown key; did you mean 'bounds'\?$"),
    ("delta", "detla", r"^budget\.detla: unknown key; did you mean 'delta'\?$"),
    ("url", "uri", r"^ledger\.uri: unknown key; did you mean 'url'\?$"),
    (
        'tables = ["payroll"]',
        'table = ["payroll"]',
        r"^populations\.staff\.table: unknown key; did you mean 'tables'\?$",
    ),
    ('["payroll"]', '["payrol"]', r"^populations\.staff\.tables: unknown table 'payrol'; did you mean 'payroll'\?$"),
    ('["payroll"]', "[1]", r"^populations\.staff\.tables: unknown table 1"),
    ('["payroll"]', '"payroll"', r"^populations\.staff\.tables: expected a list; got a text$"),
    ("income =", "incom =", r"^tables\.people: people\.parquet: unknown column 'incom'; did you mean 'income'\?$"),
    ("epsilon = 3.0", "", r"^budget\.epsilon: missing"),
    ("epsilon = 3.0", "epsilon = '3'", r"^budget: epsilon must be a number; got '3'"),
    ("epsilon = 3.0", "epsilon = -1", r"^budget: epsilon must be positive; got -1"),
    ("epsilon = 0.1", "epsilon = nan", r"^populations\.staff: epsilon must be a finite number"),
    ('url = "sqlite:///ledger.db"', "url = 1", r"^ledger\.url: expected a text; got a number$"),
    ('source = "payroll.csv"', "", r"^tables\.payroll\.source: missing"),
    (
        'source = "payroll.csv"',
        "source = []",
        r"^tables\.payroll\.source: expected a text; got a list$",
    ),
    ("payroll.csv", "pay.csv", r"^tables\.payroll\.source: source must be a file"),
    (
        'unit = "id"',
        "unit = 2026-01-01",
        r"^tables\.payroll\.unit: expected a text, a list of texts, or a section .*; got a date",
    ),
    (
        'unit = "id"',
        "unit = [1]",
        r"^tables\.payroll\.unit: expected a text, a list of texts, or a section .*; got a list",
    ),
    ('"2026-11"', "2026", r"^tables\.people: version must be a short text; got 2026"),
    ("max_rows_per_unit = 5", "max_rows_per_unit = true", r"^tables\.people: max_rows_per_unit must be a whole number"),
    ("[0, 200000]", "[0]", r"^tables\.people\.columns\.income: bounds must be two numbers"),
    ('"double"', "7", r"^tables\.people\.columns\.income: type must be one of"),
    ('["north", "south"]', '"north"', r"^tables\.people\.columns\.region: keys: expected a list; got a text"),
    ("{ range = [0, 120] }", "3", r"^tables\.people\.columns\.age: expected a section; got a number"),
    ("[0, 120]", "[0, 1.5]", r"^tables\.people\.columns\.age: range: expected \[first, last\]"),
    ("[0, 120]", "[0, 10000000000]", r"^tables\.people\.columns\.age: keys must be 1 to 1,000,000"),
    ("[0, 90, 10]", "[0, 90, 0]", r"^tables\.people\.columns\.decade: step must be a whole number"),
    ('"month"]', '"hour"]', r"^tables\.people\.columns\.day: step must be day, week, month, year; got 'hour'"),
    ('["2026-01-01", "2026-12-31", "month"]', "[]", r"^tables\.people\.columns\.day: dates: expected \[first, last\]"),
    (
        "{ range = [0, 120] }",
        "{ range = [0, 1], keys = [1] }",
        r"columns\.age: keys must be declared once; got keys and range",
    ),
    ("[populations.staff]", "[populations.everyone]", r"^populations\.everyone: this name means"),
    ("[tables.payroll]", "[tables.PEOPLE]", r"^tables: table names must differ .* got 'PEOPLE' twice"),
    ('"payroll.csv"', '"data/*.parquet"', r"a source must belong to one population"),
]


@pytest.mark.parametrize(
    ("right", "wrong", "message"), SLIPS, ids=[wrong or f"no {right}" for right, wrong, _ in SLIPS]
)
def test_every_slip_is_found_with_its_place(folder: Path, right: str, wrong: str, message: str) -> None:
    """One change to a good file, one clear refusal."""
    assert right in WHOLE
    text = WHOLE.replace(right, wrong, 1).replace('unit = "id"', "" if "parquet" in wrong else 'unit = "id"')
    with pytest.raises(InvalidArgument, match=message):
        load(write(folder, text))


def test_a_table_belongs_to_one_population(folder: Path) -> None:
    """Or its people would have two budgets."""
    twice = f'{WHOLE}[populations.other]\nepsilon = 1\ntables = ["payroll"]\n'
    with pytest.raises(
        InvalidArgument, match=r"populations\.other\.tables: 'payroll' is in population 'staff' already"
    ):
        load(write(folder, twice))


def test_a_project_needs_an_budget_and_tables(folder: Path) -> None:
    """Nothing may be spent that nobody allowed."""
    with pytest.raises(InvalidArgument, match=r"budget: missing; write a section \[budget\]"):
        load(write(folder, ""))
    with pytest.raises(InvalidArgument, match=r"tables: missing; write a section \[tables.NAME\]"):
        load(write(folder, "[budget]\nepsilon = 1"))


def test_a_file_that_cannot_be_read_is_refused(folder: Path) -> None:
    """Missing, broken with line and column, or in another encoding."""
    with pytest.raises(SourceNotFound, match=r"no project file at .*sfumato init"):
        load(folder / "other.toml")
    with pytest.raises(InvalidArgument, match=r"sfumato\.toml is not TOML: .*line 2, column 9"):
        load(write(folder, "[budget]\nepsilon 1"))
    (folder / "sfumato.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidArgument, match="UTF-8"):
        load(folder)


def test_an_unknown_key_has_its_own_class(folder: Path) -> None:
    """As every name that is not there."""
    with pytest.raises(UnknownName):
        load(write(folder, "color = 1"))
