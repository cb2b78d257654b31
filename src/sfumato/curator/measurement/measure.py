"""From a priced plan and its data to private cells: buy what must be bought, weigh, count, release.

The order is fixed by the plan: bounds of values, then limits, then cells. What was released decides what comes next;
what is exact never does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from sfumato.curator.measurement.key_discovery import find_keys
from sfumato.curator.measurement.progress import At, Tell, silent
from sfumato.curator.measurement.quantile_search import look_closer
from sfumato.curator.measurement.release import REST, Releaser
from sfumato.dataset.column import Key
from sfumato.engines.engine import Among, Run
from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.plan.pricing.key_discovery import KeyDiscovery
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan
from sfumato.statistics.center import says_enough
from sfumato.statistics.contribution import (
    BINS,
    MAGNITUDES,
    SIGNED,
    last_seen,
    magnitude,
)
from sfumato.statistics.contribution_histogram import ContributionHistogram, Limit
from sfumato.statistics.quantile.line import Seen
from sfumato.statistics.quantile.quantile import AROUND
from sfumato.statistics.ranges import Range
from sfumato.statistics.statistic import Gathering

_LIKELY, _SURE = Fraction(1, 100), Fraction(1, 10**3)  # how often noise alone looks like a unit in any bin
_ALIKE = 2_000  # units of other values among those that a smaller limit takes rows from: one in so many


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure's private cells by group, and what was bought on the way."""

    priced: PricedMeasure
    limit: Limit
    moves: int
    cells: dict[tuple[Key, ...], tuple[int, ...]]
    contributions: tuple[int, ...] | None
    histogram_moves: int
    seen: Mapping[tuple[Key, ...], Seen] = field(default_factory=dict)
    threshold: int | None = None  # cells were shown because they exceed it

    @property
    def noise(self) -> LaplaceNoise | GaussianNoise:
        """The noise of each cell; of quantiles, in the last look."""
        share = self.priced.looks.around if self.seen else self.priced.share
        return share.noise(self.moves)

    def histogram(self, miss: Fraction) -> ContributionHistogram | None:
        """What was bought about contributions, right at all edges but with probability `miss`; None: nothing was."""
        if self.contributions is None:
            return None
        return _histogram(self.contributions, self.histogram_moves, miss, self.priced)


@lru_cache(maxsize=32)  # an answer, its intervals and its notes ask for the same
def _histogram(bins: tuple[int, ...], moves: int, miss: Fraction, priced: PricedMeasure) -> ContributionHistogram:
    return ContributionHistogram.read(
        bins, priced.limit_share.noise(moves), miss, row_steps=priced.row_steps, most=priced.most
    )


def measure_all(plan: PricedPlan, run: Run, releaser: Releaser, tell: Tell = silent) -> list[Measured]:
    """All measures of a question, private."""
    keys = run.keys()
    if plan.key_discovery is not None:
        scores = find_keys(plan.key_discovery, run, releaser)
        keys = list(scores)
        if plan.key_discovery.counts:
            return [_counted(plan, plan.key_discovery, scores)]
    tell(At.BOUNDS)
    measures = [_bounded(plan, run, releaser, i, priced) for i, priced in enumerate(plan.measures)]
    tell(At.CENTERS)
    measures = [_centered(plan, run, releaser, i, priced) for i, priced in enumerate(measures)]
    tell(At.LIMITS)
    run.prepare(measures)
    bought = [_contributions(plan, run, releaser, i, priced) for i, priced in enumerate(measures)]
    limits = [
        _limit(plan, priced, contributions, len(keys)) for priced, contributions in zip(measures, bought, strict=True)
    ]
    tell(At.COUNTING)
    exact = run.cells([limit.steps for limit in limits])
    tell(At.NOISE)
    found, start = [], 0
    for i, (priced, limit, contributions) in enumerate(zip(measures, limits, bought, strict=True)):
        wanted = range(start, start + priced.cells)
        start += priced.cells
        vector = [exact[key][cell] if key in exact else 0 for key in keys for cell in wanted]
        moves = plan.moves(priced, limit.steps)
        if priced.measure.statistic.gathering is Gathering.POSITIONS:
            both = limit.steps, _smaller(plan, priced, contributions, limit)
            seen = look_closer(plan, run, releaser, i, priced, both, _lost(plan, priced, contributions, limit))
            found.append(
                Measured(priced, limit, moves, dict.fromkeys(keys, ()), contributions, plan.histogram_moves, seen)
            )
            continue
        noisy = iter(releaser.release(f"cells {i}", vector, moves, priced.share))
        cells = {key: tuple(next(noisy) for _ in wanted) for key in keys}
        found.append(Measured(priced, limit, moves, cells, contributions, plan.histogram_moves))
    return found


