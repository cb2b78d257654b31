"""One bit of the ledger's file changes: the ledger says so, or nothing that counts is any different."""

from __future__ import annotations

import os
import random
import sqlite3
from collections import Counter
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from ledger.asking import Clock, question, reserve
from sfumato.errors import LedgerBroken, LedgerUnavailable, SfumatoError
from sfumato.ledger import snapshot
from sfumato.ledger.balance import Balance
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.request import Replay
from sfumato.privacy.guarantee import Guarantee

FLIPS = 1000 if os.environ.get("SFUMATO_SOAK") else 100


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, Balance]:
    """The bytes of a ledger with snapshots, answers and all that is usual, and its balance."""
    monkeypatch.setattr(snapshot, "INTERVAL", 20)
    with Ledger.open(tmp_path / "ledger.db", clock=Clock()) as ledger:
        ledger.declare("people", ["visits.csv"])
        ledger.grant("people", Guarantee(epsilon=1, delta=1e-9))
        for number in range(40):
            ledger.settle(reserve(ledger, question(f"{number}", Fraction(1, 100))), f"answer {number}")
        ledger.erase(5)
        reserve(ledger, question("open", Fraction(1, 100)))
        ledger.backup(tmp_path / "whole.db")
        return (tmp_path / "whole.db").read_bytes(), ledger.verify().balance


def flipped(raw: bytes, bit: int) -> bytes:
    return raw[: bit // 8] + bytes([raw[bit // 8] ^ 1 << bit % 8]) + raw[bit // 8 + 1 :]


def test_a_flipped_bit_is_found_or_harmless(whole: tuple[bytes, Balance], tmp_path: Path) -> None:
    """By verify where it matters to anything; by opening where it matters to what may be spent."""
    raw, true = whole
    chance, path, outcomes = random.Random(7), tmp_path / "flipped.db", Counter[str]()
    for bit in (chance.randrange(8 * len(raw)) for _ in range(FLIPS)):
        path.write_bytes(flipped(raw, bit))
        outcomes[_verified(path, true, bit)] += 1
        path.write_bytes(flipped(raw, bit))
        outcomes[_asked(path, true, bit)] += 1
        for file in tmp_path.glob("flipped.db-*"):
            file.unlink()
    assert outcomes["found by verify"] + outcomes["harmless to verify"] == FLIPS
    assert outcomes["refused"] + outcomes["answered"] == FLIPS
    assert outcomes["found by verify"] > FLIPS // 4 and outcomes["answered"] > FLIPS // 10
    print(dict(outcomes))


def _verified(path: Path, true: Balance, bit: int) -> str:
    try:
        with Ledger.open(path, clock=Clock(), create=False) as ledger:
            assert ledger.verify().balance == true, f"bit {bit} changed the balance, and verify does not say so"
            again = ledger.reserve(question("39", Fraction(1, 100)))
            assert isinstance(again, Replay) and again.answer == "answer 39", f"bit {bit} hides an answer"
            return "harmless to verify"
    except (LedgerBroken, LedgerUnavailable):
        return "found by verify"


def _asked(path: Path, true: Balance, bit: int) -> str:
    """Somebody asks who has verified nothing: a balance that is wrong would be worse than none."""
    try:
        with Ledger.open(path, clock=Clock(), create=False) as ledger:
            assert ledger.balance() == true, f"bit {bit} changed the balance, and opening does not say so"
            again = ledger.reserve(question("39", Fraction(1, 100)))
            assert not isinstance(again, Replay) or again.answer == "answer 39"
            ledger.settle(reserve(ledger, question("new", Fraction(1, 100))), "7")
            return "answered"
    except SfumatoError:
        return "refused"


def test_verify_finds_another_secret_of_the_replay_keys(whole: tuple[bytes, Balance], tmp_path: Path) -> None:
    """With it no stored answer would be found, and each question would be charged a second time."""
    path = tmp_path / "changed.db"
    path.write_bytes(whole[0])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE sfumato_meta SET value = ? WHERE name = 'secret'", ("0" * 64,))
    with Ledger.open(path, clock=Clock(), create=False) as ledger, pytest.raises(LedgerBroken, match="another key"):
        ledger.verify()
