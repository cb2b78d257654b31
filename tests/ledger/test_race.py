"""Fifty processes and one budget: whoever comes first, the sum is the same."""

from __future__ import annotations

import os
from collections import Counter

from ledger.racing import population, race
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind
from sfumato.privacy.guarantee import Guarantee

PROCESSES = 50
ANSWERS = 10
ROUNDS = 1000 if os.environ.get("SFUMATO_SOAK") else 20
EVERY = 50  # entries between snapshots, so that fifty processes write and check many of them


def test_fifty_processes_get_exactly_the_ten_answers_that_were_allowed(address: str) -> None:
    """Ten questions of a tenth fit into an epsilon of 1, in every round, and nobody overspends."""
    with Ledger.open(address) as ledger:
        for number in range(ROUNDS):
            ledger.grant(population(number), Guarantee(epsilon=1))
        outcomes = race(address, PROCESSES, ROUNDS, EVERY)
        assert not {outcome.error for outcome in outcomes} - {None}
        admitted = Counter(number for outcome in outcomes for number in outcome.admitted)
        assert admitted == dict.fromkeys(range(ROUNDS), ANSWERS)
        verified = ledger.verify()
        written = Counter(entry.kind for entry in ledger.entries())
        assert written[Kind.RESERVED] == written[Kind.SETTLED] == ROUNDS * ANSWERS
        assert written[Kind.SNAPSHOT] and not verified.balance.open
        spent = {name: people.account.spent.epsilon for name, people in verified.balance.populations.items()}
        assert spent == {population(number): 10**9 for number in range(ROUNDS)}
        locked = sum(outcome.locked for outcome in outcomes)
        print(f"{ROUNDS} rounds of {PROCESSES} processes, {locked} times told to try again: {dict(written)}")