def _counted(plan: PricedPlan, key_discovery: KeyDiscovery, scores: Mapping[tuple[Key, ...], int]) -> Measured:
    """The number of units with each key that was found: its score, since every unit is one row."""
    (priced,), (look,) = plan.measures, key_discovery.rounds
    cells: dict[tuple[Key, ...], tuple[int, ...]] = {key: (score,) for key, score in scores.items()}
    limit = Limit(priced.row_steps, closed=True)
    return Measured(priced, limit, look.moves, cells, None, plan.histogram_moves, threshold=look.threshold)


def _bounded(plan: PricedPlan, run: Run, releaser: Releaser, place: int, priced: PricedMeasure) -> PricedMeasure:
    """The measure with an interval for its values: declared, or bought as a power of two around zero.

    It is far wider than the values that were seen: what a unit may have is limited later, and a wide interval only
    makes the lattice coarser, while a narrow one would cut values and nobody would know how much.
    """
    if priced.value_range is not None or not priced.bounds_share:
        return priced
    moves, share = plan.histogram_moves, priced.bounds_share
    noisy = releaser.release(f"magnitudes {place}", run.magnitudes(place), moves, share)
    reach = share.noise(moves).reach(1 - _SURE / MAGNITUDES)
    wider = priced.measure.statistic.octaves_beyond
    bound = magnitude(min(last_seen(noisy, reach) + wider, MAGNITUDES - 1))
    return priced.within(Range(-bound, bound))


def _centered(plan: PricedPlan, run: Run, releaser: Releaser, place: int, priced: PricedMeasure) -> PricedMeasure:
    """The measure with the place where its values lie, if it needs to know."""
    if not priced.center_share:
        return priced
    noisy, reach = _averages(plan, run, releaser, place, priced)
    return priced.around(priced.measure.statistic.center(priced, noisy, reach))


def _averages(
    plan: PricedPlan, run: Run, releaser: Releaser, place: int, priced: PricedMeasure
) -> tuple[list[int], int]:
    """Where units have their averages, and what noise alone does not exceed: by a sample, or else by all others.

    No unit is in both, so they are parts of one histogram: its share pays for both, also where the first part decides
    whether the second one is asked for.
    """
    moves, share = plan.histogram_moves, priced.center_share
    reach = share.noise(moves).reach(1 - _LIKELY / (2 * SIGNED))

    def look(among: Among, label: str = f"averages {place}") -> list[int]:
        return releaser.release(label, run.averages(place, priced, among), moves, share)

    if not plan.bound.table.unit.columns:
        return look(Among.ALL), reach
    sample = look(Among.SAMPLE)
    return sample if says_enough(sample, reach) else look(Among.OTHERS, f"averages {place}{REST}"), reach


def _contributions(
    plan: PricedPlan, run: Run, releaser: Releaser, place: int, priced: PricedMeasure
) -> tuple[int, ...] | None:
    if priced.declared_limit is not None:
        return None
    exact = run.contributions(place)
    assert len(exact) == BINS
    return tuple(releaser.release(f"contributions {place}", exact, plan.histogram_moves, priced.limit_share))


def _limit(plan: PricedPlan, priced: PricedMeasure, contributions: tuple[int, ...] | None, groups: int) -> Limit:
    """The limit C: declared, or chosen from the bought histogram, and never more than the noise can carry."""
    largest = priced.share.largest()
    if contributions is None:
        assert priced.declared_limit is not None
        return Limit(min(priced.declared_limit, largest), closed=False)
    histogram = _histogram(contributions, plan.histogram_moves, _LIKELY, priced)
    chosen = priced.measure.statistic.choose_limit(histogram, priced, groups)
    return Limit(min(chosen.steps, largest), chosen.closed)


def _lost(plan: PricedPlan, priced: PricedMeasure, contributions: tuple[int, ...] | None, limit: Limit) -> int | None:
    """About what a limit takes away at most; None: nobody knows."""
    if contributions is None:
        return 0
    return _histogram(contributions, plan.histogram_moves, _LIKELY, priced).taken(limit)


def _smaller(plan: PricedPlan, priced: PricedMeasure, contributions: tuple[int, ...] | None, limit: Limit) -> int:
    """The limit with which a quantile's place is found: as if units with many rows had values much like all others'."""
    if contributions is None:
        return limit.steps
    histogram = _histogram(contributions, plan.histogram_moves, _LIKELY, priced)
    noise = math.sqrt(AROUND * priced.looks.place.variance())
    edges = [
        histogram.edge(bin) for bin in range(histogram.top + 1) if priced.row_steps <= histogram.edge(bin) < limit.steps
    ]
    return min(
        [*edges, limit.steps], key=lambda steps: (noise * steps) ** 2 + (histogram.lost(steps, False) / _ALIKE) ** 2
    )
