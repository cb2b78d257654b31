"""A source and a population keep the unit and the neighbor relation that a ledger first held for them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ledger.asking import Clock, question, reserve
from ledger.keeping import UNITS
from ledger.racing import race_to_bind
from sfumato.errors import InvalidArgument, LedgerBroken, Refused
from sfumato.ledger import snapshot
from sfumato.ledger.balance import Balance
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.amount import Amount
from sfumato.ledger.records.entry import Kind, seal
from sfumato.privacy.guarantee import Guarantee

PERSON, ROW = 'all rows of one "person"; neighbors add-remove', "one row; neighbors add-remove"
BY_ID = 'all rows of one "person" in column "id"; neighbors add-remove'
BY_VISIT = 'all rows of one "person" in column "visit"; neighbors add-remove'
REPLACED = 'all rows of one "person"; neighbors replace'
BY_ID_REPLACED = 'all rows of one "person" in column "id"; neighbors replace'
FIXTURES = Path(__file__).parent / "fixtures"
KEPT_HEAD = "9-3a0b89731ad506ad1fce7051cb23633b7d6a58047b75d9526c8f89446b6a3d78"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Ledger]]:
    """Opens one ledger again and again, as other processes do; one in memory is the same object."""
    if request.param == "memory":
        ledger = Ledger.in_memory()
        yield lambda: ledger
        return
    address = str(tmp_path / "ledger.db") if request.param == "sqlite" else request.getfixturevalue("postgres")()
    Ledger.open(address, create=True).close()
    opened: list[Ledger] = []

    def opening() -> Ledger:
        opened.append(Ledger.open(address))
        return opened[-1]

    yield opening
    for each in opened:
        each.close()


def test_a_source_keeps_its_unit_and_its_neighbors(opener: Callable[[], Ledger]) -> None:
    """Whoever declares it later with another one is refused, with nothing written."""
    first = opener()
    entry = first.bind("people", PERSON, {"a.csv": BY_ID, "b.csv": BY_VISIT}, guarantee=Guarantee(1))
    assert entry is not None and entry.details == {"unit": PERSON, "units": {"a.csv": BY_ID, "b.csv": BY_VISIT}}
    second = opener()
    head = second.head
    for meaning, bound in ((PERSON, BY_VISIT), (ROW, ROW), (REPLACED, BY_ID_REPLACED)):
        with pytest.raises(Refused, match=r"'a.csv' must keep the unit and the neighbor relation .*; got another"):
            second.bind("people", meaning, {"a.csv": bound}, guarantee=Guarantee(1))
        with pytest.raises(InvalidArgument, match=r"belongs to 'people'.* as it was declared there"):
            second.bind("others", meaning, {"a.csv": bound}, guarantee=Guarantee(1))
    assert second.head == head
    assert second.bind("people", PERSON, {"a.csv": BY_ID}, guarantee=Guarantee(1)) is None
    assert second.balance().units == {"a.csv": BY_ID, "b.csv": BY_VISIT}
    with pytest.raises(InvalidArgument, match="belongs to 'people'"):
        second.bind("others", PERSON, {"a.csv": BY_ID})
    assert first.verify().balance == second.balance()


def test_a_population_keeps_its_unit_whichever_sources_it_gets(opener: Callable[[], Ledger]) -> None:
    """Its sums are the losses of that unit."""
    opener().bind("people", PERSON, {"a.csv": BY_ID}, guarantee=Guarantee(1))
    later = opener()
    for meaning in (ROW, REPLACED, 'all rows of one "day" and "person"; neighbors add-remove'):
        with pytest.raises(Refused, match=r"population 'people' must keep the unit .* name another population"):
            later.bind("people", meaning, {"b.csv": meaning})
    assert later.bind("shops", ROW, {"b.csv": ROW}, guarantee=Guarantee(1)) is not None
    assert later.bind("people", PERSON, {"c.csv": BY_VISIT}) is not None
    assert {name: people.unit for name, people in later.balance().populations.items()} == {
        "people": PERSON,
        "shops": ROW,
    }


def test_a_refused_declaration_grants_nothing(opener: Callable[[], Ledger]) -> None:
    """Budget and unit are written in one transaction, or neither."""
    ledger = opener()
    ledger.bind("people", PERSON, {"a.csv": BY_ID}, guarantee=Guarantee(1))
    head = ledger.head
    with pytest.raises(InvalidArgument):
        ledger.bind("others", ROW, {"a.csv": ROW}, guarantee=Guarantee(1))
    with pytest.raises(Refused):
        ledger.bind("people", ROW, {"b.csv": ROW}, guarantee=Guarantee(1))
    with pytest.raises(Refused, match="the ledger says 1"):
        ledger.bind("people", PERSON, {"b.csv": BY_ID}, guarantee=Guarantee(2))
    assert ledger.head == head


def test_a_unit_stays_when_the_people_are_new_or_answers_are_erased(opener: Callable[[], Ledger]) -> None:
    """Renewing says that the people are others, not that what they are protected as is."""
    ledger = opener()
    ledger.bind("people", PERSON, {"a.csv": BY_ID}, guarantee=Guarantee(1))
    reservation = reserve(ledger)
    ledger.settle(reservation, "7")
    ledger.erase(reservation.number)
    ledger.renew("people", "a new year")
    with pytest.raises(Refused, match="must keep the unit"):
        ledger.bind("people", ROW, {"a.csv": ROW})


def test_processes_that_race_with_two_units_agree_on_one(address: str) -> None:
    """In every round all of one unit are admitted, and all of the other are refused."""
    Ledger.open(address).close()
    admitted = race_to_bind(address, processes=6, rounds=10)
    with Ledger.open(address) as ledger:
        ledger.verify()
        units = ledger.balance().units
    for number in range(10):
        winners = {unit for process in admitted for unit in process[number] if unit is not None}
        assert winners == {units[f"round {number}.csv"]}
        assert sum(process[number] != [None] for process in admitted) == 3


def test_a_ledger_of_the_first_version_is_bound_by_the_next_declaration(tmp_path: Path) -> None:
    """What was spent before stays spent."""
    path, clock = tmp_path / "ledger.db", Clock()
    clock.move(hours=2)
    with closing(sqlite3.connect(path)) as database:
        database.executescript((FIXTURES / "schema_1.sql").read_text())
    with Ledger.open(path, clock=clock) as ledger:
        before = ledger.balance()
        assert before.units == {} and before.population("people").unit is None
        ledger.bind("people", PERSON, {"visits.csv": BY_ID})
        after = ledger.balance()
        assert after.population("people").account == before.population("people").account
        assert after.population("people").account.spent == Amount(None, 102_805_556, 10**19)
        assert after.units == {"visits.csv": BY_ID} and after.sources == before.sources
        ledger.verify()
    with Ledger.open(path, clock=clock) as ledger:
        with pytest.raises(Refused, match="must keep the unit"):
            ledger.bind("people", PERSON, {"visits.csv": BY_VISIT})
        with pytest.raises(Refused, match="population 'people' must keep"):
            ledger.bind("people", ROW, {"wages.csv": ROW})
        ledger.bind("people", PERSON, {"wages.csv": BY_VISIT})


def test_a_kept_ledger_with_units_is_read_for_ever(tmp_path: Path) -> None:
    """Bound at once or later, by rows, by columns and through another table, on files and frames."""
    with Ledger.restore(UNITS, tmp_path / "ledger.db") as ledger:
        balance = ledger.verify(KEPT_HEAD).balance
        assert {name: people.unit for name, people in balance.populations.items()} == {
            "people": PERSON,
            "shops": "one row; neighbors replace",
        }
        assert balance.population("people").account.spent.epsilon == 250_000_000
        assert balance.population("shops").account.spent.epsilon == 500_000_000
        assert balance.units == {
            "visits.csv": BY_ID,
            "orders.csv": BY_ID,
            "lines.csv": f'by "order_id" equal to "order_id" in "orders.csv": {BY_ID}',
            f"frame:{7:032x}": BY_ID,
            "shops.csv": "one row; neighbors replace",
        }
        for population, meaning, sources in (
            ("people", PERSON, {"visits.csv": BY_VISIT}),
            ("people", PERSON, {"lines.csv": BY_ID}),
            ("shops", ROW, {"new.csv": ROW}),
        ):
            with pytest.raises(Refused, match="must keep the unit"):
                ledger.bind(population, meaning, sources)
        assert ledger.bind("people", PERSON, dict(list(balance.units.items())[:4])) is None


def test_units_go_with_copies(tmp_path: Path) -> None:
    """Backups, exports and merges have them; a copy in which a source has another unit cannot be merged."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(1))
        ledger.backup(tmp_path / "same.db")
        ledger.backup(tmp_path / "other.db")
        with Ledger.open(tmp_path / "same.db") as copy:
            copy.bind("people", PERSON, {"a.csv": BY_ID})
            reserve(copy)
        with Ledger.open(tmp_path / "other.db") as copy:
            copy.bind("people", PERSON, {"a.csv": BY_VISIT})
            reserve(copy, question("another"))
        assert ledger.merge(tmp_path / "same.db") == 1
        assert ledger.balance().units == {"a.csv": BY_ID} and ledger.balance().population("people").unit == PERSON
        head = ledger.head
        with pytest.raises(Refused, match=r"'a.csv' must keep the unit"):
            ledger.merge(tmp_path / "other.db")
        assert ledger.head == head
        ledger.export(tmp_path / "entries.jsonl")
        lines = [json.loads(line) for line in (tmp_path / "entries.jsonl").read_text("utf-8").splitlines()]
        assert [json.loads(line["detail"])["units"] for line in lines if line.get("kind") == "declared"] == [
            {"a.csv": BY_ID}
        ]
        ledger.backup(tmp_path / "backup.jsonl")
        with Ledger.restore(tmp_path / "backup.jsonl", tmp_path / "restored.db") as restored:
            assert restored.balance() == ledger.balance()


