"""A ledger's store in memory: the same entries and the same decisions, for as long as the process lives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sfumato.entropy import Entropy
from sfumato.errors import InvalidArgument, LedgerUnavailable
from sfumato.ledger.records.entry import Entry, Head, Kind
from sfumato.ledger.records.payload import Payload, fresh
from sfumato.ledger.records.portable import Line


class MemoryTransaction:
    """What a ledger reads and writes in one go; what is written is there when the transaction ends."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._new: list[Line] = []
        self._erased: set[int] = set()
        self._meta: dict[str, str] = {}

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """The entries beyond a number, in order."""
        return (entry for entry, _ in self.lines(after))

    def lines(self, after: int = 0) -> Iterator[Line]:
        """The entries beyond a number with what is left of their payloads."""
        kept = self._store.payloads
        for entry in [*self._store.entries[after:], *(entry for entry, _ in self._new)]:
            yield entry, kept.get(entry.number)

    def entry(self, number: int) -> Entry | None:
        """One entry."""
        return self._store.entries[number - 1] if 0 < number <= len(self._store.entries) else None

    def snapshot(self) -> Entry | None:
        """The last snapshot."""
        return next((entry for entry in reversed(self._store.entries) if entry.kind is Kind.SNAPSHOT), None)

    def settled(self, reservation: int) -> int | None:
        """The number of the entry that settled a reservation."""
        return self._store.settled.get(reservation)

    def answers(self, replay: str) -> Sequence[tuple[str, str, int]]:
        """Analyst, stored text and reservation of every answer under a replay key, latest first."""
        found = []
        for number in reversed(self._store.answered.get(replay, ())):
            entry, payload = self._store.entries[number - 1], self._store.payloads.get(number)
            if payload is not None:
                found.append((entry.analyst or "", payload.text, entry.refers or 0))
        return found

    def stored(self, numbers: Iterable[int]) -> list[int]:
        """Those of the entries whose payload is still there."""
        return sorted(number for number in numbers if number in self._store.payloads)

    def meta(self) -> dict[str, str]:
        """Identity, secret and head."""
        return {**self._store.meta, **self._meta}

    def head(self) -> Head:
        """The head that was written last."""
        return Head.read(self.meta()["head"])

    def set_meta(self, **values: str) -> None:
        """Write some of `meta`."""
        self._meta |= values

    def append(self, lines: Sequence[Line]) -> None:
        """Write entries and payloads, and the new head."""
        self._new += lines
        if lines:
            last = lines[-1][0]
            self.set_meta(head=f"{last.number}-{last.hash}")

    def erase(self, numbers: Sequence[int]) -> None:
        """Remove payloads."""
        self._erased |= set(numbers)

    def commit(self) -> None:
        """Keep what was written."""
        store = self._store
        for entry, payload in self._new:
            store.entries.append(entry)
            if entry.kind is Kind.SETTLED and entry.refers is not None:
                store.settled[entry.refers] = entry.number
            if payload is not None:
                store.payloads[entry.number] = payload
                if payload.replay is not None:
                    store.answered.setdefault(payload.replay, []).append(entry.number)
        for number in self._erased:
            store.payloads.pop(number, None)
        store.meta |= self._meta


class MemoryStore:
    """The entries of one process."""

    label = "in memory"
    is_new = False  # it is always new, and nobody expects another

    def __init__(self, entropy: Entropy) -> None:
        self.entries: list[Entry] = []
        self.payloads: dict[int, Payload] = {}
        self.settled: dict[int, int] = {}
        self.answered: dict[str, list[int]] = {}
        identity = fresh(entropy).hex()
        self.meta = {"identity": identity, "secret": fresh(entropy).hex(), "head": f"0-{identity}"}
        self.process = os.getpid()

    @contextmanager
    def write(self) -> Iterator[MemoryTransaction]:
        """A transaction; the desk lets one in at a time."""
        self._check_process()
        work = MemoryTransaction(self)
        yield work
        work.commit()

    def _check_process(self) -> None:
        if self.process != os.getpid():
            raise LedgerUnavailable(
                "a ledger in memory must be used by the process that made it; this is another one, in which it would "
                "have its budget a second time; keep the ledger in a file: ledger='ledger.db'; nothing was charged"
            )

    @contextmanager
    def read(self) -> Iterator[MemoryTransaction]:
        """What there is now."""
        yield MemoryTransaction(self)

    def backup(self, path: Path) -> None:
        """Refused: only a dump can be made."""
        raise InvalidArgument(f"a backup of a ledger in memory must end in .jsonl; got {path.name!r}; rename it")

    def check(self) -> None:
        """Memory has no pages that could be damaged."""

    def committed(self) -> None:
        """There is no log."""

    def scrub(self) -> None:
        """Nothing of what was erased is left in memory."""

    def close(self) -> None:
        """Nothing to give back."""
