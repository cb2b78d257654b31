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

from sfumato.dataset.files import CsvFiles, ParquetFiles
from sfumato.dataset.table import Table
from sfumato.engines.duckdb_source import lock, signature

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_MOST = 8


class Databases:
    """The databases of one process."""

    def __init__(self) -> None:
        self._open: OrderedDict[object, Any] = OrderedDict()
        self._mutex = threading.Lock()
        atexit.register(self.close)  # DuckDB complains on the way out about what is left open
        os.register_at_fork(after_in_child=self._leave_behind)

    @contextmanager
    def connect(self, tables: Sequence[Table]) -> Iterator[Any]:
        """A connection for one question; a database in which one failed is not used again."""
        import duckdb

        if not all(isinstance(table.source, (ParquetFiles, CsvFiles)) for table in tables):
            # Kept, a database would keep an owner from writing; and frames would share one, broken or not.
            with closing(duckdb.connect(":memory:", config=_SETTINGS)) as database:
                lock(database, [table.source for table in tables])
                yield database
            return
        key = tuple(signature(tables))  # a file that was written anew gets a new one
        try:
            with closing(self._cursor(key, tables)) as connection:
                yield connection
        except BaseException:
            with self._mutex:
                self._open.pop(key, None)
            raise

    def _cursor(self, key: object, tables: Sequence[Table]) -> Any:
        import duckdb

        with self._mutex:
            if key not in self._open:
                made = duckdb.connect(":memory:", config=_SETTINGS)
                lock(made, [table.source for table in tables])
                self._open[key] = made
            self._open.move_to_end(key)
            while len(self._open) > _MOST:
                self._open.popitem(last=False)
            return self._open[key].cursor()

    def _leave_behind(self) -> None:
        """A child must neither use nor close its parent's databases, whose threads it does not have."""
        for database in self._open.values():  # also when the child ends: one reference too many keeps it
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(database))
        self._open, self._mutex = OrderedDict(), threading.Lock()

    def close(self) -> None:
        """Give all of them back."""
        with self._mutex:
            while self._open:
                self._open.popitem()[1].close()
