"""Where values lie: for quantiles (`plan.ruler`).

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
from sfumato.dataset.kind import Kind
from sfumato.engines.engine import Spots
from sfumato.engines.rows import Rows
from sfumato.engines.session import Listed
from sfumato.engines.weights import WEIGHT, weight
from sfumato.plan.price import ROW

SPOT = 40  # binary digits of an address
ADDRESS = (1 << SPOT) - 1
MOST_ROWS = 1 << 42  # so many rows in steps fit 64 bits, with room to spare; more are counted in integers of any size
Opened = Mapping[tuple[Key, ...], Collection[int]]


def place_rows(run: Rows, measure: int) -> None:
    """The table of spots: a row for each row that has a value."""
    group = run.dialect.shifted(f"CAST({run.place} AS BIGINT)", SPOT, left=True)
    spot = f"({group}) + {run.address(measure)} AS spot"
    rows = f"SELECT {', '.join([*run.units, spot])} FROM {run.kept} WHERE x{measure} IS NOT NULL"
    run.keep(f"spots{measure}", rows)


def placed(run: Rows, measure: int) -> str:
    """The rows with a value again, from the table of spots: in their group, and with their address."""
    group = run.dialect.shifted("spot", SPOT)
    return f"(SELECT *, {group} AS g, spot & {ADDRESS} AS a{measure} FROM spots{measure}) AS placed"


def landmarks(run: Rows, measure: int, width: int) -> dict[int, int]:
    """Units by the cell of their least or of their largest value, as a hash of their own columns decides."""
    one = f"SELECT a{measure} AS v FROM {placed(run, measure)}"
    if run.units:
        coin = run.dialect.coin(run.units)
        one = f"SELECT CASE WHEN {coin} THEN lo{measure} ELSE hi{measure} END AS v FROM units"
    cell = run.dialect.over("v", width)
    found = run.fetch(f"SELECT {cell} AS j, count(*) FROM ({one}) AS those WHERE v IS NOT NULL GROUP BY j")
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
        run.session.ship("opened", [Listed("c", Kind.INTEGER, listed)])
        within = f"({run.dialect.shifted('spot', outer)}) IN (SELECT c FROM opened)"
        run.keep("inside", f"SELECT * FROM {rows} WHERE {within}", again=True)
        rows = "inside"
    cell = f"{run.dialect.shifted('spot', shift)} AS cell"
    cells, counts = run.session.columns(f"SELECT {cell}, count(*) FROM {rows} GROUP BY cell")
    order = np.argsort(cells)
    cells, counts = cells[order], counts[order]
    if int(counts.sum()) >= MOST_ROWS:
        counts = counts.astype(object)
    full = [ROW if run.units else ROW * min(WEIGHT, limit * WEIGHT // ROW) // WEIGHT for limit in limits]
    weighed = np.stack([counts * each for each in full], axis=1)
    if run.units:
        halves = ((run.dialect.wide_over, "full"), (run.dialect.rest, "rest"))  # of a sum that may not fit 64 bits
        sums = ", ".join(
            f"CAST({half(run.dialect.sum(f'd{which}'), ROW)} AS BIGINT) AS {name}{which}"
            for which in range(len(limits))
            for half, name in halves
        )
        heavy = f"{rows} JOIN {_heavy(run, measure, limits)} USING ({', '.join(run.units)})"
        those, *taken = run.session.columns(f"SELECT {cell}, {sums} FROM {heavy} GROUP BY cell")
        at = np.searchsorted(cells, those)
        for which in range(len(limits)):
            weighed[at, which] += taken[2 * which].astype(weighed.dtype) * ROW + taken[2 * which + 1]
    run.check_unchanged()
    places_of, starts = np.unique(cells >> (SPOT - shift), return_index=True)
    return {
        run.listed[place - 1]: Spots(cells[start:end] & (ADDRESS >> shift), weighed[start:end])
        for place, (start, end) in zip(places_of, pairwise([*starts, len(cells)]), strict=True)
    }


def _heavy(run: Rows, measure: int, limits: Sequence[int]) -> str:
    """The units beyond a limit, with how much less than a full row each of their rows counts, in steps."""
    n, dialect = f"n{measure}", run.dialect
    weights = [f"CAST({ROW} AS BIGINT) * ({weight(dialect, n, limit)})" for limit in limits]
    steps = [f"{dialect.over(each, WEIGHT)} - {ROW}" for each in weights]
    taken = [f"CAST({step} AS {dialect.small}) AS d{which}" for which, step in enumerate(steps)]
    listed = ", ".join([*run.units, *taken])
    return f"(SELECT {listed} FROM units WHERE {n} > CAST({min(limits)} AS {dialect.wide})) AS heavy"
