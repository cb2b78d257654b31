"""Run the program as a user would: as a pipe, or on a pseudo-terminal, on which questions are answered."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-m", "sfumato")
CLOCKED = (sys.executable, str(Path(__file__).with_name("clocked.py")))
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
_PATIENCE = 240.0  # seconds, also on a machine with much else to do


@dataclass(frozen=True)
class Ran:
    """What a run left behind; on a terminal everything is in `out`."""

    code: int
    out: str
    err: str = ""


def environment(**changes: str) -> dict[str, str]:
    """The environment of this process, without what would change how the program looks."""
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    kept = {name: value for name, value in kept.items() if not name.startswith("SFUMATO_")}
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [kept.get("PYTHONPATH")])])
    return {**kept, "PYTHONPATH": path, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **changes}


def run(*arguments: str, folder: Path, text: str | None = None, **changes: str) -> Ran:
    """Run as a pipe."""
    encoding = changes.get("PYTHONIOENCODING", "utf-8")
    done = subprocess.run(
        [*PROGRAM, *arguments],
        cwd=folder,
        capture_output=True,
        encoding=encoding,
        input=text or "",
        env=environment(**changes),
        timeout=_PATIENCE,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def run_binary(*arguments: str, folder: Path) -> bytes:
    """Run as a pipe whose reader wants bytes."""
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=folder, capture_output=True, env=environment(), timeout=_PATIENCE, check=True
    )
    return done.stdout


def on_terminal(
    *arguments: str,
    folder: Path,
    typed: Sequence[str] = (),
    width: int = 100,
    bar_from: str = "",
    interrupted: bool = False,
    raw: bool = False,
    **changes: str,
) -> Ran:
    """Run on a pseudo-terminal: each of `typed` is typed as soon as the program waits behind a colon.

    From the phase `bar_from` on there is a bar, and without it none: no clock decides. The phase may be `interrupted`.
    """
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        settings = (bar_from, "stuck" if interrupted else "")
        os.execvpe(CLOCKED[0], [*CLOCKED, *settings, *arguments], environment(**changes))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    waiting, seen, answered, end = list(typed), b"", 0, time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.05)
        if ready:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the program has ended
                break
            if not piece:
                break
            seen += piece
        if waiting and seen[answered:].rstrip(b" ").endswith(b":"):
            answered = len(seen)
            os.write(terminal, (waiting.pop(0) + "\n").encode())
        if interrupted and bar_from.encode() in seen:
            interrupted = False
            os.kill(child, signal.SIGINT)
    else:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    text = seen.decode("utf-8", "replace")
    return Ran(os.waitstatus_to_exitcode(status), text if raw else _CODES.sub("", text))
