"""A table in a DuckDB file; its catalog is read, not its rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.dataset.kind import Kind, kinds
from sfumato.dataset.one_file import check_one_name
from sfumato.embedded.database import connected
from sfumato.errors import InvalidArgument, SourceNotFound
from sfumato.suggestions import distinct, nearest

_ATTACHED = "sfumato_attached"
_CATALOG = """
SELECT CASE table_schema WHEN 'main' THEN '' ELSE table_schema || '.' END || table_name, table_type
FROM information_schema.tables WHERE table_catalog = current_database()
"""
_COLUMNS = """
SELECT column_name, data_type FROM duckdb_columns()
WHERE database_name = current_database()
AND CASE schema_name WHEN 'main' THEN '' ELSE schema_name || '.' END || table_name = ?
ORDER BY column_index
"""


def unwritten(path: str, aside: str = "") -> str | None:
    """What to say of a DuckDB file whose log has rows that are not in the file yet; None: there are no such rows.

    DuckDB reads them when the file is attached, which is before a question is charged, and takes a time and a memory
    that depend on them.
    """
    logs = (f"{each}.wal" for each in (path, os.path.realpath(path)))
    if not any(os.path.exists(log) and os.path.getsize(log) for log in logs):
        return None
    name = os.path.basename(path)
    return (
        f"{name} must have all its rows in the file; got a log of rows that are not written into it ({name}.wal)"
        f"{aside}; open it by the program that writes it, run CHECKPOINT and close it"
    )


@dataclass(frozen=True, slots=True)
class DuckdbTable:
    """A table in a DuckDB file; `table` is its name, before it that of its schema where that is not main."""

    path: str
    table: str

    typed: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """The file's name and the table's."""
        return f"{os.path.basename(self.path)}#{self.table}"

    @property
    def identity(self) -> frozenset[str]:
        """The table in the file behind all links; a file that is gone is refused."""
        if not os.path.isfile(self.path):
            raise SourceNotFound(f"source must be a DuckDB file; found none at {self.path!r}; check the path")
        check_one_name([self.path])
        return frozenset((f"{os.path.realpath(self.path)}#{self.table.lower()}",))

    @property
    def anchor(self) -> str:
        """The same."""
        (own,) = self.identity
        return own

    @property
    def parts(self) -> tuple[str, ...]:
        """The name in SQL, each part to be quoted on its own: the schema, where one is named, and the table."""
        return tuple(self.table.split(".", 1))

    def types(self) -> dict[str, str]:
        """The type of every column by its own name."""
        with self.connect() as engine:
            tables = dict(engine.execute(_CATALOG).fetchall())
            known = {name.lower(): name for name in tables}
            spelled = known.get(self.table.lower())
            if spelled is None:
                advice = nearest(self.table, tables)
                raise SourceNotFound(f"{os.path.basename(self.path)}: unknown table {self.table!r}; {advice}")
            if tables[spelled] != "BASE TABLE":
                # a query may tie the rows of many people together, so that one of them moves the rows of all
                raise InvalidArgument(f"{self.label} must be a table; got a view; create a table from it")
            columns = engine.execute(_COLUMNS, [spelled]).fetchall()
        distinct((name for name, _ in columns), where=self.label)
        return dict(columns)

    def schema(self) -> dict[str, Kind]:
        """The kind of every column that can be asked about, in order."""
        return kinds(self.types())

    @contextmanager
    def connect(self) -> Iterator[Any]:
        """A connection that only reads, for whoever may: an engine, or a reader of public keys.

        The file is attached to a database in memory: opened by itself it would spill into a folder beside the file.
        """
        import duckdb

        if not os.path.isfile(self.path):
            raise SourceNotFound(f"source must be a DuckDB file; found none at {self.path!r}; check the path")
        if (reason := unwritten(self.path)) is not None:
            raise InvalidArgument(reason)
        with connected() as engine:
            try:
                path = self.path.replace("'", "''")
                engine.execute(f"ATTACH '{path}' AS {_ATTACHED} (READ_ONLY)")
                engine.execute(f"USE {_ATTACHED}")
            except duckdb.Error:
                raise InvalidArgument(
                    f"{os.path.basename(self.path)} cannot be opened as a DuckDB file; check that it is one, and close "
                    "whatever writes to it"
                ) from None
            yield engine
