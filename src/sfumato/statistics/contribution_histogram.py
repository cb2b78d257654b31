"""What a noisy histogram of contributions says about the largest units, and the limit that follows from it.

`ContributionHistogram` sees released numbers only. Somebody is seen where a stretch of bins holds more than its noise
explains: surely (once in a thousand histograms it is noise) anywhere, and likely right after what is already seen. Up
to the last such bin, and some octaves more where few units are seen, the loss of a limit is bounded for all edges at
once.

Beyond it units may exist that are too few to be seen. What they would have if the numbers went on falling as they do
where they are clear is added to the interval, since incomes, visits and purchases often have such tails; more than that
nobody can say from the histogram, so the answer says how many units there may be. Where the owner declared a maximum,
the loss is bounded up to there; that costs a larger limit, or a wider interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

import numpy as np

from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.statistics.contribution import BINS, ROW_BIN, edge, octave_above, octave_below, octaves

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
STRETCHES = (1, 2, 4, 8)  # bins that are looked at together
_FALSE = Fraction(1, 1000)  # how often noise alone is taken for somebody far out
_LIKELY, _LIKELIEST = 2.5, 4.5  # standard deviations of one bin: right after what is seen, and anywhere
_ENOUGH = 20  # standard deviations of the noise, or units; fewer than that say nothing about the largest
_CLEAR = 5  # standard deviations
_FALLS, _BENDS = 1.3, 1.5  # how much slower than it looks the numbers may fall, for the noise in them

_MAIN = 16  # groups that hold most of what there is, however many there are
_WORTH = 2  # an interval of a sum that covers the declared maximum may be so much wider


@dataclass(frozen=True)
class ContributionHistogram:
    """How many units have more contribution than each edge, noisily, with what the noise may do.

    `counts[j]` is the noisy number of units beyond edge j, `usual[j]` the standard deviation of its noise, `reach[j]`
    what the noise exceeds for no j but with the stated probability. A stretch of STRETCHES[i] bins with more than
    `clear[i]` is surely not empty. `most` is a declared maximum of contribution.
    """

    row_steps: int
    counts: tuple[int, ...]
    usual: tuple[float, ...]
    reach: tuple[int, ...]
    clear: tuple[int, ...]
    total: int
    most: int | None = None

    @classmethod
    def read(
        cls,
        bins: Sequence[int],
        noise: LaplaceNoise | GaussianNoise,
        miss: Fraction,
        *,
        row_steps: int,
        most: int | None = None,
    ) -> ContributionHistogram:
        """The tails of a noisy histogram, right at all edges but with probability `miss`."""
        total = sum(bins)
        sums = tuple(total - below for below in accumulate(bins))
        usual, reach, clear = _profile(noise, miss, len(bins))
        return cls(row_steps, sums, usual, reach, clear, total, most)

    def edge(self, bin: int) -> int:
        """The largest contribution in a bin."""
        return edge(bin, self.row_steps)

    @cached_property
    def last(self) -> int:
        """The last bin in which somebody is seen; if nobody is, the fullest, or that of one row."""
        found, end = -1, len(self.counts) - 1
        for stretch, clear in zip(STRETCHES, self.clear, strict=True):
            for j in range(end + 1 - stretch):
                if j >= found and self.counts[j] - self.counts[j + stretch] > clear:
                    found = j + stretch
        found = found if found >= 0 else self._fullest()
        while (more := self._more(found)) > 0:
            found += more
        return found

    def _fullest(self) -> int:
        inside = [before - after for before, after in pairwise((self.total, *self.counts))]
        return inside.index(max(inside)) if max(inside) > _LIKELIEST * self.usual[-1] else ROW_BIN

    def _more(self, found: int) -> int:
        """How many bins after the last seen one likely hold somebody as well."""
        for stretch in STRETCHES[:3]:
            if found + stretch < len(self.counts):
                inside = self.counts[found] - self.counts[found + stretch]
                if inside > _LIKELY * math.sqrt(stretch) * self.usual[-1]:
                    return stretch
        return 0

    @cached_property
    def top(self) -> int:
        """The bin that seems to hold everybody; where few units are seen, octaves more: noise is known, a loss not."""
        usual = self.usual[ROW_BIN]
        more = 2 if self.total < 100 * usual else 1 if self.total < 1000 * usual else 0
        found = self.last
        for _ in range(more):
            found = octave_above(found)
        return found

    def enough(self) -> bool:
        """Whether enough units are seen to say anything about the largest, and none beyond the last edge.

        A noise of less than one unit still hides a single one, unless it is hardly ever anything but 0.
        """
        least = max(self.usual[ROW_BIN], 1.0) if self.clear[0] else self.usual[ROW_BIN]
        return self.total > _ENOUGH * least and self.last < len(self.counts) - 1

    def lost(self, limit: int, closed: bool) -> int:
        """At most what the limit takes away from all units up to the top, or up to the declared maximum."""
        end = len(self.counts) - 1 if closed else self.top
        ceiling = self.most if closed and self.most is not None else self.edge(end)
        # The last bin of all has no upper edge: who is in it has the declared maximum at most.
        upper = [min(self.edge(j + 1), ceiling) if j + 1 < BINS - 1 else ceiling for j in range(end)]
        return sum(
            max(0, above - max(self.edge(j), limit)) * max(0, self.counts[j] + self.reach[j])
            for j, above in enumerate(upper)
        )

    def continued(self, limit: int) -> int:
        """What units beyond the limit and the top would have if the numbers went on falling as they are seen to."""
        start = self._clear_edge()
        if start == 0:
            return 0
        base, total = max(limit, self.edge(self.top)), 0.0
        count, (ratio, bend) = float(self.counts[start]), self._fall(start)
        ratio = min(ratio, self._step(start) ** (1 / octaves(start)))
        for j in range(start, len(self.counts) - 1):
            width = octaves(j)
            after = count * ratio**width
            total += max(0, self.edge(j + 1) - max(self.edge(j), base)) * (count + after) / 2
            count, ratio = after, ratio * bend**width
            if count < 1:
                break
        return math.ceil(total)

    def _fall(self, start: int) -> tuple[float, float]:
        """The share of units that is left an octave further, and how that share itself changes, at most."""
        half, quarter = octave_below(start), octave_below(octave_below(start))
        units, before, first = (max(1, self.counts[bin]) for bin in (start, half, quarter))
        ratio, earlier = units / max(units, before), max(units, before) / max(units, before, first)
        bend = min(1.0, _BENDS * ratio / earlier)
        return min(_FALLS * ratio * bend, 0.5), bend

    def _step(self, start: int) -> float:
        """The share that is left in the next bin: below 1 only where it is surely a cliff, as at a maximum."""
        left, usual = max(0, self.counts[start + 1]) / self.counts[start], self.usual[start + 1] / self.counts[start]
        return left + usual / 2 if left + 3 * usual < 0.5 else 1.0

    def _clear_edge(self) -> int:
        """The last edge beyond which the number of units is known to a fifth."""
        last = min(self.last, len(self.counts) - 2)
        return next((j for j in range(last, 0, -1) if self.counts[j] > _CLEAR * self.usual[j]), 0)

    def taken(self, limit: Limit) -> int | None:
        """At most what a limit takes away from all units; None: too few are seen to say."""
        if limit.closed:
            return self.lost(limit.steps, closed=True)
        return self.lost(limit.steps, closed=False) + self.continued(limit.steps) if self.enough() else None

    def unseen(self, limit: int) -> int:
        """At most how many units have more contribution than the limit or the top, the larger."""
        beyond = next((j for j in range(self.top, len(self.counts)) if self.edge(j) >= limit), len(self.counts) - 1)
        return max(0, self.counts[beyond] + self.reach[beyond])


@lru_cache(maxsize=256)
def _profile(
    noise: LaplaceNoise | GaussianNoise, miss: Fraction, size: int
) -> tuple[tuple[float, ...], tuple[int, ...], tuple[int, ...]]:
    """What noise does to sums over the bins beyond each, and to stretches: a pure function of public numbers."""
    one, above = noise.deviation(), [size - 1 - j for j in range(size)]
    usual = tuple(math.sqrt(max(1, k)) * one for k in above)
    reach = (*noise.sum_reaches(above[:-1], 1 - miss / size), 0)
    return usual, reach, noise.sum_reaches(STRETCHES, 1 - _FALSE / (len(STRETCHES) * size))


def units_needed(noise: LaplaceNoise | GaussianNoise) -> int:
    """About how many units there must be to say something about the largest."""
    (hidden,) = noise.sum_reaches((1,), 1 - _FALSE / (len(STRETCHES) * BINS))
    usual = math.sqrt(BINS - 1 - ROW_BIN) * noise.deviation()
    return math.ceil(_ENOUGH * (max(usual, 1.0) if hidden else usual))


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit C in steps, and whether the interval covers all units up to the declared maximum."""

    steps: int
    closed: bool


