"""The program with a clock of the test's: `python clocked.py PHASE STUCK arguments...`.

A bar appears after half a second. Here that time is over when PHASE begins and never before, however fast the machine
is; if STUCK is not empty, the phase does not end.
"""

from __future__ import annotations

import runpy
import sys
import time
from collections.abc import Callable
from typing import Any

from rich.progress import Progress

from sfumato.cli._shared import progress


def main(phase: str, stuck: str) -> None:
    begins: list[Callable[[], None]] = []

    class Timer:
        daemon = False

        def __init__(self, seconds: float, begin: Callable[[], None]) -> None:
            begins.append(begin)

        def start(self) -> None: ...

        def cancel(self) -> None:
            begins.clear()

    class Told(Progress):
        def update(self, *given: Any, description: str = "", **options: Any) -> None:  # type: ignore[override]
            super().update(*given, description=description, **options)
            if phase and description.startswith(phase) and begins:
                begins.pop()()
                time.sleep(3600 if stuck else 0)

    progress.Timer, progress.Progress = Timer, Told
    runpy.run_module("sfumato", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _, wanted, endless, *sys.argv[1:] = sys.argv
    main(wanted, endless)
