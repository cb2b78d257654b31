"""A table that lives in a server, which answers questions about it by an engine of its own.

An engine is a module of `SERVERS`, which is imported when such an address is read. It has a class `Table` of what is
below, and a class `Engine`, which runs questions (`engines.engine`) for `timeout=` seconds at most.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from sfumato.dataset.kind import Kind, kinds
from sfumato.errors import InvalidArgument

MOST_PUBLIC = 10_000_000  # rows of a public table that are read from a server
SERVERS = {  # by how their addresses begin
    "postgresql:": "sfumato.engines.postgres",
    "postgres:": "sfumato.engines.postgres",
    "spark:": "sfumato.engines.spark",
}


class ServerTable(ABC):
    """A table in a server; its catalog is read, not its rows."""

    begins: ClassVar[str]  # how its addresses begin, as in `SERVERS`
    written: ClassVar[str]  # how one is written
    typed: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def read(cls, text: str) -> ServerTable:
        """The table that an address means."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What messages call it: never an address, which may hold a password."""

    @property
    @abstractmethod
    def place(self) -> str:
        """The server: tables with the same one can be joined."""

    @property
    @abstractmethod
    def identity(self) -> frozenset[str]:
        """What its rows are known by, however its address is spelled; its parts among them."""

    @property
    def anchor(self) -> str:
        """What it is known by whichever parts it gets; an engine whose tables have parts says it in its own words."""
        return " ".join(sorted(self.identity))

    @abstractmethod
    def types(self) -> dict[str, str]:
        """The type of every column by its own name."""

    def as_public(self) -> ServerTable:
        """The same as a PUBLIC table: all of it may be read, and it may be a view."""
        return self

    def rows(self, columns: Sequence[str] = ()) -> Any:
        """All rows of a PUBLIC table in Arrow; of named columns each different row once. An engine may have it."""
        raise InvalidArgument(f"{self.label} must be a file or a frame; got a server's table; export it to parquet")

    def schema(self) -> dict[str, Kind]:
        """The kind of every column that can be asked about, in order."""
        return kinds(self.types())


def too_many(label: str) -> InvalidArgument:
    """A public table that is not read."""
    return InvalidArgument(
        f"{label}: a public table of a server must have at most {MOST_PUBLIC:,} rows; got more; name a view of those "
        "that are needed, or export it to parquet"
    )


def module_of(begins: str) -> Any:
    """The module of an engine."""
    return importlib.import_module(SERVERS[begins])


def read_server(text: str) -> ServerTable | None:
    """The table in a server that an address means; none: it begins like that of no server."""
    for begins in SERVERS:
        if text.startswith(begins):
            found: ServerTable = module_of(begins).Table.read(text)
            return found
    return None


def ways_to_write() -> list[str]:
    """How addresses of all servers are written, for messages."""
    return list(dict.fromkeys(module_of(begins).Table.written for begins in SERVERS))
