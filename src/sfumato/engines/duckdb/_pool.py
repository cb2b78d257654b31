"""Databases in memory, each locked to the files of one table, and kept for the next question about it.

To make a database takes longer than to answer a small question. Every question gets a connection of its own, whose
views and tables no other connection sees; what may be reached from it is fixed when the database is made.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from sfumato.dataset.sources.files import CsvFiles, ParquetFiles
from sfumato.dataset.table import Table
from sfumato.embedded.database import DEFAULT, Database
from sfumato.embedded.resources import Resources
from sfumato.engines.duckdb._source import lock, signature

_SETTINGS: dict[str, str] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_MOST = 8


class Lent:
    """A connection for one question."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.broken = False

    @contextmanager
    def used(self) -> Iterator[Any]:
        """The connection while the question runs; a database in which one failed is not used again."""
        try:
            yield self._connection
        except BaseException:
            self.broken = True
            raise


class _Kept:
    """A database, and by how many questions it is used now."""

    def __init__(self, database: Database) -> None:
        self.database, self.users, self.dropped = database, 0, False

    def close_unused(self) -> None:
        """Close one that is not kept any more, when the last question is done: its folder goes with it."""
        if self.dropped and not self.users:
            self.database.close()


class Databases:
    """The databases of one process."""

    def __init__(self) -> None:
        self._open: OrderedDict[object, _Kept] = OrderedDict()
        self._mutex = threading.Lock()
        atexit.register(self.close)  # DuckDB complains on the way out about what is left open
        os.register_at_fork(after_in_child=self._leave_behind)

    @contextmanager
    def lend(self, tables: Sequence[Table], resources: Resources = DEFAULT) -> Iterator[Lent]:
        """A connection for one question; no row is read."""
        if not all(isinstance(table.source, (ParquetFiles, CsvFiles)) for table in tables):
            # Kept, a database would keep an owner from writing; and frames would share one, broken or not.
            with closing(_made(tables, resources)) as database:
                yield Lent(database.connection)
            return
        key = (resources, *signature(tables))  # a file that was written anew gets a new one
        kept = self._taken(key, tables, resources)
        try:
            with closing(kept.database.connection.cursor()) as connection:
                lent = Lent(connection)
                try:
                    yield lent
                finally:
                    if lent.broken:
                        self._drop(key, kept)
        finally:
            with self._mutex:
                kept.users -= 1
                kept.close_unused()

    def _taken(self, key: object, tables: Sequence[Table], resources: Resources) -> _Kept:
        with self._mutex:
            kept = self._open.get(key) or _Kept(_made(tables, resources))
            self._open[key] = kept
            self._open.move_to_end(key)
            kept.users += 1
            while len(self._open) > _MOST:
                _, oldest = self._open.popitem(last=False)
                oldest.dropped = True
                oldest.close_unused()
            return kept

    def _drop(self, key: object, kept: _Kept) -> None:
        with self._mutex:
            if self._open.get(key) is kept:
                del self._open[key]
            kept.dropped = True

    def _leave_behind(self) -> None:
        """A child must neither use nor close its parent's databases, whose threads it does not have."""
        for kept in self._open.values():  # also when the child ends: one reference too many keeps it
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept.database.connection))
        self._open, self._mutex = OrderedDict(), threading.Lock()

    def close(self) -> None:
        """Give all of them back."""
        with self._mutex:
            while self._open:
                self._open.popitem()[1].database.close()


def _made(tables: Sequence[Table], resources: Resources) -> Database:
    database = Database(resources, _SETTINGS)
    try:
        lock(database.connection, [table.source for table in tables])
    except BaseException:
        database.close()
        raise
    return database
