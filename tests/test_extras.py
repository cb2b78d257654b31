"""The default install suffices for the README; what needs an extra says which, before anything is charged."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas
import polars
import pytest

import sfumato as sf
from cli.running import ROOT, Ran, environment, run
from sfumato.errors import InvalidArgument

README = (ROOT / "README.md").read_text(encoding="utf-8")
BARE = "import sys\nfor name in ('pandas', 'polars', 'pyarrow', 'psycopg', 'pyspark'):\n    sys.modules[name] = None\n"
QUESTION = "SELECT r, COUNT(*) AS n FROM t GROUP BY r"


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A path on which Python finds none of the packages of the extras."""
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "sitecustomize.py").write_text(BARE)
    return f"{tmp_path / 'bare'}:{environment()['PYTHONPATH']}"


def python(program: str, folder: Path, path: str) -> Ran:
    """Run a program as somebody would who installed no extra."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment(PYTHONPATH=path), capture_output=True, text=True
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_the_readme_needs_no_extra(tmp_path: Path, bare: str) -> None:
    """Its programs in one go; its sessions are doctests of another test."""
    programs = [block for block in re.findall(r"^```python\n(.*?)^```", README, re.M | re.S) if ">>>" not in block]
    done = python("\n".join(programs), tmp_path, bare)
    assert done.code == 0 and "epsilon 2 of 3" in done.out, done.err
    assert len(programs) == 1


def test_demo_charts_and_ledger_need_no_extra(tmp_path: Path, bare: str) -> None:
    """Only Arrow does, and names the extra before the question is charged."""
    assert run("demo", "--keep", "city", folder=tmp_path, PYTHONPATH=bare).code == 0
    city, ask = tmp_path / "city", ("ask", "SELECT COUNT(*) AS n FROM visits", "-e", "0.25")
    assert run(*ask, "--plot", "n.png", "--format", "json", folder=city, PYTHONPATH=bare).code == 0
    shown = run(*ask, "--format", "arrow", folder=city, PYTHONPATH=bare)
    assert shown.code == 2 and "hint: pip install 'sfumato[arrow]' brings it" in shown.err


@pytest.mark.parametrize(
    ("package", "method"), [("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")]
)
def test_a_frame_without_its_library_names_the_extra(
    package: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer itself stays."""
    frame = pandas.DataFrame({"r": ["a", "b"] * 50})
    answer = sf.ask(QUESTION, data={"t": frame}, columns={"r": sf.column(keys=["a"])}, epsilon=1)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidArgument, match=rf"{method} must have {package}; .* pip install 'sfumato\[arrow\]'"):
        getattr(answer, method)()


def test_a_polars_frame_that_no_engine_could_read_is_refused_when_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine reads it through Arrow; without that a question would be charged and fail."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidArgument, match=r"a polars frame must have pyarrow; .*sfumato\[arrow\]"):
        sf.table(polars.DataFrame({"r": ["a"]}))


def test_the_extras_are_declared() -> None:
    """Those that messages name."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {re.split(r"[\[>]", each)[0] for each in extras["arrow"]} == {"pandas", "polars", "pyarrow"}
    assert [re.split(r"[\[>]", each)[0] for each in extras["postgres"]] == ["psycopg"]
    assert [re.split(r"[\[>]", each)[0] for each in extras["spark"]] == ["pyspark", "pandas", "pyarrow"]
