"""Backups, exports and copies that went their own way: no entry is forgotten, no spend counted twice."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from ledger.asking import Clock, question, replay, reserve
from sfumato.errors import BudgetExhausted, InvalidArgument, LedgerBroken, Refused
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.entry import COLUMNS, Kind
from sfumato.privacy.guarantee import Guarantee

Addresses = Callable[[], str]


def spend(ledger: Ledger, *plans: str) -> None:
    for plan in plans:
        ledger.settle(reserve(ledger, question(plan)), f"answer to {plan}")


def spent(ledger: Ledger) -> int:
    return ledger.balance().population("people").account.spent.epsilon or 0


def copied(ledger: Ledger, path: Path) -> Ledger:
    ledger.backup(path)
    return Ledger.open(path, clock=Clock())


@pytest.mark.parametrize("name", ["backup.db", "backup.jsonl"])
def test_a_backup_restored_into_a_new_ledger_is_the_same_ledger(ledger: Ledger, tmp_path: Path, name: str) -> None:
    """Same entries, same head, same replays, same secret; and it goes on."""
    spend(ledger, "a", "b")
    ledger.erase(2)
    open_reservation = reserve(ledger, question("open"))
    ledger.backup(tmp_path / name)
    with Ledger.restore(tmp_path / name, tmp_path / "restored.db", clock=Clock()) as restored:
        assert list(restored.entries()) == list(ledger.entries())
        assert restored.verify(str(ledger.head)).balance == ledger.verify().balance
        assert replay(restored, question("b")).answer == "answer to b"
        restored.settle(open_reservation, "later")
        spend(restored, "a", "c")


def test_a_ledger_moves_between_stores(postgres: Addresses, ledger: Ledger, tmp_path: Path) -> None:
    """From SQLite to PostgreSQL and back."""
    spend(ledger, "a", "b")
    ledger.backup(tmp_path / "there.jsonl")
    with Ledger.restore(tmp_path / "there.jsonl", postgres(), clock=Clock()) as there:
        spend(there, "c")
        assert replay(there, question("a")).answer == "answer to a"
        there.backup(tmp_path / "back.jsonl")
        head = there.head
        with pytest.raises(InvalidArgument, match=r"must end in \.jsonl"):
            there.backup(tmp_path / "back.db")
    with Ledger.restore(tmp_path / "back.jsonl", tmp_path / "ledger.db") as back:
        assert back.head == head and back.verify().entries == 7


def test_an_older_backup_is_not_restored_over_a_newer_ledger(ledger: Ledger, tmp_path: Path) -> None:
    """It would forget what was spent."""
    spend(ledger, "a")
    ledger.backup(tmp_path / "backup.jsonl")
    spend(ledger, "b")
    with pytest.raises(Refused, match=r"ends at entry 3, the ledger at 5: restoring it would forget what was spent"):
        Ledger.restore(tmp_path / "backup.jsonl", tmp_path / "ledger.db")
    assert ledger.verify().entries == 5


def test_a_backup_completes_an_older_ledger(ledger: Ledger, tmp_path: Path) -> None:
    """Only what is missing is written."""
    spend(ledger, "a")
    ledger.backup(tmp_path / "old.db")
    spend(ledger, "b", "c")
    ledger.backup(tmp_path / "new.jsonl")
    with Ledger.restore(tmp_path / "new.jsonl", tmp_path / "old.db") as restored:
        assert restored.head == ledger.head
        assert restored.verify().entries == 7


def test_what_was_erased_does_not_come_back_by_a_backup(ledger: Ledger, tmp_path: Path) -> None:
    """The backup still has the text; the ledger it is restored into has not."""
    spend(ledger, "a")
    ledger.backup(tmp_path / "before.jsonl")
    ledger.erase(2)
    with pytest.raises(Refused):
        Ledger.restore(tmp_path / "before.jsonl", tmp_path / "ledger.db")
    assert ledger.verify().erased == 2


def test_a_restored_older_backup_is_found_by_a_later_head(ledger: Ledger, tmp_path: Path) -> None:
    """The head stands on every receipt."""
    spend(ledger, "a")
    ledger.backup(tmp_path / "backup.db")
    receipt = reserve(ledger, question("b")).head
    with Ledger.restore(tmp_path / "backup.db", tmp_path / "restored.db", clock=Clock()) as restored:
        restored.verify()
        with pytest.raises(LedgerBroken, match="ends at entry 3, but entry 4 is known: it is an older copy"):
            restored.verify(str(receipt))
        spend(restored, "b2")
        with pytest.raises(LedgerBroken, match=r"entry 4 is known as .*, but the ledger holds"):
            restored.verify(str(receipt))


def test_merging_counts_what_the_copy_spent_and_repeating_it_adds_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """What both have in common is not counted again."""
    spend(ledger, "a", "b")
    with copied(ledger, tmp_path / "copy.db") as copy:
        spend(copy, "c", "d")
        reserve(copy, question("open"))
        spend(ledger, "e")
        assert spent(ledger) == 3 * 10**8
        assert ledger.merge(tmp_path / "copy.db") == 3
        assert spent(ledger) == 6 * 10**8
        assert ledger.merge(copy) == 0
        spend(copy, "f")
        copy.backup(tmp_path / "copy.jsonl")
        assert ledger.merge(tmp_path / "copy.jsonl") == 1
        assert spent(ledger) == 7 * 10**8
        assert copy.merge(ledger) == 1
        assert spent(copy) == spent(ledger)
        assert ledger.merge(copy) == copy.merge(ledger) == 0
        assert ledger.verify().balance.population("people") == copy.verify().balance.population("people")
    merged = [entry for entry in ledger.entries() if entry.kind is Kind.MERGED]
    assert [(entry.analyst, entry.table, entry.version) for entry in merged] == [("ana", "visits", "2026-11")] * 4


def test_three_copies_that_merge_crosswise_count_every_spend_once(ledger: Ledger, tmp_path: Path) -> None:
    """Whoever brings the news."""
    with copied(ledger, tmp_path / "b.db") as second, copied(ledger, tmp_path / "c.db") as third:
        for number, each in enumerate((ledger, second, third)):
            spend(each, f"{number}")
        second.merge(third)
        ledger.merge(third)
        ledger.merge(second)
        second.merge(ledger)
        third.merge(second)
        third.merge(ledger)
        assert spent(ledger) == spent(second) == spent(third) == 3 * 10**8


def test_merging_may_overdraw_an_budget_which_then_admits_nothing(ledger: Ledger, tmp_path: Path) -> None:
    """It only ever adds spend: that two copies answered cannot be undone."""
    with copied(ledger, tmp_path / "copy.db") as copy:
        for each in (ledger, copy):
            reserve(each, question("much", epsilon=Fraction(3, 4)))
        copy.renew("people", "new people")
        reserve(copy, question("after", epsilon=Fraction(3, 4)))
        ledger.merge(copy)
        assert spent(ledger) == 3 * 75 * 10**7
        assert ledger.remaining("people") == (0, 0, 0)
        with pytest.raises(BudgetExhausted, match="Nothing is left"):
            ledger.reserve(question("tiny", epsilon=Fraction(1, 10**6)))
        ledger.verify()


def test_an_older_ledger_takes_up_what_came_later(ledger: Ledger, tmp_path: Path) -> None:
    """The remedy that the message about a later head names."""
    ledger.backup(tmp_path / "old.db")
    spend(ledger, "a", "b")
    with Ledger.open(tmp_path / "old.db", clock=Clock()) as old:
        assert old.merge(ledger) == 2
        assert spent(old) == spent(ledger)
        assert ledger.merge(old) == 0


def test_another_ledger_is_neither_merged_nor_restored(ledger: Ledger, tmp_path: Path) -> None:
    """Its people are others."""
    with Ledger.open(tmp_path / "other.db") as other:
        other.grant("people", Guarantee(epsilon=1))
        with pytest.raises(Refused, match="only copies of one ledger"):
            ledger.merge(other)
        other.backup(tmp_path / "other.jsonl")
    with pytest.raises(Refused, match="of another one"):
        Ledger.restore(tmp_path / "other.jsonl", tmp_path / "ledger.db")


def test_copies_that_differ_are_not_restored_into_each_other(ledger: Ledger, tmp_path: Path) -> None:
    """They are merged."""
    with copied(ledger, tmp_path / "copy.db") as copy:
        spend(copy, "a", "b")
    spend(ledger, "c")
    with pytest.raises(Refused, match="from entry 2 on they differ"):
        Ledger.restore(tmp_path / "copy.db", tmp_path / "ledger.db")


def test_a_damaged_backup_is_refused_and_leaves_nothing_behind(ledger: Ledger, tmp_path: Path) -> None:
    """In any line: an entry, a payload, or half a line at the end."""
    spend(ledger, "a", "b")
    ledger.backup(tmp_path / "backup.jsonl")
    lines = (tmp_path / "backup.jsonl").read_text().splitlines(keepends=True)
    damaged = [
        [*lines[:2], lines[2].replace("100000000", "100000001"), *lines[3:]],
        [*lines[:2], lines[2].replace("COUNT", "count").replace("plan", "plam"), *lines[3:]],
        [*lines[:2], *lines[3:]],
        [*lines[:-1], lines[-1][:40]],
        [*lines[:2], "7\n", *lines[2:]],
        [*lines[:2], lines[2].replace('"salt":"', '"salt":"x'), *lines[3:]],
    ]
    for number, content in enumerate(damaged):
        (tmp_path / "damaged.jsonl").write_text("".join(content))
        with pytest.raises(LedgerBroken):
            Ledger.restore(tmp_path / "damaged.jsonl", tmp_path / f"{number}.db")
        with Ledger.open(tmp_path / f"{number}.db") as empty:
            assert empty.head.number == 0
    for text in ("", "{}\n", lines[0].replace('"format":3', '"format":4')):
        (tmp_path / "damaged.jsonl").write_text(text)
        with pytest.raises(InvalidArgument):
            Ledger.restore(tmp_path / "damaged.jsonl", tmp_path / "new.db")


def test_a_backup_whose_end_was_cut_off_is_neither_restored_nor_merged(ledger: Ledger, tmp_path: Path) -> None:
    """Wherever it was cut, and also if it ends with a line of another end, or goes on behind it."""
    spend(ledger, "a", "b")
    ledger.backup(tmp_path / "backup.jsonl")
    lines = (tmp_path / "backup.jsonl").read_text().splitlines(keepends=True)
    wrong = [lines[:kept] for kept in range(1, len(lines))]
    wrong += [[*lines[:-2], lines[-1]], [*lines, lines[-1]], [*lines[:-1], lines[-1].replace(":5", ":4")]]
    for content in wrong:
        (tmp_path / "cut.jsonl").write_text("".join(content))
        with pytest.raises(LedgerBroken, match="the backup must"):
            Ledger.restore(tmp_path / "cut.jsonl", tmp_path / "new.db")
        with pytest.raises(LedgerBroken, match="the backup must"):
            ledger.merge(tmp_path / "cut.jsonl")
    assert not (tmp_path / "new.db").exists() and ledger.head.number == 5
    Ledger.restore(tmp_path / "backup.jsonl", tmp_path / "new.db").close()


def test_a_backup_of_an_earlier_version_is_restored_with_a_warning(
    ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not say where it ends, so nobody can see whether it was cut off."""
    spend(ledger, "a", "b")
    ledger.backup(tmp_path / "backup.jsonl")
    lines = (tmp_path / "backup.jsonl").read_text().splitlines(keepends=True)
    for version in (1, 2):
        old = lines[0].replace('"format":3', f'"format":{version}')
        (tmp_path / f"{version}.jsonl").write_text("".join([old, *lines[1:-1]]))
        with Ledger.restore(tmp_path / f"{version}.jsonl", tmp_path / f"{version}.db") as restored:
            assert restored.head == ledger.head
        said = [each.getMessage() for each in caplog.records if f"backup {version}.jsonl" in each.getMessage()]
        assert len(said) == 1 and "does not say where it ends" in said[0]
    caplog.clear()
    Ledger.restore(tmp_path / "backup.jsonl", tmp_path / "3.db").close()
    assert not [each for each in caplog.records if "where it ends" in each.getMessage()]


