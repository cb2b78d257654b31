"""A witness tells that a ledger went back: nothing is asked until the owner decides, and what is missing is spent."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
from fractions import Fraction
from pathlib import Path

import pytest

from ledger.asking import Clock, question, reserve
from sfumato.errors import InvalidArgument, LedgerBroken, LedgerUnavailable, SfumatoError
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.amount import Amount
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere" / "ledger.witness"


def ask(ledger: Ledger, name: str, epsilon: Fraction = Fraction(1, 100), analyst: str = "ana") -> None:
    ledger.settle(reserve(ledger, question(name, epsilon, analyst=analyst)), "7")


def spent(ledger: Ledger) -> int:
    return ledger.balance().population("people").account.spent.epsilon or 0


def refuse(_: int) -> None:
    raise OSError(28, "No space left on device")


def begin(path: object, witness: Path | None, questions: int = 10) -> None:
    with Ledger.open(str(path), witness=witness, clock=Clock()) as ledger:
        ledger.grant("people", Guarantee(epsilon=1))
        for number in range(questions):
            ask(ledger, f"{number}")


def test_a_ledger_and_its_witness_go_on_together(address: str, witness: Path) -> None:
    """In this process and in others; also where one of them has no witness, which then is behind."""
    begin(address, witness)
    for each in (witness, None, witness):
        with Ledger.open(address, witness=each, clock=Clock()) as ledger:
            ask(ledger, f"later {each} {ledger.head.number}")
            seen = json.loads(witness.read_text())["seen"]["head"]
            assert (seen == ledger.head.id) == (each is not None)
            ledger.verify()
            assert ledger.known().head == ledger.head
    assert stat.S_IMODE(witness.stat().st_mode) == 0o600


def test_a_witness_that_begins_is_announced(tmp_path: Path, witness: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It may have been lost, and with it what it knew."""
    begin(tmp_path / "ledger.db", None, 1)
    for _ in range(2):
        with Ledger.open(tmp_path / "ledger.db", witness=witness, clock=Clock()) as ledger:
            ask(ledger, f"{ledger.head.number}")
    said = [record.getMessage() for record in caplog.records if "new witness" in record.getMessage()]
    assert len(said) == 1 and said[0].startswith(f"new witness: {witness}; there was none; it begins at entry 4-")


def replaced(folder: Path, path: Path) -> None:
    shutil.copy(folder / "older.db", path)


