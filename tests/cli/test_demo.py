"""The demo, run as a user would."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import sfumato


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "sfumato", *arguments], capture_output=True, text=True, check=False)


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
