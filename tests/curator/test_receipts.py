"""A receipt names the entry that paid, in full."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from sfumato.curator.answers.stored_answer import read_answer, write_answer
from sfumato.curator.curator import Curator
from sfumato.dataset.table import table
from sfumato.errors import InvalidArgument
from sfumato.ledger.records.entry import Kind
from sfumato.ledger.records.request import Replay, Request
from sfumato.privacy.loss import Loss

COUNT = "SELECT COUNT(*) AS n FROM visits"


def curator(folder: Path) -> Curator:
    pd.DataFrame({"pid": [n % 40 for n in range(200)]}).to_parquet(folder / "visits.parquet")
    return Curator({"visits": table(folder / "visits.parquet", unit="pid")}, budget=2, ledger=folder / "ledger.db")


def test_the_id_of_a_receipt_names_one_entry_in_full(tmp_path: Path) -> None:
    """It can be looked up, verified and erased by; that of another ledger cannot."""
    asked = curator(tmp_path)
    receipt = asked.ask(COUNT, epsilon=1).receipt
    number, _, digest = receipt.id.partition("-")
    entry = asked.ledger.entry(receipt.id)
    assert (entry.number, entry.hash, entry.kind) == (int(number), digest, Kind.RESERVED) and len(digest) == 64
    kept = asked.ledger.stored(receipt.id)
    assert kept is not None and kept["question"] == COUNT
    for short in (number, entry.number, f" {number} ", receipt.id[:20], f"{receipt.id[:20]}…", entry.head):
        assert asked.ledger.entry(short) == entry
    asked.ledger.verify(receipt.id)
    wrong = f"{number}-{'0' * 64}"
    for use in (asked.ledger.entry, asked.ledger.stored, asked.ledger.erase):
        with pytest.raises(InvalidArgument, match="the receipt is of another ledger"):
            use(wrong)
    for unknown in (0, -1, 10**30, 99, "99", f"99-{digest}", 10**18):
        with pytest.raises(InvalidArgument, match="id must be that of an entry in the ledger"):
            asked.ledger.entry(unknown)
    for senseless in ("", "first", "3-", "3-xyz", None, 2.0):
        with pytest.raises(InvalidArgument, match="head must look like"):
            asked.ledger.entry(senseless)  # type: ignore[arg-type]
    erased = asked.ledger.erase(receipt.id)
    assert erased is not None and erased.refers == entry.number
    assert asked.ledger.stored(receipt.id) is None


def test_an_answer_that_version_0_1_kept_gets_the_whole_id(tmp_path: Path) -> None:
    """There it was cut short."""
    asked = curator(tmp_path)
    first = asked.ask(COUNT, epsilon=1)
    number, _, digest = first.receipt.id.partition("-")
    short = f"{number}-{digest[:16]}…"
    text = write_answer(first).replace(first.receipt.id, short.replace("…", "\\u2026"))
    assert read_answer(text, "").receipt.id == short
    request = Request(
        population="everyone", analyst="analyst", table="t", version="1", plan="p", promise="p", mechanisms=(),
        loss=Loss.pure(1),
    )  # fmt: skip
    again = asked._asking._again(Replay(text, int(number)), request)
    assert again.receipt.id == first.receipt.id
