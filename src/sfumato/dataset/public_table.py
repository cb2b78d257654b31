"""A public table: rows that anybody may know, to be joined with private ones; read whole, once, when it is declared.

WHATEVER IS READ HERE IS TAKEN FOR PUBLIC: its values become keys and bounds, and say which questions are refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from sfumato import checks
from sfumato.dataset.column import Bounds, Column
from sfumato.dataset.keys import read_keys
from sfumato.dataset.kind import Kind, kind_named, scale_named
from sfumato.dataset.public import no_columns, open_public, published
from sfumato.dataset.sources.source import DuckdbTable, Frame, Source, read_source
from sfumato.suggestions import at, distinct, find, takes

MOST_KEYS = 10_000  # different values of a column that are keys without being declared
_DAYS = "BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"


@dataclass(frozen=True, slots=True, eq=False)
class PublicTable:
    """A public table as it was when it was declared; `most_matches` rows of it may match one private row."""

    rows: Any = field(repr=False)
    columns: Mapping[str, Column]
    label: str
    identity: frozenset[str]
    version: str
    most_matches: int
    serial: str  # of a frame, which no other has; of others a digest of the rows, which are public
    source: Source = field(repr=False)  # kept: a frame that is gone leaves its identity to another

    @property
    def size(self) -> int:
        """How many rows it has."""
        return int(self.rows.num_rows)


@takes("first comes the source, then names: sf.public('products.csv')")
def public(
    source: object,
    *,
    columns: Mapping[str, Column | Mapping[str, Any]] | None = None,
    version: str = "1",
    most_matches: int = 100,
) -> PublicTable:
    """Declare a PUBLIC table to be joined with private ones: a file, a frame, or a table or view of a server.

    Never declare private rows so. All of it is read now, and shipped to whichever engine needs it.

    Bounds and keys of its columns are read from its values, unless `columns` says otherwise. `most_matches` is the most
    of its rows that one private row may match: a question that joins more loosely is refused. `version` is a label; a
    new one makes old answers stale.
    """
    from sfumato.dataset.table import _read, _version  # the same words for the same things

    checks.whole(1, most_matches=most_matches)
    checks.installed("pyarrow", extra="arrow", needs="a public table")
    found = published(read_source(source))
    if isinstance(found, DuckdbTable):
        found.types()  # refuses a view, and other spellings of a table's name
    with open_public(found) as (engine, rows):
        types = {row[0]: str(row[1]) for row in engine.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall()}
        distinct(types, where=found.label)
        named = {find(str(name), types, what="column", where=found.label): _read(str(name), given)
                 for name, given in (columns or {}).items()}  # fmt: skip
        kinds = {name: named[name].kind if name in named and named[name].kind else kind_named(type)
                 for name, type in types.items()}  # fmt: skip
        listed = {name: kind for name, kind in kinds.items() if kind is not None}
        if not listed:
            raise no_columns(found.label)
        read = ", ".join(f"{_cast(name, kind)} AS {_quoted(name)}" for name, kind in listed.items())
        engine.execute(f"CREATE TEMP TABLE kept AS SELECT {read} FROM {rows}")
        settled = {
            name: _settle(engine, name, kind, named.get(name, Column()), types[name]) for name, kind in listed.items()
        }
        table = engine.sql("SELECT * FROM kept").to_arrow_table()
    return PublicTable(
        table, MappingProxyType(settled), found.label, found.identity, _version(version), most_matches,
        found.serial if isinstance(found, Frame) else _digest(table), found,
    )  # fmt: skip


def _digest(rows: Any) -> str:
    """What tells these rows from all others: their values as text, since a missing one has any bits in memory."""
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(rows, sink)
    return hashlib.sha256(sink.getvalue()).hexdigest()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _cast(name: str, kind: Kind) -> str:
    read = f"TRY_CAST({_quoted(name)} AS {kind.value})"
    if kind is Kind.REAL:
        return f"CASE WHEN NOT isnan({read}) THEN {read} END"
    return f"CASE WHEN CAST({read} AS DATE) {_DAYS} THEN {read} END" if kind in (Kind.DATE, Kind.TIMESTAMP) else read


def _settle(engine: Any, name: str, kind: Kind, declared: Column, type: str) -> Column:
    """The declaration of a column, with bounds and keys from its values where it says none."""
    with at(f"column {name!r}"):
        settled = declared.of_kind(kind)
    column = _quoted(name)
    bounds, keys = settled.bounds, settled.keys
    if bounds is None and kind.is_number:
        usual = f"abs(CAST({column} AS DOUBLE)) < 1e300"
        ends = engine.execute(f"SELECT min({column}), max({column}) FROM kept WHERE {usual}").fetchone()
        bounds = None if ends[0] is None else Bounds(Fraction(ends[0]), Fraction(ends[1]))
    if keys is None and kind is not Kind.TIMESTAMP:
        different = f"SELECT {column}, min(rowid) FROM kept WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY 2"
        values = [value for value, _ in engine.execute(f"{different} LIMIT {MOST_KEYS + 1}").fetchall()]
        fits = 0 < len(values) <= MOST_KEYS and not (kind is Kind.REAL and any(abs(v) >= 1e300 for v in values))
        keys = Column(keys=read_keys(values)).of_kind(kind).keys if fits else None
    scale = scale_named(type) if declared.kind is None or declared.scale is not None else None
    return Column(kind, bounds, keys, scale)
