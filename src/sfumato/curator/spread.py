"""A variance or a standard deviation from its three noisy sums, with an interval.

With y the distance from the centre in spreads, the sums are those of (1 - y)**2 / 4, (1 - y**2) / 2 and (1 + y)**2 / 4:
together the number of rows, the last less the first the sum of y, and both of them less the middle one that of y**2.
"""

from __future__ import annotations

import math

from sfumato.curator.value import Estimate
from sfumato.plan.bound import Statistic
from sfumato.plan.price import PricedMeasure


def spread_of(priced: PricedMeasure, cells: tuple[int, ...], away: int | None) -> Estimate:
    """The spread, each sum being off by `away` at most; None: by nobody knows how much."""
    found = _variance(priced, cells, away)
    if priced.measure.statistic in (Statistic.DEVIATION, Statistic.POPULATION_DEVIATION):
        return Estimate(*(math.sqrt(each) for each in (found.value, found.low, found.high)))
    return found


def _variance(priced: PricedMeasure, cells: tuple[int, ...], away: int | None) -> Estimate:
    assert priced.interval is not None
    assert priced.centre is not None
    first, middle, last = cells
    rows, unit = first + middle + last, float(priced.centre.spread) ** 2
    most = float(priced.interval.width) ** 2 / 4  # half the values at either end
    widest = math.inf if priced.bounds_share else most
    if rows <= 0:
        return Estimate(0.0, 0.0, widest)
    sample = priced.measure.statistic in (Statistic.VARIANCE, Statistic.DEVIATION)
    number = rows / priced.row_steps
    unit *= number / (number - 1) if sample and number > 2 else 1.0
    centred, squares = last - first, first + last - middle
    value = min(most, max(0.0, unit * (squares / rows - (centred / rows) ** 2)))
    if away is None or rows - 3 * away <= 0:
        return Estimate(value, 0.0, widest)
    means = _quotients(centred, 2 * away, rows, 3 * away)
    second = _quotients(squares, 3 * away, rows, 3 * away)
    nearest = 0.0 if means[0] <= 0 <= means[1] else min(abs(means[0]), abs(means[1]))
    low = unit * (second[0] - max(abs(means[0]), abs(means[1])) ** 2)
    high = unit * (second[1] - nearest**2)
    return Estimate(value, min(value, max(0.0, low)), max(value, min(widest, high)))


def _quotients(above: int, off: int, below: int, below_off: int) -> tuple[float, float]:
    corners = [(above + a) / (below + b) for a in (-off, off) for b in (-below_off, below_off)]
    return min(corners), max(corners)