def test_units_are_in_a_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens the ledger behind one refuses the same."""
    monkeypatch.setattr(snapshot, "INTERVAL", 3)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.bind("people", PERSON, {"a.csv": BY_ID}, guarantee=Guarantee(1))
        for number in range(4):
            ledger.settle(reserve(ledger, question(f"question {number}")), "7")
        assert sum(entry.kind is Kind.SNAPSHOT for entry in ledger.entries()) >= 2
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        with pytest.raises(Refused, match="must keep the unit"):
            ledger.bind("people", PERSON, {"a.csv": BY_VISIT})
        assert ledger.verify().balance.units == {"a.csv": BY_ID}


@pytest.mark.parametrize(
    ("population", "detail", "says"),
    (
        ("people", {"unit": PERSON, "units": {"a.csv": BY_VISIT}}, "changes the unit of a source"),
        ("people", {"unit": ROW, "units": {"b.csv": ROW}}, "changes the unit of population"),
        ("others", {"unit": PERSON, "units": {"a.csv": BY_ID}}, "moves a source"),
        ("people", {"units": {"b.csv": BY_ID}}, "lacks what a declared entry holds"),
        ("people", {"unit": PERSON, "units": {"b.csv": 7}}, "lacks what a declared entry holds"),
        ("people", {"unit": PERSON, "units": ["b.csv"]}, "lacks what a declared entry holds"),
    ),
)
def test_an_entry_that_changes_a_unit_breaks_the_ledger(population: str, detail: dict[str, object], says: str) -> None:
    """No operation writes one."""
    balance = Balance.empty("0" * 64)
    for each in ({"unit": PERSON, "units": {"a.csv": BY_ID}}, {"unit": PERSON, "units": {}}):
        balance = balance.after(
            seal(Kind.DECLARED, after=balance.head, at=1, product="0", population="people", detail=each)
        )
    wrong = seal(Kind.DECLARED, after=balance.head, at=1, product="0", population=population, detail=detail)
    with pytest.raises(LedgerBroken, match=says):
        balance.after(wrong)


def test_what_is_bound_must_be_a_text() -> None:
    """Of at least one letter."""
    ledger = Ledger.in_memory()
    for unit, sources in (("", {"a": BY_ID}), (PERSON, {"a": ""}), (PERSON, {"": BY_ID})):
        with pytest.raises(InvalidArgument, match="must be a text"):
            ledger.bind("people", unit, sources)
    assert ledger.head.number == 0
