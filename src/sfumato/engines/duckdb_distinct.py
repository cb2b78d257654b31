"""How many different values there are, on DuckDB.

A unit has each value of a group once. Of more of them than the limit it keeps as many as a hash of its own columns,
group and value chooses, so that units that have the same values keep different ones. That is each unit's own affair.
Proof: docs/proofs/distinct.md.
"""

from __future__ import annotations

from typing import Any

from sfumato.engines.duckdb_rows import Rows
from sfumato.plan.price import ROW


def list_values(run: Rows, measure: int) -> None:
    """Every unit with each of its values in each group, once, and how many it has."""
    units = ", ".join(run.units)
    named = f"{units}, {run.place} AS g, x{measure} AS v"
    rows = f"SELECT DISTINCT {named} FROM {run.kept} WHERE x{measure} IS NOT NULL"
    run.execute(f"CREATE TEMP TABLE values{measure} AS {rows}")
    counts = f"SELECT {units}, CAST(count(*) AS HUGEINT) * {ROW} AS n{measure} FROM values{measure} GROUP BY {units}"
    run.execute(f"CREATE TEMP TABLE having{measure} AS {counts}")


def count_values(run: Rows, measure: int, limit: int) -> list[tuple[Any, ...]]:
    """The number of different values in each group among those that units keep, in steps."""
    if not run.units:  # a row is a unit and has one value
        values = f"SELECT {run.place} AS g, x{measure} AS v FROM {run.kept} WHERE {limit // ROW} > 0"
        return run.fetch(f"SELECT g, count(DISTINCT v) * CAST({ROW} AS HUGEINT) FROM ({values}) GROUP BY g")
    units, most = ", ".join(run.units), limit // ROW
    heavy = f"SELECT {units} FROM having{measure} WHERE n{measure} > CAST({most * ROW} AS HUGEINT)"
    few = f"SELECT g, v FROM values{measure} ANTI JOIN ({heavy}) USING ({units})"
    place = f"row_number() OVER (PARTITION BY {units} ORDER BY hash(hash({units}, g, v)), g, v) AS place"
    many = f"SELECT g, v, {place} FROM values{measure} SEMI JOIN ({heavy}) USING ({units})"
    kept = f"{few} UNION ALL SELECT g, v FROM ({many}) WHERE place <= {most}"
    return run.fetch(f"SELECT g, count(DISTINCT v) * CAST({ROW} AS HUGEINT) FROM ({kept}) GROUP BY g")
