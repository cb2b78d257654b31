"""Databases in memory, each locked to the files of one table, and kept for the next question about it.

To make a database takes longer than to answer a small question. Every question gets a connection of its own, whose
views and tables no other connection sees; what may be reached from it is fixed when the database is made.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import OrderedDict
from typing import Any

from sfumato.dataset.duckdb_table import DuckdbTable
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

    def connect(self, table: Table) -> Any:
        """A connection for one question; whoever asked closes it."""
        import duckdb

        if isinstance(table.source, DuckdbTable):  # kept, it would keep its owner from writing
            database = duckdb.connect(":memory:", config=_SETTINGS)
            lock(database, table.source)
            return database
        # A child process must not use its parent's; a file that was written anew gets a new one.
        key = os.getpid(), tuple(signature(table))
        with self._mutex:
            if key not in self._open:
                self._open[key] = duckdb.connect(":memory:", config=_SETTINGS)
                lock(self._open[key], table.source)
            self._open.move_to_end(key)
            while len(self._open) > _MOST:
                self._open.popitem(last=False)
            return self._open[key].cursor()

    def close(self) -> None:
        """Give all of them back."""
        with self._mutex:
            while self._open:
                self._open.popitem()[1].close()
