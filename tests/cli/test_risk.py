"""`sfumato risk` as its owner sees it: tables, JSON, files, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.conftest import Call
from cli.running import on_terminal, run

PEOPLE = """name,age,sex,"zip, code",ill
Ann,28,f,13012,flu
Bob,31,m,13053,flu
Cem,31,m,13053,flu
Dan,44,m,13053,cold
"""


@pytest.fixture(autouse=True)
def people(folder: Path) -> Path:
    """A table of four people; a name of a column holds a comma."""
    path = folder / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_a_report_begins_with_the_notice_and_has_every_part(call: Call) -> None:
    """As plain lines in a pipe."""
    shown = call(
        "risk", "people.csv", "--columns", 'AGE,sex,"zip, code"', "--sensitive", "ill", "--sum", "age", "--by", "sex",
        "--link", "people.csv", "--on", "age,sex=sex",
    )  # fmt: skip
    assert shown.code == 0 and shown.err == ""
    said = shown.out.replace("\N{NO-BREAK SPACE}", " ")
    assert said.startswith("For the owner only: not private.")
    assert "50.0 % are unique: 2 of 4 rows" in said and "k-anonymity: k = 1" in said
    summary, _, after = said.partition("\nWhat to do next\n")
    assert "1 of 2 sums of age are unsafe" in summary and "50.0 % are found one to one in people.csv, by age" in summary
    assert "100 % are in a group in which all have the same ill" in summary and "sfumato init FILE" in after
    assert "Hold back the unsafe sums" in after
    assert "2 of them are not alone: k-anonymity does not protect them." in said
    assert "1 of 2 are unsafe at p = 10 %" in said
    assert "2 of 4 rows (50.0 %) are linked one to one with people.csv by age, sex" in said
    assert "zip, code" in said


def test_json_page_and_chart_are_written_and_named(call: Call, folder: Path) -> None:
    """JSON alone on the output; names of files beside it."""
    shown = call("risk", "people.csv", "-c", "age,sex", "--format", "json", "--html", "r.html", "--plot", "r.svg")
    content = json.loads(shown.out)
    assert content["is_private"] is False and content["anonymity"]["unique"] == 2
    assert "page: r.html (for the owner only: not private)" in shown.err and "chart: r.svg" in shown.err
    assert (folder / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert ElementTree.parse(folder / "r.svg").getroot().tag.endswith("svg")
    quiet = call("risk", "people.csv", "-c", "age,sex", "--output", "r.txt", "--quiet")
    assert quiet.out == quiet.err == "" and "For the owner only" in (folder / "r.txt").read_text()


def test_columns_are_chosen_where_none_is_named(call: Call) -> None:
    """Without names of people."""
    shown = call("risk", "people.csv")
    assert "Direct identifiers are left out of the search: name." in shown.out
    assert re.search(r"name +direct identifier +4 ", shown.out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("people.csv", "-c", "agee"), "hint: did you mean 'age'?"),
        (("people.csv", "-c", "age,"), "--columns must be names between commas; got 'age,'"),
        (("people.csv", "--by", "sex"), "--by and --contributor belong to --sum"),
        (("people.csv", "--link", "people.csv"), "--link and --on belong together"),
        (("people.csv", "--p", "ten"), "--p must be a number; got 'ten'"),
        (("people.csv", "--plot", "r.pdf"), "--plot must end in .svg, .png, .html"),
        (("people.csv", "--html", "no/r.html"), "must be a file in a folder that exists"),
        (("none.csv",), "found none at"),
        (("sfumato.toml",), "source must end in .parquet or .csv"),
        (("people.csv", "-c", "age", "--memory", "1e-7"), "take fewer --columns, or more --memory"),
    ],
)
def test_what_is_wrong_is_one_line_and_a_hint(arguments: tuple[str, ...], said: str, call: Call) -> None:
    """Usage: exit code 2, in words of the command line."""
    shown = call("risk", *arguments)
    assert shown.code == 2 and said in " ".join(shown.err.split()), shown.err
    assert shown.out == ""


def test_a_search_for_hours_is_refused_in_a_pipe_and_asked_on_a_terminal(folder: Path) -> None:
    """With the estimate; a no ends it."""
    names = [f"c{i}" for i in range(60)]
    rows = [",".join(str(i * j % 7) for i in range(60)) for j in range(30)]
    (folder / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    asked = ("risk", "wide.csv", "--columns", ",".join(names), "--subsets", "8")
    shown = run(*asked, folder=folder)
    assert shown.code == 2 and "sets of up to 8 of 60 columns on 30 rows: about" in shown.err
    assert "or confirm it: --yes" in shown.err
    shown = on_terminal(*asked, folder=folder, typed=["n"])
    assert shown.code == 1 and "This takes a long time." in shown.out and "Continue?" in shown.out
