"""Names of version 0.1 are refused with today's, in Python, on the command line and in project files."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib import resources
from pathlib import Path

import pandas as pd
import pytest

import sfumato as sf
from sfumato import renames
from sfumato.cli import main
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.migration import migrate

ROOT = Path(__file__).parents[1]
LISTED = tomllib.loads(resources.files("sfumato").joinpath("renames.toml").read_text("utf-8"))["renamed"]
FRAME = pd.DataFrame({"p": [1, 2], "x": [1.0, 2.0]})
OLD = """[allowance]  # of everyone
epsilon = 1.0
[tables.people]
source = "people.csv"
unit = "p"
most_rows = 3
[tables.people.columns]
most_rows = { bounds = [0, 9] }  # a column's own name
"""


def test_every_renaming_has_a_kind_and_a_new_name() -> None:
    """What is listed is complete, and no new name is an old one."""
    assert {each["kind"] for each in LISTED} == set(renames.KINDS)
    assert all(each["old"] != each["new"] and each["new"] for each in LISTED)
    for kind in renames.KINDS:
        assert not set(renames.renamed(kind)) & set(renames.renamed(kind).values())


def test_arguments_of_python_are_refused_with_their_new_name() -> None:
    """Of tables, curators and questions; an argument that was never there gets the nearest name."""
    with pytest.raises(UnknownName, match=r"^table: most_rows is called max_rows_per_unit now$"):
        sf.table(FRAME, unit="p", most_rows=1)  # type: ignore[call-arg]
    people = sf.table(FRAME, unit="p", max_rows_per_unit=1)
    with pytest.raises(UnknownName, match=r"allowance is called budget now$"):
        sf.Curator({"t": people}, allowance=1)  # type: ignore[call-arg]
    curator = sf.Curator({"t": people}, budget=1)
    count = "SELECT COUNT(*) AS n FROM t"
    with pytest.raises(UnknownName, match=r"^ask: bound is called max_rows_per_unit now$"):
        curator.ask(count, epsilon=0.5, bound=1)  # type: ignore[call-arg]
    with pytest.raises(UnknownName, match=r"^quote: bounds is called estimate_bounds=True now$"):
        curator.quote(count, epsilon=0.5, bounds="auto")  # type: ignore[call-arg]
    with pytest.raises(UnknownName, match="unknown argument 'epsilom'; did you mean 'epsilon'"):
        curator.explain(count, epsilom=0.5)  # type: ignore[call-arg]
    assert curator.remaining().epsilon == 1
    with pytest.raises(AttributeError, match=r"^Neighbours is called Neighbors now$"):
        _ = sf.Neighbours  # type: ignore[attr-defined]
    assert dir(sf) == sorted([*sf.__all__, "__version__"])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["allowance", "show"], "allowance is called budget now"),
        (["ledger", "looked", "ana", "t"], "ledger looked is called ledger resume now"),
        (["survey", "randomise"], "survey randomise is called survey randomize now"),
        (["ask", "SELECT 1", "--bound", "3"], "--bound is called --max-rows-per-unit now"),
        (["quote", "SELECT 1", "--bounds=auto"], "--bounds is called --estimate-bounds now"),
        (["init", "t.csv", "--most-rows", "3"], "--most-rows is called --max-rows-per-unit now"),
    ],
)
def test_commands_and_options_are_refused_with_their_new_name(
    command: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, as for any other slip."""
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err.replace("\n  ", " ")


def test_every_new_command_and_option_exists(capsys: pytest.CaptureFixture[str]) -> None:
    """The refusal must not send anybody to a name that is not there."""
    for old, new in {**renames.renamed("command"), **renames.renamed("option")}.items():
        words = new.split() if not new.startswith("--") else old.split()[:1]
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        out = capsys.readouterr().out
        assert "Usage" in out and (not new.startswith("--") or new in out)


def test_a_project_file_is_migrated_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names change, comments and names of columns stay; another layout is refused with what to change."""
    file = tmp_path / "sfumato.toml"
    file.write_text(OLD)
    with pytest.raises(SystemExit) as ended:
        main(["migrate", str(tmp_path), "--dry-run"])
    assert ended.value.code == 0 and file.read_text() == OLD
    with pytest.raises(SystemExit):
        main(["migrate", str(file)])
    new = OLD.replace("[allowance]", "[budget]").replace("most_rows = 3", "max_rows_per_unit = 3")
    assert file.read_text() == new and (tmp_path / "sfumato.toml.old").read_text() == OLD
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["migrate", str(file)])
    assert "up to date" in capsys.readouterr().out
    with pytest.raises(InvalidArgument, match="by hand: allowance is called budget now"):
        migrate("allowance.epsilon = 1\ntables = { t = { source = 'x', most_rows = 3 } }\n", "sfumato.toml")


def test_no_old_name_is_left() -> None:
    """In the package, its documents and its examples; what is kept of 0.1, and what tells of it, has them."""
    old = re.compile(r"\b([Aa]llowances?|most_rows|[Nn]eighbours?|[Rr]andomis\w+|plan_allowance)\b")
    apart = ("tests/kept/", "tests/ledger/fixtures/", "tests/test_renames.py", "src/sfumato/renames", "CHANGELOG.md")
    apart += ("decisions/", "LICENSE", "tests/mechanisms/samplers/pinned", "docs/how-to/move-to-0.2.md")
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    found = []
    for name in files:
        if not name or name.startswith(apart) or not name.endswith((".py", ".md", ".toml", ".txt", ".html")):
            continue
        for number, line in enumerate((ROOT / name).read_text("utf-8").splitlines(), 1):
            found += [f"{name}:{number}: {line.strip()[:80]}"] if old.search(line) else []
    assert found == []
