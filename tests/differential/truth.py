"""What plain DuckDB says of a statement: every group that may be shown, and a group without rows."""

from __future__ import annotations

import datetime
import decimal
import math
from dataclasses import dataclass
from typing import Any

from differential.statement import Statement
from differential.tables import World

Group = tuple[Any, ...]


@dataclass(frozen=True)
class Truth:
    """One group: its measures, of which of them nothing can be said, whether HAVING keeps it, and how many units."""

    values: tuple[Any, ...]
    blind: tuple[bool, ...]
    kept: bool | None
    unsure: bool
    units: int


def alike(value: Any) -> Any:
    """A key by its value: whole or not, a day or its midnight."""
    if isinstance(value, bool) or value is None:
        return ("truth", value)
    if isinstance(value, (int, float, decimal.Decimal)):
        return float(value) + 0.0
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    return value


def true_groups(statement: Statement, world: World) -> dict[Group, Truth]:
    """The groups of declared keys that have rows."""
    keys = [f"({key.text.true})" for key in statement.keys]
    conditions = [f"({key.condition})" for key in statement.keys]
    conditions += [f"({statement.where.true})"] if statement.where else []
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    by = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys)))}" if keys else ""
    found = _run(statement, world, keys, f"{where}{by}")
    return {tuple(map(alike, row[: len(keys)])): _truth(statement, row[len(keys) :]) for row in found}


def true_nothing(statement: Statement, world: World) -> Truth:
    """A group that is declared and has no rows, but for what HAVING says of its key."""
    return _truth(statement, _run(statement, world, [], " WHERE FALSE")[0])


def _run(statement: Statement, world: World, keys: list[str], rest: str) -> list[tuple[Any, ...]]:
    source, having = statement.source, statement.having
    nothing = not keys and bool(statement.keys)
    listed = [*keys, *("NULL" if nothing and each.of_keys else each.text.true for each in statement.measures)]
    listed += [measure.blind for measure in statement.measures]
    listed += ["TRUE" if having is None else having.text.true, "FALSE" if having is None else having.unsure]
    listed += ["COUNT(*)" if source.table == "loose" else f"COUNT(DISTINCT {source.unit})"]
    ctes = f"{source.ctes.true} " if source.ctes else ""
    return world.plain.execute(f"{ctes}SELECT {', '.join(listed)} FROM {source.text.true}{rest}").fetchall()


def _truth(statement: Statement, row: tuple[Any, ...]) -> Truth:
    wide = len(statement.measures)
    values, blind, (kept, unsure, units) = row[:wide], row[wide : 2 * wide], row[2 * wide :]
    plain = tuple(None if _is_nan(value) else value for value in values)
    return Truth(plain, tuple(each is not False for each in blind), kept, unsure is not False, units)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
