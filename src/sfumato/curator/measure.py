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

from sfumato.curator.keys import find_keys
from sfumato.curator.line import Seen
from sfumato.curator.phases import At, Tell, silent
from sfumato.curator.release import REST, Releaser
from sfumato.curator.zoom import look_closer
from sfumato.dataset.column import Key
from sfumato.engines.engine import Among, Run
from sfumato.mechanisms.noise import GaussianNoise, LaplaceNoise
from sfumato.plan.bound import Statistic
from sfumato.plan.influence import (
    BINS,
    HALVES,
    MAGNITUDES,
    SIGNED,
    last_seen,
    magnitude,
    quantile_bin,
    signed_bin_middle,
)
from sfumato.plan.interval import Interval
from sfumato.plan.price import ROW, Centre, PricedMeasure, PricedPlan
from sfumato.plan.selection import Selection
from sfumato.plan.tails import Limit, Tails, choose

_LIKELY, _SURE = Fraction(1, 100), Fraction(1, 10**3)  # how often noise alone looks like a unit in any bin
_WIDER = 8  # octaves
_WIDER_SQUARES = 3  # of values whose squares are added up: what is farther out counts no more
_ALIKE = 2_000  # units of other values among those that a smaller limit takes rows from: one in so many
_ENOUGH = 32  # times what noise may do, in units that are seen: fewer do not say where all lie
_BESIDE, _UNSEEN = 4 * HALVES, Fraction(1, 20)  # bins about those that are seen, and how many may be in others of them
_AROUND = 8  # cells of the last look whose noise adds up in a quantile's rank, about


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure's private cells by group, and what was bought on the way."""

    priced: PricedMeasure
    limit: Limit
    moves: int
    cells: dict[tuple[Key, ...], tuple[int, ...]]
    influences: tuple[int, ...] | None
    histogram_moves: int
    seen: Mapping[tuple[Key, ...], Seen] = field(default_factory=dict)
    threshold: int | None = None  # cells were shown because they exceed it

    @property
    def noise(self) -> LaplaceNoise | GaussianNoise:
        """The noise of each cell; of quantiles, in the last look."""
        share = self.priced.looks.around if self.seen else self.priced.share
        return share.noise(self.moves)

    def tails(self, miss: Fraction) -> Tails | None:
        """What was bought about influences, right at all edges but with probability `miss`; None: nothing was."""
        if self.influences is None:
            return None
        return _tails(self.influences, self.histogram_moves, miss, self.priced)


@lru_cache(maxsize=32)  # an answer, its intervals and its notes ask for the same
def _tails(bins: tuple[int, ...], moves: int, miss: Fraction, priced: PricedMeasure) -> Tails:
    return Tails.read(bins, priced.limit_share.noise(moves), miss, row_steps=priced.row_steps, most=priced.most)


def measure_all(plan: PricedPlan, run: Run, releaser: Releaser, tell: Tell = silent) -> list[Measured]:
    """All measures of a question, private."""
    keys = run.keys()
    if plan.selection is not None:
        scores = find_keys(plan.selection, run, releaser)
        keys = list(scores)
        if plan.selection.counts:
            return [_counted(plan, plan.selection, scores)]
    tell(At.BOUNDS)
    measures = [_bounded(plan, run, releaser, i, priced) for i, priced in enumerate(plan.measures)]
    tell(At.CENTRES)
    measures = [_centred(plan, run, releaser, i, priced) for i, priced in enumerate(measures)]
    tell(At.LIMITS)
    run.prepare(measures)
    bought = [_influences(plan, run, releaser, i, priced) for i, priced in enumerate(measures)]
    limits = [_limit(plan, priced, influences, len(keys)) for priced, influences in zip(measures, bought, strict=True)]
    tell(At.COUNTING)
    exact = run.cells([limit.steps for limit in limits])
    tell(At.NOISE)
    found, start = [], 0
    for i, (priced, limit, influences) in enumerate(zip(measures, limits, bought, strict=True)):
        wanted = range(start, start + priced.cells)
        start += priced.cells
        vector = [exact[key][cell] if key in exact else 0 for key in keys for cell in wanted]
        moves = plan.moves(priced, limit.steps)
        if priced.measure.statistic is Statistic.QUANTILES:
            both = limit.steps, _smaller(plan, priced, influences, limit)
            seen = look_closer(plan, run, releaser, i, priced, both, _lost(plan, priced, influences, limit))
            found.append(
                Measured(priced, limit, moves, dict.fromkeys(keys, ()), influences, plan.histogram_moves, seen)
            )
            continue
        noisy = iter(releaser.release(f"cells {i}", vector, moves, priced.share))
        cells = {key: tuple(next(noisy) for _ in wanted) for key in keys}
        found.append(Measured(priced, limit, moves, cells, influences, plan.histogram_moves))
    return found


