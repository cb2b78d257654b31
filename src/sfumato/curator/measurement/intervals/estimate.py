"""A private value with an honest interval: noise, and what the weighting lost.

Each interval holds with probability 1 - miss over the noise, for this table (not for a population beyond it). Where the
limit was bought, a fifth of the miss probability goes to the histogram that bounds the loss: one-sided, up to the total
loss for any group, since contributions do not say which group they are in.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from sfumato.curator.measurement.measure import Measured
from sfumato.dataset.column import Key
from sfumato.statistics.estimate import Estimate
from sfumato.statistics.quantile.line import quantile_of
from sfumato.statistics.statistic import CellError

_FOR_LOSS = Fraction(1, 5)


def for_noise(measured: Measured, miss: Fraction) -> Fraction:
    """The miss probability that is left to the noise."""
    return miss if measured.contributions is None else miss * (1 - _FOR_LOSS)


def cell_error(measured: Measured, miss: Fraction) -> CellError:
    """How far the cells of one measure may be off, the same in every group."""
    histogram = measured.histogram(miss * _FOR_LOSS)
    noise_miss = for_noise(measured, miss)
    reach = measured.noise.reach(1 - noise_miss / max(1, measured.priced.cells))
    lost = 0 if histogram is None else histogram.taken(measured.limit)
    return CellError(reach, lost, noise_miss, measured.noise, measured.threshold)


@dataclass(frozen=True)
class Estimates:
    """The private values of all groups of one measure, with intervals that miss with one probability; made at once."""

    measured: Measured
    error: CellError

    @cached_property
    def _all(self) -> dict[tuple[Key, ...], Estimate]:
        priced, cells = self.measured.priced, self.measured.cells
        return dict(
            zip(cells, priced.measure.statistic.estimates(priced, list(cells.values()), self.error), strict=True)
        )

    def of(self, key: tuple[Key, ...], point: int = 0) -> Estimate:
        """That of one group; `point` is the number of a quantile."""
        if not self.measured.seen:
            return self._all[key]
        share, error = self.measured.priced.measure.points[point], self.error
        return quantile_of(self.measured.seen[key], share, error.lost, float(error.miss))
