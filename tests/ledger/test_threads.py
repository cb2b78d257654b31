"""Many threads of one process share transactions, and none gets a result before it is durable."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from ledger.asking import question, reserve
from sfumato.errors import BudgetExhausted, LedgerUnavailable, SfumatoError
from sfumato.ledger import operations
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind
from sfumato.ledger.records.request import Request
from sfumato.ledger.store.combine import Combiner, Ticket
from sfumato.privacy.guarantee import Guarantee

THREADS = 50
QUESTIONS = 1000 if os.environ.get("SFUMATO_SOAK") else 200
PATIENCE = 120


def in_threads(*works: object) -> None:
    """Run functions side by side and wait for all of them."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "a thread hangs"


def test_fifty_threads_with_hundreds_of_questions_each_neither_hang_nor_overspend(tmp_path: Path) -> None:
    """Three fifths of them fit: exactly those are admitted."""
    allowed = THREADS * QUESTIONS * 3 // 5
    outcomes: Counter[str] = Counter()
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(epsilon=Fraction(allowed, 1000)))

        def ask(name: str) -> None:
            mine: Counter[str] = Counter()
            for number in range(QUESTIONS):
                try:
                    ledger.settle(reserve(ledger, question(f"{number}", analyst=name, epsilon=Fraction(1, 1000))), "7")
                    mine["admitted"] += 1
                except BudgetExhausted:
                    mine["refused"] += 1
            outcomes.update(mine)

        in_threads(*(lambda name=f"analyst {n}": ask(name) for n in range(THREADS)))
        assert outcomes == {"admitted": allowed, "refused": THREADS * QUESTIONS - allowed}
        balance = ledger.balance()
        written = Counter(entry.kind for entry in ledger.entries())
        assert written[Kind.RESERVED] == written[Kind.SETTLED] == allowed and not balance.open
        assert balance.population("people").account.spent.epsilon == allowed * 10**6


def test_a_transaction_is_shared_and_a_refusal_in_it_disturbs_nobody(tmp_path: Path) -> None:
    """While one transaction is under way the others gather for the next."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        commits, reached, gate, refused = [], threading.Event(), threading.Event(), []
        engine = ledger._writer.store.engine

        @event.listens_for(engine, "commit")
        def wait(_: object) -> None:
            commits.append(1)
            reached.set()
            gate.wait(PATIENCE)

        def ask(request: Request) -> None:
            try:
                ledger.reserve(request)
            except SfumatoError as refusal:
                refused.append(refusal)

        requests = [question(f"{n}", epsilon=5 if n % 3 == 2 else Fraction(1, 100)) for n in range(30)]
        threads = [threading.Thread(target=ask, args=(request,), daemon=True) for request in requests]
        threads[0].start()
        assert reached.wait(PATIENCE)
        for thread in threads[1:]:
            thread.start()
        while len(ledger._writer._combiner._queue) < 29:
            time.sleep(0.001)
        gate.set()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(commits) == 2
        assert len(refused) == 10 and all(isinstance(error, BudgetExhausted) for error in refused)
        assert ledger.verify().entries == 21


def test_question_and_answer_are_erased_also_in_the_transaction_that_settles(tmp_path: Path) -> None:
    """What the transaction is about to write counts as written."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        reservation = reserve(ledger)
        batch: list[Ticket[Any]] = [
            Ticket(lambda transaction: operations.settle(transaction, reservation, "7")),
            Ticket(lambda transaction: operations.erase(transaction, reservation.number)),
            Ticket(lambda transaction: operations.erase(transaction, reservation.number)),
        ]
        ledger._writer._process(batch)
        assert [ticket.error for ticket in batch] == [None] * 3 and batch[2].result is None
        assert ledger.verify().erased == 2
        reserve(ledger)


