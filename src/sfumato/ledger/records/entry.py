"""One line of the ledger, and the chain that holds the lines together.

An entry's hash is the SHA-256 of its fields in a fixed order, among them the hash of the entry before it. The encoding
is a JSON list in ASCII without spaces, beginning with a name and the format's number; it never changes, so that every
later version reads and checks the ledgers of this one.

Everything in an entry is public to whoever may read the ledger. Question and answer are not in it: they are a
`Payload`, of which the entry holds a salted digest only, and can be erased without breaking the chain.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from sfumato.errors import InvalidArgument, LedgerBroken
from sfumato.input_files import attempt, parse_json
from sfumato.ledger.records.amount import NOTHING, Amount

FORMAT = 1
GUARANTEE = 1  # changes when the meaning of a stored loss changes

canonical = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False).encode

_HEAD = re.compile(r"(\d{1,18})-([0-9a-f]{8,64})…?")
_SHOWN = 16


class Kind(StrEnum):
    """What an entry says."""

    DECLARED = "declared"  # these sources hold this population; since 0.2 also by which units
    GRANTED = "granted"  # this much may be spent
    REVOKED = "revoked"  # nothing may be spent any more
    RENEWED = "renewed"  # the units are new people: sums begin at zero
    RESERVED = "reserved"  # this is spent, whatever comes
    SETTLED = "settled"  # and it was answered
    FAILED = "failed"  # and it was not
    LOOKED = "looked"  # the owner looked at the failures
    ERASED = "erased"  # question and answer are gone
    MERGED = "merged"  # this was spent by a copy of this ledger
    SNAPSHOT = "snapshot"  # the balance of all entries before it


class Head(NamedTuple):
    """The last entry of a ledger at some time: its number and hash; it stands on receipts.

    >>> str(Head(41, "9f3a6c21" * 8)), Head.read("41-9f3a6c21…")
    ('41-9f3a6c219f3a6c21…', Head(number=41, hash='9f3a6c21'))
    """

    number: int
    hash: str

    @classmethod
    def read(cls, head: Head | str) -> Head:
        """A head, or the text of one; the hash may be given by its beginning."""
        if isinstance(head, Head):
            return head
        if isinstance(head, str) and (found := _HEAD.fullmatch(head.strip())):
            return cls(int(found[1]), found[2])
        raise InvalidArgument(f"head must look like '41-9f3a6c219f3a6c21…'; got {head!r}; copy it from a receipt")

    def __str__(self) -> str:
        return f"{self.number}-{self.hash[:_SHOWN]}…"

    @property
    def id(self) -> str:
        """Number and whole hash: it names one entry of one ledger, and no other."""
        return f"{self.number}-{self.hash}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line; the fields are hashed in this order."""

    number: int
    at: int
    kind: Kind
    population: str | None
    analyst: str | None
    table: str | None
    version: str | None
    amount: Amount
    mechanisms: str
    refers: int | None
    detail: str
    product: str
    guarantee: int
    payload_digest: str | None
    previous: str
    hash: str

    @property
    def head(self) -> Head:
        """The ledger's head when this was its last entry."""
        return Head(self.number, self.hash)

    @property
    def details(self) -> dict[str, Any]:
        """What is particular to this kind of entry."""
        broken = LedgerBroken(f"entry {self.number} lacks what a {self.kind.value} entry holds")
        found: dict[str, Any] = attempt(lambda: parse_json(self.detail), broken)
        if not isinstance(found, dict):
            raise broken
        return found


def _digest(fields: tuple[object, ...]) -> str:
    return hashlib.sha256(canonical(["sfumato ledger entry", FORMAT, *fields]).encode("ascii")).hexdigest()


def seal(
    kind: Kind,
    *,
    after: Head,
    at: int,
    product: str,
    population: str | None = None,
    analyst: str | None = None,
    table: str | None = None,
    version: str | None = None,
    amount: Amount = NOTHING,
    mechanisms: str = "[]",
    refers: int | None = None,
    detail: Mapping[str, object] | None = None,
    payload_digest: str | None = None,
) -> Entry:
    """The entry that follows a head."""
    text = canonical(detail) if detail else "{}"
    start = (after.number + 1, at, kind, population, analyst, table, version)
    end = (mechanisms, refers, text, product, GUARANTEE, payload_digest, after.hash)
    digest = _digest((*start, amount.epsilon, amount.rho, amount.delta, *end))
    return Entry(*start, amount, *end, digest)


COLUMNS = (
    *("number", "at", "kind", "population", "analyst", "table", "version", "epsilon", "rho", "delta"),
    *("mechanisms", "refers", "detail", "product", "guarantee", "payload_digest", "previous", "hash"),
)


def to_row(entry: Entry) -> tuple[object, ...]:
    """The values of an entry as they are stored, by `COLUMNS`: amounts as decimal digits, which no database rounds."""
    e, a = entry, entry.amount
    return (
        *(e.number, e.at, e.kind.value, e.population, e.analyst, e.table, e.version),
        *(_to_digits(a.epsilon), _to_digits(a.rho), str(a.delta)),
        *(e.mechanisms, e.refers, e.detail, e.product, e.guarantee, e.payload_digest, e.previous, e.hash),
    )


_TEXTS = tuple(map(COLUMNS.index, ("kind", "mechanisms", "detail", "product", "previous", "hash")))
_NAMES = tuple(map(COLUMNS.index, ("population", "analyst", "table", "version", "payload_digest")))
_WIDEST = 1 << 63  # of a number in a database


def from_row(row: tuple[Any, ...]) -> Entry:
    """The entry that was stored, after its hash was checked."""
    try:
        amount = Amount(_from_digits(row[7]), _from_digits(row[8]), int(_from_digits(row[9]) or 0))
        digest = _digest((*row[:7], amount.epsilon, amount.rho, amount.delta, *row[10:17]))
        if digest != row[17]:
            raise LedgerBroken(
                f"entry {row[0]} was changed: its hash is {digest[:_SHOWN]}…, but {row[17][:_SHOWN]}… stands"
            )
        _check_types(row)
        number, at, kind, population, analyst, table, version = row[:7]
        return Entry(number, at, Kind(kind), population, analyst, table, version, amount, *row[10:])
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise LedgerBroken(f"entry {row[0]} was changed: a field of it holds what was never written there") from None


def _check_types(row: tuple[Any, ...]) -> None:
    """Numbers are numbers that a database takes, and the rest is text: a hash alone says nothing of that."""
    number, at, refers, guarantee = row[0], row[1], row[11], row[14]
    numbers = (number, at, guarantee, 0 if refers is None else refers)
    if not all(type(each) is int and abs(each) < _WIDEST for each in numbers):
        raise ValueError
    if not all(type(row[place]) is str for place in _TEXTS):
        raise ValueError
    if not all(row[place] is None or type(row[place]) is str for place in _NAMES):
        raise ValueError


def _to_digits(value: int | None) -> str | None:
    return None if value is None else str(value)


def _from_digits(text: str | None) -> int | None:
    if text is None:
        return None
    value = int(text)
    if value < 0 or str(value) != text:
        raise ValueError(text)
    return value
