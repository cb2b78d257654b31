"""A variance or a standard deviation from its three noisy sums, with an interval.

With y the distance from the centre in spreads, the sums are those of (1 - y)**2 / 4, (1 - y**2) / 2 and (1 + y)**2 / 4:
together the number of rows, the last less the first the sum of y, and both of them less the middle one that of y**2.

A sample's variance is n / (n - 1) times that of the rows themselves. The number n is as noisy as the sums, and with a
handful of rows that factor matters more than they do, so the interval has its range: from that of the most rows that
there may be to that of the fewest. One row has no such variance, so these are two at least.
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
    few, many = _factors(priced, rows, None if away is None else 3 * away)
    widest = math.inf if priced.bounds_share else most * few
    if rows <= 0:
        return Estimate(0.0, 0.0, widest)
    factor, _ = _factors(priced, rows, 0)
    centred, squares = last - first, first + last - middle
    value = factor * min(most, max(0.0, unit * (squares / rows - (centred / rows) ** 2)))
    if away is None or rows - 3 * away <= 0:
        return Estimate(value, 0.0, max(value, widest))
    means = _quotients(centred, 2 * away, rows, 3 * away)
    second = _quotients(squares, 3 * away, rows, 3 * away)
    nearest = 0.0 if means[0] <= 0 <= means[1] else min(abs(means[0]), abs(means[1]))
    low = many * unit * (second[0] - max(abs(means[0]), abs(means[1])) ** 2)
    high = few * unit * (second[1] - nearest**2)
    return Estimate(value, min(value, max(0.0, low)), max(value, min(widest, high)))


def _factors(priced: PricedMeasure, rows: int, away: int | None) -> tuple[float, float]:
    """What makes a sample's variance of that of the rows: for the fewest rows that there may be, and for the most.

    Rows are given in steps, and are whole numbers truly; they are off by `away` at most, None: nobody knows.
    """
    if priced.measure.statistic not in (Statistic.VARIANCE, Statistic.DEVIATION):
        return 1.0, 1.0
    if away is None:
        return 2.0, 1.0
    if not away:
        number = max(2.0, rows / priced.row_steps)
        return number / (number - 1), number / (number - 1)
    fewest = max(2, -(-(rows - away) // priced.row_steps))
    most = max(fewest, (rows + away) // priced.row_steps)
    return fewest / (fewest - 1), most / (most - 1)


def _quotients(above: int, off: int, below: int, below_off: int) -> tuple[float, float]:
    corners = [(above + a) / (below + b) for a in (-off, off) for b in (-below_off, below_off)]
    return min(corners), max(corners)
