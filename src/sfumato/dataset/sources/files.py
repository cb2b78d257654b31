"""Tables that lie in files: one, or as many as a glob finds, all of one schema.

Of a parquet file the footer is read, of a CSV file the first line. An engine takes its files from `paths`, and escapes
them (`glob.escape`): a glob of its own might find others.
"""

from __future__ import annotations

import csv
import glob
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from sfumato.dataset.kind import Kind, kinds
from sfumato.dataset.one_file import check_one_name
from sfumato.embedded.database import connected
from sfumato.errors import InvalidArgument, SourceNotFound
from sfumato.phrases import Action
from sfumato.suggestions import distinct

DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*("|$)')
_LONGEST = 1 << 20  # bytes of a header; what has no line end until there is no CSV


@dataclass(frozen=True, slots=True)
class _Files:
    pattern: str

    @property
    def label(self) -> str:
        """The file's name, without the owner's folders."""
        return os.path.basename(self.pattern)

    @property
    def identity(self) -> frozenset[str]:
        """The files behind all links: two sources that share one hold the same people."""
        paths = frozenset(os.path.realpath(path) for path in self.paths())
        check_one_name(paths)
        return paths

    @property
    def anchor(self) -> str:
        """The file behind all links; of several the glob in its folder, whichever files it finds."""
        folder, names = self.pattern, []
        while glob.has_magic(folder):
            folder, name = os.path.split(folder)
            names.append(name)
        return os.path.join(os.path.realpath(folder), *reversed(names))

    def paths(self) -> tuple[str, ...]:
        """The files, in order."""
        found = tuple(path for path in sorted(glob.glob(self.pattern, recursive=True)) if os.path.isfile(path))
        if not found:
            raise SourceNotFound(
                f"source must be a file, or a glob that finds one; found none at {self.pattern!r}; "
                "check the path and the folder you are in"
            )
        return found

    def _alike(self, types_of: Callable[[str], dict[str, str]]) -> dict[str, str]:
        first, *rest = self.paths()
        types = types_of(first)
        for path in rest:
            # also the widths: an engine reads all with the types of the first, and would fail on a value too wide
            if list(types_of(path).items()) != list(types.items()):
                raise InvalidArgument(
                    f"{self.label}: all files must have the same columns in the same order and of the same types; "
                    f"got others in {os.path.basename(path)}; write them alike"
                )
        return types


_MILLISECONDS = "a time in milliseconds, which must be written in microseconds"


@dataclass(frozen=True, slots=True)
class ParquetFiles(_Files):
    """Parquet files; types come from their schema."""

    typed: ClassVar[bool] = True

    def types(self) -> dict[str, str]:
        """The type of every column by its own name."""
        with connected(spills=False, threads=1) as engine:
            return self._alike(lambda path: self._footer(engine, path))

    def schema(self) -> dict[str, Kind]:
        """The kind of every column that can be asked about, in order."""
        return kinds(self.types())

    def _footer(self, engine: object, path: str) -> dict[str, str]:
        import duckdb

        assert isinstance(engine, duckdb.DuckDBPyConnection)
        file = [glob.escape(path)]
        try:
            tree = engine.execute("SELECT name, num_children, converted_type FROM parquet_schema(?)", file).fetchall()
            # folder names such as region=north are values of rows, not a schema
            described = engine.execute("DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", file)
            types = [str(row[1]) for row in described.fetchall()]
        except duckdb.Error:
            raise InvalidArgument(
                f"{os.path.basename(path)} cannot be read as parquet; check that it is complete"
            ) from None
        # DESCRIBE renames one of two names that are equal but for case; the tree has them as they are
        names = distinct(_top([row[:2] for row in tree]), where=self.label)
        # A time in milliseconds that is far out makes the reader fail, which is a property of a row.
        coarse = {name for name, _, stored in tree if stored == "TIMESTAMP_MILLIS"}
        return {name: _MILLISECONDS if name in coarse else type for name, type in zip(names, types, strict=True)}


@dataclass(frozen=True, slots=True)
class CsvFiles(_Files):
    """CSV files with a header line; types are declared, and without a declaration a column is text."""

    delimiter: str = ","

    typed: ClassVar[bool] = False

    def types(self) -> dict[str, str]:
        """Every column as text."""
        return self._alike(lambda path: dict.fromkeys(self._header(path), "text"))

    def schema(self) -> dict[str, Kind]:
        """The kind of every column, in order: text, since a header says no more."""
        return kinds(self.types())

    def _header(self, path: str) -> tuple[str, ...]:
        names = split_header(first_line(path), self.delimiter)
        if any(_is_number(name) for name in names):
            # most likely a row: its values must not become names, nor be shown
            raise InvalidArgument(f"{self.label}: the first line must be column names; got a number; add a header line")
        if not names or not all(names):
            raise InvalidArgument(
                f"{self.label}: every column must have a name in the first line; got an empty or broken one",
                fix=Action("mend it (pandas: to_csv(index=False))"),
            )
        return distinct(names, where=self.label)


def find_delimiter(path: str) -> str:
    """The delimiter that occurs most in the first line, outside of quotations; a comma where none does."""
    return max(DELIMITERS, key=_QUOTED.sub("", first_line(path)).count)


def first_line(path: str) -> str:
    """The first line of a text file."""
    with open(path, "rb") as file:
        line = file.readline(_LONGEST)
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        text = ""
    if not text.strip() or len(line) == _LONGEST:
        raise InvalidArgument(
            f"{os.path.basename(path)} must begin with a line of names in UTF-8; got none; add it, if it is a CSV"
        )
    return text


def split_header(line: str, delimiter: str) -> tuple[str, ...]:
    """The names in a header line; none where a quotation does not end in it.

    >>> split_header('person_id, "income, gross"', ",")
    ('person_id', 'income, gross')
    """
    try:
        names = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error:
        return ()
    return tuple(name.strip() for name in names)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return name.lower() not in ("nan", "inf", "infinity")  # odd, but names


def _top(tree: list[tuple[str, int | None]]) -> list[str]:
    """The names of the columns in a parquet schema, a tree in preorder: those right below its root."""
    names, open_children = [], [tree[0][1] or 0]
    for name, children in tree[1:]:
        if len(open_children) == 1:
            names.append(name)
        open_children[-1] -= 1
        open_children.append(children or 0)
        while len(open_children) > 1 and open_children[-1] == 0:
            open_children.pop()
    return names
