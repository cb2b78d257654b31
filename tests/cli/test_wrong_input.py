"""Whatever is given wrongly: an exit code of its own, one line, one hint, no traceback, nothing charged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from cli.conftest import COUNT, Call
from cli.running import run
from sfumato.cli._shared.failure import read
from sfumato.errors import SfumatoError

ASK = ("ask", COUNT, "--epsilon", "0.5")
BEGIN = "[budget]\nepsilon = 1\n[tables.v]\n"
QUESTIONS = (
    # what is asked, the exit code, the line, the hint
    (("ask", "SELECT COUNT(*) AS n FROM vists", "-e", "1"), 3, "refused: unknown table 'vists'", "did you mean visits"),
    (("ask", "SELECT AVG(spnt) AS s FROM visits", "-e", "1"), 3, "refused: unknown column 'spnt'", "mean spent?"),
    (("ask", "SELECT MODE(spent) AS s FROM visits", "-e", "1"), 3, "is not supported", "MIN and MAX"),
    (("ask", "SELEC COUNT(*) AS n FROM visits", "-e", "1"), 3, "it begins with SELEC", "ask with SELECT"),
    (("ask", COUNT, "-e", "many"), 2, "--epsilon must be a number; got 'many'", "for example 0.5"),
    (("ask", "SELECT 1", "-e", "1"), 3, "a question needs FROM and a table", "--help"),
    (("ask", COUNT, "-e", "-1"), 2, "usage: epsilon must be positive; got -1.0", "choose 1 or less"),
    (("ask", COUNT, "-e", "nan"), 2, "epsilon must be a finite number", "choose 1 or less"),
    (("ask", COUNT, "-e", "4"), 3, "Not enough budget: 4 requested, 3 left.", "sfumato ledger show"),
    (("ask", COUNT, "-e", "1", "--share", "m"), 2, "--share must be COLUMN=NUMBER; got 'm'", "--share n=2"),
    (("ask", COUNT, "-e", "1", "--noise", "gaussian"), 2, "--noise gaussian needs a delta", "--delta 1e-9"),
    (("ask", COUNT, "-e", "1", "--file", "q.sql"), 2, "got SQL and --file", "leave one out"),
    (("ask", "@none.sql", "-e", "1"), 2, "'none.sql' cannot be read", "check the path"),
    (("ask", "-e", "1"), 2, "the question must be SQL; got none", "SELECT COUNT(*)"),
    (("ask", COUNT, "-e", "1", "--plot", "c.pdf"), 2, "--plot must end in .svg, .png, .html", "rename it"),
    (("ask", COUNT, "-e", "1", "-o", "none/a.csv"), 2, "must be a file in a folder that exists", "nothing was done"),
    (("ask", COUNT, "-e", "1", "-o", "."), 2, "must be a file in a folder that exists", "nothing was done"),
    (("ask", COUNT, "-e", "1", "-p", "none"), 2, "no project file at", "sfumato init data.csv"),
    (("explain", "SELECT SUM(person) AS s FROM visits"), 3, "has no declared bounds", "--estimate-bounds"),
    (("ledger", "verify"), 5, "No ledger at", "Check the path"),
    (("ledger", "restore", "none.db"), 2, "a backup must exist", "check the path"),
    (("budget", "grant", "ana"), 2, "an analyst's budget must be said", "--epsilon 1"),
    (("budget", "grant", "-e", "9"), 2, "must be the one in the project file; got epsilon 9", "change it there"),
    (("budget", "grant", "ana", "-e", "1", "--until", "soon"), 2, "--until must be year-month-day", "2026-12-31"),
    (("budget", "grant", "--population", "all"), 2, "unknown population 'all'", "known are everyone"),
    (("init", "visits.csv"), 2, "must not exist yet; it does", "--force"),
    (("init", "none.csv"), 2, "found none at", "check the path"),
    (("init", "none.csv", "-o", "b.toml"), 2, "found none at", "check the path"),
    (("init", "notes.txt", "-o", "b.toml"), 2, "source must end in .parquet or .csv", "convert the file"),
    (("demo", "--keep", "."), 2, "--keep must be a new or empty folder", "choose another"),
)  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "line", "hint"), QUESTIONS, ids=lambda each: str(each)[:40])
def test_a_slip_is_one_line_and_one_hint(
    call: Call, folder: Path, arguments: tuple[str, ...], code: int, line: str, hint: str
) -> None:
    """The exit code tells the kind; nothing is on the output, no ledger is charged."""
    shown = call(*arguments)
    assert shown.code == code, shown.err
    said, _, hints = shown.err.partition("\n  hint: ")
    assert line in said and hint in hints
    assert shown.out == "" and "Traceback" not in shown.err
    assert not any(path.name in ("b.toml", "c.pdf") for path in folder.iterdir())
    if (folder / "ledger.db").exists():
        assert "reserved" not in call("ledger", "show").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", COUNT, "-e", "1", "--max-rows-per-unit", "many"), "Invalid value for '--max-rows-per-unit'"),
        (("ask", COUNT, "-e", "1", "--format", "xml"), "'xml' is not one of 'table', 'csv', 'json', 'arrow'"),
        (("synthesize",), "No such command 'synthesize'"),
        (("ledger", "burn"), "No such command 'burn'"),
    ],
)
def test_a_wrong_option_is_a_usage_error(call: Call, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, and where help is found."""
    shown = call(*arguments)
    assert shown.code == 2 and said in shown.err and "--help" in shown.err


