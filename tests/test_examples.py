"""Every example runs by itself, offline, says something and draws something."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs_and_draws(example: Path, tmp_path: Path) -> None:
    """In an empty folder, with nothing but the package; the chart is a picture that can be read."""
    run = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    (chart,) = tmp_path.glob("*.svg")
    assert ElementTree.parse(chart).getroot().tag.endswith("svg")
