"""What an engine does with SQL: one question's connection to it, with its dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from sfumato.dataset.kind import Kind
from sfumato.dataset.public_table import PublicTable
from sfumato.dataset.table import Table
from sfumato.engines.engine import Integers
from sfumato.engines.sql.dialect import Dialect


class Listed(NamedTuple):
    """A column of values that the curator knows: public keys, or cells to be opened."""

    name: str
    kind: Kind
    values: Sequence[Any]


class Session(Protocol):
    """One question on one engine."""

    @property
    def dialect(self) -> Dialect:
        """How the engine spells things."""

    @property
    def statements(self) -> list[str]:
        """The SQL that ran so far, as it may be shown: without paths, addresses or passwords."""

    def reading(self, table: Table, names: Mapping[str, str], units: Sequence[str], alias: str) -> str:
        """A query for columns of a table under the names they get, and its unit's; `alias` is free for its source."""

    def public(self, table: PublicTable, alias: str) -> str:
        """The rows of a public table, brought to the engine: what stands for them after FROM; `alias` is free."""

    def keep(self, name: str, sql: str, *, again: bool = False) -> None:
        """Keep the rows of a query under a name, inside the engine; `again`: in the place of what had it."""

    def ship(self, name: str, columns: Sequence[Listed]) -> None:
        """Keep a table of listed values, in the place of what had its name."""

    def fetch(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query that has one for each group, key, cell or bin, and none for a person."""

    def columns(self, sql: str) -> list[Integers]:
        """The columns of such a query, whose whole numbers fit 64 bits."""

    def keys(self) -> Session:
        """Where public keys are worked out from what was declared: here, or where there are no private rows."""

    def check_unchanged(self) -> None:
        """Weights come from one pass and rows from another: had these changed between them, no limit would hold."""
