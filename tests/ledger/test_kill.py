"""Killed at every step of the way: what was promised is there, nothing is overspent, and the service goes on."""

from __future__ import annotations

import math
import os
import random
import signal
from fractions import Fraction
from pathlib import Path

import pytest

from ledger.asking import question, reserve
from ledger.killing import ask_for_ever, ask_once, until_the_end
from sfumato.errors import BudgetExhausted
from sfumato.ledger.entry import Kind
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.request import Replay
from sfumato.privacy.guarantee import Guarantee

KILLS = {"sqlite": 170, "postgresql": 60}
MOMENTS = 30
ANSWERS = 10
MANY = 10 if os.environ.get("SFUMATO_SOAK") else 1


def count(ledger: Ledger, kind: Kind, population: str) -> int:
    return sum(entry.kind is kind and entry.population == population for entry in ledger.entries())


def use_up(ledger: Ledger, population: str) -> None:
    """Ask until nothing is left."""
    for number in range(2 * ANSWERS):
        try:
            ledger.settle(reserve(ledger, question(f"after {number}", population=population)), "answer")
        except BudgetExhausted:
            return
    raise AssertionError("the allowance has no end")


def test_a_process_killed_at_any_step_loses_nothing_and_overspends_nothing(address: str) -> None:
    """Before and after each statement and each commit of reserve and settle, and between the two."""
    with Ledger.open(address) as ledger:
        ledger.grant("nobody dies", Guarantee(epsilon=1))
        reported, ended = until_the_end(ask_once, address, "nobody dies", "first", 0)
        assert ended == 0 and reported[:2] == ["reserved", "settled"]
        steps = reported[2]
        assert isinstance(steps, int) and steps > 20
        times = MANY * math.ceil(KILLS[ledger._desk.store.engine.dialect.name] / steps)
        seen = set()
        for step in range(1, steps + 1):
            population = f"step {step}"
            ledger.grant(population, Guarantee(epsilon=1))
            for time in range(min(times, ANSWERS)):
                before = count(ledger, Kind.RESERVED, population)
                reported, ended = until_the_end(ask_once, address, population, f"{time}", step)
                assert ended == -signal.SIGKILL
                written = count(ledger, Kind.RESERVED, population) - before
                assert written in ((1,) if "reserved" in reported else (0, 1))
                if "settled" in reported:
                    assert isinstance(ledger.reserve(question(f"{time}", population=population)), Replay)
                seen.add((written, count(ledger, Kind.SETTLED, population), *reported))
            ledger.verify()
            use_up(ledger, population)
            assert count(ledger, Kind.RESERVED, population) == ANSWERS
        assert {each[0] for each in seen} == {0, 1}
        spent = {people.account.spent.epsilon for people in ledger.verify().balance.populations.values()}
        assert max(each or 0 for each in spent) == 10**9


def test_a_process_killed_at_any_moment_loses_nothing_that_it_was_told(tmp_path: Path) -> None:
    """Also in the middle of a write."""
    moments, path = random.Random(4), tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        told = 0
        for number in range(MANY * MOMENTS):
            delay = moments.uniform(0, 0.03)
            reported, ended = until_the_end(ask_for_ever, str(path), "people", f"{number}", delay=delay)
            assert ended == -signal.SIGKILL
            kinds = {entry.number: entry.kind.value for entry in ledger.entries()}
            for kind, entry in reported:  # type: ignore[misc]
                assert kinds[entry] == kind
            told += len(reported)
            ledger.verify()
            reserve(ledger, question(f"goes on {number}", epsilon=Fraction(1, 10**6)))
        assert told >= MANY * MOMENTS


@pytest.mark.parametrize("reason", ["engine", "timeout", "cancelled"])
def test_an_engine_that_fails_midway_is_charged(shared: Ledger, reason: str) -> None:
    """Whatever the reason, and what it was is in the ledger."""
    reservation = reserve(shared)
    entry = shared.fail(reservation, reason)
    assert entry.refers == reservation.number and entry.details["reason"] == reason
    assert shared.remaining("people").epsilon == Fraction(9, 10)
    reserve(shared)
    assert shared.remaining("people").epsilon == Fraction(8, 10)
