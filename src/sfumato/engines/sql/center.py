"""Where the units' averages lie, from which the center of a mean is bought.

A first look is at a sample of the units: a hash of a unit's own columns decides, so that a look costs hardly more than
to read the rows. A second one, at all others, follows only where the first says too little. A unit is outside the
sample if none of its rows is inside: even if a hash differed between rows of one unit, it would be in one of the two
looks only, once. Proof: docs/proofs/means.md.
"""

from __future__ import annotations

from typing import Any

from sfumato.engines.engine import Among
from sfumato.engines.sql.rows import Rows
from sfumato.engines.sql.weights import octave
from sfumato.plan.pricing.price import PricedMeasure
from sfumato.statistics.contribution import HALVES, SAMPLE, SIGNED
from sfumato.statistics.steps import sum_step


def averages(run: Rows, measure: int, priced: PricedMeasure, among: Among) -> list[tuple[Any, ...]]:
    """Bins of averages, with the number of units in each.

    The average is a quotient of integers: a sum of doubles would depend on the order of rows, so on other units.
    """
    assert priced.value_range is not None
    dialect, step = run.dialect, sum_step(priced.value_range.largest)
    row = run.row(measure)
    steps = row.rounded(row.clipped(priced.value_range), 1 / step)
    average = dialect.wide_over(dialect.sum(steps), "count(*)") if run.units else steps
    rows = f"SELECT CAST({average} AS {run.real}) AS m FROM {run.counted} WHERE x{measure} IS NOT NULL{_of(run, among)}"
    size = octave(dialect, f"({dialect.scaled('abs(m)', step)})", HALVES)
    place = f"CAST(CASE WHEN m < 0 THEN {SIGNED - 1} - {size} ELSE {SIGNED} + {size} END AS BIGINT)"
    return run.fetch(f"SELECT {place} AS j, count(*) FROM ({rows}) AS those GROUP BY j")


def is_inside(run: Rows) -> str:
    """Whether the unit of a row is in the sample."""
    return run.dialect.sampled(run.units, run.table.stored, SAMPLE)


def _of(run: Rows, among: Among) -> str:
    """Which units, each as one row; where a row is a unit it has no columns that would decide, so all are looked at."""
    if not run.units:
        assert among is Among.ALL
        return ""
    by, inside = f" GROUP BY {', '.join(run.units)}", is_inside(run)
    match among:
        case Among.ALL:
            return by
        case Among.SAMPLE:
            return f" AND {inside}{by}"
        case Among.OTHERS:
            return f"{by} HAVING max(CASE WHEN {inside} THEN 1 ELSE 0 END) = 0"
