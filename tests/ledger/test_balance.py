"""The balance is a pure fold: what comes out depends on the entries and on nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.asking import question
from sfumato.accounting.filter import Spent
from sfumato.errors import LedgerBroken, SfumatoError
from sfumato.ledger import operations
from sfumato.ledger.balance import Balance
from sfumato.ledger.operations import Reason
from sfumato.ledger.records.amount import NOTHING, UNIT, Amount
from sfumato.ledger.records.budget import Budget
from sfumato.ledger.records.entry import Entry, Head, Kind, seal
from sfumato.ledger.records.request import Replay, Reservation
from sfumato.ledger.transaction import Operation, Policy, Transaction
from sfumato.privacy.loss import Loss
from sources import Seeded

IDENTITY = "00" * 32
PEOPLE, ANALYSTS, TABLES = ("people", "staff"), ("ana", "ben", "cem"), ("visits", "wages")


@dataclass
class Shelf:
    """An archive that holds nothing: every question is new."""

    kept: list[Entry] = field(default_factory=list)

    def entry(self, number: int) -> Entry | None:
        return None

    def entries(self, after: int = 0) -> Iterator[Entry]:
        return iter(self.kept[after:])

    def settled(self, reservation: int) -> int | None:
        return None

    def answers(self, replay: str) -> Sequence[tuple[str, str, int]]:
        return ()

    def stored(self, numbers: Sequence[int]) -> list[int]:
        return []


def new_draft(pause: bool = True) -> Transaction:
    policy = Policy(pause, False, timedelta(hours=1), Seeded(1), "1.0")
    return Transaction(Balance.empty(IDENTITY), 0, Shelf(), IDENTITY, b"secret", policy)


def fold(entries: Sequence[Entry], start: Balance | None = None) -> Balance:
    balance = start or Balance.empty(IDENTITY)
    for entry in entries:
        balance = balance.after(entry)
    return balance


names = st.sampled_from(PEOPLE)
analysts = st.sampled_from(ANALYSTS)
epsilons = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1)])
deltas = st.sampled_from([Fraction(0), Fraction(1, 10**9)])
losses = st.one_of(
    st.builds(Loss.pure, epsilons),
    st.builds(lambda rho: Loss.concentrated(rho), st.sampled_from([Fraction(1, 100), Fraction(1, 7)])),
    st.builds(lambda epsilon: Loss.pure(epsilon, delta=Fraction(1, 10**11)), epsilons),
)
budgets = st.builds(Budget, epsilons.map(lambda e: 3 * e), deltas)


@st.composite
def steps(draw: st.DrawFn) -> Operation:
    """Something that may be done; `reserved` is whatever was reserved so far, in the draft itself."""
    name, analyst, table = draw(names), draw(analysts), draw(st.sampled_from(TABLES))
    match draw(st.sampled_from(["grant", "own", "revoke", "renew", "reserve", "reserve", "reserve", "settle", "fail"])):
        case "grant":
            budget = draw(budgets)
            return lambda transaction: operations.grant(transaction, name, None, budget)
        case "own":
            budget = draw(budgets)
            return lambda transaction: operations.grant(transaction, name, analyst, budget)
        case "revoke":
            who = draw(st.sampled_from([None, analyst]))
            return lambda transaction: operations.revoke(transaction, name, who, "")
        case "renew":
            return lambda transaction: operations.renew(transaction, name, "new people")
        case "settle":
            return lambda transaction: operations.settle(transaction, _first(transaction), "7")
        case "fail":
            return lambda transaction: operations.fail(transaction, _first(transaction), Reason.ENGINE)
    request = question(population=name, analyst=analyst, table=table, loss=draw(losses))
    return lambda transaction: operations.reserve(transaction, request)


def _first(transaction: Transaction) -> Reservation:
    return Reservation(next(iter(transaction.balance.open.values()), _NOBODY), "key")


_NOBODY = seal(Kind.RESERVED, after=Head(10**6, ""), at=0, product="")


def play(operations_: Sequence[Operation]) -> Transaction:
    """Do everything that is not refused."""
    transaction = new_draft()
    for number, operation in enumerate(operations_):
        transaction.now = number
        try:
            transaction.attempt(operation)
        except SfumatoError:
            continue
    return transaction


@given(st.lists(steps(), max_size=40))
@settings(max_examples=150)
def test_everything_of_a_population_adds_up_since_it_was_renewed(played: list[Operation]) -> None:
    """Whichever table, analyst or outcome: the sums are those of all reservations."""
    transaction = play(played)
    for name in PEOPLE:
        spent, own = NOTHING, dict.fromkeys(ANALYSTS, NOTHING)
        for entry, _ in transaction.lines:
            if entry.population == name and entry.kind is Kind.RENEWED:
                spent, own = NOTHING, dict.fromkeys(ANALYSTS, NOTHING)
            if entry.population == name and entry.kind is Kind.RESERVED:
                spent = spent.plus(entry.amount)
                own[entry.analyst or ""] = own[entry.analyst or ""].plus(entry.amount)
        people = transaction.balance.population(name)
        assert people.account.spent == spent
        assert {analyst: people.analyst(analyst).spent for analyst in ANALYSTS} == own


@given(st.lists(steps(), max_size=40))
@settings(max_examples=150)
def test_no_question_is_admitted_that_a_filter_would_refuse(played: list[Operation]) -> None:
    """Both the population's and the analyst's, in the accountant's own arithmetic."""
    balance = Balance.empty(IDENTITY)
    for entry, _ in play(played).lines:
        if entry.kind is Kind.RESERVED:
            people = balance.population(entry.population or "")
            assert people.account.filter is not None and people.account.filter.admits(entry.amount.loss)
            own = people.analyst(entry.analyst or "")
            assert own.filter is None or own.filter.admits(entry.amount.loss)
            assert own.budget is not None or not people.named
        balance = balance.after(entry)


