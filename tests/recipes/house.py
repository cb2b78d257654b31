"""A copy of the package, to which a sample extension is added by touching only the files that its recipe names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class House:
    """The copy, and what was touched in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.touched: set[str] = set()
        shutil.copytree(ROOT / "src" / "sfumato", folder / "sfumato")  # with what is compiled

    def add(self, path: str, text: str) -> None:
        """A new file."""
        target = self._folder / "sfumato" / path
        assert not target.exists(), f"{path} is there already"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        self.touched.add(path)

    def insert(self, path: str, after: str, line: str) -> None:
        """A new line in a registry, after the line that is named."""
        target = self._folder / "sfumato" / path
        text = target.read_text()
        assert text.count(f"{after}\n") == 1, f"{after!r} must stand in {path} once"
        target.write_text(text.replace(f"{after}\n", f"{after}\n{line}\n"))
        self.touched.add(path)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Python in the copy."""
        found = {**os.environ, "PYTHONPATH": str(self._folder)}
        command = [sys.executable, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=found, cwd=self._folder)