def _counted(plan: PricedPlan, selection: Selection, scores: Mapping[tuple[Key, ...], int]) -> Measured:
    """The number of units with each key that was found: its score, since every unit is one row."""
    (priced,), (look,) = plan.measures, selection.rounds
    cells: dict[tuple[Key, ...], tuple[int, ...]] = {key: (score,) for key, score in scores.items()}
    limit = Limit(priced.row_steps, closed=True)
    return Measured(priced, limit, look.moves, cells, None, plan.histogram_moves, threshold=look.threshold)


def _bounded(plan: PricedPlan, run: Run, releaser: Releaser, place: int, priced: PricedMeasure) -> PricedMeasure:
    """The measure with an interval for its values: declared, or bought as a power of two around zero.

    It is far wider than the values that were seen: what a unit may have is limited later, and a wide interval only
    makes the lattice coarser, while a narrow one would cut values and nobody would know how much.
    """
    if priced.interval is not None or not priced.bounds_share:
        return priced
    moves, share = plan.histogram_moves, priced.bounds_share
    noisy = releaser.release(f"magnitudes {place}", run.magnitudes(place), moves, share)
    reach = share.noise(moves).reach(1 - _SURE / MAGNITUDES)
    wider = _WIDER_SQUARES if priced.measure.statistic.is_spread else _WIDER
    bound = magnitude(min(last_seen(noisy, reach) + wider, MAGNITUDES - 1))
    return priced.within(Interval(-bound, bound))


def _centred(plan: PricedPlan, run: Run, releaser: Releaser, place: int, priced: PricedMeasure) -> PricedMeasure:
    """A mean with the place where its values lie: the median of the units' averages, and how far most are from it.

    A variance takes twice that distance, since what is farther counts by its square.
    """
    if not priced.measure.statistic.is_centred:
        return priced
    assert priced.interval is not None
    noisy, reach = _averages(plan, run, releaser, place, priced)
    low, middle, high = (quantile_bin(noisy, reach, Fraction(share, 10)) for share in (1, 5, 9))
    if low is None or middle is None or high is None:
        half = priced.interval.width / 2
        # Bought bounds are far wider than the values seen: as far as these, and twice as far for a variance, is enough.
        wider = _WIDER_SQUARES - 1 if priced.measure.statistic.is_spread else _WIDER
        seen = 2**wider if priced.bounds_share else 1
        return priced.around(Centre(priced.interval.low + half, half / seen))
    centre = min(max(signed_bin_middle(middle), priced.interval.low), priced.interval.high)
    far = max(abs(signed_bin_middle(bin) - centre) for bin in (low, high))
    spread, finest = max(far, abs(centre) / 2), priced.interval.width / 2**20
    if priced.measure.statistic.is_spread:
        spread, finest = 2 * spread, priced.interval.width / 2**12
    return priced.around(Centre(centre, min(max(spread, finest), priced.interval.width)))


