"""Keys read from PUBLIC data: the only place in this folder that reads rows.

WHATEVER IS READ HERE BECOMES PUBLIC. Give it a published list (the regions of a country, the codes of a
classification), never a column of a private table: that a key occurs there may be one person's secret.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sfumato.dataset.keys import Key, read_keys
from sfumato.dataset.kind import Kind, kind_named, read_kind, without_parts
from sfumato.dataset.sources.source import (
    CsvFiles,
    DuckdbTable,
    Frame,
    ParquetFiles,
    ServerTable,
    Source,
    read_source,
)
from sfumato.embedded.database import connected
from sfumato.errors import InvalidArgument
from sfumato.suggestions import at, find


def keys_from(source: object, column: str, *, type: str | None = None) -> tuple[Key, ...]:
    """The different values of a column of a PUBLIC source, which BECOME PUBLIC, in order of appearance.

    Never call it on a private table. Missing values are left out. A CSV says no types: its keys are texts unless
    `type` is given. A table or view of a server has no order: its keys are sorted.

    >>> import pandas
    >>> keys_from(pandas.DataFrame({"region": ["north", "south", "north"]}), "region")
    ('north', 'south')
    """
    public = published(read_source(source))
    types = public.types()
    name = find(column, types, what="column", where=public.label)
    kind = kind_named(types[name]) if type is None else read_kind(type)
    with at(f"{public.label}, column {name!r}"):
        if kind is None:
            raise InvalidArgument(
                f"keys must be numbers, texts, booleans or dates; got {without_parts(types[name])}; convert it"
            )
        return read_keys(list(dict.fromkeys(_values(public, name, kind))))


def published(source: Source) -> Source:
    """A source whose rows are all PUBLIC."""
    return source.as_public() if isinstance(source, ServerTable) else source


def _values(public: Source, name: str, kind: Kind) -> list[Any]:
    import duckdb

    with public.connect() if isinstance(public, DuckdbTable) else connected() as engine:
        rows, arguments = _rows(public, engine, column=name)
        query = f"SELECT CAST({_quoted(name)} AS {kind.value}) FROM {rows} WHERE {_quoted(name)} IS NOT NULL"
        try:
            return [value for (value,) in engine.execute(query, arguments).fetchall()]
        except duckdb.Error:
            raise InvalidArgument(
                f"keys must be readable as {kind}; got one that is not; mend it or the type"
            ) from None


@contextmanager
def open_public(public: Source, *, detect: bool = True) -> Iterator[tuple[Any, str]]:
    """An engine with all rows of a PUBLIC source, and the name of the table that holds them.

    The types of a CSV follow from its values, unless `detect` is false: then they are texts.
    """
    import duckdb

    with public.connect() if isinstance(public, DuckdbTable) else connected() as engine:
        engine.execute("SET TimeZone = 'UTC'")
        rows, arguments = _rows(public, engine, detect)
        try:
            engine.execute(f"CREATE TEMP TABLE whole AS SELECT * FROM {rows}", arguments)
        except duckdb.Error:
            raise InvalidArgument(f"{public.label} must be a table that can be read; it cannot; mend it") from None
        yield engine, "whole"


def _rows(public: Source, engine: Any, detect: bool = False, column: str = "") -> tuple[str, list[Any]]:
    """What to select from, and its arguments; `detect`: the types of a CSV follow from its values.

    `column`: from a server only the different values of this one.
    """
    match public:
        case ParquetFiles():
            return "read_parquet(?, hive_partitioning = false)", [[glob.escape(path) for path in public.paths()]]
        case CsvFiles() if detect:
            options = "header = true, quote = '\"', escape = '\"', sample_size = -1"
            return f"read_csv(?, delim = ?, {options})", [[glob.escape(p) for p in public.paths()], public.delimiter]
        case CsvFiles():
            names = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in public.types())
            options = f"auto_detect = false, header = true, quote = '\"', escape = '\"', columns = {{{names}}}"
            return f"read_csv(?, delim = ?, {options})", [[glob.escape(p) for p in public.paths()], public.delimiter]
        case DuckdbTable():
            return ".".join(_quoted(part) for part in public.parts), []
        case Frame():
            engine.register("public_frame", public.readable(public.schema()))
            return "public_frame", []
        case ServerTable():
            if not public.schema():
                raise no_columns(public.label)
            found = public.rows([column] if column else ())
            ordered = found.sort_by([(name, "ascending") for name in found.column_names])  # whatever order it came in
            engine.register("public_frame", ordered)
            return "public_frame", []


def no_columns(label: str) -> InvalidArgument:
    """A public table of which nothing can be read."""
    return InvalidArgument(f"{label} must have a column of numbers, texts, truth values or dates; got none")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
