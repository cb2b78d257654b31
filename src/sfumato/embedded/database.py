"""Databases of DuckDB in memory: the only place in the product where one is made.

Threads and memory are always set, and what does not fit into memory goes into a folder of the process's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sfumato.embedded import spill
from sfumato.embedded.resources import Resources

DEFAULT = Resources()


class Database:
    """A database in memory, and the folder for what does not fit there."""

    def __init__(
        self, resources: Resources = DEFAULT, settings: Mapping[str, Any] | None = None, *, spills: bool = True
    ) -> None:
        """Make one; `spills`: whether it may write to disk, which no schema and no list of keys needs."""
        import duckdb

        self._folder = spill.fresh(resources.temp_directory) if spills else None
        # An empty name: nothing is written, and what needs more than the memory fails.
        config = {**resources.settings(), "temp_directory": self._folder or "", **(settings or {})}
        try:
            self.connection: Any = duckdb.connect(":memory:", config=config)
        except BaseException:
            spill.remove(self._folder)
            raise

    def close(self) -> None:
        """Close it, and remove its folder."""
        self.connection.close()
        spill.remove(self._folder)


@contextmanager
def connected(resources: Resources = DEFAULT, *, spills: bool = True, **settings: Any) -> Iterator[Any]:
    """A connection to a new database, which ends with the context."""
    database = Database(resources, settings, spills=spills)
    try:
        yield database.connection
    finally:
        database.close()
