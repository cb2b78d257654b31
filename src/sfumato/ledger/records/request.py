"""What the curator asks of the ledger, and what it gets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sfumato.errors import InvalidArgument
from sfumato.ledger.records.entry import Entry, Head, canonical
from sfumato.privacy.loss import Loss

_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")  # no database stores these


def text(**named: str) -> str:
    """Read a text of any letters; it is stored as JSON in ASCII, which every database takes."""
    ((name, value),) = named.items()
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"{name} must be a text of at least one letter; got {value!r}")
    return value


def name(**named: str) -> str:
    """Read a name, which is stored as it is."""
    ((what, value),) = named.items()
    if _UNWRITABLE.search(text(**named)):
        raise InvalidArgument(f"{what} must be a name without NUL or half characters; got {value!r}; rename it")
    return value


@dataclass(frozen=True, slots=True)
class Request:
    """A priced question before it is charged; `plan` and `promise` decide whether it was asked before."""

    population: str
    analyst: str
    table: str
    version: str
    plan: str
    promise: str
    mechanisms: tuple[object, ...]
    loss: Loss
    question: str | None = None

    def __post_init__(self) -> None:
        for each in ("population", "analyst", "table", "version"):
            name(**{each: getattr(self, each)})
        for each in ("plan", "promise"):
            text(**{each: getattr(self, each)})
        if self.question is not None:
            text(question=self.question)
        Loss.read(self.loss)
        try:
            canonical(self.mechanisms)
        except (TypeError, ValueError):
            raise InvalidArgument(
                "mechanisms must be names and public parameters that JSON can write; got something else; "
                "write fractions as text"
            ) from None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A spend that is written; it ends by `settle` or `fail`."""

    entry: Entry
    replay: str

    @property
    def number(self) -> int:
        """The number of the entry."""
        return self.entry.number

    @property
    def who(self) -> tuple[str, str]:
        """The analyst and the table."""
        return self.entry.analyst or "", self.entry.table or ""

    @property
    def head(self) -> Head:
        """What a receipt shows: a ledger that does not hold this entry is an older or another one."""
        return self.entry.head


@dataclass(frozen=True, slots=True)
class Replay:
    """An answer that was given before, at no further cost; `entry` is the number of the reservation that paid."""

    answer: str
    entry: int
