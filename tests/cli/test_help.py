"""Help and pages: every option is explained, every command of the how-to page runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cli.conftest import Call
from cli.running import ROOT, environment
from sfumato.cli import app
from sfumato.cli._shared.failure import DEFECT, ENGINE, INTERRUPTED, LEDGER, REFUSED, REFUTED, USAGE

REFERENCE = (ROOT / "docs/reference/command-line.md").read_text(encoding="utf-8")
HOW_TO = {
    name: (ROOT / f"docs/how-to/{name}.md").read_text("utf-8")
    for name in ("use-the-command-line", "audit", "attack", "report-risk", "run-a-survey")
}
LISTED = {
    "demo",
    "init",
    "quote",
    "ask",
    "explain",
    "ledger",
    "budget",
    "survey",
    "risk",
    "audit",
    "attack",
    "doctor",
    "migrate",
}


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands by the words that call them."""
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


ALL = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", sorted(LISTED))
def test_the_help_of_every_command_ends_with_examples(name: str, call: Call) -> None:
    """One in a line, as it is typed; commands and options in it exist."""
    listed = call(name, "--help").out.partition("\n  Examples:\n")[2].splitlines()
    assert listed and all(line.startswith(f"    sfumato {name}") for line in listed)
    for line in listed:
        words = shlex.split(line)[1:]
        command = ALL[tuple(words[:2])] if tuple(words[:2]) in ALL else ALL[tuple(words[:1])]
        known = {option for each in command.params for option in each.opts}
        assert {word for word in words if word.startswith("-")} <= known, line


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_the_help_of_a_command_explains_every_option(path: tuple[str, ...], call: Call) -> None:
    """With a text of its own, and none of it cut off in the list of commands."""
    shown = call(*path, "--help")
    assert shown.code == 0 and "Usage: sfumato" in shown.out
    assert not re.search(r"\.\.\.$", shown.out.partition("\n")[2], re.MULTILINE)
    for each in ALL[path].params:
        if each.param_type_name == "option":
            assert each.help, each.opts
            assert all(option in shown.out for option in each.opts)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_the_reference_names_every_command_and_option(path: tuple[str, ...]) -> None:
    """A new option without a line there fails here."""
    assert not path or f"`{path[-1]}" in REFERENCE or f"sfumato {path[-1]}" in REFERENCE
    for each in ALL[path].params:
        if each.param_type_name == "option":
            assert all(re.search(rf"`{option}\b", REFERENCE) for option in each.opts), each.opts


@pytest.mark.parametrize("name", sorted(LISTED - {"ledger", "budget", "attack", "survey"}))
def test_the_help_ends_with_examples(name: str, call: Call) -> None:
    """Whose options there are."""
    lines = call(name, "--help").out.partition("Examples:\n")[2].splitlines()
    assert lines and all(line.startswith(f"  {'  '}sfumato {name}") for line in lines)
    options = {option for each in ALL[(name,)].params for option in each.opts}
    assert {word for line in lines for word in line.split() if re.fullmatch("--?[a-z-]+", word)} <= options


def test_what_is_not_there_yet_is_not_listed() -> None:
    """Commands of later versions are neither in the help nor in the reference."""
    assert {path[0] for path in ALL if path} == LISTED
    for later in ("serve", "synthesize"):
        assert f"sfumato {later}" not in REFERENCE and f"`{later}" not in REFERENCE


def test_the_exit_codes_are_documented(call: Call) -> None:
    """In the reference, and at the end of the help."""
    said = " ".join(call("--help").out.split())
    for code in (0, DEFECT, USAGE, REFUSED, ENGINE, LEDGER, REFUTED, INTERRUPTED):
        assert f"| {code} | " in REFERENCE and f" {code} " in said


def test_no_arguments_show_the_help(call: Call) -> None:
    """Also for the groups."""
    for arguments in ((), ("ledger",), ("budget",), ("survey",)):
        shown = call(*arguments)
        assert "Commands:" in shown.out + shown.err


@pytest.mark.parametrize(
    ("page", "least", "chart", "said"),
    [
        ("use-the-command-line", 8, "income.svg", "asked before"),
        ("audit", 4, "audit.svg", "float-laplace: REFUTED"),
        ("attack", 2, "averaging.svg", "6,039,000"),
        ("report-risk", 4, "risk.svg", "k-anonymity: k = 4"),
        ("run-a-survey", 1, "survey.svg", "smoker by party"),
    ],
)
def test_the_commands_of_a_how_to_page_run(tmp_path: Path, page: str, least: int, chart: str, said: str) -> None:
    """Its blocks in order, in one folder, as one script that stops at the first failure."""
    blocks = re.findall(r"^```sh\n(.*?)^```", HOW_TO[page], re.MULTILINE | re.DOTALL)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, rest in (("sfumato", ' -m sfumato "$@"'), ("python", ' "$@"')):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{rest}\n')
        (programs / name).chmod(0o755)
    changes = {"PATH": f"{programs}:{environment()['PATH']}"}
    script = "set -e\n" + "".join(blocks)
    run = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env=environment(**changes), capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr[-2_000:]
    assert len(blocks) >= least and (tmp_path / chart).exists()
    assert said in run.stdout
