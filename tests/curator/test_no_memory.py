"""No memory and no threads: a question ends, and what could not begin is not charged."""

from __future__ import annotations

import _thread
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sfumato as sf
from sfumato import threads
from sfumato.curator.curator import Curator
from sfumato.errors import EngineUnavailable, LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind

COUNT = "SELECT AVG(x) AS a FROM t"
DEADLINE = 120  # seconds; an answer or a refusal takes one or two
SHORT = """
import resource, sys
import sfumato as sf
from sfumato.errors import SfumatoError
curator = sf.Curator({"t": sf.table("t.parquet", unit="p", columns={"x": sf.column(bounds=(0, 1))})}, budget=9,
                     ledger="ledger.db", resources=sf.Resources(threads=2))
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(sys.argv[1]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    curator.ask("SELECT AVG(x) AS a FROM t", epsilon=1)
    said = "answered"
except SfumatoError as error:
    said = type(error).__name__
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
kinds = [entry.kind.value for entry in curator.ledger.entries()]
print(said, 9 - curator.remaining().epsilon, kinds.count("reserved"), kinds.count("failed"), kinds.count("settled"))
"""


@pytest.fixture
def table_of(tmp_path: Path) -> Path:
    path = tmp_path / "t.parquet"
    duckdb.execute(f"COPY (SELECT range // 3 AS p, random() AS x FROM range(300000)) TO '{path}'")
    return path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads how much memory it has from /proc")
@pytest.mark.parametrize("megabytes", (0, 1, 2, 4, 6, 8, 40, 150))
def test_a_question_without_memory_ends(table_of: Path, megabytes: int) -> None:
    """However little is left: an answer, a refusal that costs nothing, or a failure that is charged and noted.

    Of a question that was charged, either the answer or the failure is in the ledger: who reserved has the threads to
    end it. Where a thread of DuckDB's finds no memory for its first step, the C library ends the process: then what was
    reserved stays spent.
    """
    run = subprocess.run(
        [sys.executable, "-c", SHORT, str(megabytes)],
        cwd=table_of.parent,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    if "cannot allocate memory for thread-local data: ABORT" in run.stderr:  # glibc's own words, in rtld
        with Ledger.open(table_of.parent / "ledger.db", create=False) as ledger:
            reserved = [entry for entry in ledger.entries() if entry.kind is Kind.RESERVED]
            assert ledger.remaining("everyone").epsilon == 9 - len(reserved) and len(reserved) < 2
        return
    assert run.returncode == 0, run.stderr
    said, *counts = run.stdout.split()
    assert (said, counts) in (
        ("answered", ["1", "1", "0", "1"]),
        ("EngineUnavailable", ["0", "0", "0", "0"]),
        ("LedgerUnavailable", ["0", "0", "0", "0"]),
        ("EngineFailed", ["1", "1", "1", "0"]),
    )


def never(*_: Any) -> int:
    raise RuntimeError("can't start new thread")


def silent(*_: Any) -> int:
    """A thread that dies before its first step."""
    return 7


@pytest.mark.parametrize("broken", (never, silent))
def test_a_question_whose_threads_cannot_start_is_refused_before_the_charge(
    table_of: Path, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    """Those of the engine; the ledger has its own already, since it was opened."""
    curator = Curator({"t": sf.table(table_of, unit="p", columns={"x": sf.column(bounds=(0, 1))})}, budget=9)
    with monkeypatch.context() as patch:
        patch.setattr(threads, "PATIENCE", 0.01)
        patch.setattr(_thread, "start_new_thread", broken)
        with pytest.raises(EngineUnavailable, match=r"the engine needs threads; .* nothing was charged; free memory"):
            curator.ask(COUNT, epsilon=1)
    assert not [entry for entry in curator.ledger.entries() if entry.kind is Kind.RESERVED]
    assert curator.ask(COUNT, epsilon=1).rows and curator.remaining().epsilon == 8


def test_a_ledger_whose_thread_cannot_start_refuses(monkeypatch: pytest.MonkeyPatch, table_of: Path) -> None:
    """Nothing is asked of the data without it."""
    curator = Curator({"t": sf.table(table_of, unit="p", columns={"x": sf.column(bounds=(0, 1))})}, budget=9)
    with monkeypatch.context() as patch:
        patch.setattr(threads, "_idle", [])
        patch.setattr(threads, "PATIENCE", 0.01)
        patch.setattr("sfumato.engines.guard.start", lambda work: True)
        patch.setattr(_thread, "start_new_thread", silent)
        with pytest.raises(LedgerUnavailable, match="none could be started; nothing was written; free memory"):
            curator.ask(COUNT, epsilon=1)
    assert curator.remaining().epsilon == 9


def test_what_was_begun_is_ended_without_new_threads(monkeypatch: pytest.MonkeyPatch, table_of: Path) -> None:
    """After the reservation no thread of ours is started any more."""
    curator = Curator({"t": sf.table(table_of, unit="p", columns={"x": sf.column(bounds=(0, 1))})}, budget=9)
    reserve = curator.ledger.reserve

    def reserved(request: Any) -> Any:
        held = reserve(request)
        monkeypatch.setattr(_thread, "start_new_thread", never)
        return held

    monkeypatch.setattr(curator.ledger, "reserve", reserved)
    assert curator.ask(COUNT, epsilon=1).rows
    assert [entry.kind for entry in curator.ledger.entries()][-1] is Kind.SETTLED