def test_an_export_tells_what_was_spent_and_nothing_that_was_asked(shared: Ledger, tmp_path: Path) -> None:
    """JSON Lines and CSV, one line per entry; questions and answers only if wanted."""
    spend(shared, "Rumpelstilzchen")
    for name in ("export.jsonl", "export.csv"):
        shared.export(tmp_path / name)
        assert "Rumpelstilzchen" not in (tmp_path / name).read_text()
        shared.export(tmp_path / name, payloads=True)
        assert "Rumpelstilzchen" in (tmp_path / name).read_text()
    rows = list(csv.DictReader((tmp_path / "export.csv").read_text().splitlines()))
    assert [row["kind"] for row in rows] == ["granted", "reserved", "settled"]
    assert set(COLUMNS) < set(rows[0]) and rows[1]["epsilon"] == "100000000"
    lines = [json.loads(line) for line in (tmp_path / "export.jsonl").read_text().splitlines()]
    assert [line.get("number") for line in lines] == [None, 1, 2, 3, None]
    assert lines[-1] == {"end": shared.head.id, "entries": 3}


def test_an_export_without_payloads_is_no_backup(ledger: Ledger, tmp_path: Path) -> None:
    """Its answers could not be replayed."""
    spend(ledger, "a")
    ledger.export(tmp_path / "export.jsonl")
    with pytest.raises(Refused, match="must hold payloads"):
        Ledger.restore(tmp_path / "export.jsonl", tmp_path / "new.db")


def test_a_backup_is_another_file_than_the_ledger(ledger: Ledger, tmp_path: Path) -> None:
    """And no half of it stays behind when it fails."""
    with pytest.raises(InvalidArgument, match="another file than the ledger"):
        ledger.backup(tmp_path / "ledger.db")
    for name in ("backup.db", "backup.jsonl", "export.csv"):
        with pytest.raises(InvalidArgument, match="must be writable; it is not: No such file or directory"):
            (ledger.export if name == "export.csv" else ledger.backup)(tmp_path / "nowhere" / name)
    assert not [path for path in tmp_path.iterdir() if "draft" in path.name]
