"""A table's source in DuckDB; nothing else outside can be reached.

What reads it gives every column a name of the engine's own, so that no name of the owner's can stand in for one.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato.dataset.kind import Kind, kinds
from sfumato.dataset.sources.duckdb_table import DuckdbTable, unwritten
from sfumato.dataset.sources.files import CsvFiles, ParquetFiles
from sfumato.dataset.sources.frame import Frame
from sfumato.dataset.sources.source import Source
from sfumato.dataset.table import Table
from sfumato.engines.sql.dialect import DUCKDB
from sfumato.engines.sql.lower import read_column
from sfumato.errors import EngineUnavailable
from sfumato.plan.syntax.node import quoted, text_literal


def lock(database: Any, sources: Sequence[Source]) -> None:
    """Let a new database reach the sources, and nothing else any more."""
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    database.execute("SET GLOBAL pandas_analyze_sample = 0")  # values must not decide types
    # Statistics of files are about many people at once and may leave values out; nothing may be decided from them.
    database.execute("SET GLOBAL disabled_optimizers = 'top_n_window_elimination,statistics_propagation'")
    database.execute("SET enable_external_file_cache = false")
    paths = [path for each in sources if isinstance(each, (ParquetFiles, CsvFiles)) for path in each.paths()]
    if paths:
        # Also as `_reader` writes them: DuckDB compares what is read with what is allowed before it resolves a pattern.
        spelled = dict.fromkeys((*paths, *map(glob.escape, paths)))
        database.execute(f"SET allowed_paths = [{', '.join(map(text_literal, spelled))}]")
    for path in dict.fromkeys(each.path for each in sources if isinstance(each, DuckdbTable)):
        _attach(database, path)
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def _attach(database: Any, path: str) -> None:
    """Attach a file; its lock is held from now on, so that nobody writes until the question is answered."""
    import duckdb

    if (reason := unwritten(path, "; nothing was charged")) is not None:
        raise EngineUnavailable(reason)
    try:
        database.execute(f"ATTACH {text_literal(path)} AS {_attached(path)} (READ_ONLY)")
        return
    except duckdb.Error:
        pass  # whose words name the owner's folders
    raise EngineUnavailable(
        f"{os.path.basename(path)} cannot be opened now: most likely another program, or another connection of this "
        "program, has it open for writing; nothing was charged; close that, then ask again"
    )


def _attached(path: str) -> str:
    """The engine's name for a database, the same wherever it is asked for."""
    return f"other_{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def open_source(connection: Any, table: Table, columns: Iterable[str], name: str = "source") -> str:
    """The source's rows as SQL for this connection; `name` is free for a frame.

    Only what is read is in it: what a file says of its other columns may already make a reader fail.
    """
    used = list(dict.fromkeys([*columns, *table.unit.columns]))
    match table.source:
        case ParquetFiles() | CsvFiles():
            return f"(SELECT {_listed(used)} FROM {_reader(table.source)})"
        case Frame():
            connection.register(name, table.source.readable(used))
            return name
        case DuckdbTable():
            parts = ".".join(quoted(part) for part in table.source.parts)
            return f"(SELECT {_listed(used)} FROM {_attached(table.source.path)}.{parts})"
    raise AssertionError("another engine has this table")


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(quoted, columns)) or "1 AS one"


def _reader(source: ParquetFiles | CsvFiles) -> str:
    """The files as SQL; of a CSV every field is text, and what cannot be read is NULL."""
    listed = ", ".join(text_literal(glob.escape(path)) for path in source.paths())
    if isinstance(source, ParquetFiles):
        return f"read_parquet([{listed}], hive_partitioning = false)"
    names = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in source.types())
    return (
        f"read_csv([{listed}], header = true, delim = {text_literal(source.delimiter)}, columns = {{{names}}}, "
        "auto_detect = false, ignore_errors = true, null_padding = true, strict_mode = false, parallel = false)"
    )


def reading(table: Table, source: str, names: Mapping[str, str], units: Sequence[str]) -> str:
    """The columns under the engine's names for them, as their kinds, and the unit's columns, if there are `units`."""
    types = table.source.types() if isinstance(table.source, DuckdbTable) else {}
    stored = kinds(types)
    read = []
    for name, own in names.items():
        column = read_column(DUCKDB, f"s.{quoted(name)}", table.columns[name])
        read.append(f"{_apart(column, table.columns[name].kind, stored)} AS {own}")
    for name, own in zip(table.unit.columns, units, strict=bool(units)):
        # Taken as they are stored: a cast might make one unit of two.
        collated = types.get(name, "").upper().startswith("VARCHAR")
        read.append(f"{_apart(f's.{quoted(name)}', Kind.TEXT if collated else None, stored)} AS {own}")
    return f"SELECT {', '.join(read) or '1 AS one'} FROM {source} AS s"


def _apart(sql: str, kind: Kind | None, stored: Mapping[str, Kind]) -> str:
    """Text of a database compared by its letters, whatever the owner's collation takes for equal."""
    return f'{sql} COLLATE "binary"' if stored and kind is Kind.TEXT else sql


def signature(tables: Iterable[Table]) -> list[tuple[str | int, ...]]:
    """What changes when the files of tables are written; nothing for frames and attached databases."""
    files = [table.source for table in tables if isinstance(table.source, (ParquetFiles, CsvFiles))]
    stats = [(path, os.stat(path)) for source in files for path in source.paths()]
    return [(path, stat.st_ino, stat.st_size, stat.st_mtime_ns) for path, stat in stats]
