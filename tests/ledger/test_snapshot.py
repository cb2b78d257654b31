"""A ledger is opened by its last snapshots and what follows, however long it is, and nothing else is any different."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import test_balance
from ledger.asking import Clock, question, replay, reserve
from ledger.tampering import rewrite, tampered
from sfumato.errors import BudgetExhausted, LedgerBroken
from sfumato.ledger import balance as balance_module
from sfumato.ledger import snapshot
from sfumato.ledger.balance import NO_ACCOUNT, NO_POPULATION, Account, Balance, PopulationBalance
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import COLUMNS, Entry, Kind, from_row, seal, to_row
from sfumato.ledger.records.typed_json import Codec
from sfumato.ledger.store import store
from sfumato.ledger.transaction import Operation
from sfumato.privacy.guarantee import Guarantee

EVERY = 10
FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots after a few entries, so that short ledgers have some."""
    monkeypatch.setattr(snapshot, "INTERVAL", EVERY)


@pytest.fixture
def opened(address: str, clock: Clock) -> Iterator[Callable[[], Ledger]]:
    """Opens the same ledger again, as another process would; all of them are closed."""
    ledgers: list[Ledger] = []

    def new() -> Ledger:
        ledgers.append(Ledger.open(address, clock=clock))
        return ledgers[-1]

    yield new
    for ledger in ledgers:
        ledger.close()


