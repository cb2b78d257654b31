"""A curator and its durable ledger: charged before the data, kept after it, and nothing is lost in between."""

from __future__ import annotations

import datetime
import logging
import math
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from sfumato.curator.answers.answer import Answer
from sfumato.curator.answers.stored_answer import read_answer, write_answer
from sfumato.curator.curator import Curator
from sfumato.dataset.column import column
from sfumato.dataset.keys import dates
from sfumato.dataset.table import Table, table
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import (
    BudgetExhausted,
    EngineFailed,
    EngineTimeout,
    InvalidArgument,
    LedgerBroken,
    LedgerUnavailable,
    NotGranted,
    Paused,
    Refused,
)
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee

COUNT = "SELECT COUNT(*) AS n FROM visits"


def visits(folder: Path, **more: Any) -> Table:
    days = [datetime.date(2026, 1, 1 + n % 4) for n in range(200)]
    frame = pd.DataFrame({"pid": [n % 40 for n in range(200)], "day": days})
    path = folder / "visits.parquet"
    if not path.exists():
        frame.to_parquet(path)
    return table(path, unit="pid", columns={"day": column(type="date", keys=dates("2026-01-01", "2026-01-04"))}, **more)


def curator(folder: Path, budget: float = 2, **more: Any) -> Curator:
    return Curator({"visits": visits(folder)}, budget=budget, ledger=folder / "ledger.db", **more)


def test_what_was_spent_is_known_to_the_next_process(tmp_path: Path) -> None:
    """Two curators on one file share one budget, and the chain is whole."""
    curator(tmp_path).ask(COUNT, epsilon=1.5)
    again = curator(tmp_path)
    assert again.remaining().epsilon == 0.5
    with pytest.raises(BudgetExhausted, match=r"1 requested, 0\.5 left"):
        again.ask(COUNT, epsilon=1)
    assert again.ledger.verify().entries == 4  # granted, declared, reserved, settled


def test_the_same_question_gets_the_same_answer_free(tmp_path: Path) -> None:
    """However it is spelled, as long as plan, data version, declaration and promise are the same."""
    first = curator(tmp_path).ask("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", epsilon=1)
    again = curator(tmp_path).ask("select day, count(*) as n from VISITS group by 1", epsilon=1.0)
    assert again.rows == first.rows and again.intervals == first.intervals and again.guarantee == first.guarantee
    assert again.receipt.id == first.receipt.id and "asked before" in again.receipt.notes[-1]
    assert curator(tmp_path).remaining().epsilon == 1


@pytest.mark.parametrize(
    "other",
    (
        {"epsilon": 0.25}, {"confidence": 0.9}, {"max_rows_per_unit": 3}, {"tidy": True}, {"simultaneous": True},
        {"analyst": "ben"},
    ),
)  # fmt: skip
def test_another_promise_is_another_question(tmp_path: Path, other: dict[str, Any]) -> None:
    """Epsilon, confidence, limit, form or analyst: it is charged."""
    asked = curator(tmp_path)
    asked.ask(COUNT, epsilon=0.5)
    asked.ask(COUNT, **{"epsilon": 0.5, **other})
    assert sum(entry.kind is Kind.RESERVED for entry in asked.ledger.entries()) == 2


def test_other_data_or_another_declaration_makes_answers_stale(tmp_path: Path) -> None:
    """A new version label, another limit: a new answer, and the budget is not refilled."""
    curator(tmp_path).ask(COUNT, epsilon=0.5)
    for more in ({"version": "2"}, {"max_rows_per_unit": 5}, {"version": "2", "max_rows_per_unit": 6}):
        declared = visits(tmp_path, **more)
        Curator({"visits": declared}, budget=2, ledger=tmp_path / "ledger.db").ask(COUNT, epsilon=0.5)
    assert curator(tmp_path).remaining().epsilon == 0


