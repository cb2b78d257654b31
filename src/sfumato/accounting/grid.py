"""A pair on an equidistant grid of losses, once from above and once from below.

Claim: the hockey-stick curve of `dominating` is nowhere below that of the pair, that of `dominated` nowhere above it.
Proof: docs/proofs/accounting.md, section 4. From above: the masses between two grid points are split onto both so that
P and Q keep them ("connect the dots", Doroshenko et al. 2022). From below: masses are merged, which is post-processing,
with just so much of the next lower mass that the merged loss is a grid point. Both errors are of second order in the
grid. Every float of the pair may be off by its stated precision; that is taken outward here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.pair import PRECISION, Floats, KeyDomain, Pair

LARGEST_LOSS = 600.0  # beyond it: for the upper bound infinite, for the lower bound this
_TINY = 1e-290  # what a pair may round to zero
_LEAST = 1e-305  # masses below it are counted as this, so that their logarithms and quotients are finite
_ROUNDING = 16 * 2.0**-53  # of the few operations between a pair's masses and the grid's
ALIGNED = 2.0**-16  # of a step: a loss so little below a grid point counts as there; `distribution` takes it off again
_CHEAP = 4  # what a unit of variance costs in units of loss, about: only accuracy depends on it
_LIFT = 1 / 8  # of a cell: lifts the cells of the lower bound so that smooth losses merge just above a grid point


@dataclass(frozen=True, slots=True)
class Masses:
    """P-masses at the losses (first + i) * step, and at infinity."""

    first: int
    finite: Floats
    infinite: float


def _differences(below: Floats, above: Floats) -> tuple[Floats, Floats]:
    """Masses between neighboring edges and how far off they may be, each from the smaller of its two tails."""
    lower = below[1:] < above[:-1]
    mass = np.maximum(np.where(lower, np.diff(below), -np.diff(above)), 0.0)
    size = np.where(lower, below[1:], above[:-1])
    return mass, 2 * PRECISION * size + _ROUNDING * mass + _TINY


def _indices(pair: Pair, step: float, tail: float) -> tuple[int, int]:
    low, high = (min(max(end, -LARGEST_LOSS), LARGEST_LOSS) for end in pair.window(tail))
    return math.floor(low / step) - 1, math.ceil(high / step) + 1


def dominating(pair: Pair, step: float, tail: float) -> Masses:
    """Masses whose curve is nowhere below the pair's."""
    first, last = _indices(pair, step, tail)
    edges: Floats = np.arange(first, last + 1, dtype=np.float64) * step
    below_p, below_q = pair.below(edges)
    above_p, above_q = pair.above(edges)
    p, slack = _differences(below_p, above_p)
    q, slack_q = _differences(below_q, above_q)
    p += slack
    q = np.maximum(q - slack_q, 0.0)
    raised = np.clip((p - q * np.exp(edges[:-1])) / -math.expm1(-step), 0.0, p)
    finite = np.zeros(last - first + 1)
    finite[1:] = raised
    finite[:-1] += p - raised
    finite[0] += float(below_p[0]) * (1 + PRECISION) + _TINY
    infinite = float(above_p[-1]) * (1 + PRECISION) + _TINY
    for loss, p_atom, _ in pair.key_domains:
        mass = p_atom * (1 + 2 * PRECISION)
        loss = max(loss + PRECISION * abs(loss), first * step) if mass else 0.0
        if loss > LARGEST_LOSS:
            infinite += mass
        elif mass:
            place = math.floor(loss / step)
            up = mass * min(1.0, math.expm1(place * step - loss) / math.expm1(-step))
            finite[place - first] += mass - up
            finite[place - first + 1] += up
    return Masses(first, np.maximum(finite, _LEAST), infinite)


def dominated(pair: Pair, step: float, tail: float) -> Masses:
    """Masses whose curve is nowhere above the pair's."""
    first, last = _indices(pair, step, tail)
    inner: Floats = (np.arange(first, last + 1, dtype=np.float64) - 0.5 + _LIFT) * step
    edges = np.concatenate([[-math.inf], inner, [math.inf]])
    below_p, below_q = _with_ends(*pair.below(inner), pair, -1)
    above_p, above_q = _with_ends(*pair.above(inner), pair, 1)
    p, slack = _differences(below_p, above_p)
    q, slack_q = _differences(below_q, above_q)
    p = np.maximum(p - slack, 0.0)
    q = q + slack_q
    infinite = _add_atoms(pair.key_domains, edges, p, q)
    kept = p > 0
    p, q, least = p[kept], q[kept], edges[:-1][kept]
    most = np.exp(-np.where(np.isfinite(least), least, 0.0)) * p  # no loss of a cell is below its lower edge
    q = np.maximum(np.where(np.isfinite(least), np.minimum(q, most), q), _LEAST)
    return Masses(first, _pulled_down(p, q, step, first, last), infinite)