def ask(ledger: Ledger, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        ledger.settle(reserve(ledger, question(f"{number}", Fraction(1, 10**4))), f"answer {number}")


def snapshots(ledger: Ledger) -> list[Entry]:
    return [entry for entry in ledger.entries() if entry.kind is Kind.SNAPSHOT]


def entries_read(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    """How many entries a piece of work reads from the database."""
    read: list[int] = []

    def counted(row: tuple[object, ...]) -> Entry:
        read.append(1)
        return from_row(row)

    with monkeypatch.context() as watched:
        watched.setattr(store, "from_row", counted)
        work()
    return len(read)


def test_opening_reads_no_more_of_a_long_ledger_than_of_a_short_one(
    opened: Callable[[], Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The promise: what is read when a ledger is opened does not grow with its history."""
    ledger = opened()
    ledger.grant("people", Guarantee(epsilon=1))
    most = []
    for part in range(4):
        ask(ledger, 50, 50 * part)
        most.append(entries_read(monkeypatch, lambda: opened().balance()))
    assert ledger.head.number > 400
    assert max(most) <= 2 * (EVERY + 2) + 3  # two stretches of entries, the snapshots and the entry that is compared
    assert opened().balance() == ledger.balance() == ledger.verify().balance


def test_a_snapshot_is_written_by_whoever_writes_when_one_is_due(opened: Callable[[], Ledger]) -> None:
    """Each is the last of its transaction, and refers to the one before it."""
    ledger = opened()
    ledger.grant("people", Guarantee(epsilon=1))
    ask(ledger, 30)
    numbers = [entry.number for entry in snapshots(ledger)]
    assert [entry.refers for entry in snapshots(ledger)] == [None, *numbers[:-1]]
    assert numbers == [EVERY + 1 + (EVERY + 1) * each for each in range(len(numbers))] and len(numbers) == 6


def test_a_large_balance_is_written_less_often(ledger: Ledger) -> None:
    """At most about two accounts for each entry since the last time: else snapshots would be most of the ledger."""
    people = 20 * EVERY
    for number in range(people):
        ledger.grant(f"people {number}", Guarantee(epsilon=1))
    for number in range(people):
        ledger.grant(f"people {number}", Guarantee(epsilon=2))
    taken = [entry.number for entry in snapshots(ledger)]
    assert 4 < len(taken) < 2 * people // EVERY // 4
    assert taken[-1] - taken[-2] >= people // 2 - 1


@given(st.lists(test_balance.steps(), max_size=40))
def test_a_snapshot_of_any_balance_gives_that_balance_back(played: list[Operation]) -> None:
    """All of it, in the same order, with the entry's own number, hash and time."""
    transaction = test_balance.play(played)
    transaction.now += 1
    before = transaction.balance
    entry = transaction.append(Kind.SNAPSHOT, detail=before.details)
    kept = {each.number: each for each, _ in transaction.lines}
    found = Balance.restored(entry, kept.get)
    assert found == replace(before, head=entry.head, at=entry.at, snapshot=entry.number) == transaction.balance
    assert list(found.open) == list(before.open) and list(found.populations) == list(before.populations)


def test_every_field_of_a_balance_is_in_its_snapshot() -> None:
    """But those that the entry itself has; whoever adds a field need not remember it."""
    own = {"head", "at", "snapshot"}
    written = Balance.empty("00" * 32).details["balance"]
    assert isinstance(written, dict) and written.keys() == {each.name for each in fields(Balance)} - own
    for kind, value in ((PopulationBalance, NO_POPULATION), (Account, NO_ACCOUNT)):
        assert Codec(kind).write(value).keys() == {each.name for each in fields(kind)}


def test_a_field_of_a_type_that_cannot_be_written_is_refused_when_the_codec_is_made() -> None:
    """That is: when the module is imported, in every test."""

    @dataclass(frozen=True)
    class Newer:
        weights: list[float]

    with pytest.raises(TypeError, match="say how in typed_json"):
        Codec(Newer)


def test_what_was_reserved_before_a_snapshot_is_settled_after_it(opened: Callable[[], Ledger], clock: Clock) -> None:
    """By the process that reserved; or it is abandoned by another one, oldest first."""
    ledger = opened()
    ledger.grant("people", Guarantee(epsilon=1))
    waiting = [reserve(ledger, question(f"waits {number}", Fraction(1, 100))) for number in range(2 * EVERY)]
    other = opened()
    assert snapshots(other) and list(other.balance().open) == [each.number for each in waiting]
    other.settle(waiting[0], "7")
    ask(other, EVERY)
    third = opened()
    assert replay(third, question("waits 0", Fraction(1, 100))).answer == "7"
    clock.move(hours=2)
    reserve(third, question("later", Fraction(1, 100), analyst="ben"))  # whose question failed must wait
    ended = [entry.refers for entry in third.entries() if entry.kind is Kind.FAILED]
    assert ended == [each.number for each in waiting[1:]]
    third.verify()


def test_an_answer_from_before_the_snapshots_is_replayed_and_a_spend_stays_spent(opened: Callable[[], Ledger]) -> None:
    """By a process that never read them."""
    ledger = opened()
    ledger.grant("people", Guarantee(epsilon=1))
    ledger.renew("people", "replay keys count from here")
    ask(ledger, 40)
    other = opened()
    assert replay(other, question("0", Fraction(1, 10**4))).answer == "answer 0"
    assert other.remaining("people").epsilon == 1 - Fraction(40, 10**4)
    with pytest.raises(BudgetExhausted):
        other.reserve(question("too much", epsilon=1))


def test_two_that_write_in_turns_agree_on_every_snapshot(opened: Callable[[], Ledger]) -> None:
    """Each folds what the other wrote, and checks the other's snapshots."""
    pair = opened(), opened()
    pair[0].grant("people", Guarantee(epsilon=1))
    for number in range(40):
        ask(pair[number % 2], 1, number)
    assert pair[0].balance() == pair[1].balance() == opened().balance() == pair[0].verify().balance


def test_an_exhausted_ledger_gets_a_snapshot_by_a_refusal(
    opened: Callable[[], Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is ever written any more, opening would stay slow."""
    monkeypatch.setattr(snapshot, "INTERVAL", 10**6)
    ledger = opened()
    ledger.grant("people", Guarantee(epsilon=Fraction(30, 10**4)))
    ask(ledger, 30)
    monkeypatch.setattr(snapshot, "INTERVAL", EVERY)
    head = ledger.head
    with pytest.raises(BudgetExhausted):
        ledger.reserve(question("more"))
    assert ledger.head.number == head.number + 1 and len(snapshots(ledger)) == 1


def test_a_ledger_of_the_first_version_gets_its_snapshot_with_the_next_entry(tmp_path: Path) -> None:
    """And is closed to that version from then on, which would not know what it reads."""
    path, clock = tmp_path / "ledger.db", Clock()
    with closing(sqlite3.connect(path)) as database:
        database.executescript((FIXTURES / "schema_1.sql").read_text())
    clock.move(hours=2)
    with Ledger.open(path, clock=clock) as ledger:
        before = ledger.balance()
        assert before.head.number == 23 and not snapshots(ledger)
        ledger.settle(reserve(ledger, question("new", table="wages")), "7")
        assert len(snapshots(ledger)) == 1
        ledger.verify()
    with Ledger.open(path, clock=clock) as ledger:
        people = ledger.balance().population("people")
        assert people.renewed == before.population("people").renewed and people.named
        ledger.resume("ana", "visits")  # a reservation that was left open has failed
        assert replay(ledger, question("COUNT(*)", Fraction(1, 3))).answer == '{"n": 1234}'
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT value FROM sfumato_meta WHERE name = 'schema_version'").fetchone() == ("2",)


def test_a_snapshot_of_a_version_with_other_fields_is_passed_over(
    opened: Callable[[], Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All entries are folded once, and the next snapshot is of this version."""
    ledger = opened()
    ledger.grant("people", Guarantee(epsilon=1))
    with monkeypatch.context() as past:
        past.setattr(balance_module, "_SHAPE", "that of before")
        ask(ledger, 30)
    assert len(snapshots(ledger)) == 6
    later = opened()
    assert entries_read(monkeypatch, later.balance) > 60
    ask(later, 2 * EVERY, 30)
    assert entries_read(monkeypatch, lambda: opened().balance()) < 30
    later.verify()


@pytest.mark.parametrize("name", ["copy.db", "copy.jsonl"])
def test_copies_hold_the_snapshots_and_merge_without_counting_them(tmp_path: Path, name: str) -> None:
    """Backup, restore and merge, each verified."""
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        ask(ledger, 20)
        ledger.backup(tmp_path / name)
        with Ledger.restore(tmp_path / name, tmp_path / "restored.db") as restored:
            assert restored.balance() == ledger.balance() and snapshots(restored) == snapshots(ledger)
            ask(restored, 20, 100)
            ask(ledger, 20, 200)
            assert ledger.merge(restored) == 20 and ledger.merge(restored) == 0
        assert ledger.remaining("people").epsilon == 1 - Fraction(60, 10**4)
        ledger.export(tmp_path / "export.csv")
        ledger.verify()
        with Ledger.open(tmp_path / "ledger.db") as again:
            assert again.balance() == ledger.balance()


def test_a_snapshot_holds_nothing_that_can_be_erased(shared: Ledger) -> None:
    """Neither text, salt nor replay key, of what was erased or of what is still open."""
    secret = "Rumpelstilzchen"
    erased = reserve(shared, question(secret, Fraction(1, 100)))
    shared.settle(erased, secret)
    waiting = reserve(shared, question(f"{secret} waits", Fraction(1, 100)))
    ask(shared, EVERY)
    with shared._writer.reading() as copy:
        hidden = [each for _, payload in copy.lines if payload for each in (payload.salt.hex(), payload.replay, secret)]
    shared.erase(erased.number)
    ask(shared, EVERY, EVERY)
    found = json.dumps([entry.detail for entry in snapshots(shared)])
    assert len(snapshots(shared)) > 2 and f"[{waiting.number}," in found.replace('\\"', "").replace(" ", "")
    assert not [each for each in hidden if each and each in found]
    assert erased.entry.payload_digest and erased.entry.payload_digest not in found


def test_a_ledger_in_memory_has_the_same_snapshots() -> None:
    """The same entries on every store."""
    ledger = Ledger.in_memory()
    ledger.grant("people", Guarantee(epsilon=1))
    ask(ledger, 30)
    assert len(snapshots(ledger)) == 6
    assert snapshot.start("", ledger._writer.store.read().__enter__()).snapshot == snapshots(ledger)[-2].number
    ledger.verify()


def fill(path: Path, clock: Clock) -> list[int]:
    """A ledger with several snapshots, some entries behind the last; the numbers of the snapshots."""
    with Ledger.open(path, clock=clock) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        ask(ledger, 22)
        assert len(snapshots(ledger)) == 4 and ledger.head.number == snapshots(ledger)[-1].number + 5
        return [entry.number for entry in snapshots(ledger)]


def less(path: Path, number: int) -> dict[str, object]:
    """What a snapshot would say if somebody wanted to spend again."""
    with Ledger.open(path) as ledger:
        details = next(ledger.entries(after=number - 1)).details
    details["balance"]["populations"][0][1]["account"]["spent"]["epsilon"] = 0
    return details


@pytest.mark.parametrize("column", COLUMNS)
def test_a_changed_field_of_a_snapshot_is_found_by_verify_and_where_it_is_read_by_opening(
    tmp_path: Path, clock: Clock, column: str
) -> None:
    """Every field, to another value."""
    taken = fill(tmp_path / "ledger.db", clock)
    for number in taken:
        path = Path(shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db"))
        with tampered(path) as database:
            change = f"coalesce(\"{column}\", 0) || '1'"
            database.execute(f'UPDATE sfumato_entry SET "{column}" = {change} WHERE number = ?', (number,))
        for use in (Ledger.verify, *((Ledger.balance,) if number in taken[-2:] else ())):
            with Ledger.open(path, clock=clock) as ledger, pytest.raises(LedgerBroken):
                use(ledger)


@pytest.mark.parametrize("which", [0, 1, 2, 3])
def test_a_snapshot_that_lies_in_a_chain_sealed_anew_is_found_by_verify(
    tmp_path: Path, clock: Clock, which: int
) -> None:
    """By opening too if it is one of the last two, which are compared with each other."""
    path = tmp_path / "ledger.db"
    number = fill(path, clock)[which]
    rewrite(path, number, detail=less(path, number))
    with Ledger.open(path, clock=clock) as ledger, pytest.raises(LedgerBroken, match=f"snapshot {number} says"):
        ledger.verify()
    if which >= 2:
        with Ledger.open(path, clock=clock) as ledger, pytest.raises(LedgerBroken, match="says something else"):
            ledger.reserve(question())


def test_a_snapshot_that_a_running_process_could_check_is_not_believed(tmp_path: Path, clock: Clock) -> None:
    """Somebody appends a well-chained one that says less: who knows the balance before it notices."""
    path = tmp_path / "ledger.db"
    number = fill(path, clock)[-1]
    with Ledger.open(path, clock=clock) as ledger:
        before = ledger.balance()
        lie = seal(
            Kind.SNAPSHOT, after=before.head, at=before.at, product="1", refers=number, detail=less(path, number)
        )
        with tampered(path) as database:
            database.execute(f"INSERT INTO sfumato_entry VALUES ({', '.join('?' * len(COLUMNS))})", to_row(lie))
        with pytest.raises(LedgerBroken, match="says something else than the entries before it"):
            ledger.reserve(question())
        with Ledger.open(path, clock=clock) as other, pytest.raises(LedgerBroken, match="says something else"):
            other.balance()