def test_an_answer_is_the_same_after_it_was_kept() -> None:
    """Dates, times, truth values, missing values and infinite ends come back as they were."""
    frame = pd.DataFrame({"d": pd.to_datetime(["2026-01-01"] * 9), "b": [True] * 9, "k": [1] * 9})
    keys = {"d": column(keys=[datetime.datetime(2026, 1, 1)]), "b": column(), "k": column(keys=[1, 2])}
    asked = Curator({"t": table(frame, columns=keys)}, budget=9)
    answer = asked.ask("SELECT d, b, k, COUNT(*) AS n, NULL AS z FROM t GROUP BY d, b, k", epsilon=1)
    odd = Answer(**{name: getattr(answer, name) for name in Answer.__dataclass_fields__})
    odd.intervals["n"][0] = (-math.inf, math.inf)
    kept = read_answer(write_answer(odd), answer.receipt.remaining)
    assert kept.rows == odd.rows and kept.intervals == odd.intervals and kept.columns == odd.columns
    assert kept.guarantee == odd.guarantee and kept.explain() == odd.explain() and kept.confidence == odd.confidence


class Failing:
    """An engine that fails midway, or is interrupted."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    @contextmanager
    def run(self, plan: PricedPlan) -> Iterator[Any]:
        with DuckdbEngine().run(plan):
            raise self.error
        yield


@pytest.mark.parametrize(
    ("error", "seen", "reason"),
    (
        (ValueError("Alice has HIV"), EngineFailed, "engine"),
        (EngineTimeout("slow"), EngineFailed, "engine"),
        (KeyboardInterrupt(), KeyboardInterrupt, "cancelled"),
    ),
)
def test_whatever_ends_a_question_it_is_charged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: BaseException, seen: type[BaseException], reason: str
) -> None:
    """Engine error, timeout, cancel: charged, noted as failed, and the owner's log has no value."""
    asked = curator(tmp_path, engine=Failing(error))
    with caplog.at_level(logging.INFO, "sfumato.owner"), pytest.raises(seen):
        asked.ask(COUNT, epsilon=1)
    *_, reserved, failed = asked.ledger.entries()
    assert (reserved.kind, failed.kind, failed.details["reason"]) == (Kind.RESERVED, Kind.FAILED, reason)
    assert asked.remaining().epsilon == 1
    assert "'visits'" in caplog.text and reason in caplog.text and "Alice" not in caplog.text


def test_a_question_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """The engine is interrupted; it is charged, and the message is the constant one."""
    path = tmp_path / "long.parquet"
    duckdb.execute(f"COPY (SELECT range // 3 AS pid, random() AS x FROM range(4000000)) TO '{path}'")
    declared = table(path, unit="pid", columns={"x": column(bounds=(0, 1))})
    asked = Curator({"t": declared}, budget=2, ledger=tmp_path / "ledger.db", engine=DuckdbEngine(timeout=0.05))
    with pytest.raises(EngineFailed, match="the engine failed on this question; it is charged"):
        asked.ask("SELECT AVG(x) AS a FROM t", epsilon=1)
    assert [entry.details["reason"] for entry in asked.ledger.entries() if entry.kind is Kind.FAILED] == ["timeout"]


def test_a_failure_pauses_an_analyst_until_the_owner_looked(tmp_path: Path) -> None:
    """Where several analysts ask: that a question failed is itself a bit."""
    good = curator(tmp_path)
    for analyst in ("ana", "ben"):
        good.ledger.grant("everyone", Guarantee(1), analyst=analyst)
    bad = curator(tmp_path, engine=Failing(ValueError()))
    with pytest.raises(EngineFailed):
        bad.ask(COUNT, epsilon=0.1, analyst="ana")
    with pytest.raises(Paused, match="owner looks"):
        good.ask(COUNT, epsilon=0.1, analyst="ana")
    assert good.ask(COUNT, epsilon=0.1, analyst="ben").rows
    good.ledger.resume("ana", "visits")
    assert good.ask(COUNT, epsilon=0.1, analyst="ana").rows
    with pytest.raises(NotGranted):
        good.ask(COUNT, epsilon=0.1, analyst="eve")


def test_a_failure_pauses_an_only_analyst(tmp_path: Path) -> None:
    """Nobody was named: the one who asks without a name waits as well, also in a new process with the same ledger."""
    with pytest.raises(EngineFailed):
        curator(tmp_path, engine=Failing(ValueError())).ask(COUNT, epsilon=0.1)
    good = curator(tmp_path)
    with pytest.raises(Paused, match="analyst 'analyst' must wait on table 'visits'"):
        good.ask(COUNT, epsilon=0.1)
    good.ledger.resume("analyst", "visits")
    assert good.ask(COUNT, epsilon=0.1).rows


