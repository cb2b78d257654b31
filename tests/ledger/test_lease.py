"""What ends stays ended: leases of questions, processes that are gone, budgets whose clock is set back."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from multiprocessing.connection import Connection

import pytest

from ledger.asking import NOON, Clock, question, reserve
from ledger.killing import until_the_end
from sfumato.errors import InvalidArgument, NotGranted, Paused
from sfumato.ledger import asker
from sfumato.ledger import writer as writer
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind
from sfumato.privacy.guarantee import Guarantee

TOMORROW = NOON + timedelta(days=1)


def reserve_and_die(report: Connection, address: str) -> None:
    """A question whose process is killed while the engine runs."""
    ledger = Ledger.open(address, clock=Clock())
    report.send(reserve(ledger, question("killed")).number)
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_question_of_a_process_that_was_killed_fails_soon_and_stays_spent(shared: Ledger, address: str) -> None:
    """At the next transaction of anybody on this machine, an hour before its lease ends."""
    alive = reserve(shared, question("alive"))
    reported, ended = until_the_end(reserve_and_die, address)
    assert ended == -signal.SIGKILL
    with Ledger.open(address, clock=Clock(), pause=False) as other:
        reserve(other, question("next"))
        failed = [entry for entry in other.entries() if entry.kind is Kind.FAILED]
        assert [(entry.refers, entry.details["reason"]) for entry in failed] == [(reported[0], "abandoned")]
        assert other.balance().population("people").account.spent.epsilon == 300_000_000
        other.verify()
    shared.settle(alive, "7")  # a process that runs keeps its question


def test_processes_are_looked_for_once_a_second(shared: Ledger, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that many open questions cost nothing; a process that stays open sees the dead one at the next look."""
    reserve(shared, question("first"))
    monkeypatch.setattr(writer, "_LOOK", 10**9)
    until_the_end(reserve_and_die, address)
    reserve(shared, question("second"))
    assert Kind.FAILED not in [entry.kind for entry in shared.entries()]
    monkeypatch.setattr(writer, "_LOOK", 0)
    with pytest.raises(Paused):  # its analyst waits for the owner, as after every failure
        reserve(shared, question("third"))
    assert [entry.kind for entry in shared.entries()].count(Kind.FAILED) == 1


def test_a_process_is_told_from_its_successors_and_from_those_of_other_machines() -> None:
    """The same number may be given again; numbers of another machine, or of a container, mean others."""
    own = asker.mark()
    assert own is not None, "the system must have /proc for this to be tested"
    machine, number, began = own.split("-")
    assert int(number) == os.getpid() and not asker.is_gone(own)
    assert asker.is_gone(f"{machine}-{number}-{int(began) + 1}")
    elsewhere = "0" * 16
    for unknown in (f"{elsewhere}-{number}-{int(began) + 1}", "", "a-b", f"{machine}-x-1", "a-b-c-d"):
        assert not asker.is_gone(unknown)
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody asked how
    fields = asker._fields(child)
    assert fields is not None and asker.is_gone(f"{machine}-{child}-{fields[asker._BEGAN]}")
    os.waitpid(child, 0)
    assert asker.is_gone(f"{machine}-{child}-1")


def test_a_system_that_hides_processes_is_not_taken_for_one_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where /proc shows nothing, a process that can be signalled still runs."""
    own = asker.mark()
    assert own is not None
    machine = own.split("-")[0]
    monkeypatch.setattr(asker, "_fields", lambda _: None)
    assert asker.mark() is None
    assert not asker.is_gone(f"{machine}-{os.getpid()}-1") and not asker.is_gone(f"{machine}-1-1")
    assert asker.is_gone(f"{machine}-{2**22 + 1}-1")  # beyond the largest number that Linux gives


def test_a_question_that_outlives_its_lease_cannot_be_settled(shared: Ledger, clock: Clock) -> None:
    """It has failed, and it stays spent."""
    held = reserve(shared)
    assert not shared.lease_ended(held)
    clock.move(hours=1)
    assert shared.lease_ended(held)
    with pytest.raises(InvalidArgument, match="was open for longer than the lease; it stays spent"):
        shared.settle(held, "7")
    assert shared.balance().population("people").account.spent.epsilon == 100_000_000
    assert [entry.kind for entry in shared.entries()] == [Kind.GRANTED, Kind.RESERVED, Kind.FAILED]


@pytest.mark.parametrize("analyst", [None, "ana"], ids=["all", "one"])
def test_an_budget_that_ended_stays_ended_when_the_clock_is_set_back(
    shared: Ledger, address: str, clock: Clock, analyst: str | None
) -> None:
    """Once it refused a question; in this process and in every other. A new grant is a new one."""
    shared.grant("people", Guarantee(epsilon=1), analyst=analyst, until=TOMORROW)
    shared.settle(reserve(shared, question("before")), "7")  # an open one would be ended, at that time
    clock.move(days=1)
    for _ in range(2):
        with pytest.raises(NotGranted, match="ended on 2026-11-17 12:00:00 UTC"):
            shared.reserve(question("after"))
        assert shared.remaining("people", "ana").epsilon == 0
    clock.move(days=-1)
    entries = shared.head.number
    with Ledger.open(address, clock=Clock()) as other:
        for ledger in (shared, other):
            with pytest.raises(NotGranted, match="ended on 2026-11-17 12:00:00 UTC"):
                ledger.reserve(question("after"))
            assert ledger.remaining("people", "ana").epsilon == 0
        assert other.head.number == entries  # it is written once
        other.grant("people", Guarantee(epsilon=1), analyst=analyst, until=TOMORROW + timedelta(days=1))
        reserve(other, question("after"))
        assert other.verify().balance.population("people").account.spent.epsilon == 200_000_000


def test_what_ended_in_a_copy_ends_what_is_the_same_grant_here(address: str, tmp_path: object) -> None:
    """A later grant here is another one, and holds on."""
    with Ledger.open(address, clock=(clock := Clock())) as ledger:
        ledger.grant("people", Guarantee(epsilon=1), until=TOMORROW)
        ledger.backup(f"{tmp_path}/same.jsonl")
        ledger.grant("people", Guarantee(epsilon=2), until=TOMORROW + timedelta(days=1))
        for name, kept in (("same", False), ("later", True)):
            clock = Clock()
            with Ledger.restore(f"{tmp_path}/same.jsonl", f"{tmp_path}/{name}.db", clock=clock) as copy:
                clock.move(days=1)
                with pytest.raises(NotGranted, match="ended"):
                    copy.reserve(question())
                copy.backup(f"{tmp_path}/{name} ended.jsonl")
            if kept:
                ledger.merge(f"{tmp_path}/{name} ended.jsonl")
                reserve(ledger, question())
                continue
            with Ledger.restore(f"{tmp_path}/same.jsonl", f"{tmp_path}/here.db", clock=Clock()) as here:
                here.merge(f"{tmp_path}/{name} ended.jsonl")
                with pytest.raises(NotGranted, match="ended"):
                    here.reserve(question())
                here.verify()
