"""The demo, run as a user would."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys

import pytest
from rich.console import Console

import sfumato
from sfumato.cli.demo import _say, _show
from sfumato.privacy.guarantee import Guarantee


def run(*arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sfumato", *arguments],
        capture_output=True,
        encoding=encoding,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )


def test_the_demo_prints_a_count_its_interval_and_its_guarantee_in_words() -> None:
    """One private count, ± its half-width, an interval around it, and what is promised."""
    shown = run("demo")
    assert shown.returncode == 0, shown.stderr
    found = re.search(r"private answer\W+([\d,]+) ± (\d+)\W+([\d,]+) to ([\d,]+)", shown.stdout)
    assert found is not None
    value, half_width, low, high = (int(group.replace(",", "")) for group in found.groups())
    assert (low, high) == (value - half_width, value + half_width)
    assert abs(value - 2_317) < 100  # at epsilon 0.5 but for one run in e**50
    assert "odds" in shown.stdout
    assert "epsilon = 0.5" in shown.stdout


def test_the_noise_is_new_each_time() -> None:
    """Sixty releases do not all agree: by chance they would with probability below 0.25**59."""
    draws = {sfumato.mechanisms.Geometric(sensitivity=1, epsilon=0.5).release(0) for _ in range(60)}
    assert len(draws) > 1


@pytest.mark.parametrize("arguments", [("--version",), ("demo", "--help")])
def test_the_program_speaks_of_itself(arguments: tuple[str, ...]) -> None:
    """Version and help end well."""
    shown = run(*arguments)
    assert shown.returncode == 0
    assert "0.1.0" in shown.stdout or "private count" in shown.stdout


def test_an_unknown_command_is_refused_without_a_traceback() -> None:
    """Usage errors exit with 2 and one message."""
    shown = run("survey")
    assert shown.returncode == 2
    assert "Traceback" not in shown.stderr
    assert "survey" in shown.stderr


def test_what_is_not_a_terminal_gets_whole_lines_without_trailing_blanks() -> None:
    """Nothing is drawn, nothing is wrapped, and a number stays with its percent sign."""
    lines = run("demo").stdout.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert any(
        line.endswith("whether he is in the data or not.") and line.startswith("Not protected") for line in lines
    )
    assert not set("│┃+|") & set("".join(lines))
    assert "23.2\N{NO-BREAK SPACE}%" in "".join(lines)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_output_that_is_not_utf_8_gets_plain_signs(encoding: str) -> None:
    """No crash, and +/- for the sign that may be missing."""
    shown = run("demo", encoding=encoding)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"private answer +[\d,]+ \+/- 6 ", shown.stdout)
    assert shown.stdout.isascii()


def test_on_a_terminal_lines_are_wrapped_but_not_before_a_percent_sign() -> None:
    """A drawn table, and text at the terminal's width."""
    text = io.StringIO()
    for width in range(20, 60):
        _say(Console(file=text, force_terminal=True, width=width, highlight=False), Guarantee(0.5).describe())
    assert max(map(len, text.getvalue().splitlines())) < 60
    assert not re.search(r"^%", text.getvalue(), re.MULTILINE)
    drawn = io.StringIO()
    _show(Console(file=drawn, force_terminal=True, width=60), (("", "value"), ("private answer", "5 ± 6")))
    assert "┃" in drawn.getvalue()


def test_help_shows_the_version_as_a_flag() -> None:
    """Without a value after it."""
    assert re.search(r"--version +Print the version", run("--help").stdout)
