"""The house itself: sizes, imports, and what the package says of itself."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import sfumato

ROOT = Path(__file__).resolve().parents[1]


def test_importing_sfumato_imports_no_heavy_part() -> None:
    """scipy, the command line and the extras are imported when used (bench/start.py measures the time)."""
    program = "import sfumato, sys; print(sorted({'scipy', 'typer', 'rich', 'pandas', 'duckdb'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_no_file_is_longer_than_400_lines() -> None:
    """A longer file holds a second concept."""
    long = [path.name for path in ROOT.glob("[st][re][cs]*/**/*.py") if len(path.read_text().splitlines()) > 400]
    assert long == []


def test_randomness_has_one_door() -> None:
    """Only entropy.py touches the operating system's randomness; nothing in src uses another generator."""
    forbidden = re.compile(r"\b(import random\b|from random\b|np\.random|numpy\.random|import secrets|urandom)")
    users = {path.name for path in (ROOT / "src").rglob("*.py") if forbidden.search(path.read_text())}
    assert users == {"entropy.py"}


def test_duckdb_has_one_door() -> None:
    """Only embedded/database.py makes a database: all others would spill into the working directory."""
    ways = r"duckdb\.(connect|sql|query|execute|from_\w+|read_\w+|default_connection)|from duckdb import"
    making = re.compile(rf"\b({ways})\b")
    users = {path.name for path in (ROOT / "src").rglob("*.py") if making.search(path.read_text())}
    assert users == {"database.py"}


def test_the_version_is_said_once_in_each_place() -> None:
    """pyproject.toml, the package and the changelog agree."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert declared == sfumato.__version__
    assert f"## {declared}" in (ROOT / "CHANGELOG.md").read_text()


def test_make_refuses_an_old_python_in_one_line(tmp_path: Path) -> None:
    """The recipe's check, run as if the version were 3.10."""
    (check,) = re.findall(r"""-c '(import sys; .*)'$""", (ROOT / "Makefile").read_text(), re.MULTILINE)
    old = [sys.executable, "-c", check.replace("import sys;", "import sys; sys.version_info = (3, 10);")]
    run = subprocess.run(old, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.count("\n") == 1 and "3.11 or newer" in run.stderr
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_the_constraints_name_no_host() -> None:
    """Pinned versions only: name==version, nothing else."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.+-]+", line) for line in lines)
    assert len(lines) > 20
