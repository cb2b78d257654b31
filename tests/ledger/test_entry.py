"""Entries: an encoding that is fixed for ever, and a hash that changes with every field."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InvalidArgument, LedgerBroken
from sfumato.ledger.records.amount import Amount
from sfumato.ledger.records.entry import COLUMNS, Entry, Head, Kind, from_row, seal, to_row

START = Head(0, "ab" * 32)

texts = st.none() | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1)
numbers = st.integers(min_value=0, max_value=10**33)
amounts = st.builds(Amount, st.none() | numbers, st.none() | numbers, numbers)
entries = st.builds(
    seal,
    st.sampled_from(Kind),
    after=st.just(START),
    at=st.integers(min_value=0, max_value=2**62),
    product=st.just("1.0"),
    population=texts,
    analyst=texts,
    table=texts,
    version=texts,
    amount=amounts,
    refers=st.none() | st.integers(min_value=1, max_value=2**62),
    payload_digest=st.none() | st.just("cd" * 32),
)


def test_the_hash_of_an_entry_never_changes() -> None:
    """These two were computed by the first version; a ledger written then must verify for ever."""
    plain = seal(Kind.RENEWED, after=START, at=1_000_000, product="0.1.0", population="people", detail={"why": "new"})
    assert plain.hash == "735e25f35a537610b8689e87355ca21eafae830525f590b2823b272375e8375c"
    spend = seal(
        Kind.RESERVED,
        after=plain.head,
        at=1_000_001,
        product="0.1.0",
        population="Bevölkerung",
        analyst="ana",
        table="visits",
        version="2026-11",
        amount=Amount(10**9, None, 10**21),
        mechanisms='[["laplace",{"scale":"10"}]]',
        refers=None,
        payload_digest="cd" * 32,
    )
    assert spend.hash == "8bbc0b643a0e31fa10689a0e8a38aa53dd16d56a7f548b8539e3da0d9e53acaa"
    assert spend.previous == plain.hash


@given(entries)
def test_a_stored_entry_reads_back_as_it_was(entry: Entry) -> None:
    """Whatever letters a name has, and however large an amount is."""
    assert from_row(to_row(entry)) == entry


@given(entries, entries)
def test_entries_that_differ_have_different_hashes(one: Entry, other: Entry) -> None:
    """None is told from a text, and a field from the next."""
    assert (one.hash == other.hash) == (one == other)


@given(entries, st.sampled_from([each.name for each in fields(Entry) if each.name not in ("hash", "amount")]))
def test_a_changed_field_is_found(entry: Entry, name: str) -> None:
    """The hash covers every one of them."""
    old = getattr(entry, name)
    new = Kind.MERGED if name == "kind" else "changed" if isinstance(old, str | None) else old + 1
    if new != old:
        with pytest.raises(LedgerBroken, match="was changed"):
            from_row(to_row(replace(entry, **{name: new})))


@given(entries, amounts)
def test_a_changed_amount_is_found(entry: Entry, amount: Amount) -> None:
    """Also where only a digit more is written."""
    if amount != entry.amount:
        with pytest.raises(LedgerBroken, match="was changed"):
            from_row(to_row(replace(entry, amount=amount)))


@pytest.mark.parametrize("digits", ["-5", "+5", " 5", "5 ", "05", "5.0", "five", "", "٥"])
def test_an_amount_in_other_digits_is_found(digits: str) -> None:
    """An amount has one spelling, and none is below zero."""
    row = dict(zip(COLUMNS, to_row(seal(Kind.RESERVED, after=START, at=0, product="1", amount=Amount(5))), strict=True))
    with pytest.raises(LedgerBroken):
        from_row(tuple({**row, "epsilon": digits}.values()))


def test_a_head_is_read_from_what_a_receipt_prints() -> None:
    """In full, or by the first digits of its hash."""
    head = Head(41, "9f3a6c21" * 8)
    assert Head.read(str(head)).number == 41
    assert head.hash.startswith(Head.read(str(head)).hash)
    assert Head.read(f"41-{head.hash}") == head
    for wrong in ("41", "41-9f3a", "41-xyz", 41):
        with pytest.raises(InvalidArgument, match="head must look like"):
            Head.read(wrong)  # type: ignore[arg-type]
