"""A project of 600 people with three visits each, and a way to call the program without a new process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import Ran
from sfumato.cli import main

PROJECT = """
[budget]
epsilon = 3.0
[tables.visits]
source = "visits.csv"
unit = "person"
max_rows_per_unit = 3
[tables.visits.columns]
person = { type = "integer" }
region = { keys = ["north", "south", "west"] }
spent = { bounds = [0, 100] }
day = { dates = ["2026-01-01", "2026-01-31"] }
"""
COUNT = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"

Call = Callable[..., Ran]


def write_visits(folder: Path) -> None:
    """600 people in the north or the south, none in the west."""
    rows = [f"{i % 600},{('north', 'south')[i % 2]},{i % 90}.5,2026-01-{1 + i % 28:02d}" for i in range(1_800)]
    (folder / "visits.csv").write_text("\n".join(["person,region,spent,day", *rows]) + "\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data and project file, in which the program runs."""
    write_visits(tmp_path)
    (tmp_path / "sfumato.toml").write_text(PROJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("SFUMATO_PROJECT", "SFUMATO_ANALYST", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command in this process, as a pipe."""

    def run(*arguments: str, text: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        shown = capsys.readouterr()
        return Ran(int(ended.value.code or 0), shown.out, shown.err)

    return run
