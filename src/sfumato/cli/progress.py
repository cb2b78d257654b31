"""A sign of life on a terminal while something lasts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sfumato.cli.screen import errors

_PATIENCE = 0.5  # seconds without a sign


@contextmanager
def working(phase: str, *, hidden: bool = False) -> Iterator[None]:
    """Show what is being done, and for how long, on standard error; what is short or no terminal shows nothing."""
    console = errors()
    if hidden or not console.is_terminal:
        yield
        return
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console, transient=True
    )
    progress.add_task(phase, total=None)
    lock, ended = threading.Lock(), threading.Event()

    def begin() -> None:
        with lock:
            if not ended.is_set():
                progress.start()

    timer = threading.Timer(_PATIENCE, begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            ended.set()
            progress.stop()