def _with_ends(p: Floats, q: Floats, pair: Pair, side: int) -> tuple[Floats, Floats]:
    """Tail masses at the inner edges, and at -infinity and +infinity: nothing at one end, all at the other."""
    far = np.array([-side * math.inf])
    everything = (pair.above if side > 0 else pair.below)(far)
    ends = [(np.zeros(1), total) if side < 0 else (total, np.zeros(1)) for total in everything]
    return tuple(  # type: ignore[return-value]
        np.concatenate([left, middle, right]) for (left, right), middle in zip(ends, (p, q), strict=True)
    )


def _add_atoms(key_domains: tuple[KeyDomain, ...], edges: Floats, p: Floats, q: Floats) -> float:
    """Put each atom into its cell; return the mass at infinity."""
    infinite = 0.0
    for loss, p_atom, _ in key_domains:
        if loss == math.inf:
            infinite += p_atom * (1 - PRECISION)
        elif p_atom > 0:
            cell = int(np.searchsorted(edges, loss)) - 1
            mass = p_atom * (1 - 2 * PRECISION)
            p[cell] += mass
            q[cell] += mass * math.exp(PRECISION * abs(loss) - loss) if loss > -LARGEST_LOSS else math.inf
    return infinite


def _pulled_down(p: Floats, q: Floats, step: float, first: int, last: int) -> Floats:
    """Merge each mass with just so much of the next lower ones that its loss falls onto the grid point below it."""
    finite = np.zeros(last - first + 1)
    loss = np.log(p) - np.log(q)
    order = np.argsort(-loss, kind="stable") if np.any(np.diff(loss) < 0) else slice(None, None, -1)
    p, q, loss = p[order], q[order], loss[order]
    target = np.clip(np.floor(loss / step + ALIGNED), first - 1, last).astype(np.int64)
    if len(target) == 0:
        return finite
    starts = np.flatnonzero(np.diff(target, prepend=target[0] + 1))
    p, q, target = np.add.reduceat(p, starts), np.add.reduceat(q, starts), target[starts]
    heights = np.exp(target * step)
    places, masses, rest = _smooth(p, q, heights) or _greedy(p, q, heights)
    real = target[places] >= first
    finite[target[places][real] - first] = masses[real]
    if target[places[-1]] >= first:
        _raise_lowest(finite, int(target[places[-1]]) - first, rest, step)
    return finite


Mergers = tuple[NDArray[np.int64], Floats, float]  # heads of mergers, their masses, the spare loss of the lowest one


def _smooth(p: Floats, q: Floats, heights: Floats) -> Mergers | None:
    """The same as `_greedy`, in vector operations, where each mass needs at most half of the next lower one."""
    lack, spare = heights[:-1] * q[1:] - p[1:], np.maximum(p - heights * q, 0.0)
    if np.any(2 * spare[:-1] > lack):
        return None
    want = spare[:-1] / lack
    most = float(want.max(initial=2.0**-53))
    left = np.ones(len(p))
    for _ in range(math.ceil(-54 / math.log2(most))):  # left[k + 1] = 1 - want[k] left[k], to the last bit
        left[1:] = 1 - want * left[:-1]
    mass = left * p
    mass[:-1] += (1 - left[1:]) * p[1:]
    return np.arange(len(p)), mass, float(left[-1] * spare[-1])


def _greedy(p: Floats, q: Floats, heights: Floats) -> Mergers:
    """From the top, each mass takes what it needs of those below it, whole or in part."""
    lack_below, spare_here = np.append(heights[:-1] * q[1:] - p[1:], 0.0), p - heights * q
    lacks, ps, spares = lack_below.tolist(), p.tolist(), spare_here.tolist()
    places, masses, count = [], [], len(ps)
    here, share, spare = 0, 1.0, 0.0
    while here < count:
        mass, spare = share * ps[here], share * spares[here]
        after, share = here + 1, 1.0
        lack = lacks[here]
        while spare > 0.0 and after < count:
            if lack >= spare:
                share = 1.0 - spare / lack
                mass += (1.0 - share) * ps[after]
                spare = 0.0
            else:
                spare -= max(lack, 0.0)
                mass += ps[after]
                after += 1
                lack = float(heights[here] * q[after] - p[after]) if after < count else 0.0
        places.append(here)
        masses.append(mass)
        here = after
    return np.array(places), np.array(masses), spare


def _raise_lowest(finite: Floats, lowest: int, spare: float, step: float) -> None:
    """Raise the lowest mass, which has nothing below it, to the next grid point by giving it some of those above."""
    mass = float(finite[lowest])
    need = mass * math.expm1(step) - spare * math.exp(step)  # of P - exp(loss) Q at the next grid point, below zero
    above = finite[lowest + 2 :]
    room = np.cumsum(above * -np.expm1(-step * np.arange(1, len(above) + 1)))
    enough = int(np.searchsorted(room, need))
    # Giving the spare loss up costs `spare`; raising costs variance, `need` times how far up it has to be gathered.
    if enough == len(room) or spare <= _CHEAP * need * step * (enough + 1):
        return
    over = (float(room[enough]) - need) / -math.expm1(-step * (enough + 1))
    finite[lowest] = 0.0
    finite[lowest + 1] += mass + float(above[: enough + 1].sum()) - over
    above[:enough] = 0.0
    above[enough] = over
