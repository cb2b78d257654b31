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


def test_every_folder_says_what_lies_in_it() -> None:
    """Each package has a docstring; where nothing follows it, it lists every file and folder of the package."""
    for init in (ROOT / "src/sfumato").rglob("__init__.py"):
        text, parent = init.read_text(), init.parent
        assert text.startswith(('"""', 'r"""')), f"{init} says nothing"
        if text.count('"""') == 2 and text.endswith('"""\n'):
            inside = {path.stem for path in parent.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
            listed = {line.split()[0] for line in text.partition("\n\n")[2].partition("\n\n")[0].splitlines()} - {'"""'}
            assert listed == inside - {"__init__"}, init


def test_what_architecture_says_lies_where_is_there() -> None:
    """Every path that the page names exists, and every folder and file of the package's top has its row."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    package = ROOT / "src/sfumato"
    rows = text.split("## What lies where", 1)[1].split("## The way of a question", 1)[0]
    named = set(re.findall(r"`([\w/]+(?:\.py|/))`", rows))
    missing = {name for name in named if not any(path.exists() for path in _places(package, name))}
    assert missing == set()
    top = {path.name for path in package.iterdir() if not path.name.startswith("__") and path.suffix in ("", ".py")}
    assert {name for name in top if name not in {part.strip("/") for part in named}} == set()


def _places(package: Path, name: str) -> list[Path]:
    """Where a path of the page may lie: in the package, in a folder of it that the row is about, or from the root."""
    return [package / name, ROOT / name, *package.glob(f"*/{name}"), *package.glob(f"*/*/{name}")]


# Registries of alike files, and the top of the package, may have more files than a folder of unlike things.
REGISTRIES = {
    "": "the modules of the lowest floors, each by itself",
    "mechanisms": "one file per mechanism",
    "mechanisms/local": "one file per local mechanism, and their arithmetic",
    "statistics": "one file per statistic, and what they share",
    "attacks": "one file per attack, and what they share",
    "cli": "one file per command",
    "engines/sql": "one file per clause that is written as SQL",
    "plan/syntax": "one file per rule of the syntax",
}
LARGEST_FOLDER = 12


def test_a_folder_of_unlike_things_has_few_files() -> None:
    """And a registry that is listed is one that needs it, or holds alike files by its nature."""
    package = ROOT / "src/sfumato"
    sizes = {
        str(folder.relative_to(package)).removeprefix("."): len(set(folder.glob("*.py")) - {folder / "__init__.py"})
        for folder in [package, *(path for path in package.rglob("*") if (path / "__init__.py").exists())]
    }
    assert {name: size for name, size in sizes.items() if size > LARGEST_FOLDER and name not in REGISTRIES} == {}
    assert max(sizes.values()) <= 2 * LARGEST_FOLDER
    assert REGISTRIES.keys() <= sizes.keys()


def test_nothing_outside_statistics_compares_with_a_statistic() -> None:
    """The planner, the engines and the curator ask a statistic; none of them has a case for one, or a flag."""
    from sfumato.statistics import REGISTERED
    from sfumato.statistics.statistic import Statistic

    kinds = {kind.__name__ for each in REGISTERED for kind in type(each).__mro__ if issubclass(kind, Statistic)}
    kinds -= {"Statistic"}
    names = "|".join(sorted(kinds))
    compared = re.compile(
        rf"isinstance\([^()]*,\s*\(?[^()]*(?<![.\w])({names})\b"
        rf"|\b(is|==|!=|is not)\s+({names})\b|\bcase\s+({names})\("
        r"|\bStatistic\.[A-Z]|\bis_(centred|centered|spread|count)\b|statistic\.name\s*(==|!=|in\b)"
    )
    package = ROOT / "src/sfumato"
    found = {
        f"{path.relative_to(package)}: {match.group()}"
        for path in package.rglob("*.py")
        if "statistics" not in path.relative_to(package).parts
        for match in compared.finditer(path.read_text())
    }
    assert found == set()
    assert {"Mean", "Count", "Quantiles"} <= kinds
    for line in ("isinstance(each, Mean)", "case Count():", "if kind is Quantiles", "Statistic.MEAN", "x.is_centred"):
        assert compared.search(line), line


def test_pytest_is_not_imported_by_the_package() -> None:
    """Only by `sfumato.testing`, and there only by the suite that is used."""
    program = "import sfumato, sfumato.testing, sys; print('pytest' in sys.modules); sfumato.testing.MechanismTests"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
