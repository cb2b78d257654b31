"""The released numbers behind a column of counts or sums, kept with the answer.

With them sums, differences and ratios of groups have intervals of their own, at no cost: all of it is post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.curator.answers.rows import Row
from sfumato.curator.measurement.intervals.estimate import cell_error, for_noise
from sfumato.curator.measurement.measure import Measured
from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.mechanisms._noise.sums import Noise
from sfumato.plan.pricing.price import PricedPlan
from sfumato.plan.syntax.node import MeasureAt
from sfumato.statistics.estimate import Estimate
from sfumato.statistics.ratios import Part, Source, linear, quotients


@dataclass(frozen=True, slots=True)
class Released:
    """One number for each row of an answer, in lattice steps, with its noise.

    numbers  one for each row, in steps
    total    the sum over all groups, also those that HAVING or LIMIT left out
    groups   how many groups there are
    step     what one step is worth
    noise    what was added to each number, independently
    lost     at most what the limit took from all groups together, in its norm and in steps; None: nobody knows
    signed   whether the limit may have moved numbers both ways
    miss     how often the noise of one estimate may go beyond its interval
    at_once  whether intervals hold for all groups, or for all pairs of groups, at once

    """

    numbers: tuple[int, ...]
    total: int
    groups: int
    step: Fraction
    noise: Noise
    lost: int | None
    signed: bool
    miss: Fraction
    at_once: bool = False

    def sum_of(self, rows: Sequence[int]) -> Estimate:
        """The sum over some rows."""
        return self.difference(rows, ())

    def difference(self, rows: Sequence[int], others: Sequence[int]) -> Estimate:
        """The sum over some rows less that over others."""
        step = float(self.step)
        value = (self._sum(rows) - self._sum(others)) * step
        return linear([self._source(Part(len(rows), step), Part(len(others), -step))], value, self._pair_miss())

    def ratio(self, rows: Sequence[int], others: Sequence[int]) -> Estimate | None:
        """The sum over some rows divided by that over others; None: by zero."""
        above, below = np.array([float(self._sum(rows))]), np.array([float(self._sum(others))])
        if below[0] == 0:
            return None
        source = self._source(Part(len(rows), 1.0, 0.0), Part(len(others), 0.0, 1.0))
        low, high = quotients([source], above, below, self._pair_miss())
        return Estimate(float(above[0] / below[0]), float(low[0]), float(high[0]))

    def shares(self) -> list[Estimate | None]:
        """Each row's part of the sum over all groups; None where that sum is zero."""
        if not self.numbers:
            return []
        above = np.array([float(number) for number in self.numbers])
        below = np.full(len(above), float(self.total))
        source = self._source(Part(1, 1.0, 1.0), Part(self.groups - 1, 0.0, 1.0))
        low, high = quotients([source], above, below, self.miss / (self.groups if self.at_once else 1))
        if not self.total:
            return [None] * len(above)
        return [self._share(*ends) for ends in zip((above / self.total).tolist(), low, high, strict=True)]

    def _share(self, value: float, low: float, high: float) -> Estimate:
        """A share; that of something that is never negative lies between 0 and 1, whatever noise does."""
        low, high = float(low), float(high)
        ends = (low, high) if self.signed else (min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0))
        return Estimate(value, min(value, ends[0]), max(value, ends[1]))

    def _sum(self, rows: Sequence[int]) -> int:
        return sum(self.numbers[row] for row in rows)

    def _source(self, *parts: Part) -> Source:
        used = tuple(part for part in parts if part.numbers)
        return Source(self.noise, used, self.lost, self.signed)

    def _pair_miss(self) -> Fraction:
        pairs = max(1, self.groups * (self.groups - 1) // 2)
        return self.miss / pairs if self.at_once else self.miss

    def to_json(self) -> dict[str, Any]:
        """As the ledger keeps it."""
        kind, size = ("laplace", self.noise.scale) if isinstance(self.noise, LaplaceNoise) else (
            "gaussian", self.noise.variance)  # fmt: skip
        parts = {name: getattr(self, name) for name in ("numbers", "total", "groups", "lost", "signed", "at_once")}
        return {**parts, "step": str(self.step), "miss": str(self.miss), "noise": [kind, str(size)]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Released:
        """As the ledger kept it."""
        kind, size = content["noise"]
        noise = LaplaceNoise(Fraction(size)) if kind == "laplace" else GaussianNoise(Fraction(size))
        given = {**content, "numbers": tuple(content["numbers"]), "noise": noise}
        return cls(**{**given, "step": Fraction(content["step"]), "miss": Fraction(content["miss"])})


def released_of(plan: PricedPlan, found: Sequence[Measured], rows: Sequence[Row]) -> dict[str, Released]:
    """The columns of an answer that are counts or sums, with what was released of them."""
    columns = {}
    for column in plan.bound.shown:
        if isinstance(column.expression, MeasureAt):
            measured = found[column.expression.position]
            if measured.priced.measure.statistic.adds_up:
                columns[column.name] = _released(plan, measured, rows)
    return columns


def _released(plan: PricedPlan, measured: Measured, rows: Sequence[Row]) -> Released:
    miss = 1 - plan.confidence
    return Released(
        tuple(measured.cells[row.key][0] for row in rows),
        sum(cells[0] for cells in measured.cells.values()),
        len(measured.cells),
        measured.priced.step,
        measured.noise,
        cell_error(measured, miss).lost,
        measured.priced.signed,
        for_noise(measured, miss),
        plan.simultaneous,
    )
