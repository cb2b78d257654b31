"""A bar comes when half a second is over, and only then; the clock is the test's."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from sfumato.cli._shared import progress
from sfumato.curator.measurement.progress import Phase


class Clock:
    """Timers that end when they are told to."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.over: Callable[[], None] = lambda: None
        self.cancelled = False

    def __call__(self, seconds: float, begin: Callable[[], None]) -> Clock:
        self.seconds.append(seconds)
        self.over = begin
        return self

    def start(self) -> None: ...

    def cancel(self) -> None:
        self.cancelled = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "Timer", clock)
    return clock


def on(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> io.StringIO:
    """What is shown on standard error."""
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=terminal, width=80, legacy_windows=False)
    monkeypatch.setattr(progress, "errors", lambda: console)
    return shown


def test_what_is_short_shows_nothing(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second is waited for, and what comes too late is not shown any more."""
    shown = on(monkeypatch, terminal=True)
    with progress.working("counting") as told:
        told(Phase("adding noise", 2, 2))
    clock.over()
    assert clock.seconds == [0.5] and clock.cancelled
    assert not any(word in shown.getvalue() for word in ("counting", "adding noise", "━"))


def test_what_lasts_shows_its_phases(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the moment on; what was before is not told."""
    shown = on(monkeypatch, terminal=True)
    with progress.working("reserving") as told:
        told(Phase("counting", 1, 2))
        assert shown.getvalue() == ""
        clock.over()
        assert "counting" in shown.getvalue() and "reserving" not in shown.getvalue()


@pytest.mark.parametrize(("terminal", "hidden"), [(False, False), (True, True)])
def test_what_is_no_terminal_or_quiet_waits_for_nothing(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, terminal: bool, hidden: bool
) -> None:
    """No timer, no sign."""
    shown = on(monkeypatch, terminal=terminal)
    with progress.working("counting", hidden=hidden) as told:
        told(Phase("adding noise", 2, 2))
    assert clock.seconds == [] and shown.getvalue() == ""
