"""What every store of ledgers promises: nothing is lost, changed or charged twice, whoever writes beside whom.

    class TestMyStore(LedgerStoreTests):
        @pytest.fixture
        def open_ledger(self, tmp_path):
            return lambda: Ledger.open(tmp_path / "ledger.db")

`open_ledger` opens one and the same ledger, each time as another process would; it is new when the test begins.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import ClassVar

import pytest

from sfumato.errors import BudgetExhausted, NotGranted
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.request import Replay, Request, Reservation
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss

OpenLedger = Callable[[], Ledger]
BUDGET = Guarantee(epsilon=1)


def request(plan: str, epsilon: Fraction = Fraction(1, 10)) -> Request:
    """A question of one analyst about one table."""
    return Request(
        population="people",
        analyst="ana",
        table="visits",
        version="2026-11",
        plan=plan,
        promise=f"epsilon {epsilon}",
        mechanisms=(["laplace", {"scale": "10"}],),
        loss=Loss.pure(epsilon),
    )


def reserve(ledger: Ledger, plan: str, epsilon: Fraction = Fraction(1, 10)) -> Reservation:
    """Reserve what must be new."""
    found = ledger.reserve(request(plan, epsilon))
    assert isinstance(found, Reservation)
    return found


class LedgerStoreTests:
    """Tests of a store; `open_ledger` opens a ledger in it."""

    writers: ClassVar[int] = 4  # threads that reserve at once

    @pytest.fixture
    def open_ledger(self) -> OpenLedger:
        """Open one and the same ledger, which is new when the test begins."""
        raise NotImplementedError("give a fixture `open_ledger`: a function that opens the ledger of the test")

    def test_what_was_written_is_there_when_it_is_opened_again(self, open_ledger: OpenLedger) -> None:
        """Budgets, charges and answers; the same question is then free, and has the same answer."""
        with open_ledger() as ledger:
            ledger.grant("people", BUDGET)
            ledger.settle(reserve(ledger, "COUNT(*)"), '{"n": "ä 7"}')
            written = [(entry.number, entry.kind, entry.hash) for entry in ledger.entries()]
        with open_ledger() as again:
            assert [(entry.number, entry.kind, entry.hash) for entry in again.entries()] == written
            found = again.reserve(request("COUNT(*)"))
            assert isinstance(found, Replay) and found.answer == '{"n": "ä 7"}'
            assert again.verify().entries == len(written) == 3

    def test_the_budget_is_spent_exactly_and_never_exceeded(self, open_ledger: OpenLedger) -> None:
        """Ten tenths fit into one; what is refused writes nothing."""
        with open_ledger() as ledger:
            ledger.grant("people", BUDGET)
            for number in range(10):
                reserve(ledger, f"question {number}")
            before = ledger.verify().entries
            with pytest.raises(BudgetExhausted):
                ledger.reserve(request("one more", Fraction(1, 10**9)))
            assert ledger.verify().entries == before == 11

    def test_nothing_is_charged_where_nobody_granted_a_budget(self, open_ledger: OpenLedger) -> None:
        """And nothing is written."""
        with open_ledger() as ledger:
            with pytest.raises(NotGranted):
                ledger.reserve(request("COUNT(*)"))
            assert list(ledger.entries()) == []

    def test_two_ledgers_in_one_store_see_what_the_other_wrote(self, open_ledger: OpenLedger) -> None:
        """A charge that one of them made counts at once in the other."""
        with open_ledger() as first, open_ledger() as second:
            first.grant("people", BUDGET)
            reserve(first, "mine", Fraction(3, 4))
            with pytest.raises(BudgetExhausted):
                second.reserve(request("theirs", Fraction(1, 2)))
            reserve(second, "smaller", Fraction(1, 4))
            with pytest.raises(BudgetExhausted):
                first.reserve(request("mine again", Fraction(1, 10**9)))

    def test_writers_at_once_never_spend_more_than_there_is(self, open_ledger: OpenLedger) -> None:
        """Each with a ledger of its own: together as many are admitted as fit, and the chain holds."""
        with open_ledger() as ledger:
            ledger.grant("people", BUDGET)

        def ask(writer: int) -> int:
            admitted = 0
            with open_ledger() as mine:
                for number in range(5):
                    try:
                        reserve(mine, f"{writer} asks {number}")
                        admitted += 1
                    except BudgetExhausted:
                        pass
            return admitted

        with ThreadPoolExecutor(self.writers) as pool:
            assert sum(pool.map(ask, range(self.writers))) == 10
        with open_ledger() as ledger:
            assert ledger.verify().entries == 11
            assert [entry.number for entry in ledger.entries()] == list(range(1, 12))

    def test_an_erased_answer_is_gone_and_its_charge_is_not(self, open_ledger: OpenLedger) -> None:
        """The question is asked anew, and is charged again."""
        with open_ledger() as ledger:
            ledger.grant("people", BUDGET)
            reservation = reserve(ledger, "COUNT(*)", Fraction(2, 3))
            ledger.settle(reservation, "secret")
            ledger.erase(reservation.number)
        with open_ledger() as again:
            with pytest.raises(BudgetExhausted):
                again.reserve(request("COUNT(*)", Fraction(2, 3)))
            again.verify()
