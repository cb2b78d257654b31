"""A ledger file that is renamed under a running process: nothing is spent twice, and nothing that was spent is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.asking import question, reserve
from ledger.mounting import SPEND, run
from sfumato.errors import LedgerBroken, LedgerUnavailable
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.store import pinned
from sfumato.privacy.guarantee import Guarantee

TENTH = 10**8


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger of epsilon 1, of which a half is spent, and open no more."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        for number in range(5):
            ledger.settle(reserve(ledger, question(f"{number}")), "7")
    return path


@pytest.fixture
def running(path: Path) -> Iterator[Ledger]:
    """The same in a process that goes on; it has asked once more, and its log is in the file."""
    with Ledger.open(path) as ledger:
        ledger.settle(reserve(ledger, question("running")), "7")
        ledger._writer.scrub()
        yield ledger


def spent(path: Path) -> int:
    """By another process, which walks the whole ledger."""
    program = """
import sys
from sfumato.ledger.ledger import Ledger
with Ledger.open(sys.argv[1], create=False) as ledger:
    print(ledger.verify().balance.population("people").account.spent.epsilon)
"""
    return int(run(program, path))


def still_asks(ledger: Ledger) -> int:
    """How many more answers a running process gives; each is of a question that nobody asked."""
    for number in range(10):
        try:
            ledger.settle(reserve(ledger, question(f"still {number}")), "7")
        except (LedgerBroken, LedgerUnavailable) as refusal:
            assert "nothing was charged" in str(refusal)
            return number
    raise AssertionError("the budget has no end")


def test_a_file_that_moved_and_left_a_link_behind_is_not_spent_twice(running: Ledger, path: Path) -> None:
    """Whoever follows the link has another log; the running process stops, and its end changes nothing in the file."""
    moved = path.rename(path.with_name("moved.db"))
    path.symlink_to(moved)
    assert run(SPEND, path, "by the link") == "4"
    with pytest.raises(LedgerUnavailable, match=r"now a symbolic link.*put the file back under its name"):
        running.reserve(question("one more"))
    assert still_asks(running) == 0
    running.close()
    assert spent(moved) == 10 * TENTH


def test_a_folder_that_moved_and_left_a_link_behind_stops_the_ledger(tmp_path: Path) -> None:
    """Its own name leads elsewhere, too."""
    (tmp_path / "first").mkdir()
    with Ledger.open(tmp_path / "first" / "ledger.db") as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        (tmp_path / "first").rename(tmp_path / "second")
        (tmp_path / "first").symlink_to(tmp_path / "second")
        with pytest.raises(LedgerUnavailable, match="or one of its folders is"):
            ledger.reserve(question())


def test_a_file_that_came_back_after_another_used_its_name_is_not_spent_twice(running: Ledger, path: Path) -> None:
    """The other one, when it ended, took away the log that the running process still writes to."""
    fresh = path.with_name("fresh.db")
    with Ledger.open(fresh) as other:
        other.grant("people", Guarantee(epsilon=1))
    away = path.rename(path.with_name("away.db"))
    shutil.copy(fresh, path)
    run(SPEND, path, "in the fresh one")
    away.replace(path)
    assert run(SPEND, path, "in the old one") == "4"
    with pytest.raises(LedgerBroken, match=r"log must be the one that this process has open.*ledger merge"):
        running.reserve(question("one more"))
    assert still_asks(running) == 0
    running.close()
    assert spent(path) == 10 * TENTH


def test_a_file_that_was_used_under_another_name_and_came_back_is_not_spent_twice(running: Ledger, path: Path) -> None:
    """Its log is where it was, and hides what was written meanwhile; a process that begins now finds it as well."""
    reserve(running, question("in the log"))
    running._writer.store._whole_at = float("inf")
    reserve(running, question("in the log too"))
    away = path.rename(path.with_name("away.db"))
    left = int(run(SPEND, away, "under another name"))
    assert left >= 2
    away.rename(path)
    assert "nothing was charged" in run(BEGIN, path)
    with pytest.raises(LedgerBroken, match="log must be the one"):
        running.reserve(question("one more"))
    assert still_asks(running) == 0
    running.close()


BEGIN = """
import sys
from ledger.asking import question
from sfumato.errors import LedgerBroken
from sfumato.ledger.ledger import Ledger
with Ledger.open(sys.argv[1]) as ledger:
    try:
        ledger.reserve(question("begins now"))
    except LedgerBroken as refusal:
        print(refusal)
"""


def test_a_log_that_is_replaced_between_the_lock_and_the_commit_gives_no_answer(
    running: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written into a log that nobody will find counts as spent, and is not handed out."""
    held: list[pinned.Pinned] = []

    def late(where: str) -> pinned.Pinned:
        held.append(found := there(where))
        return found if len(held) == 1 else found._replace(log=(0, 0))

    there = pinned._there
    with monkeypatch.context() as patched:
        patched.setattr(pinned, "_there", late)
        with pytest.raises(LedgerBroken, match="whether it was written is not known; if it was, it counts as spent"):
            running.reserve(question("too late"))
    assert len(held) == 2
    pinned._parted.clear()


@pytest.mark.parametrize("way", ["away and back", "permissions", "closed and opened"])
def test_what_changes_no_log_stops_nothing(running: Ledger, path: Path, way: str) -> None:
    """A name that came back unused, other permissions, a log that began anew after the last connection was closed."""
    if way == "away and back":
        path.rename(path.with_name("away.db")).rename(path)
    elif way == "permissions":
        path.chmod(0o640)
    else:
        running._writer.store.close()
        assert not Path(f"{path}-wal").exists()
    assert run(SPEND, path, "another") == "4"
    assert spent(path) == 10 * TENTH


def test_a_file_that_is_gone_may_come_back(running: Ledger, path: Path) -> None:
    """Where nobody used it meanwhile, the process goes on."""
    away = path.rename(path.with_name("away.db"))
    with pytest.raises(LedgerUnavailable, match="its file is gone; put it back; nothing was charged"):
        running.reserve(question("while away"))
    away.rename(path)
    running.settle(reserve(running, question("back")), "7")
    assert run(SPEND, path, "another") == "3"
    assert running.verify().balance.population("people").account.spent.epsilon == 10 * TENTH
