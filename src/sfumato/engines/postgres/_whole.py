"""All rows of a PUBLIC table or view, in Arrow; a private one is never read like this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from sfumato.dataset.column import Column
from sfumato.dataset.kind import Kind, kinds
from sfumato.engines.postgres.dialect import PostgresDialect
from sfumato.engines.sql.lower import read_column

_DIALECT = PostgresDialect()


def whole(connection: Any, table: str, types: Mapping[str, str], columns: Sequence[str], most: int) -> Any:
    """The rows, at most one more than `most`; of named columns each different row once.

    Each column is read as its kind, like one of a private table; of other types there is nothing to be read.
    """
    asked = {name: kind for name, kind in kinds(types).items() if not columns or name in columns}
    read = ", ".join(
        f"{read_column(_DIALECT, f's.{_DIALECT.quoted(name)}', Column(kind), types[name])} AS {_DIALECT.quoted(name)}"
        for name, kind in asked.items()
    )
    query = f"SELECT {'DISTINCT ' if columns else ''}{read} FROM {table} AS s LIMIT {most + 1}"
    connection.execute("BEGIN READ ONLY")
    with connection.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as copy:
        received = b"".join(copy)
    connection.execute("COMMIT")
    return _in_arrow(received, asked)


def _in_arrow(received: bytes, asked: Mapping[str, Kind]) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    types = {Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.TEXT: pa.string(), Kind.BOOLEAN: pa.bool_(),
             Kind.DATE: pa.date32(), Kind.TIMESTAMP: pa.timestamp("us")}  # fmt: skip
    schema = pa.schema([(name, types[kind]) for name, kind in asked.items()])
    if not received:
        return schema.empty_table()
    return csv.read_csv(
        BytesIO(received),
        read_options=csv.ReadOptions(column_names=list(asked)),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=schema, null_values=[""], true_values=["t"], false_values=["f"],
            strings_can_be_null=True, quoted_strings_can_be_null=False,
        ),
    )  # fmt: skip
