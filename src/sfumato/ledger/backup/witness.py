"""A witness: what a ledger said last, in a file elsewhere, so that a ledger which went back is found out.

A file that was emptied, lost its log or was replaced by an older copy is a whole ledger with a smaller balance: nothing
in it tells. The witness holds the last head and what was spent by then. It is written after each commit, so it never
knows more than the ledger; a ledger that does not hold its head has lost entries, or is another one.

Earlier heads are kept too, the last one of every 1, 2, 4, 8, ... writes. What is missing is counted from the latest of
them that the ledger holds: never less than what was lost, and at most about twice as many writes.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.errors import InvalidArgument, LedgerBroken, LedgerUnavailable
from sfumato.input_files import MALFORMED, parse_json
from sfumato.ledger.balance import Balance
from sfumato.ledger.records.amount import NOTHING, Amount
from sfumato.ledger.records.entry import Entry, Head, canonical
from sfumato.ledger.records.portable import replacing
from sfumato.ledger.store.place import locked
from sfumato.phrases import Action, Phrase

OWNER_LOG = logging.getLogger("sfumato.owner")
_TWO = (
    "the ledger must be the one that its witness sees; the witness has seen entry {}, and here it is {}: two copies of "
    "the ledger are in use; keep one, and merge the other into it: sfumato ledger merge FILE; what was asked counts as "
    "spent"
)
Find = Callable[[int], Entry | None]


class Missing(NamedTuple):
    """What a ledger lost of the spend of one analyst; `origin` tells it from every other loss, and counts it once."""

    population: str
    analyst: str
    amount: Amount
    origin: str

    @property
    def fields(self) -> dict[str, Any]:
        """What an entry says of it."""
        return {"population": self.population, "analyst": self.analyst, "amount": self.amount}


@dataclass(frozen=True, slots=True)
class _Seen:
    """A head, and what was spent by then: population -> when it was renewed, and the sum of each analyst."""

    head: Head
    spent: Mapping[str, tuple[int, Mapping[str, Amount]]]

    @classmethod
    def of(cls, balance: Balance) -> _Seen:
        return cls(
            balance.head,
            {
                name: (people.renewed, {analyst: account.spent for analyst, account in people.analysts.items()})
                for name, people in balance.populations.items()
            },
        )

    def to_json(self) -> dict[str, Any]:
        spent = {
            name: [renewed, {who: [a.epsilon, a.rho, a.delta] for who, a in analysts.items()}]
            for name, (renewed, analysts) in self.spent.items()
        }
        return {"head": self.head.id, "spent": spent}

    @classmethod
    def from_json(cls, written: Any) -> _Seen:
        spent = {
            name: (_whole(renewed), {who: _amount(*amount) for who, amount in analysts.items()})
            for name, (renewed, analysts) in written["spent"].items()
        }
        return cls(Head.read(written["head"]), spent)


_NOTHING = _Seen(Head(0, ""), {})


class Witness:
    """The file of a witness; keep it where whatever happens to the ledger does not happen to it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def at(cls, where: str | os.PathLike[str]) -> Witness:
        """The witness in a file, whatever links lead to it."""
        try:
            return cls(Path(os.path.realpath(where)))
        except ValueError:
            raise InvalidArgument("the witness must be a file; got signs that no file's name has; rename it") from None

    def check(self, balance: Balance, identity: str, find: Find) -> None:
        """Refuse a ledger that does not hold what was seen."""
        seen = self._read()[1]
        if seen is not None and not _holds(seen.head, identity, find):
            raise LedgerBroken(
                f"the ledger must hold entry {seen.head}, which its witness has seen; it ends at entry {balance.head} "
                "and does not: it is an older copy, or has lost its end; nothing was charged",
                fix=Phrase(
                    "put the later one back, or restore a backup; if it is lost for good, count what is missing as "
                    "spent: ",
                    Action("ledger.reconcile()"),
                ),
            )

    def missing(self, identity: str, find: Find) -> Iterator[Missing]:
        """What was seen to be spent, and is not in the ledger for certain."""
        _, seen, anchors = self._read()
        if seen is None or _holds(seen.head, identity, find):
            return
        common = max(
            (each for each in anchors.values() if _holds(each.head, identity, find)),
            key=lambda each: each.head.number,
            default=_NOTHING,
        )
        for population, (renewed, analysts) in seen.spent.items():
            before = common.spent.get(population, (renewed, {}))
            for analyst, amount in analysts.items():
                counted = before[1].get(analyst, NOTHING) if before[0] == renewed else NOTHING
                lost = _less(amount, counted)
                if lost != NOTHING:
                    text = canonical([seen.head.id, population, analyst])
                    yield Missing(population, analyst, lost, hashlib.sha256(text.encode("ascii")).hexdigest())

    def write(self, balance: Balance, *, anew: bool = False) -> None:
        """Note a balance, unless a later one was noted by another process; `anew`: whatever was noted before."""
        try:
            with locked(self._path.parent):
                count, seen, anchors = (0, None, {}) if anew else self._read()
                if seen is not None and seen.head.number >= balance.head.number:
                    if seen.head.number == balance.head.number and seen.head != balance.head:
                        raise LedgerBroken(_TWO.format(seen.head, balance.head))
                    return
                if seen is None and not anew:
                    OWNER_LOG.warning(
                        "new witness: %s; there was none; it begins at entry %s", self._path, balance.head
                    )
                count += 1
                now = _Seen.of(balance).to_json()
                kept = {str(level): each.to_json() for level, each in anchors.items()}
                kept[str((count & -count).bit_length())] = now  # how often 2 divides the count
                with replacing(self._path) as draft:
                    draft.write_text(canonical({"sfumato": "witness", "count": count, "seen": now, "anchors": kept}))
        except (OSError, InvalidArgument):
            raise LedgerUnavailable(
                "the ledger's witness must be writable; it is not; make room for it, or let its folder be written; "
                "what was asked counts as spent"
            ) from None

    def _read(self) -> tuple[int, _Seen | None, dict[int, _Seen]]:
        try:
            if not stat.S_ISREG(os.stat(self._path).st_mode):  # to open a pipe would wait forever
                raise OSError(None, "it is no file")
            content = parse_json(self._path.read_text("utf-8"))
            if content["sfumato"] != "witness":
                raise ValueError
            anchors = {int(level): _Seen.from_json(each) for level, each in content["anchors"].items()}
            return _whole(content["count"]), _Seen.from_json(content["seen"]), anchors
        except FileNotFoundError:
            if self._path.parent.is_dir():
                return 0, None, {}
            raise LedgerUnavailable(
                "the ledger's witness must be readable; its folder is not there; nothing was charged"
            ) from None
        except OSError as error:
            raise LedgerUnavailable(
                f"the ledger's witness must be readable; it is not: {error.strerror}; nothing was charged"
            ) from None
        except MALFORMED:
            raise LedgerBroken(
                "the ledger's witness is damaged; verify the ledger with the head of a receipt, then remove the "
                "witness; nothing was charged"
            ) from None


def _amount(epsilon: Any, rho: Any, delta: Any) -> Amount:
    return Amount(None if epsilon is None else _whole(epsilon), None if rho is None else _whole(rho), _whole(delta))


def _whole(written: Any) -> int:
    if type(written) is not int or written < 0:
        raise ValueError
    return written


def _holds(head: Head, identity: str, find: Find) -> bool:
    if head.number == 0:
        return head.hash == identity
    entry = find(head.number)
    return entry is not None and entry.hash == head.hash


def _less(amount: Amount, counted: Amount) -> Amount:
    """What an amount is more than one that it began with; without bound if it is."""
    return Amount(
        None if amount.epsilon is None else max(0, amount.epsilon - (counted.epsilon or 0)),
        None if amount.rho is None else max(0, amount.rho - (counted.rho or 0)),
        max(0, amount.delta - counted.delta),
    )
