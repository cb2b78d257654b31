"""The real program on a pseudo-terminal and in pipes: colors, widths, progress, Ctrl-C, other readers."""

from __future__ import annotations

import io
import re
import subprocess
from pathlib import Path

import pyarrow
import pytest
from rich.console import Console

from cli.conftest import COUNT
from cli.running import CLOCKED, PROGRAM, environment, on_terminal, run, run_binary
from sfumato.cli._shared.failure import PIPE_CLOSED
from sfumato.cli._shared.screen import say, show
from sfumato.privacy.guarantee import Guarantee

ASK = ("ask", COUNT, "--epsilon", "0.5")


def test_on_a_terminal_an_answer_is_drawn(folder: Path) -> None:
    """A table with lines, and the same text beneath; no bar for what is short."""
    shown = on_terminal(*ASK, folder=folder)
    assert shown.code == 0 and re.search(r"│ north +│ +[\d,.]+ ± [\d.]+ │", shown.out)
    assert "5 more such questions fit" in shown.out.replace("\n", " ")
    assert "weighing" not in shown.out


def test_no_color_means_no_color(folder: Path) -> None:
    """The lines stay, the colors go; also where the terminal can do nothing."""
    colored = re.compile(r"\x1b\[[0-9;]*3[0-7]m")
    wrong = ("ask", "SELECT COUNT(*) AS n FROM vists", "-e", "1")
    assert colored.search(on_terminal(*wrong, folder=folder, raw=True).out)
    assert not colored.search(on_terminal(*wrong, folder=folder, raw=True, NO_COLOR="1").out)
    assert "\x1b" not in on_terminal(*wrong, folder=folder, raw=True, TERM="dumb").out


def test_a_pipe_gets_plain_text(folder: Path) -> None:
    """No boxes, no colors, whole lines."""
    for arguments in (ASK, ("ledger", "show"), ("budget", "show"), ("explain", COUNT)):
        shown = run(*arguments, folder=folder)
        assert shown.code == 0 and not set("│┃━\x1b") & set(shown.out + shown.err)
        assert [line for line in shown.out.splitlines() if line != line.rstrip()] == []


def test_without_any_input_nothing_is_asked_and_nothing_breaks(folder: Path) -> None:
    """As a service may start it: standard input is closed."""
    script = f'"{PROGRAM[0]}" -m sfumato ask -e 1 <&-'
    shown = subprocess.run(["sh", "-c", script], cwd=folder, env=environment(), capture_output=True, text=True)
    assert shown.returncode == 2 and "the question must be SQL" in shown.stderr


def test_arrow_goes_through_a_pipe_and_not_onto_a_terminal(folder: Path) -> None:
    """Bytes as they are; a terminal is refused before anything is charged."""
    table = pyarrow.ipc.open_stream(io.BytesIO(run_binary(*ASK, "--format", "arrow", folder=folder))).read_all()
    assert table.num_rows == 3
    shown = on_terminal("ask", COUNT, "-e", "1", "--format", "arrow", folder=folder)
    assert shown.code == 2 and "--output answer.arrow" in shown.out


def test_a_reader_that_has_enough_is_no_error(folder: Path) -> None:
    """As in `sfumato ask ... | head -1`."""
    question = "SELECT day, region, COUNT(*) AS n FROM visits GROUP BY day, region"
    program = subprocess.Popen(
        [*PROGRAM, "ask", question, "-e", "1", "--format", "csv"],
        cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert program.stdout is not None and program.stderr is not None
    program.stdout.close()
    said = program.stderr.read().decode()
    program.stderr.close()
    assert program.wait(240) in (0, PIPE_CLOSED) and "Traceback" not in said and "Exception ignored" not in said


def test_long_work_shows_a_bar_with_its_phase_on_a_terminal_only(folder: Path) -> None:
    """On the error stream; a pipe and --quiet see nothing of it."""
    shown = on_terminal(*ASK, folder=folder, bar_from="limiting contributions")
    assert re.search(r"━+ limiting contributions \d:\d\d:\d\d", shown.out) and "reserving" not in shown.out
    mean = on_terminal(
        "ask", "SELECT AVG(spent) AS s FROM visits", "-e", "0.25", folder=folder, bar_from="estimating limits"
    )
    assert "estimating limits" in mean.out
    quiet = on_terminal("ask", COUNT, "-e", "0.25", "--quiet", folder=folder, bar_from="limiting contributions")
    piped = subprocess.run(
        [*CLOCKED, "limiting contributions", "", "ask", COUNT, "-e", "0.125"],
        cwd=folder, env=environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert quiet.code == piped.returncode == 0 and "weighing" not in quiet.out + piped.stdout + piped.stderr


def test_ctrl_c_leaves_the_question_charged_and_says_so(folder: Path) -> None:
    """Exit code 130; the ledger has the reservation."""
    shown = on_terminal(*ASK, folder=folder, bar_from="limiting contributions", interrupted=True)
    assert shown.code == 130 and "interrupted: there is no answer; the charge stays" in shown.out
    assert re.search(r"everyone +0.5 +3 ", run("ledger", "show", folder=folder).out)


def test_python_m_and_the_script_are_one_program(tmp_path: Path) -> None:
    """Version and name are said alike."""
    shown = run("--version", folder=tmp_path)
    assert (shown.code, shown.out) == (0, "sfumato 0.2.0\n")
    assert run("--help", folder=tmp_path).out.startswith("Usage: sfumato [OPTIONS]")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes(tmp_path: Path, shell: str) -> None:
    """A script for each shell, and the commands that begin with what is typed."""
    script = run("--show-completion", shell, folder=tmp_path)
    assert script.code == 0 and "_SFUMATO_COMPLETE" in script.out


def test_commands_and_options_are_completed(tmp_path: Path) -> None:
    """What bash would ask for."""
    asked = {"_SFUMATO_COMPLETE": "complete_bash", "COMP_WORDS": "sfumato e", "COMP_CWORD": "1"}
    assert run(folder=tmp_path, **asked).out.split() == ["explain"]
    asked = {"_SFUMATO_COMPLETE": "complete_bash", "COMP_WORDS": "sfumato ask --fo", "COMP_CWORD": "2"}
    assert run(folder=tmp_path, **asked).out.split() == ["--format"]


def test_lines_are_wrapped_but_not_before_a_percent_sign() -> None:
    """At any width."""
    text = io.StringIO()
    for width in range(20, 60):
        say(Console(file=text, force_terminal=True, width=width, highlight=False), Guarantee(0.5).describe())
    assert max(map(len, text.getvalue().splitlines())) < 60
    assert not re.search(r"^%", text.getvalue(), re.MULTILINE)


def test_nothing_from_outside_is_markup_or_reaches_the_terminal_raw() -> None:
    """Names may hold brackets, and signs that would move the cursor."""
    for is_terminal in (True, False):
        text = io.StringIO()
        console = Console(file=text, force_terminal=is_terminal, width=60, color_system=None)
        show(console, [("[bold]a[/bold]", "b"), ("[red]x", "\x1b[2Jy")])
        say(console, "[bold]z[/bold] \x1b[2J")
        assert "[bold]a[/bold]" in text.getvalue() and "[red]x" in text.getvalue()
        assert "[bold]z[/bold]" in text.getvalue() and "\x1b[2J" not in text.getvalue()
