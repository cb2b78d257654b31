"""A bar on a terminal while something lasts, with the phase it is in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Timer

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from sfumato.cli._shared.screen import errors, fitting
from sfumato.curator.measurement.progress import Phase
from sfumato.curator.measurement.progress import Progress as Told

_PATIENCE = 0.5  # seconds without a sign


@contextmanager
def working(first: str, *, hidden: bool = False) -> Iterator[Told]:
    """Show what is being done, and for how long, on standard error; what is short or no terminal shows nothing.

    What it gives is to be told the phases; until then, and where there are none, the bar has no end.
    """
    console = errors()
    if hidden or not console.is_terminal:
        yield lambda phase: None
        return
    columns = (BarColumn(20), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task(first, total=None)

    def told(phase: Phase) -> None:
        progress.update(task, description=fitting(console, phase.name), completed=phase.number - 1, total=phase.of)

    lock, ended = Lock(), Event()

    def begin() -> None:
        with lock:
            if not ended.is_set():
                progress.start()

    timer = Timer(_PATIENCE, begin)
    timer.daemon = True
    timer.start()
    try:
        yield told
    finally:
        timer.cancel()
        with lock:
            ended.set()
            progress.stop()
