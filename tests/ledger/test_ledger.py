"""What owner and curator may count on, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest

from ledger.asking import NOON, Clock, question, replay, reserve
from sfumato.errors import BudgetExhausted, InvalidArgument, NotGranted, Paused, Refused
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import Kind
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss


def spend(ledger: Ledger, plan: str, **changes: object) -> None:
    ledger.settle(reserve(ledger, question(plan, **changes)), "answer")


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind.value for entry in ledger.entries()]


def test_a_question_is_reserved_and_settled(shared: Ledger, address: str) -> None:
    """And another process finds it."""
    reservation = reserve(shared)
    assert shared.balance().open.keys() == {reservation.number}
    shared.settle(reservation, '{"n": 7}')
    assert kinds(shared) == ["granted", "reserved", "settled"]
    with Ledger.open(address) as other:
        assert other.balance() == shared.balance()
        assert other.remaining("people").epsilon == Fraction(9, 10)
        entry = list(other.entries())[1]
    assert (entry.population, entry.analyst, entry.table, entry.version) == ("people", "ana", "visits", "2026-11")
    assert entry.mechanisms == '[["laplace",{"scale":"10"}]]'
    assert entry.product and entry.guarantee == 1


def test_a_reservation_counts_from_the_moment_it_is_written(shared: Ledger) -> None:
    """Settled, failed or never heard of again."""
    reserve(shared, question("a"))
    shared.fail(reserve(shared, question("b")), "engine")
    shared.resume("ana", "visits")
    spend(shared, "c")
    assert shared.remaining("people").epsilon == Fraction(7, 10)


def test_the_budget_holds_over_tables_and_analysts(shared: Ledger) -> None:
    """A person in two tables loses both."""
    for number in range(10):
        spend(shared, "q", table=f"table {number % 3}", analyst=f"analyst {number}", epsilon=Fraction(1, 10))
    with pytest.raises(BudgetExhausted):
        shared.reserve(question("q", epsilon=Fraction(1, 10), table="another", analyst="another"))
    assert shared.verify().entries == 21


def test_a_refusal_says_what_was_requested_what_is_left_and_what_fits(ledger: Ledger) -> None:
    """By arm A an epsilon of 0.25 is left; by arm B less."""
    spend(ledger, "much", epsilon=Fraction(3, 4))
    with pytest.raises(BudgetExhausted) as refusal:
        ledger.reserve(question("more", epsilon=Fraction(1, 2)))
    text = str(refusal.value)
    assert text.startswith("Not enough budget: epsilon 0.5 requested, 0.25 left; rho 0.125 requested, 0 left. ")
    assert "An epsilon of at most 0.25 fits" in text
    spend(ledger, "the rest", epsilon=Fraction(1, 4))
    with pytest.raises(BudgetExhausted, match="Nothing is left; ask the owner"):
        ledger.reserve(question("more", epsilon=Fraction(1, 2)))


def test_what_is_said_to_fit_fits(ledger: Ledger) -> None:
    """By either arm, with and without delta, and for both budgets."""
    ledger.grant("people", Guarantee(epsilon=0.9, delta=1e-9), analyst="ana", until=NOON + timedelta(days=1))
    for number in range(5):
        with pytest.raises(BudgetExhausted) as refusal:
            ledger.reserve(question(f"all {number}", epsilon=2))
        greatest = Fraction(str(refusal.value).split("An epsilon of at most ")[1].split(" fits")[0])
        with pytest.raises(BudgetExhausted):
            ledger.reserve(question(f"more {number}", epsilon=greatest + Fraction(1, 10**9)))
        reserve(ledger, question(f"half {number}", epsilon=greatest / 2))
    assert "Not enough budget for ana (ends on 2026-11-17 12:00:00 UTC): " in str(refusal.value)


def test_a_refusal_names_the_currency_that_is_short(ledger: Ledger) -> None:
    """Rho for Gaussian noise, delta for thresholds."""
    with pytest.raises(BudgetExhausted, match=r"budget: rho 1 requested, 0\.0\d+ left\. A rho of at"):
        ledger.reserve(question(loss=Loss.concentrated(1)))
    spend(ledger, "leaves no rho", epsilon=Fraction(1, 2))
    with pytest.raises(BudgetExhausted, match=r"With noise that has an epsilon, one of at most 0\.5 fits"):
        ledger.reserve(question(loss=Loss.concentrated(1)))
    with pytest.raises(BudgetExhausted, match=r"delta 1e-8 requested, 5e-10 left"):
        ledger.reserve(question(loss=Loss.pure(0.1, delta=1e-8)))
    with pytest.raises(BudgetExhausted, match="A delta of at most 5e-10 fits"):
        ledger.reserve(question(loss=Loss.pure(0.1, delta=1e-8)))


def test_without_a_grant_nobody_asks(shared: Ledger) -> None:
    """A population that is only declared has nothing to spend."""
    shared.declare("staff", ["wages.csv"])
    with pytest.raises(NotGranted, match=r"^There is no budget for this data\. Ask the owner\.$"):
        shared.reserve(question(population="staff"))
    assert shared.remaining("staff") == (0, 0, 0)


def test_once_an_analyst_has_a_grant_only_analysts_with_one_ask(shared: Ledger) -> None:
    """Each within the own budget, and all within the population's."""
    shared.grant("people", Guarantee(epsilon=0.3), analyst="ana")
    with pytest.raises(NotGranted, match=r"^ben has no budget for this data\. Ask the owner\.$"):
        shared.reserve(question(analyst="ben"))
    for number in range(3):
        spend(shared, f"{number}")
    with pytest.raises(BudgetExhausted, match=r"^Not enough budget for ana: "):
        shared.reserve(question("one more"))
    shared.grant("people", Guarantee(epsilon=5), analyst="ben")
    spend(shared, "b", analyst="ben", epsilon=Fraction(7, 10))
    with pytest.raises(BudgetExhausted, match=r"^Not enough budget: "):
        shared.reserve(question("b2", analyst="ben"))
    assert shared.remaining("people", "ana").epsilon == 0
    assert shared.remaining("people", "cem") == (0, 0, 0)