def test_one_source_belongs_to_one_population(tmp_path: Path) -> None:
    """The same file declared for other people shares no second budget, whatever its name or link."""
    curator(tmp_path).ask(COUNT, epsilon=2)
    link = tmp_path / "other.parquet"
    link.symlink_to(tmp_path / "visits.parquet")
    with pytest.raises(InvalidArgument, match="belongs to 'everyone'"):
        Curator({"t": table(link)}, budget=9, ledger=tmp_path / "ledger.db", population="others")
    again = Curator({"t": table(link, unit="pid")}, budget=2, ledger=tmp_path / "ledger.db")
    with pytest.raises(BudgetExhausted):
        again.ask("SELECT COUNT(*) AS n FROM t", epsilon=0.1)


def test_another_budget_than_the_ledgers_is_refused(tmp_path: Path) -> None:
    """Who raises it says so by grant; a number in a script does not."""
    curator(tmp_path)
    with pytest.raises(Refused, match=r"says epsilon 3, the ledger says 2"):
        curator(tmp_path, budget=3)
    curator(tmp_path).ledger.grant("everyone", Guarantee(3))
    assert curator(tmp_path, budget=3).remaining().epsilon == 3


def test_an_answer_that_cannot_be_kept_is_given_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is paid for; only the replay is lost."""
    asked = curator(tmp_path)

    def full(*_: object) -> None:
        raise LedgerUnavailable("the disk is full")

    monkeypatch.setattr(Ledger, "settle", full)
    answer = asked.ask(COUNT, epsilon=1)
    assert answer.rows and "could not be kept" in answer.receipt.notes[-1]


def test_no_answer_leaves_before_its_reservation_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger that cannot be written: nothing is read, nothing is charged."""
    asked = curator(tmp_path, engine=Failing(AssertionError("the data was touched")))

    def full(*_: object) -> None:
        raise LedgerUnavailable("the disk is full")

    monkeypatch.setattr(Ledger, "reserve", full)
    with pytest.raises(LedgerUnavailable):
        asked.ask(COUNT, epsilon=1)
    assert asked.remaining().epsilon == 2


def test_many_threads_share_one_budget(tmp_path: Path) -> None:
    """Twelve threads, ten answers: exactly ten, and ten entries."""
    asked = curator(tmp_path, budget=1)
    outcomes: list[str] = []

    def ask(number: int) -> None:
        try:
            asked.ask(COUNT, epsilon=0.1, analyst=f"analyst {number}")
            outcomes.append("answer")
        except BudgetExhausted:
            outcomes.append("refused")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(outcomes) == ["answer"] * 10 + ["refused"] * 2
    assert asked.ledger.verify().balance.open == {}


def test_a_receipt_shows_the_head_that_a_later_copy_must_hold(tmp_path: Path) -> None:
    """A restored older backup is found out by a receipt that is newer."""
    asked = curator(tmp_path)
    asked.ledger.backup(tmp_path / "backup.jsonl")
    receipt = asked.ask(COUNT, epsilon=1).receipt
    older = Ledger.restore(tmp_path / "backup.jsonl", tmp_path / "restored.db")
    assert asked.ledger.verify(head=receipt.id)
    with pytest.raises(LedgerBroken, match="older"):
        older.verify(head=receipt.id)
    assert older.merge(tmp_path / "ledger.db") == 1
    assert older.remaining("everyone").epsilon == 1


def test_a_ledger_in_memory_is_not_used_by_a_child(tmp_path: Path) -> None:
    """A copy of it would have its budget a second time."""
    asked = Curator({"visits": visits(tmp_path)}, budget=1)
    child = os.fork()
    if child == 0:
        try:
            asked.ask(COUNT, epsilon=1)
        except LedgerUnavailable:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert asked.ask(COUNT, epsilon=1).rows


def test_an_budget_is_for_one_relation_and_its_own_unit(tmp_path: Path) -> None:
    """Losses of add-remove and replace do not add up, and a promise to a person is not one to a row."""
    replace_one = visits(tmp_path, neighbors="replace")
    for tables, budget in (
        ({"a": visits(tmp_path), "b": replace_one}, Guarantee(1)),
        ({"a": visits(tmp_path)}, Guarantee(1, neighbors="replace")),
        ({"a": visits(tmp_path)}, Guarantee(1, unit="household")),
    ):
        with pytest.raises(InvalidArgument):
            Curator(tables, budget=budget)
    assert Curator({"a": replace_one}, budget=Guarantee(1, neighbors="replace", unit="pid")).tables


