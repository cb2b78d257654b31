"""`sfumato attack`: stories, both sides, JSON, charts, a question where it takes long, and what is given wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.conftest import Call
from cli.running import on_terminal

SMALL = {
    "differencing": ("--trials", "3"),
    "averaging": ("--repeats", "6", "--villages", "5"),
    "reconstruction": ("--people", "10", "--questions", "20"),
    "linkage": ("--trials", "3"),
    "intersection": ("--trials", "3"),
    "membership": ("--people", "40", "--traits", "100"),
}


def test_alone_it_lists_the_attacks_with_their_stories(call: Call) -> None:
    """And how to go on."""
    shown = call("attack")
    assert shown.code == 0
    for name in SMALL:
        assert f"\n{name}\n" in shown.out
    assert "Hilda" in shown.out and "Alice" in shown.out and "sfumato attack differencing --help" in shown.out


@pytest.mark.parametrize("name", SMALL)
def test_an_attack_tells_both_sides(call: Call, name: str) -> None:
    """The questions, right guesses with intervals, guessing, the bound, and what stopped it; no ledger is made."""
    shown = call("attack", name, *SMALL[name], "--epsilon", "0.25")
    assert shown.code == 0, shown.err
    parts = "to both:", "SELECT", "95 % interval", "curator", "by guessing", "At epsilon 0.25 no attacker"
    for said in parts:
        assert said in shown.out.replace("\N{NO-BREAK SPACE}", " ")
    assert "What stopped it:" in shown.out or "What held it back, though" in shown.out
    assert not Path("ledger.db").exists()


def test_the_json_is_the_outcome_for_a_program(call: Call) -> None:
    """The raw side follows from the seed."""
    arguments = ("attack", "membership", *SMALL["membership"], "--seed", "3", "--confidence", "0.9", "--json")
    first, second = (json.loads(call(*arguments).out) for _ in range(2))
    assert first["raw"] == second["raw"] and first["attack"] == "membership" and first["confidence"] == 0.9
    assert {"success", "low", "high", "hits", "trials", "answered"} <= set(first["curator"])


@pytest.mark.parametrize("file", ("chart.svg", "chart.png"))
def test_a_chart_shows_both_sides(call: Call, folder: Path, file: str) -> None:
    """Beside guessing and the bound."""
    shown = call("attack", "averaging", *SMALL["averaging"], "--plot", file)
    assert shown.code == 0 and f"chart: {file}" in shown.err
    if file.endswith("svg"):
        text = (folder / file).read_text(encoding="utf-8")
        assert ElementTree.fromstring(text).tag.endswith("svg")
        for said in (
            "Averaging with the same",
            "guessing: 50",
            "the most any attacker can reach: 62.2",
            "error of the mean",
        ):
            assert said in text
    else:
        assert (folder / file).stat().st_size > 1_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    (
        (("differencing", "--column", "income"), "--column belongs to --data; got no --data"),
        (("intersection", "--other-group", "age=3"), "--other-group belongs to --data; got no --data"),
        (("intersection", "--data", "a.csv"), "give both: --data and --other"),
        (("differencing", "--data", "a.csv"), "--column must name a column of a.csv"),
        (("reconstruction", "--noise", "foo:2"), "--noise uniform:2"),
        (
            (
                "differencing",
                "--data",
                "a.csv",
                "--column",
                "pay",
                "--name",
                "name",
                "--target",
                "Zoe",
                "--bounds",
                "0 9",
            ),
            "--target must be one of column 'name' of a.csv; got 'Zoe'",
        ),
    ),
)
def test_what_would_be_ignored_or_is_missing_is_said_by_its_option(
    call: Call, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    """An option about a table, without the table, would show an outcome of made-up people for one's own."""
    (folder / "a.csv").write_text("name,pay\nAnn,3\nBob,4\nCy,5\n", encoding="utf-8")
    shown = call("attack", *arguments)
    assert shown.code == 2 and shown.out == "" and said in " ".join(shown.err.split())


@pytest.mark.parametrize("name", SMALL)
def test_the_help_ends_with_examples(call: Call, name: str) -> None:
    """Whose options there are."""
    helped = call("attack", name, "--help").out
    lines = helped.partition("Examples:\n")[2].splitlines()
    assert lines and all(line.strip().startswith(f"sfumato attack {name}") for line in lines)
    assert all(word in helped.partition("Examples:")[0] for line in lines for word in line.split() if word[:2] == "--")


