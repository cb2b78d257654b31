"""`ask`, `quote` and `explain` as a pipe: every source of a question, every format, what is said beside the answer."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pyarrow
import pytest

from cli.conftest import COUNT, Call
from sfumato.project import load

ASK = ("ask", COUNT, "--epsilon", "0.5")


def test_an_answer_is_a_table_and_a_line_of_what_it_cost(call: Call) -> None:
    """Values with half-widths, also for the empty region; then cost, unit, what is left, how many fit."""
    shown = call(*ASK)
    assert shown.code == 0, shown.err
    lines = shown.out.splitlines()
    assert lines[0].split() == ["region", "n"]
    for region, line in zip(("north", "south", "west"), lines[1:4], strict=True):
        assert re.fullmatch(rf"{region} +-?[\d,.]+ ± [\d.]+", line)
    cost = "Cost: epsilon 0.5 (protected: all rows of one person). Left: epsilon 2.5 of 3; 5 more such questions fit."
    assert lines[4].startswith(f"{cost} Receipt: 3-")
    assert call("ledger", "verify", "--head", lines[4].split()[-1]).code == 0
    assert shown.err.splitlines()[0].startswith("New ledger: ") and len(shown.err.splitlines()) == 2
    assert call(*ASK).err == ""  # announced once


def test_the_number_of_questions_that_fit_is_true(call: Call) -> None:
    """As many as promised are answered, and the next one is refused."""
    for column, left in (
        ("a", "2 more such questions fit"),
        ("b", "one more such question fits"),
        ("c", "no more such questions fit"),
    ):
        shown = call("ask", COUNT.replace(" n ", f" {column} "), "-e", "1")
        assert left in shown.out, shown.err
    assert call("ask", COUNT, "-e", "1").code == 3


def test_asking_the_same_again_is_free_and_says_so(call: Call) -> None:
    """The same numbers, and the cost line tells it."""
    first, again = call(*ASK, "--quiet"), call(*ASK)
    assert again.out.splitlines()[:4] == first.out.splitlines()
    assert "Cost: nothing, because it was asked before. Left: epsilon 2.5 of 3" in again.out
    assert again.out.count("asked before") == 1


def test_the_question_may_come_from_a_file_or_standard_input(call: Call, folder: Path) -> None:
    """An argument, @file, --file, - and a pipe are the same question; a semicolon at the end does no harm."""
    (folder / "q.sql").write_text(COUNT + ";\n", encoding="utf-8")
    first = call(*ASK, "-q").out
    for arguments, text in ((("@q.sql",), ""), (("--file", "q.sql"), ""), (("-",), COUNT), ((), COUNT + " ;\n")):
        assert call("ask", *arguments, "-e", "0.5", "-q", text=text).out == first


def test_quiet_is_the_answer_alone(call: Call) -> None:
    """No cost line; four lines of table."""
    assert len(call(*ASK, "--quiet").out.splitlines()) == 4


def test_csv_has_intervals_beside_values_and_nothing_else_on_the_output(call: Call) -> None:
    """What is said about it goes to the other stream."""
    shown = call(*ASK, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(shown.out)))
    assert list(rows[0]) == ["region", "n", "n_low", "n_high"]
    assert [row["region"] for row in rows] == ["north", "south", "west"]
    assert all(float(row["n_low"]) < float(row["n"]) < float(row["n_high"]) for row in rows)
    assert "Cost: epsilon 0.5" in shown.err


def test_json_has_rows_intervals_promise_and_receipt(call: Call) -> None:
    """Strict JSON: it can be read by anyone."""
    content = json.loads(call(*ASK, "--format", "json").out, parse_constant=pytest.fail)
    assert [row["region"] for row in content["rows"]] == ["north", "south", "west"]
    assert len(content["intervals"]["n"]) == 3 and "region" not in content["intervals"]
    assert content["guarantee"] == {
        "epsilon": 0.5, "delta": 0.0, "unit": "all rows of one person", "neighbors": "add-remove",
    }  # fmt: skip
    assert content["dry_run"] is False and content["remaining"] == "epsilon 2.5 of 3"
    assert re.fullmatch(r"\d+-[0-9a-f]{64}", content["receipt"])


def test_json_writes_an_open_end_as_null(call: Call, folder: Path) -> None:
    """With few people and no declared maximum the interval has no upper end."""
    toml = (folder / "sfumato.toml").read_text().replace("max_rows_per_unit = 3\n", "")
    (folder / "sfumato.toml").write_text(toml)
    content = json.loads(call(*ASK, "--format", "json").out, parse_constant=pytest.fail)
    assert content["intervals"]["n"][0][1] is None
    assert "Declare max_rows_per_unit for the table" in " ".join(call(*ASK).out.split())


def test_arrow_is_a_stream_with_the_receipt_in_its_schema(call: Call, folder: Path) -> None:
    """And goes into a file or a pipe."""
    assert call(*ASK, "--format", "arrow", "--output", "a.arrow").code == 0
    table = pyarrow.ipc.open_stream(folder / "a.arrow").read_all()
    assert table.column_names == ["region", "n", "n_low", "n_high"]
    assert json.loads(table.schema.metadata[b"sfumato"])["guarantee"]["epsilon"] == 0.5


@pytest.mark.parametrize("format", ["table", "csv", "json", "arrow"])
def test_every_format_can_go_to_a_file(call: Call, folder: Path, format: str) -> None:
    """Then nothing is on the output."""
    shown = call(*ASK, "--format", format, "-o", f"answer.{format}")
    assert shown.out == "" and f"answer: answer.{format}" in shown.err
    assert b"north" in (folder / f"answer.{format}").read_bytes()


@pytest.mark.parametrize(("name", "begin"), [("c.svg", b"<svg"), ("c.png", b"\x89PNG"), ("c.html", b"<!DOCTYPE html>")])
def test_a_plot_is_drawn_beside_the_answer(call: Call, folder: Path, name: str, begin: bytes) -> None:
    """In each of three forms."""
    shown = call(*ASK, "--plot", name)
    assert shown.code == 0 and "north" in shown.out and f"chart: {name}" in shown.err
    assert (folder / name).read_bytes().lstrip().startswith(begin)


def test_a_chart_loads_nothing_and_says_nothing_of_earlier_questions(call: Call, folder: Path) -> None:
    """A page that is sent to somebody works offline; that it was asked before is no news for its reader."""
    call(*ASK)
    for name in ("c.html", "c.svg"):
        call(*ASK, "--plot", name)
        text = (folder / name).read_text(encoding="utf-8")
        assert not re.search(r"""(src|href)=["']https?:""", text) and "asked before" not in text


