"""Where the rows of a table are; what is read here is the schema.

Every source has a `label` for messages, an `identity` that tells whether two are the same, an `anchor` that stays the
same when it gets more files or parts, the `types` of its columns as it names them, and their `schema`.

>>> read_source("people.xlsx")
Traceback (most recent call last):
    ...
sfumato.errors.InvalidArgument: source must end in .parquet or .csv; got 'people.xlsx'; convert the file
"""

from __future__ import annotations

import glob
import os
import re
from dataclasses import replace
from pathlib import Path

from sfumato import checks
from sfumato.dataset.sources.duckdb_table import DuckdbTable
from sfumato.dataset.sources.files import CsvFiles, ParquetFiles, find_delimiter
from sfumato.dataset.sources.frame import Frame, library_of
from sfumato.dataset.sources.server import ServerTable, read_server, ways_to_write
from sfumato.errors import InvalidArgument

__all__ = ["CsvFiles", "DuckdbTable", "Frame", "ParquetFiles", "ServerTable", "Source", "read_source"]

Source = ParquetFiles | CsvFiles | Frame | DuckdbTable | ServerTable

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)  # two letters at least: C: is a drive
_DUCKDB = "duckdb:///"


def read_source(source: object, *, folder: str | Path | None = None) -> Source:
    """The source that a path, a glob, an address or a frame means; a relative path starts in `folder`."""
    if isinstance(source, Source):
        return source
    if isinstance(source, (str, Path)):
        return _read_text(os.fspath(source), os.path.abspath(folder or os.curdir))
    if (library := library_of(source)) is not None:
        if library == "polars":  # an engine reads it through Arrow, and would fail when the question is charged
            checks.installed("pyarrow", extra="arrow", needs="a polars frame")
        return Frame(source)
    raise InvalidArgument(
        "source must be a path, a glob, an address or a frame of pandas, polars or Arrow; "
        f"got a {type(source).__name__}; {_advice(source)}"
    )


def _read_text(text: str, folder: str) -> Source:
    if text.startswith(_DUCKDB):
        path, _, name = text.removeprefix(_DUCKDB).rpartition("#")
        if not path or not name:
            raise InvalidArgument(f"source must name file and table; got {text!r}; write duckdb:///file.db#table")
        return DuckdbTable(os.path.join(folder, path), name)
    if server := read_server(text):
        return server
    if scheme := _SCHEME.match(text):
        # the rest of an address may hold a password
        *ways, last = ["a path", "a glob", "duckdb:///file.db#table", *ways_to_write()]
        raise InvalidArgument(
            f"source must be {', '.join(ways)} or {last}; got an address of {scheme[1]!r}; export it to parquet"
        )
    pattern = text if os.path.isabs(text) else os.path.join(glob.escape(folder), text)
    match Path(text).suffix.lower():
        case ".parquet":
            return ParquetFiles(pattern)
        case ".csv":
            files = CsvFiles(pattern)
            return replace(files, delimiter=find_delimiter(files.paths()[0]))
    folder_of = f"name its files, as in '{text.rstrip('/')}/*.csv'" if os.path.isdir(os.path.join(folder, text)) else ""
    raise InvalidArgument(f"source must end in .parquet or .csv; got {text!r}; {folder_of or 'convert the file'}")


def _advice(source: object) -> str:
    kind = type(source).__name__
    if kind == "LazyFrame":
        return "collect it first: frame.collect()"
    if type(source).__module__.startswith("pyspark."):
        return "save it, and name the table: frame.write.saveAsTable('visits'), then 'spark:visits'"
    if kind == "RecordBatch":
        return "make a table of it: pyarrow.Table.from_batches([batch])"
    return "convert it first"
