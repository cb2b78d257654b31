"""A DuckDB file that somebody writes to: noticed before a question is charged, and kept from writers until its end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

import sfumato as sf
from sfumato.curator.curator import Curator, Options
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import EngineUnavailable, InvalidArgument
from sfumato.ledger.records.entry import Kind

COUNT = "SELECT COUNT(*) AS n FROM t"
WRITER = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.readline()"

KILLED = """
import duckdb, os, sys
database = duckdb.connect(sys.argv[1])
database.execute("INSERT INTO t VALUES (1000)")
os._exit(0)  # as a kill does: the row is in the log, and not in the file
"""


@pytest.fixture
def curator(tmp_path: Path) -> Curator:
    with duckdb.connect(str(tmp_path / "owners.db")) as database:
        database.execute("CREATE TABLE t AS SELECT range AS p FROM range(100)")
    declared = sf.table(f"duckdb:///{tmp_path}/owners.db#t", unit="p")
    return Curator({"t": declared}, budget=2, ledger=tmp_path / "ledger.db")


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Another process has the file open for writing."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "open\n"
        yield
        writer.communicate("\n", timeout=60)


def check_refused(curator: Curator, folder: Path) -> None:
    with pytest.raises(EngineUnavailable, match=r"^owners\.db cannot be opened now.*nothing was charged;") as caught:
        curator.ask(COUNT, epsilon=1)
    assert str(folder) not in str(caught.value) and caught.value.__context__ is None
    assert not [entry for entry in curator.ledger.entries() if entry.kind is Kind.RESERVED]


def test_a_database_that_another_process_writes_is_refused_before_the_charge(curator: Curator, tmp_path: Path) -> None:
    """And answered when it has closed; nobody is paused."""
    with written(tmp_path / "owners.db"):
        check_refused(curator, tmp_path)
    assert curator.ask(COUNT, epsilon=1).rows and curator.remaining().epsilon == 1


def test_a_database_that_this_process_writes_is_refused_before_the_charge(curator: Curator, tmp_path: Path) -> None:
    """The owner's notebook has it open."""
    with duckdb.connect(str(tmp_path / "owners.db")):
        check_refused(curator, tmp_path)
    assert curator.ask(COUNT, epsilon=1).rows


def test_an_answer_that_is_kept_needs_no_database(curator: Curator, tmp_path: Path) -> None:
    """Asked before, it is given while somebody writes."""
    first = curator.ask(COUNT, epsilon=1)
    with written(tmp_path / "owners.db"):
        assert curator.ask(COUNT, epsilon=1).rows == first.rows


def test_a_reader_is_in_nobodys_way(curator: Curator, tmp_path: Path) -> None:
    """Somebody who only reads, in this process."""
    with duckdb.connect(str(tmp_path / "owners.db"), read_only=True):
        assert curator.ask(COUNT, epsilon=1).rows


def test_nobody_can_write_between_charge_and_answer(curator: Curator, tmp_path: Path) -> None:
    """The lock that was had before the charge is held until the question has ended."""
    plan = curator.plan(COUNT, 1, Options())
    write = [sys.executable, "-c", "import duckdb, sys; duckdb.connect(sys.argv[1])", str(tmp_path / "owners.db")]
    with DuckdbEngine().open(plan) as ready:
        run = subprocess.run(write, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 1 and "lock" in run.stderr
        with ready.run() as running:
            running.prepare(plan.measures)
    subprocess.run(write, check=True, timeout=60)


def test_a_file_that_is_no_database_any_more_is_refused_before_the_charge(curator: Curator, tmp_path: Path) -> None:
    """Broken since it was declared."""
    (tmp_path / "owners.db").write_bytes(b"no database")
    check_refused(curator, tmp_path)


@pytest.mark.parametrize("name", ["owners.db", "link.db"])
def test_rows_that_are_only_in_the_log_are_not_read_before_the_charge(
    curator: Curator, tmp_path: Path, name: str
) -> None:
    """DuckDB replays the log when it attaches the file; whoever writes it can put the rows into the file."""
    (tmp_path / "link.db").symlink_to(tmp_path / "owners.db")
    source = f"duckdb:///{tmp_path}/{name}#t"
    asked = Curator({"t": sf.table(source, unit="p")}, budget=2, ledger=curator.ledger)
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "owners.db")], check=True, timeout=60)
    assert (tmp_path / "owners.db.wal").stat().st_size
    for one in (asked, curator):
        with pytest.raises(
            EngineUnavailable, match=r"got a log of rows.*nothing was charged; open it by .* CHECKPOINT"
        ):
            one.ask(COUNT, epsilon=1)
    assert not [entry for entry in curator.ledger.entries() if entry.kind is Kind.RESERVED]
    with pytest.raises(InvalidArgument, match="must have all its rows in the file"):
        sf.table(source, unit="p")
    with duckdb.connect(str(tmp_path / "owners.db")) as database:
        database.execute("CHECKPOINT")
    assert curator.ask(COUNT, epsilon=1).rows