def test_an_budget_ends_on_its_day_and_not_by_a_clock_that_jumps_back(shared: Ledger, clock: Clock) -> None:
    """The ledger's own time never goes back."""
    shared.grant("people", Guarantee(epsilon=1), until=NOON + timedelta(hours=2))
    spend(shared, "a")
    clock.move(hours=2)
    with pytest.raises(NotGranted, match="ended on 2026-11-16 14:00:00 UTC"):
        shared.reserve(question("b"))
    shared.grant("staff", Guarantee(epsilon=1))
    clock.move(hours=-5)
    with pytest.raises(NotGranted, match="ended on"):
        shared.reserve(question("b"))
    spend(shared, "c", population="staff")
    times = [entry.at for entry in shared.entries()]
    assert times == sorted(times)
    assert shared.verify().entries == len(times)


def test_what_was_revoked_is_not_spent_any_more_but_stays_spent(shared: Ledger) -> None:
    """Also for an analyst who never had a grant of his own."""
    spend(shared, "a")
    shared.revoke("people", why="a complaint")
    with pytest.raises(NotGranted, match="was revoked"):
        shared.reserve(question("b"))
    shared.grant("people", Guarantee(epsilon=1))
    assert shared.remaining("people").epsilon == Fraction(9, 10)
    shared.revoke("people", analyst="ben")
    with pytest.raises(NotGranted, match="budget of ben was revoked"):
        shared.reserve(question("b", analyst="ben"))
    spend(shared, "b")


def test_only_the_owners_word_makes_the_units_new(shared: Ledger) -> None:
    """A new version label refills nothing."""
    for number in range(10):
        spend(shared, "same", version=f"version {number}")
    with pytest.raises(BudgetExhausted):
        shared.reserve(question("same", version="2027-01"))
    shared.renew("people", "a new cohort")
    spend(shared, "same", version="2027-01")
    assert shared.remaining("people").epsilon == Fraction(9, 10)
    with pytest.raises(InvalidArgument, match="population must be known"):
        shared.renew("nobody", "new")


def test_a_source_belongs_to_one_population(shared: Ledger) -> None:
    """Declared twice it is said once; declared for others it is refused."""
    assert shared.declare("people", ["b.csv", "a.csv", "a.csv"]) is not None
    assert shared.declare("people", ["a.csv"]) is None
    assert shared.declare("people", ["a.csv", "c.csv"]) is not None
    with pytest.raises(InvalidArgument, match=r"'c.csv' for 'staff', but it belongs to 'people'"):
        shared.declare("staff", ["d.csv", "c.csv"])
    assert set(shared.balance().sources) == {"a.csv", "b.csv", "c.csv"}


