"""What the owner may set: threads, memory and disk of DuckDB, in Python and in the project file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sfumato as sf
from sfumato import project
from sfumato.curator.curator import Curator, Options
from sfumato.embedded import resources
from sfumato.embedded.database import connected
from sfumato.errors import InvalidArgument, UnknownName

REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"threads": 0}, "threads must be a whole number of at least 1; got 0"),
    ({"threads": 1.5}, r"threads must be a whole number of at least 1; got 1\.5"),
    ({"threads": True}, "threads must be a whole number"),
    ({"threads": 10**6}, "threads must be at most 1024"),
    ({"memory_limit": 4}, "memory_limit must be a size with its unit; got 4; for example '4GB'"),
    ({"memory_limit": "4"}, "memory_limit must be a size with its unit"),
    ({"memory_limit": "-4GB"}, "memory_limit must be a size with its unit"),
    ({"memory_limit": "4GB'; SET x = '"}, "memory_limit must be a size with its unit"),
    ({"memory_limit": "1e400GB"}, "memory_limit must be a size with its unit"),
    ({"memory_limit": "1MB"}, "memory_limit must be 32MB or more"),
    ({"max_temp_directory_size": "much"}, "max_temp_directory_size must be a size with its unit"),
    ({"temp_directory": ""}, "temp_directory must be a folder"),
    ({"temp_directory": 7}, "temp_directory must be a folder"),
    ({"temp_directory": "a\0b"}, "temp_directory must be a folder"),
    ({"temp_directory": "/no/such/folder"}, "temp_directory must be a folder that is there"),
)


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], said: str) -> None:
    """With what was expected, what came and what helps."""
    with pytest.raises(InvalidArgument, match=said):
        sf.Resources(**given)


def settings(plan: Any, curator: Curator) -> tuple[Any, ...]:
    """What DuckDB has while a question runs."""
    with curator._asking.engine.run(plan) as run:
        connection = run.session.connection  # type: ignore[attr-defined]
        names = ("threads", "memory_limit", "max_temp_directory_size", "temp_directory")
        found: tuple[Any, ...] = connection.execute(
            f"SELECT {', '.join(f'''current_setting('{name}')''' for name in names)}"
        ).fetchone()
        return found


def test_a_question_has_what_the_owner_set(tmp_path: Path) -> None:
    """In Python and in the project file alike; a relative folder starts beside the file."""
    duckdb.execute(f"COPY (SELECT range AS p FROM range(9)) TO '{tmp_path / 't.parquet'}'")
    (tmp_path / "scratch").mkdir()
    (tmp_path / "sfumato.toml").write_text(
        """
[resources]
threads = 1
memory_limit = "100MB"
temp_directory = "scratch"
max_temp_directory_size = "2 GiB"
[budget]
epsilon = 1.0
[tables.t]
source = "t.parquet"
unit = "p"
""",
        encoding="utf-8",
    )
    loaded = project.load(tmp_path)
    chosen = sf.Resources(1, "100MB", tmp_path / "scratch", "2 GiB")
    assert loaded.resources == chosen
    for curator in (loaded.curator(), Curator({"t": loaded.tables["t"]}, budget=9, resources=chosen)):
        plan = curator.plan("SELECT COUNT(*) AS n FROM t", 1, Options())
        threads, memory, disk, folder = settings(plan, curator)
        assert (threads, memory, disk) == (1, "95.3 MiB", "2.0 GiB")
        assert Path(folder).parent.parent == tmp_path / "scratch"


def test_another_curator_has_its_own(tmp_path: Path) -> None:
    """A database that is kept for the next question is not that of other limits."""
    duckdb.execute(f"COPY (SELECT range AS p FROM range(9)) TO '{tmp_path / 't.parquet'}'")
    declared = sf.table(tmp_path / "t.parquet", unit="p")
    for threads in (1, 3):
        curator = Curator({"t": declared}, budget=9, resources=sf.Resources(threads=threads))
        assert settings(curator.plan("SELECT COUNT(*) AS n FROM t", 1, Options()), curator)[0] == threads


@pytest.mark.parametrize(
    ("section", "said", "kind"),
    (
        ("thread = 2", "resources.thread: unknown key", UnknownName),
        ("threads = 'two'", "resources: threads must be a whole number", InvalidArgument),
        ("memory_limit = 4", "resources: memory_limit must be a size", InvalidArgument),
        ("temp_directory = ['x']", "resources: temp_directory: expected a text", InvalidArgument),
        ("temp_directory = 'nowhere'", "resources: temp_directory must be a folder that is there", InvalidArgument),
    ),
)
def test_a_mistake_in_the_project_file_is_told_with_its_place(
    tmp_path: Path, section: str, said: str, kind: type[InvalidArgument]
) -> None:
    """A misspelled limit would be no limit."""
    (tmp_path / "t.csv").write_text("p\n1\n", encoding="utf-8")
    text = f"[resources]\n{section}\n[budget]\nepsilon = 1.0\n[tables.t]\nsource = 't.csv'\n"
    (tmp_path / "sfumato.toml").write_text(text, encoding="utf-8")
    with pytest.raises(kind, match=said):
        project.load(tmp_path)


def test_a_curator_takes_nothing_else(tmp_path: Path) -> None:
    """A mapping would be passed over."""
    (tmp_path / "t.csv").write_text("p\n1\n", encoding="utf-8")
    with pytest.raises(InvalidArgument, match=r"resources must be sf\.Resources"):
        Curator({"t": sf.table(tmp_path / "t.csv")}, budget=1, resources={"threads": 2})  # type: ignore[arg-type]


def test_threads_and_memory_are_always_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the processors and half the memory that this process may use, whatever the machine has."""
    monkeypatch.setattr(resources, "_memory", lambda: 10**9)
    with connected() as engine:
        assert engine.execute("SELECT current_setting('memory_limit'), current_setting('threads')").fetchone() == (
            "476.8 MiB",
            len(os.sched_getaffinity(0)),
        )


def test_the_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a limit that is none does not."""
    (tmp_path / "small").write_text("123456789\n", encoding="ascii")
    (tmp_path / "none").write_text("max\n", encoding="ascii")
    whole = resources._memory()
    monkeypatch.setattr(resources, "_CGROUPS", (str(tmp_path / "none"), str(tmp_path / "missing")))
    assert resources._memory() >= whole
    monkeypatch.setattr(resources, "_CGROUPS", (str(tmp_path / "small"), str(tmp_path / "none")))
    assert resources._memory() == 123456789