def test_files_that_a_glob_finds_later_must_be_of_the_same_people(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A link to another population's file: refused before anything is charged; a hard link is refused at once."""
    theirs, ours = tmp_path / "theirs.parquet", tmp_path / "ours"
    ours.mkdir()
    for path in (theirs, ours / "a.parquet"):
        pd.DataFrame({"pid": [1, 2]}).to_parquet(path)
    ledger = Ledger.open(tmp_path / "ledger.db")
    Curator({"t": table(theirs)}, budget=1, ledger=ledger, population="they")
    asked = Curator({"t": table(ours / "*.parquet")}, budget=1, ledger=ledger, population="we")
    (ours / "b.parquet").symlink_to(theirs)
    with pytest.raises(Refused, match="nothing was charged; the owner's log says which") as refusal:
        asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=0.1)
    assert "parquet" not in str(refusal.value) and refusal.value.__context__ is None  # a name may be a person's
    assert "belongs to 'they'" in caplog.text
    assert asked.remaining().epsilon == 1
    os.link(theirs, tmp_path / "hard.parquet")
    with pytest.raises(InvalidArgument, match="hard link"):
        Curator({"t": table(tmp_path / "hard.parquet")}, budget=1, ledger=ledger, population="others")


def test_another_file_or_frame_of_the_same_name_gets_an_answer_of_its_own(tmp_path: Path) -> None:
    """The same question of the same declaration on other data is charged, and so is one of a curator without replay."""
    for number, name in ((10, "a"), (5_000, "b")):
        pd.DataFrame({"pid": range(number)}).to_parquet(tmp_path / f"{name}.parquet")
    sources = [tmp_path / "a.parquet", tmp_path / "b.parquet", pd.DataFrame({"pid": [1]}), pd.DataFrame({"pid": [2]})]
    for source in sources:
        Curator({"t": table(source)}, budget=9, ledger=tmp_path / "l.db").ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
    for _ in "12":
        asked = Curator({"t": table(sources[0])}, budget=9, ledger=tmp_path / "l.db", replay=False)
        asked.ask("SELECT COUNT(*) AS n FROM t", epsilon=1)
    assert asked.remaining().epsilon == 9 - len(sources) - 2


def test_a_ledger_that_was_replaced_under_a_curator_is_noticed(tmp_path: Path) -> None:
    """What is written into a file without a name is lost, so nothing is."""
    asked = curator(tmp_path)
    for path in tmp_path.glob("ledger.db*"):
        path.unlink()
    with pytest.raises(LedgerUnavailable, match="gone"):
        asked.ask(COUNT, epsilon=1)
    assert curator(tmp_path).ask(COUNT, epsilon=1).rows
    with pytest.raises(LedgerBroken, match="replaced"):
        asked.ask(COUNT, epsilon=1)


def test_a_stored_answer_that_was_changed_is_not_given(tmp_path: Path) -> None:
    """Its digest is in the chain."""
    curator(tmp_path).ask(COUNT, epsilon=1)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as database:
        (change,) = database.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%UPDATE%payload%'"
        )
        database.execute(f"DROP TRIGGER {change[0]}")  # whoever may write to the file may do that
        database.execute("UPDATE sfumato_payload SET text = replace(text, 'epsilon', 'epsilom')")
        database.commit()
    with pytest.raises(LedgerBroken, match="was changed"):
        curator(tmp_path).ask(COUNT, epsilon=1)


def test_what_a_copy_declared_or_revoked_holds_after_a_merge(tmp_path: Path) -> None:
    """Merging takes over whose a source is, and who may not ask any more."""
    ledger = Ledger.open(tmp_path / "ledger.db")
    ledger.grant("we", Guarantee(1), analyst="ana")
    ledger.backup(tmp_path / "copy.db")
    with Ledger.open(tmp_path / "copy.db") as copy:
        copy.declare("they", ["x.parquet"])
        copy.revoke("we", analyst="ana")
    ledger.merge(tmp_path / "copy.db")
    with pytest.raises(InvalidArgument, match="belongs to 'they'"):
        ledger.declare("we", ["x.parquet"])
    assert ledger.balance().population("we").analyst("ana").revoked
    before = ledger.head
    ledger.merge(tmp_path / "copy.db")
    assert ledger.head == before and ledger.verify()