def test_quiet_says_the_figures_alone(call: Call) -> None:
    """No story, no questions."""
    shown = call("attack", "linkage", *SMALL["linkage"], "--quiet")
    assert shown.out.startswith("Secrets told right: 100") and "SELECT" not in shown.out and shown.err == ""


def test_a_table_of_ones_own_is_attacked(call: Call, folder: Path) -> None:
    """By its columns; the group of each table is said by column and value."""
    (folder / "a.csv").write_text("age,ill\n<30,flu\n<30,asthma\n", encoding="utf-8")
    (folder / "b.csv").write_text("age,ill\nyoung,cancer\nyoung,gout\n", encoding="utf-8")
    shown = call("attack", "intersection", "--data", "a.csv", "--other", "b.csv", "--secret", "ill", "--trials", "2",
                 "--group", "age=<30", "--other-group", "age=young")  # fmt: skip
    assert shown.code == 0, shown.err
    named = call("attack", "differencing", "--data", "visits.csv", "--column", "spent", "--name", "person",
                 "--target", "7", "--bounds", "0 100")  # fmt: skip
    assert named.code == 2 and "the target must have one row of visits.csv; got 3" in named.err
    linked = call(
        "attack", "linkage", "--data", "visits.csv", "--columns", "person, day", "--secret", "region", "--trials", "2"
    )
    assert linked.code == 0 and "rows that are alone by person, day" in linked.out


def test_what_takes_long_is_asked_for(folder: Path) -> None:
    """With an estimate; who says no is not charged, and a program says --yes."""
    shown = on_terminal("attack", "linkage", "--trials", "1000000", typed=["n"], folder=folder)
    assert "this one would take about" in shown.out and "Run it anyway?" in shown.out
    assert shown.code == 1


WRONG = (
    (("linkage", "--trials", "1000000"), "this one would take about 8.33 hours", "or allow it: --yes"),
    (("reconstruction", "--people", "3000", "--questions", "9000"), "would take about", "--yes"),
    (("linkage", "--data", "none.csv"), "found none at", "check the path"),
    (("linkage", "--data", "visits.csv", "--columns", "persn", "--secret", "day"), "unknown column 'persn'", "'person"),
    (("linkage", "--data", "visits.csv", "--columns", "person"), "secret must name a column", "choose of person,"),
    (("linkage", "--data", "sfumato.toml"), "source must end in .parquet or .csv", "convert the file"),
    (("membership", "--data", "one.csv"), "one.csv must have at least 10 rows for this attack; got 1", "another table"),
    (("differencing", "--kind", "product"), "kind must be one of sum, mean, count, refusal", "choose one"),
    (("differencing", "--data", "visits.csv", "--bounds", "0"), "--bounds must be two numbers", "'0 200000'"),
    (("reconstruction", "--noise", "pink"), "--noise must be KIND:SCALE", "laplace:5"),
    (("reconstruction", "--noise", "pink:2"), "noise must be uniform, gaussian or laplace", "uniform:2"),
    (("intersection", "--data", "one.csv", "--group", "x"), "--group must be NAME=VALUE", "for example age"),
    (("averaging", "--epsilon", "-1"), "epsilon must be positive", "choose 1 or less"),
    (("averaging", "--plot", "chart.pdf"), "--plot must end in .svg, .png, .html", "rename it"),
    (("averaging", "--epsilon", "0,5"), "--epsilon must be a number; got '0,5'", "for example 0.5"),
)  # fmt: skip


@pytest.mark.parametrize(("arguments", "line", "hint"), WRONG, ids=lambda each: str(each)[:40])
def test_a_slip_is_one_line_and_one_hint(
    call: Call, folder: Path, arguments: tuple[str, ...], line: str, hint: str
) -> None:
    """Usage, no traceback, nothing on the output."""
    (folder / "one.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    shown = call("attack", *arguments)
    assert shown.code == 2 and shown.out == ""
    first, second, *rest = shown.err.splitlines()
    assert (
        first.startswith("usage: ") and line in first and second.startswith("  hint: ") and hint in second and not rest
    )
