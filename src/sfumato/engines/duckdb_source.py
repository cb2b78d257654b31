"""A table's source, bound in DuckDB as the view `source`; then nothing outside can be reached any more."""

from __future__ import annotations

import glob
import os
from typing import Any

from sfumato.dataset.duckdb_table import DuckdbTable
from sfumato.dataset.files import CsvFiles, ParquetFiles
from sfumato.dataset.frame import Frame
from sfumato.dataset.table import Table
from sfumato.plan.node import quoted, text_literal


def open_source(connection: Any, table: Table) -> None:
    """Bind the source as a view, and lock the door."""
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET pandas_analyze_sample = 0")  # values must not decide types
    match table.source:
        case ParquetFiles() | CsvFiles():
            allowed = ", ".join(text_literal(path) for path in table.source.paths())
            connection.execute(f"SET allowed_paths = [{allowed}]")
            connection.execute(f"CREATE TEMP VIEW source AS SELECT * FROM {_reader(table.source)}")
        case Frame():
            connection.register("source", table.source.readable())
        case DuckdbTable():
            connection.execute(f"ATTACH {text_literal(table.source.path)} AS other (READ_ONLY)")
            name = ".".join(quoted(part) for part in table.source.parts)
            connection.execute(f"CREATE TEMP VIEW source AS SELECT * FROM other.{name}")
    connection.execute("SET disabled_optimizers = 'top_n_window_elimination'")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _reader(source: ParquetFiles | CsvFiles) -> str:
    """The files as SQL; of a CSV every field is text, and what cannot be read is NULL."""
    listed = ", ".join(text_literal(glob.escape(path)) for path in source.paths())
    if isinstance(source, ParquetFiles):
        return f"read_parquet([{listed}], hive_partitioning = false)"
    names = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in source.types())
    return (
        f"read_csv([{listed}], header = true, delim = {text_literal(source.delimiter)}, columns = {{{names}}}, "
        "auto_detect = false, ignore_errors = true, null_padding = true, strict_mode = false)"
    )


def signature(table: Table) -> list[tuple[int, ...]]:
    """What changes when the files of a table are written; nothing for frames and attached databases."""
    if not isinstance(table.source, (ParquetFiles, CsvFiles)):
        return []
    stats = [os.stat(path) for path in table.source.paths()]
    return [(stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]
