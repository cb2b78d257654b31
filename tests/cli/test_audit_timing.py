"""`sfumato audit --timing`: what it reports, its exit codes and what it refuses.

Verdicts are tested with games whose clock is the test's own; of real mechanisms only what the report holds, since the
duration of one is the machine's. At this confidence an honest game is accused once in 10^7 runs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import COUNT, Call
from cli.running import on_terminal
from sfumato.cli._shared.failure import REFUTED

SURE = ("--confidence", "0.9999999")
MODULE = """
import random

from sfumato.audit import Game, game
from sfumato.privacy.guarantee import Guarantee

now = 0
chance = random.Random(1)


class Clocked(Game):
    def play_timing(self, *arguments, **options):
        return super().play_timing(*arguments, **options, clock=lambda: now)


def clocked(slower):
    def sample(value, count, entropy):
        global now
        now += 1_000 + slower * value + chance.randrange(50)
        return ["done"] * count

    return Clocked(f"slower by {slower}", sample, 0, 1, Guarantee(1))


leaky, even = clocked(200), clocked(0)


def exact(value):
    return value
"""


@pytest.fixture(autouse=True)
def module(folder: Path) -> None:
    """A module with a clock of its own."""
    (folder / "my_clock.py").write_text(MODULE, encoding="utf-8")


def test_a_duration_that_leaks_ends_with_code_6(call: Call) -> None:
    """By how much the claim is exceeded, and what was measured where."""
    shown = call("audit", "my_clock:leaky", "--timing", "-n", "2000", *SURE)
    assert shown.code == REFUTED, shown.err
    for said in (
        "slower by 200: REFUTED",
        "claimed    epsilon 1",
        "exceeded   the claim by",
        "duration in ns",
        "measured   a release took 1,0",
        "on this machine, by its own clock and under its load",
        "Someone who times releases on this machine learns more than the claim allows",
    ):
        assert said in " ".join(shown.out.replace("\n", " ").split(" ")), said
    assert call("audit", "my_clock:leaky", "-n", "2000", *SURE).code == 0  # outputs alone tell nothing


def test_a_duration_that_does_not_ends_with_code_0(call: Call) -> None:
    """Which is no proof, and the report says what else might tell."""
    shown = call("audit", "my_clock:even", "--timing", "-n", "2000", *SURE)
    assert shown.code == 0, shown.err
    assert "not refuted" in shown.out and "exceeded" not in shown.out and "no proof" in shown.out


def test_the_json_has_durations_and_the_excess(call: Call) -> None:
    """Null and zero where nothing was timed."""
    content = json.loads(call("audit", "my_clock:leaky", "--timing", "-n", "2000", "--json", *SURE).out)
    value, neighbor = content["median_nanoseconds"]
    assert 1_000 <= value < 1_050 and 1_200 <= neighbor < 1_250
    assert content["exceeds_claim_by"] == content["certified_epsilon"] - 1 > 0
    plain = json.loads(call("audit", "my_clock:even", "-n", "2000", "--json", *SURE).out)
    assert plain["median_nanoseconds"] is None and plain["exceeds_claim_by"] == 0


@pytest.mark.parametrize("name", ["permute-and-flip", "laplace-threshold", "randomized-response", "box-response"])
def test_mechanisms_are_timed_by_their_names(call: Call, name: str) -> None:
    """With the real clock, whose verdict is the machine's."""
    shown = call("audit", name, "--timing", "-n", "300", *SURE)
    assert shown.code in (0, REFUTED), shown.err
    assert "measured   a release took" in shown.out


def test_a_function_of_ones_own_is_timed(call: Call) -> None:
    """The output counts as well: this one is the value itself."""
    shown = call("audit", "my_clock:exact", "--timing", "-n", "1000", *SURE)
    assert shown.code == REFUTED and "my_clock:exact: REFUTED" in shown.out and "measured" in shown.out


def test_a_chart_of_durations_is_drawn(call: Call, folder: Path) -> None:
    """With the event that was found."""
    assert call("audit", "my_clock:leaky", "--timing", "-n", "2000", "--plot", "t.svg", *SURE).code == REFUTED
    assert "duration in ns" in (folder / "t.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("what", ["zoo", "float-laplace", COUNT])
def test_what_is_not_timed_is_refused(call: Call, what: str) -> None:
    """A question's duration depends on the data (SECURITY.md says so), and the zoo is about outputs."""
    shown = call("audit", what, "--timing")
    assert shown.code == 2 and "takes no --timing" in shown.err and "leave --timing out" in shown.err


def test_a_terminal_shows_how_far_it_is(folder: Path) -> None:
    """A bar that says what is done."""
    shown = on_terminal("audit", "my_clock:even", "--timing", "-n", "1000", folder=folder, bar_from="timing releases")
    assert shown.code == 0 and "timing releases" in shown.out