def emptied(_: Path, path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("lose", [replaced, emptied])
def test_a_ledger_that_went_back_asks_nothing_until_its_owner_decides(
    tmp_path: Path, witness: Path, lose: object
) -> None:
    """Whether an older copy is in its place or a new ledger; then what is missing is spent, and asking goes on."""
    path = tmp_path / "ledger.db"
    begin(path, witness)
    shutil.copy(path, tmp_path / "older.db")
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        for number in range(7):
            ask(ledger, f"more {number}", analyst=("ana", "ben")[number % 2])
        assert spent(ledger) == 170_000_000
    lose(tmp_path, path)  # type: ignore[operator]
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        before = ledger.head
        for use in (
            lambda: ledger.grant("people", Guarantee(epsilon=1)),
            lambda: ledger.reserve(question("free?")),
            ledger.verify,
        ):
            with pytest.raises(LedgerBroken, match=r"which its witness has seen.*ledger\.reconcile"):
                use()
        assert ledger.head == before
        counted = ledger.reconcile()
        assert {entry.analyst for entry in counted} == {"ana", "ben"}
        assert 170_000_000 <= spent(ledger) <= 270_000_000
        assert list(ledger.reconcile()) == []
        ledger.grant("people", Guarantee(epsilon=1))
        ask(ledger, "goes on")
        ledger.verify()
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        ask(ledger, "in another process")


@pytest.mark.parametrize("kept", range(0, 34, 3))
def test_what_is_missing_is_never_counted_too_low(tmp_path: Path, witness: Path, kept: int) -> None:
    """Wherever the ledger went back to, and also if it then went its own way without the witness."""
    path, older = tmp_path / "ledger.db", tmp_path / "older.db"
    begin(path, witness, 0)
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        for number in range(34):
            if number == kept:
                ledger.backup(older)
            ask(ledger, f"{number}")
    shutil.copy(older, path)
    with Ledger.open(path, clock=Clock()) as ledger:
        ask(ledger, "its own way")
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        ledger.reconcile()
        lost = 34 - kept
        assert 350_000_000 <= spent(ledger) <= 350_000_000 + 10_000_000 * (lost + 1)


def test_sums_that_were_renewed_are_counted_from_zero(tmp_path: Path, witness: Path) -> None:
    """A renewal that is missing does not make its spend look smaller than what came before it."""
    path = tmp_path / "ledger.db"
    begin(path, witness)
    shutil.copy(path, tmp_path / "older.db")
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        ledger.renew("people", "all new")
        for number in range(4):
            ask(ledger, f"new {number}")
    shutil.copy(tmp_path / "older.db", path)
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        ledger.reconcile()
        assert spent(ledger) == 140_000_000


def test_a_loss_without_bound_stays_without_bound(tmp_path: Path, witness: Path) -> None:
    """One that has no epsilon, as Gaussian noise has none, is missing without one."""
    path = tmp_path / "ledger.db"
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        ledger.grant("people", Guarantee(epsilon=1, delta=1e-6))
        ledger.backup(tmp_path / "older.db")
        reserve(ledger, question("gauss", loss=Loss(None, Fraction(1, 1000), None)))
    shutil.copy(tmp_path / "older.db", path)
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        (entry,) = ledger.reconcile()
        assert entry.amount == Amount(None, 1_000_000, 0)


def test_what_was_counted_is_not_counted_again_after_a_crash(tmp_path: Path, witness: Path) -> None:
    """Between the commit and the witness."""
    path = tmp_path / "ledger.db"
    begin(path, witness)
    path.unlink()
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        kept = witness.read_bytes()
        assert len(ledger.reconcile()) == 1
        witness.write_bytes(kept)
        assert list(ledger.reconcile()) == []
        assert spent(ledger) == 100_000_000
        ledger.verify()


def test_a_witness_that_cannot_be_read_or_written_gives_no_answer(
    tmp_path: Path, witness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is charged while it cannot be read; what was written before it could not be noted counts as spent."""
    path = tmp_path / "ledger.db"
    begin(path, witness, 1)
    witness.parent.rename(tmp_path / "away")
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        with pytest.raises(LedgerUnavailable, match="its folder is not there; nothing was charged"):
            ledger.reserve(question("new"))
        (tmp_path / "away").rename(witness.parent)
        with monkeypatch.context() as full:
            full.setattr("sfumato.ledger.records.portable.os.fsync", refuse)
            with pytest.raises(LedgerUnavailable, match=r"witness must be writable.*counts as spent"):
                ledger.reserve(question("new"))
        assert spent(ledger) == 110_000_000
        ask(ledger, "newer")
        witness.unlink()
        witness.mkdir()
        with pytest.raises(LedgerUnavailable, match=r"witness must be readable.*nothing was charged"):
            ledger.reserve(question("newest"))
        assert spent(ledger) == 120_000_000


def test_a_damaged_witness_raises_nothing_but_our_errors(tmp_path: Path, witness: Path) -> None:
    """And never lets a ledger that went back pass as whole, unless the head itself was changed into an older one."""
    path = tmp_path / "ledger.db"
    begin(path, witness, 3)
    path.unlink()
    whole, dice, passed = witness.read_bytes(), random.Random(1), 0
    with Ledger.open(path, witness=witness, clock=Clock()) as ledger:
        for _ in range(300):
            raw = bytearray(whole)
            for _ in range(dice.randint(1, 3)):
                raw[dice.randrange(len(raw))] = dice.randrange(256)
            witness.write_bytes(raw[: dice.choice([len(raw), dice.randrange(len(raw))])])
            try:
                ledger.grant("people", Guarantee(epsilon=1))
                passed += 1
            except SfumatoError:
                pass
    assert passed == 0


def test_only_a_ledger_with_a_witness_is_reconciled(tmp_path: Path) -> None:
    """The message says how."""
    with (
        Ledger.open(tmp_path / "ledger.db") as ledger,
        pytest.raises(InvalidArgument, match="name the file of its witness"),
    ):
        ledger.reconcile()
    assert os.listdir(tmp_path) == ["ledger.db"]


def test_what_is_no_witness_is_refused_at_once(tmp_path: Path, witness: Path) -> None:
    """A pipe is not waited for, deep nesting is damage, and a name that cannot be is told before a ledger is made."""
    with pytest.raises(InvalidArgument, match="signs that no file's name has"):
        Ledger.open(tmp_path / "never.db", witness="a\0b")
    assert not (tmp_path / "never.db").exists()
    with Ledger.open(tmp_path / "ledger.db", witness=witness) as ledger:
        witness.write_text("[" * 100_000)
        with pytest.raises(LedgerBroken, match="witness is damaged"):
            ledger.grant("people", Guarantee(epsilon=1))
        witness.unlink()
        os.mkfifo(witness)
        with pytest.raises(LedgerUnavailable, match="it is no file; nothing was charged"):
            ledger.grant("people", Guarantee(epsilon=1))
        assert ledger.head.number == 0


def test_two_copies_that_spend_at_the_same_moment_are_found_out(tmp_path: Path, witness: Path) -> None:
    """Both had been whole when they looked; the second gives no answer."""
    begin(tmp_path / "ledger.db", witness, 1)
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db")
    with (
        Ledger.open(tmp_path / "ledger.db", witness=witness, clock=Clock()) as ledger,
        Ledger.open(tmp_path / "copy.db", witness=witness, clock=Clock()) as copy,
    ):
        copy._writer._witness.check = lambda *_: reserve(ledger, question("here"))  # type: ignore[method-assign, union-attr]
        with pytest.raises(LedgerBroken, match=r"two copies of the ledger are in use.*counts as spent"):
            copy.reserve(question("there"))
