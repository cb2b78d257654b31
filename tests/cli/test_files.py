"""The files that commands write."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cli.conftest import COUNT, Call
from cli.running import PROGRAM, environment
from sfumato.cli._shared.failure import PIPE_CLOSED

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
    assert done.returncode == PIPE_CLOSED and "Traceback" not in done.stderr  # it printed, and nobody read
    for file in files:
        assert (folder / file).read_text().rstrip().endswith(("</svg>", "</html>"))


def mode(file: Path) -> int:
    return file.stat().st_mode & 0o777


def test_what_is_not_private_is_for_its_owner_alone(call: Call, folder: Path) -> None:
    """A report of risks, and an attack on one's own table; a file that is there keeps its mode."""
    before = os.umask(0o022)
    try:
        (folder / "old.html").write_text("")
        own = (*ATTACK, "--data", "visits.csv", "--columns", "person,day", "--secret", "region")
        for arguments in (
            (*RISK, "-o", "r.txt", "--html", "r.html", "--plot", "r.svg"),
            (*RISK, "--html", "old.html"),
            (*own, "--plot", "own.svg"),
            (*ATTACK, "--plot", "made-up.svg"),
            ("ask", COUNT, "-e", "0.5", "--plot", "n.svg", "-o", "n.csv"),
        ):
            assert call(*arguments, "--quiet").code == 0
    finally:
        os.umask(before)
    assert {mode(folder / name) for name in ("r.txt", "r.html", "r.svg", "own.svg")} == {0o600}
    assert {mode(folder / name) for name in ("old.html", "made-up.svg", "n.svg", "n.csv")} == {0o644}
    assert "<html" in (folder / "old.html").read_text()
