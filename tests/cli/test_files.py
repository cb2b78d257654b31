"""The files that commands write."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cli.conftest import COUNT, Call
from cli.running import PROGRAM, environment

RISK = ("risk", "visits.csv", "--columns", "region,day")
ATTACK = ("attack", "linkage", "--trials", "2")
FILES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ask": (("ask", COUNT, "-e", "0.5", "--plot", "n.svg"), ("n.svg",)),
    "audit": (("audit", "halved-sensitivity", "-n", "2000", "--plot", "a.svg"), ("a.svg",)),
    "attack": ((*ATTACK, "--plot", "l.svg"), ("l.svg",)),
    "risk": ((*RISK, "--html", "r.html", "--plot", "r.svg"), ("r.html", "r.svg")),
    "survey": (("survey", "estimate", "sent.csv", "--plot", "s.svg"), ("s.svg",)),
}


def write_survey(call: Call, folder: Path) -> None:
    """A design, and what two people sent."""
    assert call("survey", "design", "--question", "smoker=yes-no", "-e", "1", "-q").code == 0
    (folder / "sent.csv").write_text("smoker\n0\n1\n")


@pytest.mark.parametrize("command", FILES)
def test_files_are_written_although_nobody_reads_what_is_printed(command: str, call: Call, folder: Path) -> None:
    """As in `sfumato risk ... --html risk.html | head -1`: the reader of this pipe has left before it begins."""
    write_survey(call, folder)
    arguments, files = FILES[command]
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=folder, env=environment(), stdout=pipe, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
    assert done.returncode == 1 and "Traceback" not in done.stderr  # it printed, and nobody read
    for file in files:
        assert (folder / file).read_text().rstrip().endswith(("</svg>", "</html>"))
