"""Columns as whole numbers, once, so that all sets of them are counted in numpy.

A column of whole numbers close together is counted from its least one, any other gets a dictionary. Zero is NULL: all
missing values are alike, and so are all NaN. Nothing is hashed to fewer bits, so every count is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InvalidArgument
from sfumato.risk.counting.rows import GIGABYTE, SMALLER, Rows, run

Codes = NDArray[np.int32]

_WIDEST = 2**31 - 2  # codes of a column, and rows
_INTEGERS = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"))


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Columns of codes: those of `names[i]` are below `spaces[i]`; `unit` has the code of the unit of each row."""

    names: tuple[str, ...]
    codes: tuple[Codes, ...]
    spaces: tuple[int, ...]
    unit: Codes | None = None
    units: int = 0
    left_out: int = 0  # rows without a unit

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes[0]) if self.codes else 0

    @property
    def of(self) -> int:
        """How many there are of what is singled out: units, or rows."""
        return self.rows if self.unit is None else self.units


def encode(rows: Rows, columns: Sequence[str], unit: Sequence[str], count: int, memory: float) -> Coded:
    """The codes of these columns; with a unit, rows come in its order."""
    names = [*columns, *unit]
    need = (2 * 4 * len(names) + 40) * count  # codes twice while they are handed over, and what counts them
    if need > memory or count > _WIDEST:
        raise InvalidArgument(
            f"{rows.label}: {count:,} rows of {len(names)} columns must fit into {memory / GIGABYTE:g} GB; they need "
            f"about {need / GIGABYTE:.1f} GB",
            fix=SMALLER,
        )
    sources = [_code(rows, name, place, count) for place, name in enumerate(names)]
    read = ", ".join(f"{code} AS k{place}" for place, (code, _, _) in enumerate(sources))
    joins = " ".join(join for _, join, _ in sources)
    fetched = run(rows.engine, f"SELECT {read} FROM {rows.sql} AS t {joins}", rows.label).fetchnumpy()
    codes = [np.asarray(fetched.pop(f"k{place}")) for place in range(len(names))]
    spaces = [space for _, _, space in sources]
    for place in range(len(names)):
        rows.engine.execute(f"DROP TABLE IF EXISTS dictionary_{place}")
    width = len(columns)
    if not unit:
        return Coded(tuple(columns), tuple(codes), tuple(spaces))
    return _by_unit(tuple(columns), codes, spaces, width)


def _code(rows: Rows, name: str, place: int, count: int) -> tuple[str, str, int]:
    """The code of a column in SQL, the join that it needs, and how many codes there may be."""
    own = rows.own(name)
    if rows.types[name] == "BOOLEAN":
        return f"CAST(CASE WHEN {own} IS NULL THEN 0 WHEN {own} THEN 2 ELSE 1 END AS INTEGER)", "", 3
    if rows.types[name] in _INTEGERS:
        low, high = rows.one(f"SELECT min({own}), max({own}) FROM {rows.sql}")
        low, high = (0, 0) if low is None else (low, high)
        if high - low < min(4 * count + 1_000, _WIDEST) and high < 2**63:
            code = f"CAST(COALESCE(CAST({own} AS BIGINT) - ({low}) + 1, 0) AS INTEGER)"
            return code, "", int(high - low) + 2
    dictionary = f"dictionary_{place}"
    run(
        rows.engine,
        f"CREATE TEMP TABLE {dictionary} AS SELECT v, CAST(row_number() OVER () AS INTEGER) AS k FROM "
        f"(SELECT DISTINCT {own} AS v FROM {rows.sql} WHERE {own} IS NOT NULL)",
        rows.label,
    )
    (size,) = rows.one(f"SELECT count(*) FROM {dictionary}")
    join = f"LEFT JOIN {dictionary} AS d{place} ON t.{own} = d{place}.v"
    return f"COALESCE(d{place}.k, 0)", join, int(size) + 1


def _by_unit(names: tuple[str, ...], codes: list[Any], spaces: list[int], width: int) -> Coded:
    """Columns with the unit's made one code, in its order; rows without a unit are left out."""
    present = np.logical_and.reduce([each > 0 for each in codes[width:]])
    whole = np.zeros(int(present.sum()), np.int64)
    for each, space in zip(codes[width:], spaces[width:], strict=True):
        found, whole = np.unique(whole * space + each[present], return_inverse=True)
    order = np.argsort(whole, kind="stable")
    kept = np.flatnonzero(present)[order]
    return Coded(
        names,
        tuple(each[kept] for each in codes[:width]),
        tuple(spaces[:width]),
        whole[order].astype(np.int32),
        len(found) if len(whole) else 0,
        len(present) - len(kept),
    )