@pytest.mark.parametrize(
    ("toml", "line", "hint"),
    [
        (f"{BEGIN}source = 'visits.csv'\nunits = 'person'", "tables.v.units: unknown key", "did you mean 'unit'?"),
        (f"{BEGIN}source = 'none.csv'", "tables.v.source", "check the path"),
        (f"{BEGIN}source = 'visits.csv'\nunit = 'nobody'", "unknown column 'nobody'", "known are"),
        ("[budget\n", "sfumato.toml is not TOML", "correct the line"),
        ("", "budget: missing", "write a section [budget]"),
    ],
)  # fmt: skip
def test_a_wrong_project_file_is_told_with_its_place(call: Call, folder: Path, toml: str, line: str, hint: str) -> None:
    """Exit code 2 from every command that reads it."""
    (folder / "sfumato.toml").write_text(toml)
    for command in (ASK, ("quote", COUNT, "-e", "1"), ("ledger", "show"), ("budget", "show")):
        shown = call(*command)
        assert shown.code == 2 and line in shown.err and hint in shown.err


def test_a_broken_ledger_is_exit_code_5_and_nothing_is_asked(call: Call, folder: Path) -> None:
    """A file that is no database, and one in which an entry was changed."""
    (folder / "ledger.db").write_bytes(b"this is not a database, and it is long enough to be looked at as one" * 20)
    shown = call(*ASK)
    assert shown.code == 5 and shown.err.startswith("ledger: ") and "hint: " in shown.err
    (folder / "ledger.db").unlink()
    call(*ASK)
    with sqlite3.connect(folder / "ledger.db") as database:
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f'DROP TRIGGER "{trigger}"')
        database.execute("UPDATE sfumato_entry SET epsilon = '1' WHERE kind = 'reserved'")
    for command in (("ledger", "verify"), ("ledger", "show"), ("ask", COUNT, "-e", "0.1")):
        shown = call(*command)
        assert shown.code == 5 and "was changed" in shown.err and "sfumato ledger restore" in shown.err


def test_a_ledger_that_cannot_be_made_is_told_with_the_line_that_helps(call: Call, folder: Path) -> None:
    """Where it is kept is said in the project file."""
    toml = (folder / "sfumato.toml").read_text()
    (folder / "sfumato.toml").write_text(f'[ledger]\nurl = "none/ledger.db"\n{toml}')
    shown = call(*ASK)
    assert shown.code == 5 and "url = '/other/folder/ledger.db' below [ledger] in sfumato.toml" in shown.err


def test_a_failing_engine_is_exit_code_4(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question is charged, and the message is the constant one."""

    def fail(*_: object) -> None:
        raise RuntimeError("a value: 4711")

    monkeypatch.setattr("sfumato.engines.sql.run.SqlRun.prepare", fail)
    shown = call(*ASK)
    assert shown.code == 4 and "4711" not in shown.err
    assert "engine: the engine failed on this question; it is charged" in shown.err
    assert "0.5" in call("ledger", "show").out


def test_an_answer_that_cannot_be_written_is_still_paid_for_once(call: Call) -> None:
    """A full disk after the question was asked: the message says that asking again is free."""
    shown = call(*ASK, "--format", "csv", "-o", "/dev/full")
    assert shown.code == 2 and "ask the same again, which is free" in shown.err
    assert "Left: epsilon 2.5 of 3" in call(*ASK).out


def test_a_defect_shows_no_traceback_and_no_values_unless_asked(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1 and the kind of the error; --debug shows where, wherever it stands."""

    def fail(*_: object, **__: object) -> None:
        raise TypeError("a secret")

    monkeypatch.setattr("sfumato.curator.curator.Curator.explain", fail)
    shown = call("explain", COUNT)
    assert shown.code == 1 and "TypeError" in shown.err and "--debug" in shown.err
    assert "a secret" not in shown.err and "Traceback" not in shown.err
    for command in (("--debug", "explain", COUNT), ("explain", COUNT, "--debug")):
        assert "Traceback" in call(*command).err


def test_every_error_has_an_exit_code_other_than_0() -> None:
    """Also those that are not there yet."""

    def below(kind: type[SfumatoError]) -> list[type[SfumatoError]]:
        return [kind, *(each for child in kind.__subclasses__() for each in below(child))]

    found = {kind.__name__: read(kind("this; that")) for kind in below(SfumatoError)}
    assert {failure.code for failure in found.values()} == {2, 3, 4, 5}
    assert all(failure.line == "this" and failure.hint.startswith("that") for failure in found.values())


def test_the_real_program_has_the_same_exit_codes(folder: Path) -> None:
    """Through the operating system: answer, usage, refused, ledger."""
    assert run(*ASK, folder=folder).code == 0
    assert run("ask", COUNT, folder=folder).code == 2
    assert run("ask", COUNT, "-e", "9", folder=folder).code == 3
    (folder / "ledger.db").write_bytes(b"x" * 5_000)
    assert run(*ASK, folder=folder).code == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", COUNT), "hint: for example --epsilon 0.5, or --within 5%"),
        (("quote", COUNT), "hint: give --epsilon 0.5"),
        (("ask", COUNT, "--within", "close"), "--within must be a number or a share"),
        (("ask", COUNT, "--within", "-5%"), "within must be a positive number or a share"),
    ],
)
def test_neither_cost_nor_accuracy_is_a_usage_error(call: Call, arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, and an example."""
    shown = call(*arguments)
    assert shown.code == 2 and said in shown.err
