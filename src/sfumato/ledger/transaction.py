"""The entries that one transaction is going to write, each decided on the balance as it is after those before it.

An operation is a function of a draft: it refuses by raising before it appends, or appends and returns. What one
operation refuses does not disturb the others of the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from sfumato.entropy import Entropy
from sfumato.ledger.balance import Balance
from sfumato.ledger.records.entry import Entry, Kind, seal
from sfumato.ledger.records.payload import Payload


@dataclass(frozen=True, slots=True)
class Policy:
    """What the owner decides when opening a ledger, and what the machine provides.

    `pause`: whether a failure after the reservation pauses the analyst on that table. `share_answers`: whether an
    analyst gets, free, what another one paid for. `lease`: how long a reservation may stay open. `mark`: which process
    this is, for `gone` to say of another one that it has ended.
    """

    pause: bool
    share_answers: bool
    lease: timedelta
    entropy: Entropy
    product: str
    mark: Callable[[], str | None] = lambda: None
    gone: Callable[[str], bool] = lambda _: False


class Archive(Protocol):
    """What an operation may look up beside the balance."""

    def entry(self, number: int) -> Entry | None:
        """One entry."""

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries beyond a number, in order."""

    def settled(self, reservation: int) -> int | None:
        """The number of the entry that settled a reservation."""

    def answers(self, replay: str) -> Sequence[tuple[str, str, int]]:
        """Analyst, stored text and reservation of every answer under a replay key, latest first."""

    def stored(self, numbers: Sequence[int]) -> list[int]:
        """Those of the entries whose payload is still there."""


@dataclass
class Transaction:
    """A transaction in the making."""

    balance: Balance
    now: int
    archive: Archive
    identity: str
    secret: bytes
    policy: Policy
    lines: list[tuple[Entry, Payload | None]] = field(default_factory=list)
    erased: list[int] = field(default_factory=list)

    def append(self, kind: Kind, payload: Payload | None = None, **fields: Any) -> Entry:
        """Add an entry."""
        entry = seal(
            kind,
            after=self.balance.head,
            at=self.now,
            product=self.policy.product,
            payload_digest=None if payload is None else payload.digest,
            **fields,
        )
        self.balance = self.balance.after(entry)
        self.lines.append((entry, payload))
        return entry

    def entry(self, number: int) -> Entry | None:
        """An entry, of this draft or of the archive."""
        ours = (entry for entry, _ in self.lines if entry.number == number)
        return next(ours, None) or self.archive.entry(number)

    def stored(self, reservation: int) -> list[int]:
        """The entries that hold question and answer of a reservation."""
        ours = [e.number for e, payload in self.lines if payload and reservation in (e.number, e.refers)]
        settled = self.archive.settled(reservation)
        theirs = self.archive.stored([reservation] if settled is None else [reservation, settled])
        return [number for number in (*theirs, *ours) if number not in self.erased]

    def attempt(self, operation: Operation) -> object:
        """Run an operation; if it fails, nothing of it remains."""
        balance, lines, erased = self.balance, len(self.lines), len(self.erased)
        try:
            return operation(self)
        except BaseException:
            self.balance = balance
            del self.lines[lines:], self.erased[erased:]
            raise


Operation = Callable[[Transaction], object]
