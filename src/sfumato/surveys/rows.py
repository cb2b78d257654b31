"""The rows of a file, a respondent each, as columns: CSV, or JSON with one object a line (`.jsonl`, `.ndjson`).

The same is asked of both: UTF-8, a name once, every row with all names, nothing dropped in silence.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TextIO

from sfumato.errors import InvalidArgument
from sfumato.input_files import opened, parse_json

Columns = Mapping[str, Sequence[Any]]
_APART = (",", ";", "\t")  # between the fields of a CSV file; a comma where none is in the head
_LINES = (".jsonl", ".ndjson")


def read_file(file: Path) -> Columns:
    """The columns of a file, by the ending of its name."""
    read: Callable[[TextIO, str], Columns] = _json_lines if file.suffix.lower() in _LINES else _csv
    missing = f"no file {file.name!r} with answers; give the path of a .csv or .jsonl file"
    with opened(file, missing, newline="") as text:
        return read(text, file.name)


def _csv(text: TextIO, name: str) -> Columns:
    apart = max(_APART, key=text.readline().count)  # names of columns have none of them
    text.seek(0)
    try:
        lines = list(csv.reader(text, strict=True, delimiter=apart))
    except csv.Error as error:
        raise InvalidArgument(f"{name} is not CSV: {error}; save it anew") from None
    if not lines:
        raise InvalidArgument(f"{name} must have a head with the names of the columns; got an empty file")
    head, rows = [each.strip() for each in lines[0]], [line for line in lines[1:] if line]
    if len(set(head)) < len(head):
        raise InvalidArgument(f"{name} must name each column once; got a name twice; rename one")
    if ragged := sum(len(row) != len(head) for row in rows):
        raise InvalidArgument(f"{name} must have {len(head)} fields a row; got others in {ragged} rows; mend them")
    return {each: [row[place] for row in rows] for place, each in enumerate(head)}


def _json_lines(text: TextIO, name: str) -> Columns:
    rows = []
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line, object_pairs_hook=_once, parse_constant=_no_number)
        except ValueError:
            row = None
        if not isinstance(row, dict) or not all(_is_cell(cell) for cell in row.values()):
            raise InvalidArgument(
                f"{name} must hold one object a line, of texts and numbers, each name once; got something else in "
                f'line {number}; for example {{"smoker": "1"}}'
            )
        rows.append(row)
    if not rows:
        raise InvalidArgument(f"{name} must have a line for each person; got an empty file")
    if ragged := sum(row.keys() != rows[0].keys() for row in rows):
        raise InvalidArgument(
            f"{name} must have the names of its first line in every line; got others in {ragged} lines; mend them"
        )
    return {each: [row[each] for row in rows] for each in rows[0]}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = {name.strip(): value for name, value in pairs}
    if len(row) < len(pairs):
        raise ValueError
    return row


def _no_number(_: str) -> NoReturn:
    raise ValueError  # NaN and Infinity are no JSON


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, str | int | float | list | None) and not isinstance(cell, bool)  # several answers: a list