def test_nobody_gets_a_result_before_the_commit_returned(tmp_path: Path) -> None:
    """An answer that leaves before its reservation is durable is a leak."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        engine, gate, reached, results = ledger._writer.store.engine, threading.Event(), threading.Event(), []

        @event.listens_for(engine, "commit")
        def wait(_: object) -> None:
            reached.set()
            gate.wait(PATIENCE)

        thread = threading.Thread(target=lambda: results.append(reserve(ledger)), daemon=True)
        thread.start()
        assert reached.wait(PATIENCE)
        thread.join(0.05)
        assert thread.is_alive() and not results
        gate.set()
        thread.join(PATIENCE)
        assert len(results) == 1


def test_a_commit_that_fails_fails_everybody_in_it_and_the_ledger_goes_on(tmp_path: Path) -> None:
    """Nothing of it counts, and nobody is told otherwise."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        head, errors = ledger.head, []
        engine, barrier = ledger._writer.store.engine, threading.Barrier(10)

        def stumble(_: object) -> None:
            raise OperationalError("COMMIT", {}, sqlite3.OperationalError("disk I/O error"))

        event.listen(engine, "commit", stumble)

        def ask(number: int) -> None:
            barrier.wait(PATIENCE)
            try:
                ledger.reserve(question(f"{number}", epsilon=5 if number == 3 else Fraction(1, 100)))
            except SfumatoError as error:
                errors.append(error)

        in_threads(*(lambda n=n: ask(n) for n in range(10)))
        assert len(errors) == 10
        unavailable = [error for error in errors if isinstance(error, LedgerUnavailable)]
        assert len(unavailable) >= 9
        assert all("whether it was written is not known" in str(error) for error in unavailable)
        event.remove(engine, "commit", stumble)
        assert ledger.head == head
        reserve(ledger)
        assert ledger.verify().entries == 2


def test_an_interrupted_leader_lets_the_others_go_on() -> None:
    """Ctrl-C in one thread must not make the others wait for ever."""
    batches: list[int] = []

    def process(batch: list[Ticket[int]]) -> None:
        batches.append(len(batch))
        if len(batches) == 1:
            raise KeyboardInterrupt
        for ticket in batch:
            ticket.result = ticket.work

    combiner: Combiner[int] = Combiner(process)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        combiner.submit(1)
    assert combiner.submit(2) == 2
    results: list[object] = []
    in_threads(*(lambda n=n: results.append(combiner.submit(n)) for n in range(20)))
    assert sorted(results) == list(range(20))  # type: ignore[type-var]


def test_a_result_that_was_not_committed_is_not_given() -> None:
    """Whoever was taken by a leader that was interrupted hears that nothing is known, and gets nothing."""
    begun, results = threading.Event(), []

    def process(batch: list[Ticket[int]]) -> None:
        for ticket in batch:
            ticket.result = ticket.work
        if batch[0].work == 1:
            begun.set()
            while len(combiner._queue) < 1:
                time.sleep(0.001)
            return
        raise KeyboardInterrupt

    combiner: Combiner[int] = Combiner(process)  # type: ignore[arg-type]

    def submit(number: int) -> None:
        try:
            results.append(combiner.submit(number))
        except BaseException as error:
            results.append(type(error).__name__)

    first = threading.Thread(target=submit, args=(1,))
    first.start()
    begun.wait(PATIENCE)
    others = [threading.Thread(target=submit, args=(number,)) for number in (2, 3)]
    for thread in others:
        thread.start()
    for thread in (first, *others):
        thread.join(PATIENCE)
    assert results.count(1) == 1 and set(results[0:]) <= {1, "KeyboardInterrupt", "LedgerUnavailable"}
    assert "KeyboardInterrupt" in results


def test_a_forked_child_goes_on_with_connections_of_its_own(tmp_path: Path) -> None:
    """While other threads of the parent are writing, and again in a child of the child."""
    path, children = tmp_path / "ledger.db", 6
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        stop = threading.Event()

        def keep_asking() -> None:
            number = 0
            while not stop.is_set():
                number += 1
                ledger.reserve(question(f"{number}", analyst="parent", epsilon=Fraction(1, 10**6)))

        threads = [threading.Thread(target=keep_asking, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        pids = []
        for number in range(children):
            pid = os.fork()
            if pid == 0:
                os._exit(_ask_in_child(ledger, number))
            pids.append(pid)
        assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * children
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
        reserved = [entry for entry in ledger.entries() if entry.kind is Kind.RESERVED]
        assert sum((entry.analyst or "").startswith("child") for entry in reserved) == 2 * 20 * children
        ledger.verify()


def test_a_child_that_was_forked_behind_pythons_back_is_refused(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would share connections with its parent."""
    monkeypatch.setattr(ledger._writer.store, "process", os.getpid() + 1)
    for use in (lambda: ledger.reserve(question()), ledger.balance, ledger.verify):
        with pytest.raises(LedgerUnavailable, match="open it after the fork"):
            use()


def _ask_in_child(ledger: Ledger, number: int) -> int:
    try:
        for each in range(20):
            ledger.reserve(question(f"{each}", analyst=f"child {number}", epsilon=Fraction(1, 10**6)))
        pid = os.fork()
        if pid == 0:
            for each in range(20):
                ledger.reserve(question(f"{each}", analyst=f"child of child {number}", epsilon=Fraction(1, 10**6)))
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except BaseException:
        return 1