def test_a_dry_run_is_free_made_up_and_says_so_everywhere(call: Call, folder: Path) -> None:
    """No ledger comes of it; table, CSV, JSON, Arrow and chart are marked; the empty region has rows."""
    dry = (*ASK, "--dry-run")
    shown = call(*dry, "--quiet")
    assert shown.out.startswith("Dry run on made-up data.")
    numbers = [float(line.split()[1].replace(",", "")) for line in shown.out.splitlines()[2:]]
    assert min(numbers) > 1_000  # the true ones are 900, 900 and none
    assert all(
        row["dry_run"] == "made-up data" for row in csv.DictReader(io.StringIO(call(*dry, "--format", "csv").out))
    )
    content = json.loads(call(*dry, "--format", "json").out)
    assert content["dry_run"] is True and content["receipt"] is None and "made-up" in content["notes"][0]
    call(*dry, "--plot", "c.svg")
    assert "made-up data" in (folder / "c.svg").read_text()
    assert not (folder / "ledger.db").exists()


def test_a_dry_run_fits_any_declaration(call: Call, folder: Path) -> None:
    """Keys of every kind, a unit of two columns, numbers without bounds, names with blanks, booleans and times."""
    import duckdb

    query = """SELECT range AS person, CAST('2026-01-01' AS DATE) AS day, 'x' AS "a b", range % 2 = 0 AS yes, 1.5 AS r,
    TIMESTAMP '2026-01-01 10:00:00' AS t, 3 AS k, range AS free FROM range(50)"""
    duckdb.sql(f"COPY ({query}) TO '{folder / 'odd.parquet'}'")
    (folder / "odd.toml").write_text(
        """[budget]\nepsilon = 1\n[tables.odd]\nsource = "odd.parquet"\nunit = ["person", "day"]
        [tables.odd.columns]\nday = { dates = ["2026-01-01", "2026-01-10"] }\n"a b" = { keys = ["it's", "x"] }
        yes = { keys = [true, false] }\nr = { bounds = [-1, 2] }\nk = { range = [1, 5] }
        t = { type = "date", dates = ["2026-01-01", "2026-02-01"] }"""
    )
    question = 'SELECT "a b", yes, k, COUNT(*) AS n, AVG(r) AS r FROM odd GROUP BY 1, 2, 3'
    shown = call("ask", question, "-e", "1", "-p", "odd.toml", "--dry-run")
    assert shown.code == 0, shown.err
    assert "it's" in shown.out and len(shown.out.splitlines()) > 20


def test_the_options_of_a_question_reach_the_curator(call: Call) -> None:
    """Tidy counts are whole; a delta pays for Gaussian noise; shares, confidence and bound are taken."""
    assert re.search(r"north +\d+ ± ", call(*ASK, "--tidy").out)
    options = (
        "--share",
        "n=2",
        "--confidence",
        "0.9",
        "--max-rows-per-unit",
        "1",
        "--simultaneous",
        "--noise",
        "laplace",
    )
    assert "you set the contribution limit" in call(*ASK, *options).out
    gaussian = call("quote", COUNT, "-e", "0.5", "--delta", "1e-9", "--noise", "gaussian")
    assert "with delta 1e-09" in gaussian.out
    assert "The shares add up" in call(*ASK, "--explain").out
    assert call("ask", "SELECT SUM(person * 2) AS s FROM visits", "-e", "0.2").code == 3
    assert call(*ASK, "--bounds", "never").code == 2


