"""The rows that a risk report reads, in DuckDB, each column under a name of the report's own: c0, c1 and so on.

The report is the owner's, so it may say which line of a file is broken. A row that cannot be read is told, never left
out: a report about the rest would be a report about another table.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sfumato.dataset.kind import Kind, kind_named
from sfumato.dataset.sources.duckdb_table import DuckdbTable
from sfumato.dataset.sources.files import CsvFiles, ParquetFiles
from sfumato.dataset.sources.frame import Frame
from sfumato.dataset.sources.source import Source, read_source
from sfumato.embedded.database import connected
from sfumato.errors import InvalidArgument
from sfumato.phrases import Option, Phrase
from sfumato.plan.syntax.node import quoted, text_literal
from sfumato.suggestions import find

GIGABYTE = 10**9
SMALLER = Phrase("take fewer ", Option("columns"), ", or more ", Option("memory"))


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in an engine: `sql` stands after FROM; `types` are the engine's, `owns` the report's names for columns."""

    engine: Any
    sql: str
    label: str
    types: dict[str, str]
    owns: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.types)

    def find(self, name: str) -> str:
        """The column's name as the source spells it."""
        return find(name, self.types, what="column", where=self.label)

    def own(self, name: str) -> str:
        """The report's name for a column, which is safe in SQL."""
        return self.owns[name]

    def kind(self, name: str) -> Kind | None:
        """The kind of a column's values; None where they are compared as texts."""
        return kind_named(self.types[name])

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """What a statement says."""
        found: list[tuple[Any, ...]] = run(self.engine, sql, self.label).fetchall()
        return found

    def one(self, sql: str) -> tuple[Any, ...]:
        """The one row that a statement says."""
        (row,) = self.ask(sql)
        return row


def run(engine: Any, sql: str, label: str) -> Any:
    """Run a statement; what a file or the memory has against it is told in a line."""
    import duckdb

    try:
        return engine.execute(sql)
    except duckdb.OutOfMemoryException:
        raise InvalidArgument(f"{label}: the report must fit into its memory; it does not", fix=SMALLER) from None
    except duckdb.Error as error:
        raise InvalidArgument(f"{label} cannot be read as a table{_where(str(error))}; mend the file") from None


def _where(message: str) -> str:
    """The line that a reader of CSV stumbled over."""
    line, found = re.search(r"Line: (\d+)", message), re.search(r"Columns: (\d+) Found: (\d+)", message)
    said = f": line {line[1]} is broken" if line else ""
    said += "; it is not UTF-8" if "unicode" in message.lower() or "utf-8" in message.lower() else ""
    return f"{said}; {found[1]} fields were expected, {found[2]} came" if found else said


def find_source(data: object) -> Source:
    """The source that was given; a file's name may hold what else is a pattern."""
    if isinstance(data, (str, os.PathLike)) and os.path.isfile(data):
        data = glob.escape(os.fspath(data))
    return read_source(data)


@contextmanager
def database(memory: float) -> Iterator[Any]:
    """A database of the report's own; what exceeds `memory`, in bytes, is put into a folder that goes with it."""
    with connected(memory_limit=f"{int(memory)}B") as engine:
        _hide_progress(engine)
        engine.execute("SET TimeZone = 'UTC'")
        engine.execute("SET autoinstall_known_extensions = false")
        yield engine


def _hide_progress(engine: Any) -> None:
    """Turn DuckDB's own progress bar off.

    In a notebook without ipywidgets DuckDB keeps the bar off and refuses every change of the setting, even to "off".
    """
    (on,) = engine.execute("SELECT current_setting('enable_progress_bar')").fetchone()
    if on:
        engine.execute("SET enable_progress_bar = false")


def open_rows(engine: Any, source: Source, name: str, only: Sequence[str] | None = None) -> Rows:
    """The rows of a source, of these columns or of all; `name` is free in the engine."""
    listed = source.types()
    spelled = [find(each, listed, what="column", where=source.label) for each in only or ()]
    chosen = list(dict.fromkeys(spelled or listed))
    reader = _reader(engine, source, chosen, f"{name}_frame")
    described = run(engine, f"DESCRIBE SELECT {', '.join(map(quoted, chosen))} FROM {reader}", source.label).fetchall()
    types = {column: str(row[1]) for column, row in zip(chosen, described, strict=True)}
    read = ", ".join(f"{_value(column, types[column])} AS c{place}" for place, column in enumerate(chosen))
    # A file of texts is parsed once; others are as fast to read again.
    kind = "TABLE" if isinstance(source, CsvFiles) else "VIEW"
    run(engine, f"CREATE TEMP {kind} {name} AS SELECT {read} FROM {reader}", source.label)
    return Rows(engine, name, source.label, types, {column: f"c{place}" for place, column in enumerate(chosen)})


def _value(column: str, type: str) -> str:
    """A column such that equal values are equal for the engine: one zero, and texts for what has parts."""
    name = quoted(column)
    if type in ("FLOAT", "DOUBLE"):
        return f"CAST({name} AS DOUBLE) + 0.0"
    if type.startswith("VARCHAR") and kind_named(type):  # and no list of texts
        return f'{name} COLLATE "binary"'
    return name if kind_named(type) else f"CAST({name} AS VARCHAR)"


def _reader(engine: Any, source: Source, columns: Sequence[str], name: str) -> str:
    match source:
        case ParquetFiles():
            return f"read_parquet([{_paths(source)}], hive_partitioning = false)"
        case CsvFiles():
            names = ", ".join(f"{text_literal(column)}: 'VARCHAR'" for column in source.types())
            return (
                f"read_csv([{_paths(source)}], header = true, delim = {text_literal(source.delimiter)}, "
                f"columns = {{{names}}}, auto_detect = false, strict_mode = true, quote = '\"', escape = '\"')"
            )
        case Frame():
            engine.register(name, source.readable(columns))
            return name
        case DuckdbTable():
            source.types()  # refuses what is no table
            engine.execute(f"ATTACH {text_literal(source.path)} AS {name} (READ_ONLY)")
            return ".".join([name, *map(quoted, source.parts)])
    raise InvalidArgument(
        f"{source.label} must be a file, a frame or a DuckDB table; got a server's; export it to parquet"
    )


def _paths(source: ParquetFiles | CsvFiles) -> str:
    return ", ".join(text_literal(glob.escape(path)) for path in source.paths())
