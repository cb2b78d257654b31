"""Where values lie, on DuckDB: for quantiles (`plan.ruler`).

Every row is at one address, and a unit's rows together count its limit at most. Rows are read once, into a narrow table
of units and spots, which all looks share; a spot has the place of the row's group and, in its last digits, the address.
A look counts whole rows, and then what weights take off the rows of heavy units, who are few.
Proof: docs/proofs/quantiles.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np

from sfumato.dataset.column import Key
from sfumato.engines.duckdb_rows import Rows
from sfumato.engines.engine import Integers, Spots
from sfumato.engines.weights import WEIGHT, weight
from sfumato.plan.price import ROW

SPOT = 40  # binary digits of an address
ADDRESS = (1 << SPOT) - 1
MOST_ROWS = 1 << 42  # so many rows in steps fit 64 bits, with room to spare; more are counted in integers of any size
Opened = Mapping[tuple[Key, ...], Collection[int]]


def place_rows(run: Rows, measure: int) -> None:
    """The table of spots: a row for each row that has a value."""
    spot = f"(CAST({run.place} AS BIGINT) << {SPOT}) + {run.address(measure)} AS spot"
    rows = f"SELECT {', '.join([*run.units, spot])} FROM {run.kept} WHERE x{measure} IS NOT NULL"
    run.execute(f"CREATE TEMP TABLE spots{measure} AS {rows}")


def placed(measure: int) -> str:
    """The rows with a value again, from the table of spots: in their group, and with their address."""
    return f"(SELECT *, spot >> {SPOT} AS g, spot & {ADDRESS} AS a{measure} FROM spots{measure}) AS placed"


def landmarks(run: Rows, measure: int, width: int) -> dict[int, int]:
    """Units by the cell of their least or of their largest value, as a hash of their own columns decides."""
    one = f"SELECT a{measure} AS v FROM {placed(measure)}"
    if run.units:
        coin = f"hash({', '.join(run.units)}) % 2 = 0"
        one = f"SELECT CASE WHEN {coin} THEN lo{measure} ELSE hi{measure} END AS v FROM units"
    found = run.fetch(f"SELECT v // {width} AS j, count(*) FROM ({one}) WHERE v IS NOT NULL GROUP BY j")
    return {int(cell): int(count) for cell, count in found}


def spots(
    run: Rows,
    measure: int,
    limits: Sequence[int],
    shift: int,
    opened: Opened,
    outer: int = 0,
) -> dict[tuple[Key, ...], Spots]:
    """The weighted rows of every group by the address of their value; only of rows in opened cells, if any are.

    All rows of a unit count alike: as much as a full row, less what the weight of a heavy unit takes away.
    """
    rows = f"spots{measure}"
    if opened:
        places = {key: place for place, key in enumerate(run.listed, 1)}
        listed = [(places[key] << (SPOT - outer)) + cell for key, cells in opened.items() for cell in cells]
        run.execute("CREATE OR REPLACE TEMP TABLE opened AS SELECT unnest(CAST(? AS BIGINT[])) AS c", [listed])
        inside = f"SELECT * FROM {rows} SEMI JOIN opened ON c = (spot >> {outer})"
        run.execute(f"CREATE OR REPLACE TEMP TABLE inside AS {inside}")
        rows = "inside"
    cell = f"spot >> {shift} AS cell"
    cells, counts = _columns(run, f"SELECT {cell}, count(*) FROM {rows} GROUP BY cell")
    order = np.argsort(cells)
    cells, counts = cells[order], counts[order]
    if int(counts.sum()) >= MOST_ROWS:
        counts = counts.astype(object)
    full = [ROW if run.units else ROW * min(WEIGHT, limit * WEIGHT // ROW) // WEIGHT for limit in limits]
    weighed = np.stack([counts * each for each in full], axis=1)
    if run.units:
        halves = (("//", "full"), ("%", "rest"))  # a sum may not fit 64 bits, its halves do
        sums = ", ".join(
            f"CAST(sum(d{which}) {half} {ROW} AS BIGINT) AS {name}{which}"
            for which in range(len(limits))
            for half, name in halves
        )
        heavy = f"{rows} JOIN {_heavy(run, measure, limits)} USING ({', '.join(run.units)})"
        those, *taken = _columns(run, f"SELECT {cell}, {sums} FROM {heavy} GROUP BY cell")
        at = np.searchsorted(cells, those)
        for which in range(len(limits)):
            weighed[at, which] += taken[2 * which].astype(weighed.dtype) * ROW + taken[2 * which + 1]
    run.check_unchanged()
    places_of, starts = np.unique(cells >> (SPOT - shift), return_index=True)
    return {
        run.listed[place - 1]: Spots(cells[start:end] & (ADDRESS >> shift), weighed[start:end])
        for place, (start, end) in zip(places_of, pairwise([*starts, len(cells)]), strict=True)
    }


def _columns(run: Rows, sql: str) -> list[Integers]:
    """The columns of a query, whose whole numbers fit 64 bits."""
    return [np.asarray(column) for column in run.execute(sql).fetchnumpy().values()]


def _heavy(run: Rows, measure: int, limits: Sequence[int]) -> str:
    """The units beyond a limit, with how much less than a full row each of their rows counts, in steps."""
    n = f"n{measure}"
    steps = [f"CAST({ROW} AS BIGINT) * ({weight(n, limit)}) // {WEIGHT} - {ROW}" for limit in limits]
    taken = [f"CAST({step} AS INTEGER) AS d{which}" for which, step in enumerate(steps)]
    return f"(SELECT {', '.join([*run.units, *taken])} FROM units WHERE {n} > CAST({min(limits)} AS HUGEINT))"
