"""Where values lie, on DuckDB: for quantiles (`plan.ruler`).

Every row is at one address, and a unit's rows together count its limit at most. Proof: docs/proofs/quantiles.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sfumato.dataset.column import Key
from sfumato.engines.duckdb_rows import Rows
from sfumato.engines.weights import WEIGHT, address, weight
from sfumato.plan.price import ROW

SPOT = 40  # binary digits of an address
Opened = Mapping[tuple[Key, ...], Collection[int]]


def landmarks(run: Rows, measure: int, width: int) -> dict[int, int]:
    """Units by the cell of their least or of their largest value, as a hash of their own columns decides."""
    one = f"SELECT x{measure} AS v FROM {run.kept}"
    if run.units:
        coin = f"hash({', '.join(run.units)}) % 2 = 0"
        one = f"SELECT CASE WHEN {coin} THEN lo{measure} ELSE hi{measure} END AS v FROM units"
    cell = f"{address(run.measures[measure].ruler, 'v')} // {width}"
    found = run.fetch(f"SELECT {cell} AS j, count(*) FROM ({one}) WHERE v IS NOT NULL GROUP BY j")
    return {int(cell): int(count) for cell, count in found}


def spots(
    run: Rows,
    measure: int,
    limits: Sequence[int],
    shift: int,
    opened: Opened,
    outer: int = 0,
) -> dict[tuple[Key, ...], dict[int, tuple[int, ...]]]:
    """The weighted rows of every group by the address of their value; only of rows in opened cells, if any are.

    All rows of a unit count alike: as much as a full row, less what the weight of a heavy unit takes away.
    """
    x, sums = f"x{measure}", [f"sum(d{which})" for which in range(len(limits))]
    rows = f"(SELECT *, {address(run.measures[measure].ruler, x)} AS a FROM {run.kept}) AS placed"
    if opened:
        places = {key: place for place, key in enumerate(run.listed, 1)}
        listed = [(places[key], cell) for key, cells in opened.items() for cell in cells]
        columns = [[place for place, _ in listed], [cell for _, cell in listed]]
        names = "SELECT unnest(CAST(? AS BIGINT[])) AS h, unnest(CAST(? AS BIGINT[])) AS c"
        run.execute(f"CREATE OR REPLACE TEMP TABLE opened AS {names}", columns)
        rows += f" SEMI JOIN opened ON h = {run.place} AND c = (a >> {outer})"
    least = min(limits)
    if run.units:
        taken = [f"{_less(f'n{measure}', limit)} AS d{which}" for which, limit in enumerate(limits)]
        heavy = f"SELECT {', '.join([*run.units, *taken])} FROM units WHERE n{measure} > CAST({least} AS HUGEINT)"
        rows += f" LEFT JOIN ({heavy}) USING ({', '.join(run.units)})"
    elif least < ROW:
        sums = [f"sum({_less(f'CAST({ROW} AS BIGINT)', limit)})" for limit in limits]
    else:
        sums = ["0" for _ in limits]
    found: dict[tuple[Key, ...], dict[int, tuple[int, ...]]] = {}
    spot = f"(CAST({run.place} AS BIGINT) << {SPOT}) + (a >> {shift})"
    counted = f"SELECT {spot} AS spot, count(*), {', '.join(sums)} FROM {rows} WHERE {x} IS NOT NULL GROUP BY spot"
    for place, count, *less_of in run.fetch(counted):
        cells = found.setdefault(run.listed[(place >> SPOT) - 1], {})
        cells[place & ((1 << SPOT) - 1)] = tuple(count * ROW + int(less or 0) for less in less_of)
    run.check_unchanged()
    return found


def _less(influence: str, limit: int) -> str:
    """How much less than a full row each row of a unit counts, in steps."""
    return f"CAST(CAST({ROW} AS BIGINT) * ({weight(influence, limit)}) // {WEIGHT} - {ROW} AS INTEGER)"
