"""In a Jupyter notebook without ipywidgets DuckDB refuses to have its progress bar changed: nothing may stumble on it.

A real kernel is a heavy install, so a process pretends to be one the way DuckDB looks for it: `__main__` has no file,
and `IPython.get_ipython()` has the configuration of a kernel. That the pretence works is asserted first.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

LESSONS = Path(__file__).resolve().parents[1] / "docs/course"

PRETENCE = """
import sys, types
kernel = types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = types.ModuleType("IPython")
sys.modules["IPython"].get_ipython = lambda: kernel
sys.modules["ipywidgets"] = None  # an import of it fails
import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = true")
except duckdb.InvalidInputException as error:
    assert "ipywidgets" in str(error), error
else:
    raise AssertionError("DuckDB does not take this process for a notebook without ipywidgets")
"""

EVERY_DOOR = """
import pandas, sfumato as sf
frame = pandas.DataFrame({"age": [i % 90 for i in range(400)], "zip": [i % 7 for i in range(400)]})
frame.to_csv("people.csv", index=False)
frame.to_parquet("people.parquet")
duckdb.connect("people.db").execute("CREATE TABLE people AS SELECT * FROM frame").close()
ages = sf.column(type="bigint", bounds=(0, 120))
for source in ("people.csv", "people.parquet", "duckdb:///people.db#people", frame):
    report = sf.risk_report(source, columns=["age", "zip"])
    assert "400" in report.describe()
    curator = sf.Curator({"people": sf.table(source, columns={"age": ages})}, budget=sf.Guarantee(epsilon=100))
    answer = curator.ask("SELECT AVG(age) AS age FROM people", epsilon=50)
    assert 40 < answer.rows[0]["age"] < 50
assert sf.public("people.csv").size == 400
assert len(sf.keys_from("people.csv", "zip")) == 7
print("done")
"""


def _run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # by -c: a script would have a file, which a notebook has not
    return subprocess.run(
        [sys.executable, "-c", PRETENCE + code], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def test_reports_and_questions_work_in_a_notebook_without_ipywidgets(tmp_path: Path) -> None:
    """On every kind of source that DuckDB reads, and nothing is written to standard error."""
    done = _run(EVERY_DOOR, tmp_path)
    assert (done.stderr, done.stdout.splitlines()[-1:]) == ("", ["done"])


def _lessons_with_reports() -> list[Path]:
    return [page for page in sorted(LESSONS.glob("[0-9]*.md")) if "risk_report(" in page.read_text("utf-8")]


def test_some_lessons_make_reports() -> None:
    """Else the next test would run nothing."""
    assert _lessons_with_reports() != []


@pytest.mark.parametrize("lesson", _lessons_with_reports(), ids=lambda page: page.stem)
def test_a_lesson_that_reports_risk_runs_as_a_notebook(lesson: Path, tmp_path: Path) -> None:
    """Cell by cell, as `make course` writes it."""
    spec = importlib.util.spec_from_file_location("course_notebooks", LESSONS / "notebooks.py")
    assert spec is not None and spec.loader is not None
    notebooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(notebooks)
    cells = notebooks.notebook(lesson, tmp_path)["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code" and not cell["metadata"].get("tags")]
    assert any("risk_report(" in cell for cell in code)
    done = _run("\n".join([*code, "print('done')"]), tmp_path)
    assert (done.stderr, done.stdout.splitlines()[-1:]) == ("", ["done"])
