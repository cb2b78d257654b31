"""`sfumato doctor`: what it looks at, and that it finds what is wrong."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest

import sfumato.cli  # noqa: F401  (makes its modules known)
from cli.conftest import COUNT, Call

MODULE = sys.modules["sfumato.cli.doctor"]  # its name in the package is the command's


@pytest.fixture(autouse=True)
def no_drawing(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Drawing takes a second, and is tried once."""
    if "draws" not in request.node.name:
        monkeypatch.setattr(MODULE, "_draw", lambda: "not tried")


def test_a_healthy_place_is_exit_code_0_and_draws(call: Call) -> None:
    """Python, packages, extras, charts, randomness, clock, project, table, ledger, disk: each has its line."""
    call("ask", COUNT, "-e", "1")
    shown = call("doctor")
    assert shown.code == 0 and shown.out.endswith("No problems found.\n")
    states = {line[:14].strip(): line[14:].split()[0] for line in shown.out.splitlines()[1:-1]}
    looked = {
        "python",
        "sfumato",
        "duckdb",
        "charts",
        "randomness",
        "clock",
        "project",
        "table visits",
        "ledger",
        "disk",
    }
    assert looked <= set(states) and set(states.values()) == {"ok"}
    assert "svg and png work" in shown.out and "in order, 4 entries" in shown.out


def test_without_a_project_all_is_well_too(call: Call, folder: Path) -> None:
    """It says how to begin."""
    (folder / "sfumato.toml").unlink()
    shown = call("doctor")
    assert shown.code == 0 and "sfumato init data.csv" in shown.out


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("source", r"project +faulty +tables.visits.source: .* found none at"),
        ("toml", r"project +faulty +sfumato.toml is not TOML: Invalid"),
        ("ledger", r"ledger +faulty +the ledger cannot be read: its file is no SQLite database"),
        ("folder", r"ledger +faulty .*must be a folder that can be written"),
    ],
)
def test_what_is_broken_is_found(call: Call, folder: Path, harm: str, said: str) -> None:
    """Exit code 1, and the line says what, without advice that does not help."""
    if harm == "source":
        (folder / "visits.csv").unlink()
    if harm == "toml":
        (folder / "sfumato.toml").write_text("[")
    if harm == "ledger":
        (folder / "ledger.db").write_bytes(b"x" * 5_000)
    if harm == "folder":
        toml = (folder / "sfumato.toml").read_text()
        (folder / "sfumato.toml").write_text(f'[ledger]\nurl = "none/ledger.db"\n{toml}')
    shown = call("doctor")
    assert shown.code == 1 and re.search(said, shown.out), shown.out
    assert "missing" not in shown.out and "--help" not in shown.out


def test_a_project_file_that_is_not_there_is_missing_not_faulty(call: Call, folder: Path) -> None:
    """Where one was named; a folder without one is told apart from a file with a fault."""
    for where in ("none.toml", "none"):
        shown = call("doctor", "-p", where)
        assert shown.code == 1 and re.search(r"project +missing +no project file at", shown.out)
    (folder / "below").mkdir()
    assert "missing" in call("doctor", "-p", "below").out
    (folder / "below" / "sfumato.toml").write_text("[budget]\nepsilon = -1\n[tables.a]\nsource='../visits.csv'")
    assert re.search(r"project +faulty +budget: epsilon must be positive; got -1", call("doctor", "-p", "below").out)


def test_a_clock_that_runs_behind_the_ledger_is_found(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last entry would lie in the future."""
    call("ask", COUNT, "-e", "1")
    monkeypatch.setattr(MODULE, "system_clock", lambda: 0)
    shown = call("doctor")
    assert shown.code == 1 and "set the clock" in shown.out


def test_a_missing_package_is_told_with_what_helps(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """An extra is optional, a package is not; a chart that cannot be drawn is missing."""
    real = importlib.metadata.version

    def version(name: str) -> str:
        if name in gone:
            raise importlib.metadata.PackageNotFoundError
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    gone = {"psycopg", "pyarrow"}
    shown = call("doctor")
    assert shown.code == 0 and "pip install 'sfumato[postgres]'" in shown.out
    assert re.search(r"pyarrow +- +not installed; for --format arrow.*: pip install 'sfumato\[arrow\]'", shown.out)
    gone = {"duckdb"}

    def fail() -> str:
        raise OSError

    monkeypatch.setattr(MODULE, "_draw", fail)
    shown = call("doctor")
    assert shown.code == 1 and shown.out.endswith("Problems: duckdb, charts.\n")


def test_a_java_that_spark_cannot_use_is_told(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is optional: over Spark Connect none is needed."""
    monkeypatch.setenv("JAVA_HOME", str(folder))
    shown = call("doctor")
    assert shown.code == 0 and re.search(r"java +- +JAVA_HOME is .*where no Java is;.*install Java 17", shown.out)
