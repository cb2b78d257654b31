"""Rows that do not fit into memory: where they are while a question runs, and that they are gone afterwards."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import sfumato as sf
from sfumato.curator.curator import Curator, Options
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import EngineFailed

MARK = b"-marked-"
ROWS = 1_000_000
ASKING = Path(__file__).with_name("asking.py")
DEADLINE = 240  # seconds; only a question that hangs takes so long


class Asking:
    """A process that asks a question that spills, in a working directory and with a folder for temporary files."""

    def __init__(self, folder: Path, rows: Path) -> None:
        self.work, self.temporary = folder / "work", folder / "temporary"
        for each in (self.work, self.temporary):
            each.mkdir(exist_ok=True)
        self._command = [sys.executable, str(ASKING), str(rows), "60MB"]
        self.begin()

    def begin(self) -> None:
        """Start it; it waits until it is told to ask."""
        self.process = subprocess.Popen(
            self._command,
            cwd=self.work,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.heard() == "ready"

    def go_on(self) -> None:
        """Let it ask, or end."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def heard(self) -> str:
        """The next line it says."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def stop_when_spilled(self) -> list[Path]:
        """Watch until private rows are on disk, and stop it there; all files that were seen until then."""
        seen: set[Path] = set()
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            assert self.process.poll() is None, "it ended, and nothing was spilled"
            for file in [*files(self.work), *files(self.temporary)]:
                seen.add(file)
                if holds_rows(file):
                    self.process.send_signal(signal.SIGSTOP)
                    if holds_rows(file):  # still
                        return sorted(seen)
                    self.process.send_signal(signal.SIGCONT)
        raise AssertionError("nothing was spilled")


def files(folder: Path) -> list[Path]:
    return [Path(where) / name for where, _, names in os.walk(folder) for name in names]


def holds_rows(file: Path) -> bool:
    try:
        return MARK in file.read_bytes()
    except FileNotFoundError:  # DuckDB removes what it does not need any more
        return False


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "t.parquet"
    person = f"repeat('{MARK.decode()}', 6) || range // 2"
    duckdb.execute(f"COPY (SELECT {person} AS person, random() AS x FROM range({ROWS})) TO '{path}'")
    return path


@pytest.fixture
def asking(tmp_path: Path, rows: Path) -> Iterator[Asking]:
    process = Asking(tmp_path, rows)
    yield process
    process.process.kill()
    process.process.communicate()


def test_spilled_rows_are_their_owners_alone_and_gone_after_the_question(asking: Asking) -> None:
    """None is in the working directory; those on disk are in a folder that nobody else can enter."""
    asking.go_on()
    spilled = [file for file in asking.stop_when_spilled() if asking.temporary in file.parents]
    assert spilled and not files(asking.work)
    (folder,) = asking.temporary.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and folder.stat().st_uid == os.geteuid()
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o700 for each in folder.iterdir())
    asking.process.send_signal(signal.SIGCONT)
    assert asking.heard() == str(float(ROWS))  # it was answered, from the disk
    assert [file for file in files(asking.temporary) if file.stat().st_size] == [] and not files(asking.work)
    asking.go_on()
    assert asking.process.wait(DEADLINE) == 0
    assert list(asking.temporary.iterdir()) == [] and not files(asking.work)


def test_what_a_killed_process_left_is_removed_at_the_next_start(asking: Asking, rows: Path) -> None:
    """Not before it is dead; and of what else is there, nothing."""
    foreign = asking.temporary / "sfumato-spill-other"
    foreign.mkdir()
    asking.go_on()
    asking.stop_when_spilled()
    (folder,) = (each for each in asking.temporary.iterdir() if each != foreign)
    start = [sys.executable, "-c", f"import sfumato as sf; sf.Curator({{'t': sf.table({str(rows)!r})}}, budget=1)"]
    environment = {**os.environ, "TMPDIR": str(asking.temporary)}
    subprocess.run(start, env=environment, check=True, timeout=DEADLINE)
    assert any(map(holds_rows, files(folder)))  # the process that made it lives
    asking.process.kill()
    asking.process.wait(DEADLINE)
    assert any(map(holds_rows, files(folder)))
    subprocess.run(start, env=environment, check=True, timeout=DEADLINE)
    assert not folder.exists() and list(asking.temporary.iterdir()) == [foreign]


def test_every_question_has_a_folder_of_its_own_outside_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For files, frames and databases; threads and memory are set, and no SQL changes any of it."""
    monkeypatch.chdir(tmp_path)
    duckdb.execute("COPY (SELECT range AS p FROM range(9)) TO 't.parquet'")
    with duckdb.connect("t.db") as database:
        database.execute("CREATE TABLE t AS SELECT range AS p FROM range(9)")
    sources = ["t.parquet", "duckdb:///t.db#t", duckdb.sql("SELECT range AS p FROM range(9)").to_arrow_table()]
    folders = set()
    for source in sources:
        curator = Curator({"t": sf.table(source, unit="p")}, budget=9)
        with DuckdbEngine().run(curator.plan("SELECT COUNT(*) AS n FROM t", 1, Options())) as run:
            connection = run.session.connection  # type: ignore[attr-defined]
            (folder,) = connection.execute("SELECT current_setting('temp_directory')").fetchone()
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700 == stat.S_IMODE(os.stat(Path(folder).parent).st_mode)
            assert os.path.isabs(folder) and tmp_path not in Path(folder).parents
            for change in ("temp_directory = '.tmp'", "memory_limit = '1GB'", "threads = 9"):
                with pytest.raises(duckdb.InvalidInputException, match="locked"):
                    connection.execute(f"SET {change}")
            folders.add(folder)
    assert len(folders) == 3 and sorted(os.listdir(tmp_path)) == ["t.db", "t.parquet"]


def test_a_disk_that_is_full_is_the_constant_failure(tmp_path: Path, rows: Path) -> None:
    """What does not fit into memory and onto disk follows from the data, and must not be told apart."""
    declared = sf.table(str(rows), unit="person", columns={"x": sf.column(bounds=(0, 1))})
    resources = sf.Resources(2, "40MB", temp_directory=tmp_path, max_temp_directory_size="100KB")
    curator = Curator({"t": declared}, budget=9, resources=resources)
    with pytest.raises(EngineFailed, match=r"^the engine failed on this question; it is charged") as caught:
        curator.ask("SELECT AVG(x) AS a FROM t", epsilon=1)
    assert caught.value.__context__ is None and curator.remaining().epsilon == 8
    assert not any(map(holds_rows, files(tmp_path)))