def choose(
    histogram: ContributionHistogram, variance: float, cells: int, *, counts: bool = True, centered: bool = False
) -> Limit:
    """The limit with the least predicted squared error over all cells; with a declared maximum also by the interval.

    The noise of a cell has `variance` times C**2. The loss is the one that the interval will admit, spread over the
    main cells, since nothing says which group it is missing from. The interval of each cell has all of it.

    Where rows are counted and a maximum is declared, the interval covers everybody up to there. A small limit makes it
    wide, a large one makes the value noisy; the limit is the one whose width times error is least. Of sums and means
    the maximum is that of rows times that of values, which nobody comes near: it is covered where that costs little, or
    where too few units are seen to say anything else.
    """
    edges = [histogram.edge(j) for j in range(histogram.top + 1)]
    if histogram.most is None:
        return Limit(_best(histogram, edges, variance, cells), closed=False)
    limits = [*(each for each in edges if each < histogram.most), histogram.most]
    chosen = np.array(limits, dtype=float)
    widths = 2 * math.sqrt(variance) * chosen + _lost(histogram, chosen, BINS - 1, histogram.most)
    if counts:
        errors = variance * chosen**2 + _lost(histogram, chosen, histogram.top, None) ** 2 / (cells * min(cells, _MAIN))
        return Limit(limits[int(np.argmin(widths * np.sqrt(errors)))], closed=True)
    closed = Limit(limits[int(np.argmin(widths))], closed=True)
    if len(limits) == 1 or not (centered or histogram.enough()):
        return closed
    upto = limits if edges[-1] >= histogram.most else limits[:-1]  # somebody may be seen right at the maximum
    seen = _best(histogram, upto, variance, cells)
    if not histogram.enough():  # of a mean hardly anything can be said; its value should be no worse for that
        return Limit(seen, closed=True)
    width = 2 * math.sqrt(variance) * seen + histogram.lost(seen, False) + histogram.continued(seen)
    wide = float(widths.min()) > _WORTH * width
    noisy = centered and closed.steps > _WORTH * seen
    return Limit(seen, closed=False) if wide or noisy else closed


def _best(histogram: ContributionHistogram, limits: Sequence[int], variance: float, cells: int) -> int:
    chosen = np.array(limits, dtype=float)
    errors = cells * variance * chosen**2 + _lost(histogram, chosen, histogram.top, None) ** 2 / min(cells, _MAIN)
    return limits[int(np.argmin(errors))]


def _lost(histogram: ContributionHistogram, limits: Floats, end: int, most: int | None) -> Floats:
    """What each limit takes away at most; in floats, since it only chooses."""
    edges = np.array([histogram.edge(j) for j in range(end + 1)], dtype=float)
    upper = edges[1:] if most is None else np.minimum(np.append(edges[1:-1], math.inf), most)
    units = np.maximum(0, np.array(histogram.counts[:end], dtype=float) + np.array(histogram.reach[:end], dtype=float))
    lost: Floats = np.maximum(0, upper - np.maximum(edges[:-1], limits[:, None])) @ units
    return lost