def test_a_quote_is_free_and_makes_no_ledger(call: Call, folder: Path) -> None:
    """Expected half-widths, cost, and what would be left to others."""
    shown = call("quote", f"{COUNT} ORDER BY n", "--epsilon", "1")
    assert re.search(r"^n +± 8\.", shown.out, re.MULTILINE)
    assert "Cost: epsilon 1 (protected: all rows of one person)." in shown.out
    assert "Left: epsilon 3 of 3; 3 more such questions fit." in shown.out
    assert not (folder / "ledger.db").exists()
    assert "(more than is left)" in call("quote", COUNT, "--epsilon", "4").out
    assert len(call("quote", COUNT, "--epsilon", "1", "--quiet").out.splitlines()) == 2


def test_an_explanation_is_free_and_needs_no_epsilon(call: Call, folder: Path) -> None:
    """Whom it protects and how epsilon is shared, for an epsilon of 1 unless another is given."""
    shown = call("explain", "SELECT AVG(spent) AS spent FROM visits")
    assert "Protected: all rows of one person" in shown.out and "The shares add up to epsilon = 1" in shown.out
    assert "epsilon = 0.25" in call("explain", COUNT, "-e", "0.25").out
    assert not (folder / "ledger.db").exists()


def test_the_project_is_found_from_a_folder_below(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By going up; by --project as a file or a folder; or by the environment."""
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert call(*ASK).code == 0
    monkeypatch.chdir("/")
    assert call(*ASK).code == 2
    assert call(*ASK, "--project", str(folder)).code == 0
    monkeypatch.setenv("SFUMATO_PROJECT", str(folder / "sfumato.toml"))
    assert call(*ASK).code == 0


def test_nothing_is_written_into_the_folder_where_one_asks(
    call: Call, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With a ledger elsewhere the data's folder may be read-only."""
    elsewhere = tmp_path_factory.mktemp("ledgers") / "ledger.db"
    toml = (folder / "sfumato.toml").read_text()
    (folder / "sfumato.toml").write_text(f'[ledger]\nurl = "{elsewhere}"\n{toml}')
    before = sorted(folder.iterdir())
    folder.chmod(0o555)
    try:
        assert call(*ASK).code == 0
    finally:
        folder.chmod(0o755)
    assert sorted(folder.iterdir()) == before and elsewhere.exists()


def test_the_analyst_is_the_one_who_is_named(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By --as or by the environment, and stands in the ledger."""
    call(*ASK, "--as", "ana")
    monkeypatch.setenv("SFUMATO_ANALYST", "ben")
    call(*ASK)
    with load(folder).open_ledger() as ledger:
        assert set(ledger.balance().population("everyone").analysts) == {"ana", "ben"}


def test_questions_about_other_people_are_charged_to_them(call: Call, folder: Path) -> None:
    """Two populations, two budgets; the tables of the question decide."""
    (folder / "staff.csv").write_text("id,pay\n1,2\n2,3\n")
    more = '[populations.staff]\ntables = ["staff"]\nepsilon = 1.0\n[tables.staff]\nsource = "staff.csv"\n'
    (folder / "sfumato.toml").write_text((folder / "sfumato.toml").read_text() + more)
    assert "epsilon 0.5 of 1" in call("ask", "SELECT COUNT(*) AS n FROM staff", "-e", "0.5").out
    assert "epsilon 2.5 of 3" in call(*ASK).out
    assert call("ask", "SELECT COUNT(*) AS n FROM staff", "-e", "1", "--dry-run").code == 0


def test_accuracy_in_gives_epsilon_out(call: Call) -> None:
    """The quote says what it costs, the answer is as accurate, and the cost is the same; out of reach is a refusal."""
    quoted, shown = call("quote", COUNT, "--within", "30"), call("ask", COUNT, "--within", "30", "--format", "json")
    assert quoted.code == shown.code == 0, shown.err
    assert "Cost for ± 30: epsilon 0.3 (protected" in quoted.out
    pilot = call("quote", COUNT, "--within", "5%")
    cost = "Cost for ± 5 %: epsilon 0.2 for a pilot, at most epsilon 1 (protected: all rows of one person) in total"
    assert cost in pilot.out.replace("\N{NO-BREAK SPACE}", " ")
    refused = call("ask", COUNT, "--within", "0.001", "--epsilon", "0.1")
    assert refused.code == 3 and "may be spent" in refused.err


def test_a_constant_that_is_no_key_is_noted_and_answered(call: Call) -> None:
    """In the quote, the explanation and the answer, with the nearest key; never a refusal."""
    question = "SELECT COUNT(*) AS n FROM visits WHERE region = 'nort'"
    for command in ("quote", "explain", "ask"):
        shown = call(command, question, "-e", "0.5")
        assert shown.code == 0
        assert "Note: 'nort' is not a declared key of region; did you mean 'north'?" in shown.out
