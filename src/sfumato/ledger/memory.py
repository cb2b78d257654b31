"""A ledger in memory: what was spent in this process, written before the data is touched."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sfumato.accounting import Filter
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss

COUNTING = 10**9  # an allowance of this epsilon is none: the ledger only counts


@dataclass(frozen=True, slots=True)
class Entry:
    """One spend; it counts from the moment it is written, whatever became of the question."""

    number: int
    at: datetime
    analyst: str
    question: str
    loss: Loss


@dataclass
class MemoryLedger:
    """Entries of one process, checked against an allowance by a filter, which holds for adaptive questions."""

    allowance: Guarantee
    entries: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._filter = Filter(self.allowance.epsilon, self.allowance.delta)

    def reserve(self, loss: Loss, question: str, analyst: str) -> Entry:
        """Write down a spend, or refuse it with what is left."""
        with self._lock:
            self._filter = self._filter.spend(loss)
            entry = Entry(len(self.entries) + 1, datetime.now(UTC), analyst, question, loss)
            self.entries.append(entry)
            return entry

    def remaining(self) -> str:
        """What is left, or for a ledger that only counts what was spent, in words."""
        if self.allowance.epsilon >= COUNTING:
            spent = sum((entry.loss.epsilon or 0) for entry in self.entries)
            return f"nothing limits this process; it has spent epsilon {float(spent):g} so far"
        return f"epsilon {float(self._filter.remaining.epsilon):g} of {float(self.allowance.epsilon):g}"

    @property
    def state(self) -> Filter:
        """What was spent and what is left."""
        return self._filter
