"""OpenDP beside Sfumato: the same question on the same table, in a process of its own (`accuracy_opendp.py`)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

REPEAT = 40  # a release takes about half a second


@dataclass(slots=True)
class OpenDP:
    """A Python that has `opendp[polars]`; where it has not, that is said once and nothing is compared."""

    python: str
    missing: str = ""

    def error(self, table: pa.Table, truth: Any, **asked: Any) -> float | None:
        """The RMSE over `REPEAT` releases and all groups; None: it does not run here."""
        if self.missing or not self.python:
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            pa.parquet.write_table(table, path)
            script = Path(__file__).parent.with_name("accuracy_opendp.py")
            given = [self.python, str(script), str(path), json.dumps(asked), str(REPEAT)]
            said = self._run(given)
        if not said:
            return None
        return float(np.sqrt(np.mean((np.array(said) - np.asarray(truth, float)) ** 2)))

    def _run(self, given: list[str]) -> list[list[float]]:
        try:
            run = subprocess.run(
                given, env={**os.environ, "PYTHONPATH": ""}, capture_output=True, text=True, check=False
            )
        except OSError as wrong:
            self.missing = str(wrong)
            return []
        lines = run.stdout.strip().splitlines()
        if run.returncode or not lines:
            self.missing = (run.stderr.strip().splitlines() or ["nothing was said"])[-1]
            return []
        answered = json.loads(lines[-1])
        self.missing = answered.get("missing", "")
        found: list[list[float]] = answered.get("answers", [])
        return found


def beside(error: float | None) -> str:
    """What is said of a peer's error."""
    return "" if error is None else f"; OpenDP {error:.3g}"
