"""What an outside file that names people gives away together with this table: who stands alone on both sides.

A key that one of the table and one of the file have, and nobody else, links the two. Where a of the table and b of the
file share a key, whoever guesses is right for a / max(a, b) of them on average, if all of the smaller group are in the
larger one. A missing value links nobody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.dataset.kind import Kind, kind_named
from sfumato.risk.counting.rows import Rows

EXAMPLES = 10
_FLOATS = ("FLOAT", "DOUBLE")
_DECIMAL = re.compile(r"DECIMAL\(\d+, ?(\d+)\)")


@dataclass(frozen=True, slots=True)
class Linkage:
    """How many of a table can be linked with an outside file.

    outside     the file
    on          columns here and there that are equal
    of          units, or rows, of the table
    outsiders   rows of the file
    candidates  those of the table whose values occur in the file at all
    linked      those that are alone on both sides: one to one
    expected    how many of the candidates a guess would link rightly
    examples    the values of some that are linked
    """

    outside: str
    on: tuple[tuple[str, str], ...]
    of: int
    outsiders: int
    candidates: int
    linked: int
    expected: float
    examples: tuple[tuple[Any, ...], ...]

    @property
    def share(self) -> float:
        """The share that is linked one to one."""
        return self.linked / self.of if self.of else 0.0


def linkage(rows: Rows, outside: Rows, on: Mapping[str, str], unit: Sequence[str], of: int) -> Linkage:
    """Compare the groups of a table with those of an outside file; `on` maps columns here to columns there."""
    pairs = [_common(rows, here, outside, there) for here, there in on.items()]
    keys = ", ".join(f"k{place}" for place in range(len(pairs)))
    counted = "count(*)"
    if unit:
        counted = f"count(DISTINCT ({', '.join(rows.own(name) for name in unit)}))"
    for name, source, side, count in (("here", rows, 0, counted), ("there", outside, 1, "count(*)")):
        read = ", ".join(f"{pair[side]} AS k{place}" for place, pair in enumerate(pairs))
        present = " AND ".join(f"{pair[side]} IS NOT NULL" for pair in pairs)
        known = "".join(f" AND {rows.own(each)} IS NOT NULL" for each in unit) if not side else ""
        rows.ask(
            f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT {read}, {count} AS n FROM {source.sql} "
            f"WHERE {present}{known} GROUP BY {keys}"
        )
    met = f"FROM here JOIN there USING ({keys})"
    candidates, linked, expected = rows.one(_units(rows, pairs, unit) if unit else _rows(met))
    (outsiders,) = outside.one(f"SELECT count(*) FROM {outside.sql}")
    examples = rows.ask(f"SELECT {keys} {met} WHERE here.n = 1 AND there.n = 1 ORDER BY {keys} LIMIT {EXAMPLES}")
    rows.ask("DROP TABLE here")
    rows.ask("DROP TABLE there")
    return Linkage(
        outside.label, tuple(on.items()), of, outsiders, int(candidates), linked, float(expected), tuple(examples)
    )


def _rows(met: str) -> str:
    return (
        "SELECT coalesce(sum(here.n), 0), count(*) FILTER (here.n = 1 AND there.n = 1), "
        f"coalesce(sum(here.n / greatest(here.n, there.n)), 0) {met}"
    )


def _units(rows: Rows, pairs: Sequence[tuple[str, str]], unit: Sequence[str]) -> str:
    """A unit with several rows is linked by any of them; a guess takes the one that says most."""
    read = ", ".join(f"{pair[0]} AS k{place}" for place, pair in enumerate(pairs))
    own = ", ".join(rows.own(name) for name in unit)
    keys = ", ".join(f"k{place}" for place in range(len(pairs)))
    known = " AND ".join(f"{rows.own(name)} IS NOT NULL" for name in unit)
    each = (
        f"SELECT {own}, max(1 / greatest(here.n, there.n)) AS best FROM (SELECT {own}, {read} FROM {rows.sql} "
        f"WHERE {known}) AS r JOIN here USING ({keys}) JOIN there USING ({keys}) GROUP BY {own}"
    )
    return f"SELECT count(*), count(*) FILTER (best = 1), coalesce(sum(best), 0) FROM ({each})"


def _common(rows: Rows, here: str, outside: Rows, there: str) -> tuple[str, str]:
    """Both columns in SQL such that equal values compare equal: texts of a CSV are read as the other's type."""
    left, right = rows.own(here), outside.own(there)
    kinds, types = (rows.kind(here), outside.kind(there)), (rows.types[here], outside.types[there])
    if all(kind is not None and kind.is_number for kind in kinds):
        return _number(left, types[0], types[1]), _number(right, types[1], types[0])
    if kinds[0] is kinds[1]:
        return left, right
    if kinds[0] is Kind.TEXT:
        return _read(left, types[1], kinds[1]), right
    if kinds[1] is Kind.TEXT:
        return left, _read(right, types[0], kinds[0])
    return f"CAST({left} AS VARCHAR)", f"CAST({right} AS VARCHAR)"


def _number(value: str, type: str, other: str) -> str:
    """A number to be compared with one of another type: exactly, whatever a double would round."""
    if type == other or (_is_whole(type) and (_is_whole(other) or other in _FLOATS)):
        return value
    if type in _FLOATS and _is_whole(other):
        return f"CASE WHEN {value} = floor({value}) THEN TRY_CAST({value} AS HUGEINT) END"
    if type in _FLOATS or other in _FLOATS:
        return f"CAST({value} AS DOUBLE)"
    places = max(int(found[1]) for each in (type, other) if (found := _DECIMAL.match(each)))
    return f"TRY_CAST({value} AS DECIMAL(38, {places}))"


def _is_whole(type: str) -> bool:
    return kind_named(type) is Kind.INTEGER


def _read(text: str, type: str, kind: Kind | None) -> str:
    """A text as a value of another type; NULL where it would be rounded to one, as 5.5 to 6 and a time to its day."""
    read = f"TRY_CAST({text} AS {type})"
    if kind is None or type in _FLOATS or not (kind.is_number or kind is Kind.DATE):
        return read
    finer = "DOUBLE" if kind.is_number else "TIMESTAMP"
    return f"CASE WHEN TRY_CAST({text} AS {finer}) = TRY_CAST({read} AS {finer}) THEN {read} END"
