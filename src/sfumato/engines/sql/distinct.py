"""How many different values there are.

A unit has each value of a group once. Of more of them than the limit it keeps as many as a hash of its own columns,
group and value chooses, so that units that have the same values keep different ones. That is each unit's own affair.
Proof: docs/proofs/distinct.md.
"""

from __future__ import annotations

from typing import Any

from sfumato.engines.sql.rows import Rows
from sfumato.statistics.steps import ROW


def list_values(run: Rows, measure: int) -> None:
    """Every unit with each of its values in each group, once, and how many it has."""
    units = ", ".join(run.units)
    named = f"{units}, {run.place} AS g, x{measure} AS v"
    rows = f"SELECT DISTINCT {named} FROM {run.kept} WHERE x{measure} IS NOT NULL"
    run.keep(f"values{measure}", rows)
    count = f"CAST(count(*) AS {run.dialect.wide}) * {ROW}"
    run.keep(f"having{measure}", f"SELECT {units}, {count} AS n{measure} FROM values{measure} GROUP BY {units}")


def count_values(run: Rows, measure: int, limit: int) -> list[tuple[Any, ...]]:
    """The number of different values in each group among those that units keep, in steps."""
    dialect, most = run.dialect, limit // ROW
    steps = f"count(DISTINCT v) * CAST({ROW} AS {dialect.wide})"
    if not run.units:  # a row is a unit and has one value
        values = f"SELECT {run.place} AS g, x{measure} AS v FROM {run.kept} WHERE {most} > 0"
        return run.fetch(f"SELECT g, {steps} FROM ({values}) AS those GROUP BY g")
    units, listed = ", ".join(run.units), f"values{measure}"
    heavy = f"(SELECT {units} FROM having{measure} WHERE n{measure} > CAST({most * ROW} AS {dialect.wide}))"
    few = f"SELECT g, v FROM {dialect.having(listed, heavy, run.units, listed, anti=True)}"
    mixed = dialect.mixed([*run.units, "g", "v"])
    place = f"row_number() OVER (PARTITION BY {units} ORDER BY {mixed}, g, v) AS place"
    many = f"SELECT g, v, {place} FROM {dialect.having(listed, heavy, run.units, listed)}"
    kept = f"{few} UNION ALL SELECT g, v FROM ({many}) AS many WHERE place <= {most}"
    return run.fetch(f"SELECT g, {steps} FROM ({kept}) AS kept GROUP BY g")
