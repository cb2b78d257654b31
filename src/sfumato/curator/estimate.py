"""A private value with an honest interval: noise, and what the weighting lost.

Each interval holds with probability 1 - miss over the noise, for this table (not for a population beyond it). Where the
limit was bought, a fifth of the miss probability goes to the histogram that bounds the loss: one-sided, up to the total
loss for any group, since influences do not say which group they are in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from sfumato.curator.line import quantile_of
from sfumato.curator.measure import Measured
from sfumato.curator.spread import spread_of
from sfumato.curator.value import Estimate
from sfumato.dataset.column import Key
from sfumato.mechanisms.noise import GaussianNoise, LaplaceNoise
from sfumato.plan.bound import Statistic

_FOR_LOSS = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class Bar:
    """How far the cells of a measure may be off: the reach of the noise, and what the limit took away at most.

    `lost` is None where too few units are seen to bound it. `miss` is how often the noise may reach farther.
    """

    reach: int
    lost: int | None
    miss: Fraction


def for_noise(measured: Measured, miss: Fraction) -> Fraction:
    """The miss probability that is left to the noise."""
    return miss if measured.influences is None else miss * (1 - _FOR_LOSS)


def bar(measured: Measured, miss: Fraction) -> Bar:
    """The error bar of one measure, the same in every group."""
    tails = measured.tails(miss * _FOR_LOSS)
    noise_miss = for_noise(measured, miss)
    reach = measured.noise.reach(1 - noise_miss / max(1, measured.priced.cells))
    return Bar(reach, 0 if tails is None else tails.taken(measured.limit), noise_miss)


def estimate(measured: Measured, key: tuple[Key, ...], off: Bar, point: int = 0) -> Estimate:
    """The private value of one group with its interval; `point` is the number of a quantile."""
    if measured.seen:
        return quantile_of(measured.seen[key], measured.priced.measure.points[point], off.lost, float(off.miss))
    cells = measured.cells[key]
    away = None if off.lost is None else off.reach + off.lost
    away = None if away is None else away + _rounding(measured, cells, away)
    if measured.priced.measure.statistic is Statistic.MEAN:
        return _mean(measured, cells, away)
    if measured.priced.measure.statistic.is_spread:
        return spread_of(measured.priced, cells, away)
    step = float(measured.priced.step)
    lost = math.inf if off.lost is None else off.lost * step
    low, high = (cells[0] - off.reach) * step, (cells[0] + off.reach) * step
    if measured.threshold is not None:
        low = _least_shown(measured.noise, cells[0], measured.threshold, float(off.miss) / 2) * step
    return Estimate(cells[0] * step, low - lost if measured.priced.signed else low, high + lost)


def _rounding(measured: Measured, cells: tuple[int, ...], away: int) -> int:
    """How far the sums of a mean or a variance may be off since every row has whole steps, other errors being `away`.

    A row of a mean is off by 2 steps at most, one of a variance by 3 and half of its distance from the centre in
    spreads, since it is squared. By the inequality of Cauchy and Schwarz the distances of n rows have at most the root
    of n times the sum of their squares together (docs/proofs/means.md).
    """
    priced = measured.priced
    if not priced.measure.statistic.is_centred:
        return 0
    rows = -(-(max(0, sum(cells)) + len(cells) * away) // priced.row_steps)
    if not priced.measure.statistic.is_spread:
        return 2 * rows
    first, middle, last = cells
    squares = -(-(max(0, first + last - middle) + 3 * away) // priced.row_steps)
    return 3 * rows + math.isqrt(rows * squares) // 2 + 1


def _least_shown(noise: LaplaceNoise | GaussianNoise, cell: int, threshold: int, miss: float) -> int:
    """The least number that a cell may come from, given that it is only shown above a threshold.

    A smaller one would come out so large with probability `miss` at most among the times that it is shown.
    """

    def is_likely(number: int) -> bool:
        far, shown = noise.log_at_most(number - cell), noise.log_at_most(number - threshold - 1)
        return far - shown > math.log(miss)

    low, high = 0, cell
    if is_likely(low):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_likely(middle) else (middle, high)
    return high


def _mean(measured: Measured, cells: tuple[int, ...], away: int | None) -> Estimate:
    """The centre, and from it (P - M) / (P + M) spreads; extreme at the corners of what P and M may be."""
    interval, centre = measured.priced.interval, measured.priced.centre
    assert interval is not None
    assert centre is not None
    low, high = float(interval.low), float(interval.high)
    ends = (-math.inf, math.inf) if measured.priced.bounds_share else (low, high)  # nobody declared bought ones
    middle, spread = float(centre.middle), float(centre.spread)
    plus, minus = cells
    if plus + minus <= 0:
        return Estimate((low + high) / 2, *ends)

    def mean(p: int, m: int) -> float:
        return min(high, max(low, middle + spread * (p - m) / (p + m)))

    if away is None or plus + minus - 2 * away <= 0:
        return Estimate(mean(plus, minus), *ends)
    corners = [mean(plus + a, minus + b) for a in (-away, away) for b in (-away, away)]
    return Estimate(mean(plus, minus), min(corners), max(corners))
