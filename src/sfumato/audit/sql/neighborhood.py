"""Made-up tables and all their neighbors, from the declarations of real ones alone: small, and as nasty as they allow.

A neighbor lacks one unit in all tables at once, or has other rows in its place; rows of a table that inherits its unit
stay, and are nobody's where their unit is gone. Values at, beyond and far beyond the bounds, missing ones, infinite
ones, keys that nobody declared; units with no rows, one row and many, rows that are nobody's. No real table is read.
"""

from __future__ import annotations

import datetime
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sfumato.audit.sql.simulation import Dice
from sfumato.dataset.column import Column
from sfumato.dataset.kind import Kind
from sfumato.dataset.sources.source import read_source
from sfumato.dataset.table import Table
from sfumato.embedded.database import connected
from sfumato.plan.syntax.node import quoted, text_literal
from sfumato.privacy.neighbors import Neighbors

_REALS = (math.nan, math.inf, -math.inf, None, 0.0, -0.0, 5e-324, 1e300, -1e300, 0.1, 1.5, -2.5)
_INTEGERS = (None, -2, -1, 0, 1, 2, 3, 4, 99, -(2**63))
_TEXTS = (None, "alpha", "beta", "it's", "")
_DAYS = tuple(datetime.date(2026, 1, 30) + datetime.timedelta(days=n) for n in range(4))
_ROWS = (0, 1, 1, 2, 3, 7)  # of a unit; by 7 a row's steps are divided with a rest above one half


Tables = dict[str, Table]


@dataclass(frozen=True)
class Neighborhood:
    """Made-up tables, and each of their neighbors."""

    base: Tables
    neighbors: dict[int, Tables]


@contextmanager
def neighborhood(real: Mapping[str, Table], seed: int, units: int = 6) -> Iterator[Neighborhood]:
    """Files that last as long as the context."""
    with tempfile.TemporaryDirectory(prefix="sfumato-audit-") as folder, connected() as engine:
        owners: set[int] = set()
        for number, table in enumerate(real.values()):
            rows = _rows(table, Dice(f"audit {seed} {number}" if number else f"audit {seed}"), units)
            columns = ", ".join(f"{quoted(name)} {column.kind.value}" for name, column in _kinds(table))
            engine.execute(f"CREATE TABLE made{number} ({columns}, owner INTEGER, side INTEGER)")
            places = ", ".join("?" * (len(table.columns) + 2))
            if rows:
                engine.executemany(f"INSERT INTO made{number} VALUES ({places})", rows)
            changed = table.neighbors is Neighbors.REPLACE
            if table.inherits is None:
                owners |= {row[-2] for row in rows if row[-2] >= 0 and (changed or row[-1] == 0)}

        def written(owner: int | None) -> Tables:
            found = {}
            for number, (name, table) in enumerate(real.items()):
                path = os.path.join(folder, f"{number} without {owner}.parquet")
                kept = ", ".join(quoted(column) for column in table.columns)
                rows = f"SELECT {kept} FROM made{number} WHERE {_where(table, owner)}"
                engine.execute(f"COPY ({rows}) TO {text_literal(path)} (FORMAT parquet)")
                found[name] = replace(table, source=read_source(path))
            return found

        yield Neighborhood(written(None), {owner: written(owner) for owner in sorted(owners)})


def _where(table: Table, owner: int | None) -> str:
    """The rows of a neighbor without a unit, or with its other rows."""
    if owner is None or table.inherits is not None:
        return "side = 0"
    other = f" OR (side = 1 AND owner = {owner})" if table.neighbors is Neighbors.REPLACE else ""
    return f"(side = 0 AND owner <> {owner}){other}"


def _kinds(real: Table) -> Iterator[tuple[str, Any]]:
    for name, column in real.columns.items():
        assert column.kind is not None, "a table knows the kinds of its columns"
        yield name, column


def _rows(real: Table, dice: Dice, units: int) -> list[tuple[Any, ...]]:
    """Rows with their owner (-1: nobody) and side (1: the owner's other rows)."""
    found, taken = [], set()
    for owner in range(units):
        who = repr([_identity(real.columns[name], _number(real, name, owner)) for name in real.unit.columns] or owner)
        if who in taken:  # where few values are declared for a unit's column, two owners would be one unit
            continue
        taken.add(who)
        for side in (0, 1):
            size = dice.among(_ROWS) if real.unit.columns else 1
            first = _row(real, dice, owner, side)
            alike = dice.below(3) == 0  # all rows alike: one cell gets all
            found += [first if alike else _row(real, dice, owner, side) for _ in range(size)]
    if real.unit.columns:
        found += [_row(real, dice, None, 0) for _ in range(dice.among((0, 2)))]
    return found


def _row(real: Table, dice: Dice, owner: int | None, side: int) -> tuple[Any, ...]:
    values = []
    for name, column in _kinds(real):
        if name in real.unit.columns:
            values.append(None if owner is None else _identity(column, _number(real, name, owner)))
        else:
            values.append(_value(column, dice))
    return (*values, -1 if owner is None else owner, side)


def _number(real: Table, name: str, owner: int) -> int:
    """What stands for an owner in a unit's column; of several columns the first is shared by two owners."""
    return owner // 2 if len(real.unit.columns) > 1 and name == real.unit.columns[0] else owner


def _identity(column: Column, number: int) -> Any:
    if column.keys is not None:
        return column.keys[number % len(column.keys)]
    match column.kind:
        case Kind.TEXT:
            return f"unit {number}"
        case Kind.DATE | Kind.TIMESTAMP:
            return _DAYS[0] + datetime.timedelta(days=number)
        case Kind.BOOLEAN:
            return number % 2 == 0
    return number


def _value(column: Column, dice: Dice) -> Any:
    """Any value of the column's kind; half of them where the declarations say."""
    if column.keys is not None and dice.below(2):
        return dice.among((None, *column.keys[:8]))
    match column.kind:
        case Kind.REAL:
            return dice.among((*_REALS, *_near_bounds(column, dice)))
        case Kind.INTEGER:
            return dice.among((*_INTEGERS, *(_whole(x) for x in _near_bounds(column, dice))))
        case Kind.TEXT:
            return dice.among(_TEXTS)
        case Kind.BOOLEAN:
            return dice.among((None, True, False))
    return dice.among((None, *_DAYS, _DAYS[0] - datetime.timedelta(days=300)))


def _near_bounds(column: Column, dice: Dice) -> tuple[float, ...]:
    if column.bounds is None:
        return (dice.share(), 7.0, -3.0)
    low, high = float(column.bounds.low), float(column.bounds.high)
    inside = low + dice.share() * (high - low)
    return (low, high, inside, inside, 2 * low - high, 2 * high - low)


def _whole(x: float) -> int:
    return max(-(2**62), min(2**62, math.floor(x)))
