"""An answer as a table, CSV, JSON or Arrow, on the screen or in a file, and as a chart.

What cannot be written is refused before the question is asked: a question costs privacy, a typing error should not.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from sfumato import charts, checks
from sfumato.cli._shared.files import write
from sfumato.cli._shared.screen import errors, output, say, show
from sfumato.curator.answers.answer import AGAIN, Answer
from sfumato.errors import InvalidArgument

_CHARTS = (".svg", ".png", ".html")
_LONGEST, _ENDS = 60, 20  # rows that a terminal shows at all, and at both ends of a longer table
MADE_UP = "Dry run on made-up data. These numbers say nothing about the table, and nothing was charged."
_FREE = "it is kept in the ledger: ask the same again, which is free"


class Format(StrEnum):
    """How an answer is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    ARROW = "arrow"


@dataclass(frozen=True, slots=True)
class Target:
    """Where an answer goes; `made_up`: it was no answer about the table, which every format says."""

    format: Format = Format.TABLE
    output: Path | None = None
    plot: Path | None = None
    quiet: bool = False
    made_up: bool = False

    def check(self) -> None:
        """Refuse what could not be written."""
        for file in (self.output, self.plot):
            if file is not None:
                _check_writable(file)
        if self.plot is not None and self.plot.suffix.lower() not in _CHARTS:
            raise InvalidArgument(f"--plot must end in {', '.join(_CHARTS)}; got {self.plot.name!r}; rename it")
        if self.format is Format.ARROW:
            checks.installed("pyarrow", extra="arrow", needs="--format arrow")
        if self.format is Format.ARROW and self.output is None and sys.stdout.isatty():
            raise InvalidArgument("--format arrow is no text for a terminal; give --output answer.arrow, or a pipe")

    def write(self, answer: Answer) -> None:
        """Write the answer, and draw it if a chart was asked for: files first, then what is printed."""
        on_screen = self.format is Format.TABLE and self.output is None
        if self.made_up:
            answer = replace(answer, receipt=replace(answer.receipt, notes=(MADE_UP, *answer.receipt.notes)))
        content = b"" if on_screen else _WRITERS[self.format](answer, self.made_up)
        if self.output is not None:
            write(self.output, lambda file: file.write_bytes(content), _FREE)
        if self.plot is not None:
            write(self.plot, lambda file: charts.save(answer.plot(), file), _FREE)
        if self.made_up:
            say(output() if on_screen else errors(), MADE_UP, "bold yellow")
        if on_screen:
            _show(answer)
        elif self.output is None:
            _put(content)
        if self.quiet:
            return
        console = output() if on_screen else errors()
        for note in answer.receipt.notes:
            if note not in (MADE_UP, AGAIN):  # one was said above, the other the line about the cost says
                say(console, f"Note: {note}", indent="      ")
        for file, what in ((self.output, "answer"), (self.plot, "chart")):
            if file is not None:
                say(errors(), f"{what}: {file}")


def _check_writable(file: Path) -> None:
    folder = file.parent
    if os.path.isdir(file) or not os.path.isdir(folder):
        raise InvalidArgument(
            f"{str(file)!r} must be a file in a folder that exists; it is not; choose another (nothing was done)"
        )
    if not os.access(file if os.path.exists(file) else folder, os.W_OK):
        raise InvalidArgument(f"{str(file)!r} must be writable; it is not; choose another folder (nothing was done)")


def _put(content: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def cells(answer: Answer, places: list[int]) -> list[list[str]]:
    """The answer's table as it is shown, head first: value ± half-width, or [low, high]."""
    columns = [[name, *answer.cells(name, places)] for name in answer.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def estimated(answer: Answer) -> list[int]:
    """The places of the columns that have intervals."""
    return [place for place, name in enumerate(answer.columns) if any(pair for pair in answer.intervals[name])]


def _show(answer: Answer) -> None:
    console, places = output(), list(range(len(answer.rows)))
    left_out = len(places) - 2 * _ENDS if console.is_terminal and len(places) > _LONGEST else 0
    rows = cells(answer, [*places[:_ENDS], *places[-_ENDS:]] if left_out else places)
    if left_out:
        rows.insert(_ENDS + 1, ["..."] * len(answer.columns))
    show(console, rows, right=estimated(answer))
    if left_out:
        say(console, f"{left_out} of {len(answer.rows)} rows are left out here; --format csv has all.")


def _table(answer: Answer, made_up: bool) -> bytes:
    rows = cells(answer, list(range(len(answer.rows))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([*lines, *answer.receipt.notes, ""]).encode()


def _csv(answer: Answer, made_up: bool) -> bytes:
    table = answer.to_dict()
    if made_up:
        table["dry_run"] = ["made-up data"] * len(answer.rows)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return text.getvalue().encode()


def _json(answer: Answer, made_up: bool) -> bytes:
    content = {
        "columns": answer.columns,
        "rows": [{name: _plain(value) for name, value in row.items()} for row in answer.rows],
        "intervals": {
            name: [None if pair is None else [_plain(end) for end in pair] for pair in pairs]
            for name, pairs in answer.intervals.items()
            if any(pair is not None for pair in pairs)
        },
        "confidence": answer.confidence,
        **_receipt(answer, made_up),
    }
    return (json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def _receipt(answer: Answer, made_up: bool) -> dict[str, Any]:
    promise, receipt = answer.guarantee, answer.receipt
    return {
        "guarantee": {
            "epsilon": float(promise.epsilon),
            "delta": float(promise.delta),
            "unit": str(promise.unit),
            "neighbors": promise.neighbors.value,
        },
        "receipt": None if made_up else receipt.id,
        "remaining": receipt.remaining,
        "notes": receipt.notes,
        "dry_run": made_up,
    }


def _plain(value: Any) -> Any:
    """As JSON has it: a date as text, and null for an end that is open."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _arrow(answer: Answer, made_up: bool) -> bytes:
    import pyarrow

    about = json.dumps(_receipt(answer, made_up)).encode()
    table = answer.to_arrow().replace_schema_metadata({"sfumato": about})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


_WRITERS: dict[Format, Callable[[Answer, bool], bytes]] = {
    Format.TABLE: _table,
    Format.CSV: _csv,
    Format.JSON: _json,
    Format.ARROW: _arrow,
}
