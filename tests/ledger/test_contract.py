"""Every store keeps the contract that ships as `sfumato.testing.LedgerStoreTests`: SQLite, PostgreSQL, memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sfumato.ledger.ledger import Ledger
from sfumato.testing import LedgerStoreTests
from sfumato.testing.ledger_stores import BUDGET


class TestDatabases(LedgerStoreTests):
    """SQLite and PostgreSQL."""

    @pytest.fixture
    def open_ledger(self, address: str) -> Callable[[], Ledger]:
        return lambda: Ledger.open(address)


class TestMemory(LedgerStoreTests):
    """One ledger for all, since nothing of it is anywhere else."""

    @pytest.fixture
    def open_ledger(self) -> Callable[[], Any]:
        ledger = Ledger.in_memory()

        @contextmanager
        def opened() -> Iterator[Ledger]:
            yield ledger

        return opened


def test_the_suite_finds_a_store_that_forgets() -> None:
    """Each opening is another ledger: what was charged in one of them does not count in the next."""
    suite = LedgerStoreTests()
    with pytest.raises(AssertionError):
        suite.test_what_was_written_is_there_when_it_is_opened_again(Ledger.in_memory)

    def granted() -> Ledger:
        ledger = Ledger.in_memory()
        ledger.grant("people", BUDGET)
        return ledger

    with pytest.raises(pytest.fail.Exception, match="BudgetExhausted"):
        suite.test_two_ledgers_in_one_store_see_what_the_other_wrote(granted)
