"""Programs that run where a file or a folder is mounted a second time, seen by no other process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SPEND = """
import sys
from fractions import Fraction
from ledger.asking import question
from sfumato.errors import BudgetExhausted, LedgerUnavailable
from sfumato.ledger.ledger import Ledger
answers = 0
try:
    with Ledger.open(sys.argv[1]) as ledger:
        for number in range(10):
            ledger.settle(ledger.reserve(question(f"{sys.argv[2]} {number}")), "7")
            answers += 1
except BudgetExhausted:
    pass
except LedgerUnavailable as refusal:
    print(refusal)
print(answers)
"""
CAN_MOUNT = (
    os.geteuid() == 0
    and sys.platform == "linux"
    and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
)


def run(program: str, *arguments: object) -> str:
    """What a program prints."""
    return _run([sys.executable, "-c", program, *map(str, arguments)])


def run_mounted(mounts: str, program: str, *arguments: object) -> str:
    """What a program prints that runs after these commands of a shell, which no other process sees."""
    words = ("unshare", "-m", "sh", "-ec", f'{mounts}; exec "$@"', "sh", sys.executable, "-c", program)
    return _run([*words, *map(str, arguments)])


def _run(command: list[str]) -> str:
    tests = str(Path(__file__).resolve().parents[1])
    paths = os.pathsep.join([tests, *(each for each in sys.path if each)])
    run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths})
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()
