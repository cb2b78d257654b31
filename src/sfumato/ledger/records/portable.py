"""A ledger as a file: JSON Lines that can be restored, and CSV for other programs.

The first line of a JSON Lines file tells format and identity. With payloads (a backup) it also holds the secret of the
replay keys, and each line the payload of its entry; without, questions and answers stay in the ledger. The last line
holds the head and the number of entries, so that a file whose end was cut off is found out.
"""

from __future__ import annotations

import csv
import json
import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import InvalidArgument, LedgerBroken
from sfumato.input_files import MALFORMED, opened, parse_json
from sfumato.ledger.records.amount import DELTA_UNIT, UNIT, plain
from sfumato.ledger.records.budget import moment
from sfumato.ledger.records.entry import COLUMNS, Entry, Head, canonical, from_row, to_row
from sfumato.ledger.records.payload import Payload
from sfumato.phrases import Action, Phrase

FORMAT = 3  # 2: the chain may hold snapshots, which version 0.1 does not know; 3: the last line tells the end
_READ, _WITH_END = (1, 2, FORMAT), 3
_END = "end"

OWNER_LOG = logging.getLogger("sfumato.owner")

_CUT = (
    "the backup must be whole; {}, and {} entries are there: its end was cut off; find a whole copy of it, or another "
    "backup; nothing was taken from it"
)

Line = tuple[Entry, Payload | None]

_AMOUNTS = COLUMNS.index("delta") + 1  # behind the amounts in units stand the same as decimals
_DECIMALS = ("epsilon_decimal", "rho_decimal", "delta_decimal")


@dataclass(frozen=True, slots=True)
class Copy:
    """A ledger to read from: another store, or a file; `secret` is unknown where payloads were left out.

    `endless` is a file that does not say where it ends, as versions before 0.2 wrote it.
    """

    identity: str
    secret: str | None
    lines: Iterator[Line]
    endless: str | None = None

    def announce(self) -> None:
        """Warn the owner if it could not be seen whether its end was cut off."""
        if self.endless is not None:
            OWNER_LOG.warning(
                "backup %s: it was written by an earlier version and does not say where it ends, so that could not be "
                "checked; if its end was cut off, what was spent there is not counted; compare its last entry with a "
                "receipt, or with the ledger",
                self.endless,
            )


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft that takes the place of a file when it is complete and on the disk; only its owner may read it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
        yield draft
        _synchronize(draft)
        os.replace(draft, path)
        _synchronize(path.parent)
    except OSError as error:
        raise InvalidArgument(f"{path.name!r} must be writable; it is not: {error.strerror}; choose another") from error
    finally:
        draft.unlink(missing_ok=True)


def _synchronize(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def write_json(path: Path, identity: str, secret: str | None, lines: Iterable[Line]) -> None:
    """Write a ledger as JSON Lines, with payloads if there is a secret."""
    with replacing(path) as draft, draft.open("w", encoding="utf-8") as file:
        first: dict[str, Any] = {"sfumato": "ledger", "format": FORMAT, "identity": identity}
        file.write(canonical(first if secret is None else {**first, "secret": secret}) + "\n")
        end = Head(0, identity)
        for entry, payload in lines:
            end = entry.head
            row: dict[str, object] = dict(zip(COLUMNS, to_row(entry), strict=True)) | _decimals(entry)
            if secret is not None and payload is not None:
                row["payload"] = {"salt": payload.salt.hex(), "text": payload.text, "replay": payload.replay}
            file.write(canonical(row) + "\n")
        file.write(canonical({_END: end.id, "entries": end.number}) + "\n")


def write_csv(path: Path, lines: Iterable[Line], *, payloads: bool) -> None:
    """Write a ledger as CSV: amounts in units and as decimals, and the time once more in words."""
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("time", *COLUMNS[:_AMOUNTS], *_DECIMALS, *COLUMNS[_AMOUNTS:], *(("payload",) * payloads)))
        for entry, payload in lines:
            text = (payload.text if payload else "",) if payloads else ()
            row = to_row(entry)
            writer.writerow((moment(entry.at), *row[:_AMOUNTS], *_decimals(entry).values(), *row[_AMOUNTS:], *text))


def _decimals(entry: Entry) -> dict[str, str | None]:
    """The amounts as one reads them, beside those that count; None: no bound."""
    amount = entry.amount
    values = ((amount.epsilon, UNIT), (amount.rho, UNIT), (amount.delta, DELTA_UNIT))
    written = [None if value is None else plain(value, unit) for value, unit in values]
    return dict(zip(_DECIMALS, written, strict=True))


def read_json(path: Path) -> Copy:
    """A ledger from JSON Lines; each entry's hash is checked when it is read, and whether the end is there."""
    lines = _lines(path)
    first = next(lines, {})
    if first.get("sfumato") != "ledger" or not isinstance(first.get("identity"), str):
        raise InvalidArgument(
            "a backup must begin with the line of a ledger; got another file",
            fix=Phrase("make one: ", Action("ledger.backup(path)")),
        )
    if first.get("format") not in _READ:
        raise InvalidArgument(f"a backup must have format 1, 2 or 3; got {first.get('format')!r}; update Sfumato")
    identity, secret = first["identity"], first.get("secret")
    if first["format"] < _WITH_END:
        return Copy(identity, secret, (_line(row) for row in lines), path.name)
    return Copy(identity, secret, _until_the_end(lines, Head(0, identity)))


def _until_the_end(lines: Iterator[dict[str, Any]], head: Head) -> Iterator[Line]:
    for row in lines:
        if _END in row:
            if row != {_END: head.id, "entries": head.number}:
                raise LedgerBroken(_CUT.format(f"its last line speaks of {row.get('entries')!r} entries", head.number))
            if next(lines, None) is not None:
                raise LedgerBroken("the backup must end with its line of the end; more follows it; make another backup")
            return
        entry, payload = _line(row)
        head = entry.head
        yield entry, payload
    raise LedgerBroken(_CUT.format("its last line, which tells the end, is missing", head.number))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with opened(path, f"a backup must be readable; {path.name!r} is not there; check the path") as file:
            for text in file:
                row = parse_json(text)
                if not isinstance(row, dict):
                    raise ValueError
                if "\\ud" in text.lower():  # half a character, which no database takes
                    json.dumps(row, ensure_ascii=False).encode("utf-8")
                yield row
    except InvalidArgument:
        raise
    except ValueError:
        raise LedgerBroken("the backup is damaged: a line of it is not what was written") from None


def _line(row: dict[str, Any]) -> Line:
    entry = from_row(tuple(row.get(name) for name in COLUMNS))
    stored = row.get("payload")
    try:
        if stored is None:
            return entry, None
        return entry, Payload.stored(bytes.fromhex(stored["salt"]), stored["text"], stored["replay"], entry.number)
    except MALFORMED:
        raise LedgerBroken(f"the payload of entry {entry.number} is damaged in the backup") from None
