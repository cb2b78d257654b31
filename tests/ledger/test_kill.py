"""Killed at every step of the way: what was promised is there, nothing is overspent, and the service goes on."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from ledger.asking import question, reserve
from ledger.killing import ask_once, ask_until_killed, until_the_end
from sfumato.errors import BudgetExhausted
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind
from sfumato.ledger.records.request import Replay
from sfumato.privacy.guarantee import Guarantee

SOAK = bool(os.environ.get("SFUMATO_SOAK"))
KILLS = {"sqlite": 450, "postgresql": 350} if SOAK else {}  # else each step once
MOMENTS = 200 if SOAK else 10
ANSWERS = 4


def written(ledger: Ledger, population: str, after: int) -> Counter[Kind]:
    return Counter(entry.kind for entry in ledger.entries(after) if entry.population == population)


def use_up(ledger: Ledger, population: str) -> None:
    """Ask until nothing is left."""
    for number in range(2 * ANSWERS):
        try:
            ledger.settle(reserve(ledger, question(f"after {number}", population=population)), "answer")
        except BudgetExhausted:
            return
    raise AssertionError("the budget has no end")


def test_a_process_killed_at_any_step_loses_nothing_and_overspends_nothing(address: str) -> None:
    """Before and after each statement and each commit of reserve and settle, and between the two.

    The budget has room for one question only: if the charge of the one that was killed got lost, another would fit.
    """
    with Ledger.open(address, pause=False) as ledger:  # else whoever was killed waits for the owner, and spends nothing
        ledger.grant("nobody dies", Guarantee(epsilon=0.1))
        reported, ended = until_the_end(ask_once, address, "nobody dies", "first", 0)
        assert ended == 0 and reported[:2] == ["reserved", "settled"]
        steps = reported[2]
        assert isinstance(steps, int) and steps > 20
        kills, seen = max(steps, KILLS.get(ledger._writer.store.engine.dialect.name, 0)), Counter[str]()
        for kill in range(kills):
            population = f"kill {kill}"
            start = ledger.grant(population, Guarantee(epsilon=0.1)).number
            reported, ended = until_the_end(ask_once, address, population, "asked", kill % steps + 1)
            assert ended == -signal.SIGKILL
            found = written(ledger, population, start)
            assert found[Kind.RESERVED] in ((1,) if "reserved" in reported else (0, 1))
            if found[Kind.SETTLED]:
                assert isinstance(ledger.reserve(question("asked", population=population)), Replay)
            use_up(ledger, population)
            assert written(ledger, population, start)[Kind.RESERVED] == 1
            seen["answered" if found[Kind.SETTLED] else "charged" if found[Kind.RESERVED] else "not charged"] += 1
        assert seen.keys() == {"answered", "charged", "not charged"}
        spent = [people.account.spent.epsilon for people in ledger.verify().balance.populations.values()]
        assert spent == [10**8] * (kills + 1)
        print(f"{kills} kills at {steps} steps: {dict(seen)}")


def test_a_process_killed_at_any_moment_loses_nothing_that_it_was_told(tmp_path: Path) -> None:
    """Also in the middle of a write; others then get what is left, and no more."""
    moments, path = random.Random(4), tmp_path / "ledger.db"
    with Ledger.open(path, pause=False) as ledger:
        told = 0
        for number in range(MOMENTS):
            population = f"moment {number}"
            start = ledger.grant(population, Guarantee(epsilon=Fraction(ANSWERS, 10))).number
            delay = moments.uniform(0, 0.03)
            reported, ended = until_the_end(ask_until_killed, str(path), population, delay=delay)
            assert ended == -signal.SIGKILL
            kinds = {entry.number: entry.kind.value for entry in ledger.entries(start)}
            for kind, entry in reported:  # type: ignore[misc]
                assert kind == "exhausted" or kinds[entry] == kind
            told += len(reported)
            use_up(ledger, population)
            assert written(ledger, population, start)[Kind.RESERVED] == ANSWERS
        assert told >= MOMENTS
        spent = [people.account.spent.epsilon for people in ledger.verify().balance.populations.values()]
        assert spent == [ANSWERS * 10**8] * MOMENTS
        print(f"{MOMENTS} kills at any moment, which had reported {told} steps")


@pytest.mark.parametrize("reason", ["engine", "timeout", "cancelled"])
def test_an_engine_that_fails_midway_is_charged(shared: Ledger, reason: str) -> None:
    """Whatever the reason, and what it was is in the ledger."""
    reservation = reserve(shared)
    entry = shared.fail(reservation, reason)
    assert entry.refers == reservation.number and entry.details["reason"] == reason
    assert shared.remaining("people").epsilon == Fraction(9, 10)
    shared.resume("ana", "visits")
    reserve(shared)
    assert shared.remaining("people").epsilon == Fraction(8, 10)