def test_the_first_opening_grants_and_a_later_one_must_agree(shared: Ledger) -> None:
    """A project file that says more than the ledger does not refill it."""
    assert shared.establish("staff", Guarantee(epsilon=2, delta=1e-9)) is not None
    assert shared.establish("staff", Guarantee(epsilon=2, delta=1e-9)) is None
    with pytest.raises(Refused, match=r"says epsilon 3, the ledger says 2\. .*ledger\.grant"):
        shared.establish("staff", Guarantee(epsilon=3, delta=1e-9))
    shared.revoke("staff")
    with pytest.raises(Refused, match=r"was revoked; grant a new one: ledger\.grant"):
        shared.establish("staff", Guarantee(epsilon=2, delta=1e-9))


def test_a_failure_pauses_the_analyst_on_that_table_until_the_owner_looked(shared: Ledger) -> None:
    """And nobody else, nor elsewhere."""
    spend(shared, "other", analyst="ben")
    shared.fail(reserve(shared, question("not alone")), "timeout")
    with pytest.raises(Paused, match="analyst 'ana' must wait on table 'visits'"):
        shared.reserve(question("next"))
    spend(shared, "elsewhere", table="wages")
    spend(shared, "next", analyst="ben")
    assert shared.resume("ben", "visits") is None
    assert shared.resume("ana", "visits") is not None
    spend(shared, "next")


@pytest.mark.parametrize("reason", ["engine", "timeout", "cancelled", "abandoned"])
def test_a_failure_pauses_an_only_analyst_too(shared: Ledger, reason: str) -> None:
    """That a question failed says as much about the data to one analyst as to the first of two."""
    shared.fail(reserve(shared, question("alone")), reason)
    with pytest.raises(Paused, match="analyst 'ana' must wait on table 'visits'"):
        shared.reserve(question("next"))
    with pytest.raises(Paused):
        shared.reserve(question("alone"))
    assert shared.resume("ana", "visits") is not None
    spend(shared, "next")


def test_a_killed_process_pauses_an_only_analyst_once_its_lease_has_ended(shared: Ledger, clock: Clock) -> None:
    """Somebody who can make questions die with the process must not try again without the owner."""
    reserve(shared, question("lost"))
    clock.move(minutes=61)
    with pytest.raises(Paused):
        shared.reserve(question("next"))


def test_a_ledger_in_memory_pauses_by_the_same_rule() -> None:
    """Unless it is opened without pauses."""
    for pauses in (True, False):
        ledger = Ledger.in_memory() if pauses else Ledger.in_memory(pause=False)
        ledger.grant("people", Guarantee(epsilon=1))
        ledger.fail(reserve(ledger), "engine")
        assert ledger.balance().paused == ({("ana", "visits")} if pauses else set())


@pytest.mark.parametrize(("pause", "paused"), [(True, True), (False, False)])
def test_whether_a_failure_pauses_may_be_decided(address: str, pause: bool, paused: bool) -> None:
    """For one analyst too, or for none."""
    with Ledger.open(address, pause=pause) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        reserve(ledger, question("other", analyst="ben"))
        ledger.fail(reserve(ledger), "cancelled")
        assert ledger.balance().paused == ({("ana", "visits")} if paused else set())


def test_a_reservation_that_stays_open_is_abandoned_by_the_next_writer(shared: Ledger, clock: Clock) -> None:
    """After the lease; whoever made it can no longer settle, and it stays spent."""
    lost, later = reserve(shared, question("lost")), None
    clock.move(minutes=30)
    later = reserve(shared, question("later"))
    clock.move(minutes=30)
    spend(shared, "next", table="wages")
    assert [entry.details for entry in shared.entries() if entry.kind is Kind.FAILED] == [
        {"reason": "abandoned", "pause": True}
    ]
    with pytest.raises(InvalidArgument, match=f"reservation {lost.number} must be open"):
        shared.settle(lost, "too late")
    shared.settle(later, "in time")
    assert shared.remaining("people").epsilon == Fraction(7, 10)


def test_the_same_question_is_free_also_when_nothing_is_left(shared: Ledger) -> None:
    """And by the same analyst only."""
    reservation = reserve(shared, question(epsilon=1))
    shared.settle(reservation, '{"n": "sieben ½"}')
    found = replay(shared, question(epsilon=1))
    assert (found.answer, found.entry) == ('{"n": "sieben ½"}', reservation.number)
    with pytest.raises(BudgetExhausted):
        shared.reserve(question(epsilon=1, analyst="ben"))


@pytest.mark.parametrize(
    "change",
    [
        {"table": "t"},
        {"version": "v"},
        {"plan": "SUM(x)"},
        {"promise": "p"},
        {"population": "staff"},
        {"analyst": "ben"},
    ],
)
def test_another_question_is_not_free(shared: Ledger, change: dict[str, str]) -> None:
    """Whatever differs: data, version, plan, promise, people or asker."""
    shared.grant("staff", Guarantee(epsilon=1))
    shared.settle(reserve(shared), "7")
    reserve(shared, question(**change))  # type: ignore[arg-type]


