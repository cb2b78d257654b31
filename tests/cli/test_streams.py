"""Standard output that cannot be written: a full disk, a reader who leaves early, none at all.

No command calls it a defect of Sfumato, each has an exit code that says what happened, and whoever was charged is told
that the answer is kept. Every command of the program is in `COMMANDS`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest
import typer

from cli.conftest import COUNT, Call
from cli.running import PROGRAM, environment
from sfumato.cli import app, main
from sfumato.cli._shared.failure import PIPE_CLOSED, UNWRITTEN
from sfumato.cli._shared.streams import KEPT

ASK = ("ask", COUNT, "--epsilon", "0.1")
CHARGED: dict[str, tuple[str, ...]] = {
    "ask": ASK,
    "ask explained": (*ASK, "--explain"),
    "ask csv": (*ASK, "--format", "csv"),
    "ask json": (*ASK, "--format", "json"),
    "ask arrow": (*ASK, "--format", "arrow"),
    "ask quiet": (*ASK, "--quiet"),
}
FREE: dict[str, tuple[str, ...]] = {
    "ask dry": (*ASK, "--dry-run"),
    "quote": ("quote", COUNT, "--epsilon", "0.1"),
    "explain": ("explain", COUNT, "--epsilon", "0.1"),
    "demo": ("demo",),
    "init": ("init", "visits.csv", "--output", "other.toml", "--force"),
    "risk": ("risk", "visits.csv", "--columns", "region,spent"),
    "risk json": ("risk", "visits.csv", "--columns", "region,spent", "--format", "json"),
    "audit": ("audit", "laplace", "--epsilon", "1", "--samples", "1000"),
    "doctor": ("doctor",),
    "migrate": ("migrate", "--dry-run"),
    "ledger show": ("ledger", "show"),
    "ledger verify": ("ledger", "verify"),
    "ledger export": ("ledger", "export", "out.jsonl"),
    "ledger backup": ("ledger", "backup", "copy.jsonl"),
    "ledger merge": ("ledger", "merge", "backup.jsonl"),
    "ledger restore": ("ledger", "restore", "backup.jsonl", "--ledger", "new.db"),
    "ledger erase": ("ledger", "erase", "3", "--yes"),
    "ledger reconcile": ("ledger", "reconcile", "--yes"),
    "ledger resume": ("ledger", "resume", "analyst", "visits"),
    "budget show": ("budget", "show"),
    "budget grant": ("budget", "grant", "analyst", "--epsilon", "1"),
    "budget apply": ("budget", "apply"),
    "budget revoke": ("budget", "revoke", "analyst", "--yes"),
    "survey design": (
        "survey",
        "design",
        "--question",
        "q=yes-no",
        "--epsilon",
        "1",
        "--output",
        "other.toml",
        "--quiet",
    ),
    "survey page": ("survey", "page", "--force"),
    "survey words": ("survey", "words"),
    "survey randomize": ("survey", "randomize", "--answer", "smoker=yes"),
    "survey randomize json": ("survey", "randomize", "--answer", "smoker=yes", "--json"),
    "survey estimate": ("survey", "estimate", "sent.csv"),
    "survey estimate json": ("survey", "estimate", "sent.csv", "--format", "json"),
    "attack differencing": ("attack", "differencing", "--people", "20", "--trials", "2"),
    "attack averaging": ("attack", "averaging", "--repeats", "2", "--villages", "5"),
    "attack reconstruction": ("attack", "reconstruction", "--people", "10", "--questions", "20"),
    "attack linkage": ("attack", "linkage", "--patients", "50", "--trials", "2"),
    "attack intersection": ("attack", "intersection", "--trials", "2"),
    "attack membership": ("attack", "membership", "--people", "20"),
    "help": ("--help",),
    "help of a command": ("ask", "--help"),
    "version": ("--version",),
}
COMMANDS = CHARGED | FREE
SILENT = {"survey page", "survey words", "survey design"}  # a file, and a line on standard error


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with an answer, a design and what was sent for it, for all commands to read."""
    from cli.conftest import PROJECT, write_visits

    folder = tmp_path_factory.mktemp("prepared")
    write_visits(folder)
    (folder / "sfumato.toml").write_text(PROJECT + '\n[ledger]\nwitness = "witness"\n', encoding="utf-8")
    (folder / "true.csv").write_text("smoker\n" + "yes\nno\n" * 50, encoding="utf-8")
    for arguments in (
        (*ASK, "--quiet"),
        ("ledger", "backup", "backup.jsonl"),
        ("survey", "design", "--question", "smoker=yes-no", "--epsilon", "1", "--quiet"),
        ("survey", "randomize", "true.csv", "--output", "sent.csv", "--quiet"),
    ):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
            patch.chdir(folder)
            main(arguments)
        assert not ended.value.code
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which the program runs."""
    for file in prepared.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    for name in ("SFUMATO_PROJECT", "SFUMATO_ANALYST", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def _leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, each in getattr(command, "commands", {}).items():
        yield from _leaves(each, (*path, name))
    if not getattr(command, "commands", {}):
        yield path


def test_every_command_is_tried() -> None:
    """A new one has to be added above."""
    tried = [arguments[:2] for arguments in COMMANDS.values()]
    missing = [
        path for path in _leaves(typer.main.get_command(app)) if path not in {each[: len(path)] for each in tried}
    ]
    assert missing == []


def _full() -> TextIO:
    return os.fdopen(os.open("/dev/full", os.O_WRONLY), "w", encoding="utf-8")


def _into(stream: TextIO, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    monkeypatch.undo()
    stream.close()  # as at the end of a program: nothing is left in it that cannot be written
    return int(ended.value.code or 0)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_told(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says what cannot be written, and that an answer is kept where one was paid for; else nothing is lost."""
    monkeypatch.chdir(folder)
    code = _into(_full(), COMMANDS[name], monkeypatch)
    said = capsys.readouterr().err
    assert "defect" not in said and "Traceback" not in said
    if name in SILENT:
        assert code == 0, said
    else:
        assert code == UNWRITTEN, said
        assert "standard output cannot be written: No space left on device" in said
    assert (KEPT in said) == (name in CHARGED)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_who_leaves_is_no_error(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The code is the shell's for a closed pipe; nothing is said, but that an answer is kept where one was paid for."""
    monkeypatch.chdir(folder)
    reader, writer = os.pipe()
    os.close(reader)
    code = _into(os.fdopen(writer, "w", encoding="utf-8"), COMMANDS[name], monkeypatch)
    said = capsys.readouterr().err
    assert code == (0 if name in SILENT else PIPE_CLOSED), said
    assert ("error:" in said, "Traceback" in said, KEPT in said) == (False, False, name in CHARGED)


def _shell(line: str, folder: Path) -> tuple[int, str]:
    """The exit code and the standard error of a line of bash, the program in it being `$P`."""
    line = line.replace("$P", " ".join(PROGRAM)).replace("$ASK", f'ask "{COUNT}" --epsilon 0.1')
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder, capture_output=True, env=environment(), text=True, timeout=240, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_the_end_of_the_program_adds_nothing(folder: Path) -> None:
    """Python flushes once more when it ends, and would say `Exception ignored` and end with the code 120."""
    full = (
        f"error: standard output cannot be written: No space left on device\n  hint: write it to another place. {KEPT}"
    )
    assert _shell("$P $ASK > /dev/full", folder) == (UNWRITTEN, full + "\n")
    assert _shell("$P survey randomize --answer smoker=yes | (exec <&-; sleep 1)", folder) == (PIPE_CLOSED, "")
    assert _shell("$P $ASK --format csv | (exec <&-; sleep 1)", folder) == (PIPE_CLOSED, KEPT + "\n")


def test_standard_error_that_cannot_be_written_is_passed_over(folder: Path) -> None:
    """The answer is printed all the same; where both are full, the exit code tells."""
    assert _shell("$P $ASK --format csv 2> /dev/full", folder)[0] == 0
    assert _shell("$P $ASK > /dev/full 2>&1", folder)[0] == UNWRITTEN


def test_a_program_without_standard_output_says_so(folder: Path) -> None:
    """The answer is paid for and kept, not lost in silence."""
    code, said = _shell("$P $ASK --format csv >&-", folder)
    assert (code, KEPT in said, "defect" in said) == (UNWRITTEN, True, False)


def test_an_answer_that_was_not_printed_can_be_had_again_for_free(folder: Path, call: Call) -> None:
    """What the message promises."""
    question = ("ask", COUNT, "--epsilon", "0.7", "--format", "json")
    with pytest.MonkeyPatch.context() as patch:
        assert _into(_full(), question, patch) == UNWRITTEN
    before = call("ledger", "show").out
    again = call(*question)
    assert again.code == 0 and "nothing, because it was asked before" in again.err
    assert call("ledger", "show").out == before