@given(st.lists(steps(), max_size=40), st.integers(min_value=0, max_value=40))
def test_a_fold_may_be_interrupted_anywhere_and_changes_nothing_that_was_there(
    played: list[Operation], at: int
) -> None:
    """A prefix, then the rest, gives the whole; and the balance of the prefix is still what it was."""
    entries = [entry for entry, _ in play(played).lines]
    first = fold(entries[:at])
    again = fold(entries[:at])
    assert fold(entries[at:], first) == fold(entries) == play(played).balance
    assert first == again


@given(st.lists(steps(), min_size=1, max_size=40), st.data())
def test_an_entry_out_of_turn_is_found(played: list[Operation], data: st.DataObject) -> None:
    """Removed, doubled or moved."""
    entries = [entry for entry, _ in play(played).lines]
    if len(entries) < 2:
        return
    at = data.draw(st.integers(min_value=0, max_value=len(entries) - 2))
    for wrong in (
        entries[:at] + entries[at + 1 :],
        [*entries[: at + 1], *entries[at:]],
        [*entries[:at], entries[at + 1], entries[at], *entries[at + 2 :]],
    ):
        with pytest.raises(LedgerBroken):
            fold(wrong)


def test_a_loss_without_bound_in_a_currency_leaves_the_other_arm() -> None:
    """Gaussian noise has no epsilon: from then on the sum of rho decides."""
    transaction = new_draft()
    operations.grant(transaction, "people", None, Budget(Fraction(1), Fraction(1, 10**9)))
    operations.reserve(transaction, question(loss=Loss.concentrated(Fraction(1, 1000))))
    account = transaction.balance.population("people").account
    assert account.spent.epsilon is None and account.spent.rho == UNIT // 1000
    assert account.filter is not None and account.filter.spent == Spent(None, Fraction(1, 1000))


@pytest.mark.parametrize("kind", [Kind.SETTLED, Kind.FAILED])
def test_an_entry_that_ends_no_open_reservation_is_found(kind: Kind) -> None:
    """A reservation ends once."""
    transaction = new_draft()
    operations.grant(transaction, "people", None, Budget(Fraction(1)))
    reservation = operations.reserve(transaction, question())
    assert not isinstance(reservation, Replay)
    operations.settle(transaction, reservation, "7")
    twice = seal(
        kind, after=transaction.balance.head, at=0, product="", refers=reservation.number, detail={"pause": False}
    )
    with pytest.raises(LedgerBroken, match="not open"):
        transaction.balance.after(twice)


@pytest.mark.parametrize("detail", [{}, {"origin": 7}, {"origin": "no hash"}])
def test_a_merged_entry_names_what_it_stands_for(detail: dict[str, object]) -> None:
    """Else it could be counted twice."""
    head, amount = Head(0, IDENTITY), Amount(1, 1, 0)
    unnamed = seal(Kind.MERGED, after=head, at=0, product="", amount=amount, population="p", analyst="a", detail=detail)
    with pytest.raises(LedgerBroken):
        Balance.empty(IDENTITY).after(unnamed)


@pytest.mark.parametrize("kind", Kind)
def test_an_entry_without_what_its_kind_holds_is_found(kind: Kind) -> None:
    """It is well hashed, but says nothing."""
    with pytest.raises(LedgerBroken):
        Balance.empty(IDENTITY).after(seal(kind, after=Head(0, IDENTITY), at=0, product="", amount=Amount()))


def test_what_an_operation_began_is_undone_when_it_fails() -> None:
    """The others of its transaction do not notice."""
    transaction = new_draft()
    operations.grant(transaction, "people", None, Budget(Fraction(1)))
    before = transaction.balance

    def stumble(transaction: Transaction) -> None:
        operations.reserve(transaction, question())
        transaction.erased.append(1)
        raise LedgerBroken("stumbled")

    with pytest.raises(LedgerBroken, match="stumbled"):
        transaction.attempt(stumble)
    assert transaction.balance == before and len(transaction.lines) == 1 and transaction.erased == []