def test_an_owner_may_share_answers(address: str) -> None:
    """Then what one analyst paid for is free for the others, also from before."""
    with Ledger.open(address) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        ledger.settle(reserve(ledger), "7")
    with Ledger.open(address, share_answers=True) as ledger:
        assert replay(ledger, question(analyst="ben")).answer == "7"


def test_only_an_answer_that_was_given_is_replayed(shared: Ledger) -> None:
    """Not one that is under way, failed, was erased, or was about people who were there before."""
    under_way = reserve(shared)
    shared.fail(reserve(shared), "engine")
    shared.resume("ana", "visits")
    shared.settle(under_way, "7")
    assert replay(shared).answer == "7"
    shared.renew("people", "a new cohort")
    fresh = reserve(shared)
    shared.settle(fresh, "8")
    assert replay(shared).answer == "8"
    shared.erase(fresh.number)
    reserve(shared)


def test_who_may_not_ask_gets_no_replay_either(shared: Ledger, clock: Clock) -> None:
    """Paused, ended or revoked."""
    shared.settle(reserve(shared), "7")
    reserve(shared, question(analyst="ben"))
    shared.fail(reserve(shared, question("fails")), "engine")
    with pytest.raises(Paused):
        shared.reserve(question())
    shared.resume("ana", "visits")
    assert replay(shared).answer == "7"
    shared.grant("people", Guarantee(epsilon=1), analyst="ana", until=NOON + timedelta(seconds=1))
    assert replay(shared).answer == "7"
    clock.move(seconds=1)
    with pytest.raises(NotGranted, match="ended on"):
        shared.reserve(question())
    shared.grant("people", Guarantee(epsilon=1), analyst="ana")
    shared.revoke("people", analyst="ana")
    with pytest.raises(NotGranted, match="revoked"):
        shared.reserve(question())


def test_what_cannot_be_meant_is_refused_at_the_door(ledger: Ledger) -> None:
    """Before anything is written."""
    head = ledger.head
    reservation = replay_of = None
    for wrong in (
        lambda: ledger.grant("people", 3),  # type: ignore[arg-type]
        lambda: ledger.grant("people", Guarantee(epsilon=1), until=NOON.replace(tzinfo=None)),
        lambda: ledger.grant("people", Guarantee(epsilon=1), until=NOON - timedelta(days=1)),
        lambda: ledger.grant("", Guarantee(epsilon=1)),
        lambda: ledger.declare("people", [""]),
        lambda: ledger.declare("nul\x00", ["a.csv"]),
        lambda: ledger.renew("people", ""),
        lambda: ledger.reserve("SELECT 1"),  # type: ignore[arg-type]
        lambda: ledger.settle(reservation, "7"),  # type: ignore[arg-type]
        lambda: ledger.settle(replay_of, "7"),  # type: ignore[arg-type]
        lambda: ledger.erase(1),
        lambda: ledger.erase(99),
        lambda: ledger.export("ledger.xlsx"),
        lambda: question(analyst="\ud800"),
        lambda: question(mechanisms=(object(),)),
        lambda: Ledger.open(":memory:"),
        lambda: Ledger.open("mysql://here/ledger"),
        lambda: Ledger.open("ledger.db", lease=timedelta(0)),
    ):
        with pytest.raises(InvalidArgument):
            wrong()
    with pytest.raises(InvalidArgument, match="reason must be one of engine, timeout, cancelled, abandoned"):
        ledger.fail(reserve(ledger), "bored")
    assert ledger.head.number == head.number + 1


def test_a_reservation_ends_once(shared: Ledger) -> None:
    """By settling or by failing."""
    reservation = reserve(shared)
    shared.settle(reservation, "7")
    for again in (lambda: shared.settle(reservation, "8"), lambda: shared.fail(reservation, "engine")):
        with pytest.raises(InvalidArgument, match="must be open"):
            again()
    assert replay(shared).answer == "7"


def test_any_letter_may_be_asked_and_answered(shared: Ledger) -> None:
    """A key of the data may hold what a database does not take: that must not decide whether there is an answer."""
    strange = "NUL \x00, half \ud800, Jürgen 🎨"
    shared.declare("people", [strange])
    shared.settle(reserve(shared, question(strange, promise=strange, question=strange)), strange)
    assert replay(shared, question(strange, promise=strange)).answer == strange
    assert shared.verify().entries == 4
