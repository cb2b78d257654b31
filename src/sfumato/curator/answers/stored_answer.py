"""An answer as text, for the ledger to keep, and back: whoever asks the same again gets the same."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato.curator.answers.answer import AGAIN, Answer, Receipt
from sfumato.curator.answers.compare import Basis
from sfumato.curator.answers.released import Released
from sfumato.errors import LedgerBroken
from sfumato.input_files import attempt, parse_json
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.unit import Unit

_UNREADABLE = (
    "the stored answer to this question must be what was written; it is not; verify the ledger (sfumato ledger "
    "verify), and restore a backup, or erase the answer and ask again, which is charged"
)


def write_answer(answer: Answer) -> str:
    """The answer as JSON; dates and infinities are written as pairs of kind and text."""
    promise = answer.guarantee
    content = {
        "columns": answer.columns,
        "rows": [[_write(row[name]) for name in answer.columns] for row in answer.rows],
        "intervals": {name: [_ends(pair) for pair in pairs] for name, pairs in answer.intervals.items()},
        "promise": [str(promise.epsilon), str(promise.delta), promise.neighbors.value, list(promise.unit.columns)],
        "id": answer.receipt.id,
        "notes": answer.receipt.notes,
        "confidence": answer.confidence,
        "explanation": answer.explanation,
        "basis": {
            "released": {name: released.to_json() for name, released in answer.basis.released.items()},
            "seconds": {name: [_ends(pair) for pair in pairs] for name, pairs in answer.basis.seconds.items()},
            "groups": answer.basis.groups,
        },
    }
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


def read_answer(text: str, remaining: str) -> Answer:
    """The answer as it was given, with a note that it was free."""
    return attempt(lambda: _from_content(parse_json(text), remaining), LedgerBroken(_UNREADABLE))


def _from_content(content: Mapping[str, Any], remaining: str) -> Answer:
    columns = tuple(content["columns"])
    epsilon, delta, neighbors, unit = content["promise"]
    promise = Guarantee(Fraction(epsilon), Fraction(delta), Neighbors(neighbors), Unit(tuple(unit)))
    answer = Answer(
        columns,
        [dict(zip(columns, map(_read, row), strict=True)) for row in content["rows"]],
        {name: [_pair(pair) for pair in pairs] for name, pairs in content["intervals"].items()},
        promise,
        Receipt(content["id"], promise, remaining, tuple(content["notes"])),
        content["confidence"],
        content["explanation"],
        _basis(content.get("basis")),
    )
    return replace(answer, receipt=replace(answer.receipt, notes=(*answer.receipt.notes, AGAIN)))


def _basis(content: Mapping[str, Any] | None) -> Basis:
    """What comparisons are made from; an answer of an older ledger has nothing of it."""
    if content is None:
        return Basis()
    released = {name: Released.from_json(each) for name, each in content["released"].items()}
    seconds = {name: [_pair(pair) for pair in pairs] for name, pairs in content["seconds"].items()}
    return Basis(released, seconds, content["groups"])


def _ends(pair: tuple[float, float] | None) -> list[Any] | None:
    return None if pair is None else [_write(end) for end in pair]


def _pair(pair: list[Any] | None) -> tuple[float, float] | None:
    if pair is None:
        return None
    low, high = map(_read, pair)
    return low, high


def _write(value: Any) -> Any:
    match value:
        case datetime.datetime():
            return ["time", value.isoformat()]
        case datetime.date():
            return ["date", value.isoformat()]
        case float() if not math.isfinite(value):
            return ["float", repr(value)]
    return value


def _read(value: Any) -> Any:
    match value:
        case ["time", text]:
            return datetime.datetime.fromisoformat(text)
        case ["date", text]:
            return datetime.date.fromisoformat(text)
        case ["float", text]:
            return float(text)
    return value