def _averages(
    plan: PricedPlan, run: Run, releaser: Releaser, place: int, priced: PricedMeasure
) -> tuple[list[int], int]:
    """Where units have their averages, and what noise alone does not exceed: by a sample, or else by all others.

    No unit is in both, so they are parts of one histogram: its share pays for both, also where the first part decides
    whether the second one is asked for.
    """
    moves, share = plan.histogram_moves, priced.centre_share
    reach = share.noise(moves).reach(1 - _LIKELY / (2 * SIGNED))

    def look(among: Among, label: str = f"averages {place}") -> list[int]:
        return releaser.release(label, run.averages(place, priced, among), moves, share)

    if not plan.bound.table.unit.columns:
        return look(Among.ALL), reach
    sample = look(Among.SAMPLE)
    return sample if _says_enough(sample, reach) else look(Among.OTHERS, f"averages {place}{REST}"), reach


def _says_enough(noisy: list[int], reach: int) -> bool:
    """Whether averages of a sample say where most lie: many units are seen, and few are near them without being seen.

    Else outer deciles of what is seen would be too close, where averages have many magnitudes.
    """
    seen = [bin for bin, count in enumerate(noisy) if count > reach]
    if not seen:
        return False
    near = noisy[max(0, seen[0] - _BESIDE) : seen[-1] + _BESIDE + 1]
    many = sum(noisy[bin] for bin in seen)
    return many > _ENOUGH * reach and sum(near) - many <= _UNSEEN * many


def _influences(
    plan: PricedPlan, run: Run, releaser: Releaser, place: int, priced: PricedMeasure
) -> tuple[int, ...] | None:
    if priced.declared_limit is not None:
        return None
    exact = run.influences(place)
    assert len(exact) == BINS
    return tuple(releaser.release(f"influences {place}", exact, plan.histogram_moves, priced.limit_share))


def _limit(plan: PricedPlan, priced: PricedMeasure, influences: tuple[int, ...] | None, groups: int) -> Limit:
    """The limit C: declared, or chosen from the bought histogram, and never more than the noise can carry."""
    largest = priced.share.largest()
    if influences is None:
        assert priced.declared_limit is not None
        return Limit(min(priced.declared_limit, largest), closed=False)
    tails = _tails(influences, plan.histogram_moves, _LIKELY, priced)
    variance, cells = priced.share.variance(), groups * priced.cells
    if priced.measure.statistic is Statistic.QUANTILES:
        variance, cells = _AROUND * priced.looks.around.variance(), groups
    statistic = priced.measure.statistic
    counts = statistic.is_count or statistic is Statistic.QUANTILES
    cells = max(1, cells)  # perhaps no key was found
    chosen = choose(tails, variance, cells, counts=counts, centred=statistic.is_centred)
    if statistic is Statistic.DISTINCT:  # a unit keeps whole values, so what is left of the last one counts nothing
        chosen = Limit(max(ROW, chosen.steps // ROW * ROW), chosen.closed)
    return Limit(min(chosen.steps, largest), chosen.closed)


def _lost(plan: PricedPlan, priced: PricedMeasure, influences: tuple[int, ...] | None, limit: Limit) -> int | None:
    """About what a limit takes away at most; None: nobody knows."""
    if influences is None:
        return 0
    return _tails(influences, plan.histogram_moves, _LIKELY, priced).taken(limit)


def _smaller(plan: PricedPlan, priced: PricedMeasure, influences: tuple[int, ...] | None, limit: Limit) -> int:
    """The limit with which a quantile's place is found: as if units with many rows had values much like all others'."""
    if influences is None:
        return limit.steps
    tails = _tails(influences, plan.histogram_moves, _LIKELY, priced)
    noise = math.sqrt(_AROUND * priced.looks.place.variance())
    edges = [tails.edge(bin) for bin in range(tails.top + 1) if priced.row_steps <= tails.edge(bin) < limit.steps]
    return min([*edges, limit.steps], key=lambda steps: (noise * steps) ** 2 + (tails.lost(steps, False) / _ALIKE) ** 2)
