"""The lines of a CSV file: whether each is a row with the fields that the first line names.

DuckDB leaves out rows with too many fields and fills up those with too few, so that one broken row does not fail a
question; whoever wrote the file should know.
"""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

from sfumato.cli._shared.legibility.complaint import MOST_ROWS, Complaint, some
from sfumato.dataset.sources.files import DELIMITERS, CsvFiles, first_line, split_header

_COMPARED = 10_000  # rows in which words of the first line are looked for
_LONG = 50  # lines of one row: more are most likely swallowed by a quotation mark that is not closed


@dataclass
class _Tally:
    """What was counted in a file."""

    rows: int = 0
    ragged: int = 0
    first_ragged: int = 0
    long: int = 0  # the line in which a row of many lines begins
    broken: int = 0  # the line at which the file is no CSV any more
    not_utf8: int = 0
    first_not_utf8: int = 0
    split: dict[str, int] = field(default_factory=dict)  # by other delimiters, rows that have one
    repeated: set[int] = field(default_factory=set)  # columns in which the word of the first line occurs again


def odd_lines(source: CsvFiles) -> list[Complaint]:
    """What is wrong with the lines of each file."""
    return [complaint for path in source.paths() for complaint in _odd(path, source.delimiter)]


def _odd(path: str, delimiter: str) -> Iterator[Complaint]:
    names, name = split_header(first_line(path), delimiter), os.path.basename(path)
    found = _count(path, delimiter, names)
    if found.not_utf8:
        lines = "line is" if found.not_utf8 == 1 else "lines are"
        yield Complaint(
            f"{name}: {found.not_utf8:,} {lines} not UTF-8, the first is line {found.first_not_utf8:,}; their rows may "
            "be lost; save the file as UTF-8"
        )
    if found.broken or found.long:
        yield Complaint(
            f"{name}: a quotation mark in line {found.long or found.broken:,} is not closed, or is not doubled inside "
            "a quotation; rows after it may be lost; write the file again with a CSV writer"
        )
    if found.ragged:
        yield Complaint(
            f"{name}: {some(found.ragged, found.rows)} rows do not have the {len(names)} fields that the first line "
            f"names, the first is in line {found.first_ragged:,}; they are left out or filled up{_why(delimiter)}"
        )
    for other, rows in found.split.items():
        if 2 * rows >= found.rows:
            yield Complaint(
                f"{name}: the first line has one name, but {some(rows, found.rows)} rows hold {_spelled(other)}; if "
                "that stands between columns, name every column in the first line"
            )
    if found.repeated and 2 * len(found.repeated) >= len(names) > 1:
        yield Complaint(
            f"{name}: words of the first line occur again as values; if the first line is a row, add a line of column "
            "names above it; if it is repeated, remove the repetition"
        )


def _count(path: str, delimiter: str, names: tuple[str, ...]) -> _Tally:
    tally = _Tally()
    with open(path, "rb") as file:
        reader = csv.reader(_decoded(file, tally), delimiter=delimiter, strict=True)
        begin = 1
        try:
            next(reader, None)
            begin = reader.line_num + 1
            for row in islice(reader, MOST_ROWS):
                _note(row, names, begin, reader.line_num, tally)
                begin = reader.line_num + 1
        except csv.Error:
            tally.broken = begin
    return tally


def _decoded(file: BinaryIO, tally: _Tally) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        try:
            yield (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode("utf-8")
        except UnicodeDecodeError:
            tally.not_utf8 += 1
            tally.first_not_utf8 = tally.first_not_utf8 or number
            yield line.decode("utf-8", "replace")


def _note(row: list[str], names: tuple[str, ...], begin: int, end: int, tally: _Tally) -> None:
    if not row:
        return
    tally.rows += 1
    if len(row) != len(names):
        tally.ragged += 1
        tally.first_ragged = tally.first_ragged or begin
    if end - begin >= _LONG:
        tally.long = tally.long or begin
    if len(names) == 1:
        for other in DELIMITERS:
            tally.split[other] = tally.split.get(other, 0) + (other in row[0])
    if tally.rows <= _COMPARED:
        tally.repeated |= {place for place, cell in enumerate(row[: len(names)]) if cell.strip() == names[place]}


def _why(delimiter: str) -> str:
    if delimiter == ",":
        return "; if numbers have a decimal comma, write a point; texts with a comma need quotation marks"
    return f"; texts with {_spelled(delimiter)} need quotation marks"


def _spelled(delimiter: str) -> str:
    return "a tab" if delimiter == "\t" else f"a {delimiter!r}"
