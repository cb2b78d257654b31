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
from sfumato.engines.engine import Integers, Spots
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.session import Listed
from sfumato.engines.sql.weights import WEIGHT, weight
from sfumato.statistics.steps import ROW

SPOT = 40  # binary digits of an address
ADDRESS = (1 << SPOT) - 1
MOST_ROWS = 1 << 42  # so many rows in steps fit 64 bits, with room to spare; more are counted in integers of any size
Opened = Mapping[tuple[Key, ...], Collection[int]]


def place_rows(run: Rows, measure: int) -> None:
    """The table of spots: a row for each row that has a value."""
    if run.dialect.narrow:
        run.keep(f"spots{measure}", _placing(run, measure))


def _spots(run: Rows, measure: int) -> str:
    """What stands for it after FROM."""
    name = f"spots{measure}"
    return name if run.dialect.narrow else f"({_placing(run, measure)}) AS {name}"


def _placing(run: Rows, measure: int) -> str:
    group = run.dialect.shifted(f"CAST({run.place} AS BIGINT)", SPOT, left=True)
    spot = f"({group}) + {run.address(measure)} AS spot"
    return f"SELECT {', '.join([*run.units, spot])} FROM {run.kept} WHERE x{measure} IS NOT NULL"


def placed(run: Rows, measure: int) -> str:
    """The rows with a value again, from the table of spots: in their group, and with their address."""
    group = run.dialect.shifted("spot", SPOT)
    return f"(SELECT *, {group} AS g, spot & {ADDRESS} AS a{measure} FROM {_spots(run, measure)}) AS placed"


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
    rows = _spots(run, measure)
    if opened:
        _keep_inside(run, rows, opened, outer)
        rows = "inside"
    cells, counts, less = _look(run, rows, shift, _heavy(run, measure, limits), _taken(run, limits))
    if int(counts.sum()) >= MOST_ROWS:
        counts = counts.astype(object)
    full = [ROW if run.units else ROW * min(WEIGHT, limit * WEIGHT // ROW) // WEIGHT for limit in limits]
    weighed = np.stack([counts * each for each in full], axis=1)
    for which, (rows_less, steps_less) in enumerate(zip(less[::2], less[1::2], strict=True)):
        weighed[:, which] += rows_less.astype(weighed.dtype) * ROW + steps_less
    run.check_unchanged()
    places_of, starts = np.unique(cells >> (SPOT - shift), return_index=True)
    return {
        run.listed[place - 1]: Spots(cells[start:end] & (ADDRESS >> shift), weighed[start:end])
        for place, (start, end) in zip(places_of, pairwise([*starts, len(cells)]), strict=True)
    }


def _keep_inside(run: Rows, rows: str, opened: Opened, outer: int) -> None:
    """The rows in opened cells."""
    places = {key: place for place, key in enumerate(run.listed, 1)}
    listed = [(places[key] << (SPOT - outer)) + cell for key, cells in opened.items() for cell in cells]
    run.session.ship("opened", [Listed("c", Kind.INTEGER, listed)])
    within = f"({run.dialect.shifted('spot', outer)}) IN (SELECT c FROM opened)"
    run.keep("inside", f"SELECT * FROM {rows} WHERE {within}", again=True)


def _look(run: Rows, rows: str, shift: int, heavy: str, taken: str) -> tuple[Integers, Integers, list[Integers]]:
    """Cells in order, the number of rows in each, and what weights take off there: full rows and the rest."""
    cell = f"{run.dialect.shifted('spot', shift)} AS cell"
    if run.units and not run.dialect.narrow:  # rows that have to be read again are read once
        joined = f"{rows} LEFT JOIN {heavy} USING ({', '.join(run.units)})"
        found = run.session.columns(f"SELECT {cell}, count(*), {taken} FROM {joined} GROUP BY cell")
        order = np.argsort(found[0])
        cells, counts, *less = (column[order] for column in found)
        return cells, counts, less
    cells, counts = run.session.columns(f"SELECT {cell}, count(*) FROM {rows} GROUP BY cell")
    order = np.argsort(cells)
    cells, counts = cells[order], counts[order]
    if not run.units:
        return cells, counts, []
    joined = f"{rows} JOIN {heavy} USING ({', '.join(run.units)})"
    those, *found = run.session.columns(f"SELECT {cell}, {taken} FROM {joined} GROUP BY cell")
    less = [np.zeros(len(cells), dtype=np.int64) for _ in found]
    for column, own in zip(less, found, strict=True):
        column[np.searchsorted(cells, those)] = own
    return cells, counts, less


def _taken(run: Rows, limits: Sequence[int]) -> str:
    """What is taken off in each cell, for each limit: how many full rows, and the rest."""
    sums = [run.dialect.sum_parts(f"d{which}", ROW) for which in range(len(limits))]
    return ", ".join(
        f"CAST(coalesce({part}, 0) AS BIGINT) AS {name}{which}"
        for which, parts in enumerate(sums)
        for name, part in zip(("full", "rest"), parts, strict=True)
    )


def _heavy(run: Rows, measure: int, limits: Sequence[int]) -> str:
    """The units beyond a limit, with how much less than a full row each of their rows counts, in steps."""
    n, dialect = f"n{measure}", run.dialect
    weights = [f"CAST({ROW} AS BIGINT) * ({weight(dialect, n, limit)})" for limit in limits]
    steps = [f"{dialect.over(each, WEIGHT)} - {ROW}" for each in weights]
    taken = [f"CAST({step} AS {dialect.small}) AS d{which}" for which, step in enumerate(steps)]
    listed = ", ".join([*run.units, *taken])
    return f"(SELECT {listed} FROM units WHERE {n} > CAST({min(limits)} AS {dialect.wide})) AS heavy"
