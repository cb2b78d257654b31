"""Edges that are bought: from a coarse private histogram to bins that hold about equally many.

Everything here sees released counts only. Where no bounds are declared, a histogram in octaves on both sides of zero
finds them; then one of many narrow bins of equal width says where the values are, and neighbors are joined until each
bin has its part. Beyond them bins grow, so that the few who were not seen are still counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from sfumato.curator.tabulate.histogram import Histogram
from sfumato.dataset.column import Bounds
from sfumato.mechanisms._noise.sums import Term, reach

COARSE = 256
OCTAVES = [-math.inf, *(-(2.0**j) for j in range(40, -11, -1)), 0.0, *(2.0**j for j in range(-10, 41)), math.inf]
_STRETCHES = (1, 4, 16)  # bins that are looked at together
_FALSE = Fraction(1, 100)  # how often noise alone is taken for somebody
_MOST, _FEWEST = 32, 4  # bins
_CLEAR = 5  # a bin should hold so many standard deviations of the coarse noise


def bounds_in(octaves: Histogram) -> Bounds:
    """Bounds from a histogram in octaves: those of the bins in which somebody is seen."""
    seen = _seen(octaves)
    ranges = octaves.axes[0].ranges or []
    low, high = ranges[seen[0]][0], ranges[seen[-1]][1]
    low, high = max(low, -(2.0**41)), min(high, 2.0**41)
    return Bounds(Fraction(low), Fraction(high))


def edges_in(coarse: Histogram) -> list[float]:
    """Edges among those of a coarse histogram, such that bins hold about equally many."""
    edges = coarse.edges[coarse.columns[0]]
    seen = _seen(coarse)
    inside = range(seen[0], seen[-1] + 1)
    total = max(0.0, math.fsum(coarse.counts[place] for place in inside))
    wanted = total / _number(coarse, total)
    chosen, held = [edges[seen[0]]], 0.0
    for place in inside:
        held += coarse.counts[place]
        if held >= wanted or place == inside[-1]:
            chosen, held = [*chosen, edges[place + 1]], 0.0
    below = _outward(-chosen[0], chosen[1] - chosen[0], -edges[0])
    return [*(-edge for edge in reversed(below)), *chosen, *_outward(chosen[-1], chosen[-1] - chosen[-2], edges[-1])]


def _outward(start: float, width: float, end: float) -> list[float]:
    """Edges from where somebody is seen to the end, twice as far apart each time: few are there, if any."""
    found = []
    while start < end:
        start, width = (start + width, 2 * width) if start + 2 * width < end else (end, width)
        found.append(start)
    return found


def _number(coarse: Histogram, total: float) -> int:
    """How many bins the values can fill: not more than the noise allows, and about twice the cube root of how many."""
    usual = coarse.released.noise.deviation() * float(coarse.released.step)
    by_noise, by_size = total / (_CLEAR * usual), 2 * max(0.0, total) ** (1 / 3)
    return max(_FEWEST, min(_MOST, int(by_noise), int(by_size)))


def _seen(found: Histogram) -> list[int]:
    """The bins in which somebody is surely seen, alone or with neighbors; if nobody is, the fullest."""
    counts, step = found.counts, float(found.released.step)
    places: set[int] = set()
    for stretch in _STRETCHES:
        miss = _FALSE / (len(_STRETCHES) * len(counts))
        clear = reach((Term(found.released.noise, step, stretch),), miss)
        for start in range(len(counts) - stretch + 1):
            if not places.intersection(range(start, start + stretch)) and _sum(counts, start, stretch) > clear:
                places.update(range(start, start + stretch))
    return sorted(places) or [max(range(len(counts)), key=lambda place: counts[place])]


def _sum(counts: Sequence[float], start: int, stretch: int) -> float:
    return math.fsum(counts[start : start + stretch])
