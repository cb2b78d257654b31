"""A made-up table and all its neighbours, from the declarations of a real one alone: small, and as nasty as they allow.

Values at, beyond and far beyond the bounds, missing ones, infinite ones, keys that nobody declared; units with no rows,
one row and many, and rows that are nobody's. The real table is never read.
"""

from __future__ import annotations

import datetime
import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from sfumato.audit.dice import Dice
from sfumato.dataset.column import Column
from sfumato.dataset.kind import Kind
from sfumato.dataset.source import read_source
from sfumato.dataset.table import Table
from sfumato.plan.node import quoted, text_literal
from sfumato.privacy.neighbours import Neighbours

_REALS = (math.nan, math.inf, -math.inf, None, 0.0, -0.0, 5e-324, 1e300, -1e300, 0.1, 1.5, -2.5)
_INTEGERS = (None, -2, -1, 0, 1, 2, 3, 4, 99, -(2**63))
_TEXTS = (None, "alpha", "beta", "it's", "")
_DAYS = tuple(datetime.date(2026, 1, 30) + datetime.timedelta(days=n) for n in range(4))
_ROWS = (0, 1, 1, 2, 3, 9)  # of a unit


@dataclass(frozen=True)
class Neighbourhood:
    """A made-up table, and each of its neighbours: without one unit, or with other rows in its place."""

    base: Table
    neighbours: dict[int, Table]


@contextmanager
def neighbourhood(real: Table, seed: int, units: int = 6) -> Iterator[Neighbourhood]:
    """Files that last as long as the context."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="sfumato-audit-") as folder, duckdb.connect() as engine:
        columns = ", ".join(f"{quoted(name)} {column.kind.value}" for name, column in _kinds(real))
        engine.execute(f"CREATE TABLE made ({columns}, owner INTEGER, side INTEGER)")
        rows = _rows(real, Dice(f"audit {seed}"), units)
        places = ", ".join("?" * (len(real.columns) + 2))
        engine.executemany(f"INSERT INTO made VALUES ({places})", rows)

        def written(name: str, where: str) -> Table:
            path = os.path.join(folder, f"{name}.parquet")
            kept = ", ".join(quoted(column) for column in real.columns)
            engine.execute(f"COPY (SELECT {kept} FROM made WHERE {where}) TO {text_literal(path)} (FORMAT parquet)")
            return replace(real, source=read_source(path))

        changed = real.neighbours is Neighbours.REPLACE
        owners = sorted({row[-2] for row in rows if row[-2] >= 0 and (changed or row[-1] == 0)})
        other = " OR (side = 1 AND owner = {0})"
        wheres = {o: f"(side = 0 AND owner <> {o})" + other.format(o) * changed for o in owners}
        yield Neighbourhood(written("base", "side = 0"), {o: written(f"without {o}", wheres[o]) for o in owners})


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
