"""Quantiles by looking closer and closer at a line of values.

First every unit shows where one of its values lies: that cuts the line into stretches of about as many units. A look at
each group finds in which of them a quantile lies, the next one its place, and the last one looks around that place, for
the interval. Each look adds noise to the numbers of rows between edges; every row that counts is in one cell of its
group, so a unit moves a look by its limit C at most, wherever the edges are. Edges follow from earlier looks, which are
released, never from what is exact. Proof: docs/proofs/quantiles.md.

The last look has the limit that the interval is honest with. Those that find the place may have a smaller one: units
with many rows then count less, which moves a quantile only as far as their values are unlike all others', and the
interval knows how far that can be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from sfumato.curator.measurement.release import Releaser
from sfumato.dataset.column import Key
from sfumato.engines.engine import Integers, Run, Spots, Whole
from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan
from sfumato.statistics.quantile.line import Line, Seen, beyond
from sfumato.statistics.quantile.ruler import Ruler
from sfumato.statistics.share import Share

Group = tuple[Key, ...]
Noise = LaplaceNoise | GaussianNoise
_MISS = 5e-3  # how often a look may lose sight of a quantile; the answer then says so by its interval
_FIRST = 16  # stretches of the line in the first look at groups
_FEWEST, _MOST = 8, 4096  # cells of a stretch
_MANY, _CLEAR = 8, 8  # an eighth of all rows in one cell is many; their noise may be an eighth of them
_ENOUGH = 4  # times fewer cells than wanted are not worth another pass over the rows
_ALL = 1 << 20  # cells of all groups together
_HALVINGS = 12  # of a stretch beyond a minimum or a maximum
_NOTHING = Spots(np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64))
_AROUND = (1, 2, 4, 8, 24)  # deviations of the last look's noise at which it has edges, to both sides


class _Rows:
    """What the engine counted in one group, for both limits: by the first address of a cell, at mixed depths."""

    def __init__(self, starts: Integers, rows: Whole) -> None:
        order = np.argsort(starts)
        self.starts, self.rows = starts[order], rows[order]
        self.sums = np.concatenate([np.zeros((1, rows.shape[1]), dtype=rows.dtype), np.cumsum(self.rows, axis=0)])

    def between(self, edges: Sequence[int], which: int) -> list[int]:
        """The rows between edges, none of which is inside a cell."""
        below = self.sums[np.searchsorted(self.starts, edges), which].tolist()
        return [after - before for before, after in pairwise(below)]

    def opened(self, shut: Iterable[int], inside: Spots) -> _Rows:
        """The same with the cells of some addresses replaced by what is inside them."""
        kept = ~np.isin(self.starts, list(shut))
        return _Rows(np.concatenate([self.starts[kept], inside.cells]), np.concatenate([self.rows[kept], inside.rows]))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Addresses from start to before end, to be cut into so many parts, and edges beside them that are kept.

    Beyond a minimum or a maximum there is mostly nothing: `outward` (1 or -1) has parts that grow in that direction.
    """

    start: int
    end: int
    parts: int
    beside: tuple[int, ...] = ()
    outward: int = 0

    def edges(self) -> list[int]:
        """Where it is cut."""
        width = self.end - self.start
        if not self.outward:
            return [self.start + width * part // self.parts for part in range(self.parts + 1)]
        far = [0, *(width >> power for power in range(_HALVINGS + 1))]
        return [self.start + each if self.outward > 0 else self.end - each for each in far]


@dataclass(frozen=True, slots=True)
class _Cells:
    """Which cells of a group were opened, each with its depth; known from released numbers only."""

    ruler: Ruler
    opened: frozenset[tuple[int, int]] = frozenset()

    def snapped(self, addresses: Iterable[int]) -> tuple[int, ...]:
        """The starts of the smallest cells around addresses, with both ends of the line."""
        size, shifts = self.ruler.size, self.ruler.shifts
        starts = (self._snap(max(0, each), shifts) for each in addresses if each < size)
        return tuple(sorted({0, size, *starts}))

    def _snap(self, address: int, shifts: tuple[int, ...]) -> int:
        for depth, shift in enumerate(shifts):
            if (depth, address >> shift) not in self.opened:
                break
        return address >> shift << shift

    def to_open(self, stretch: _Stretch) -> tuple[int, list[int]] | None:
        """The cells of a stretch that are opened next, and their depth; None: they are small enough as they are."""
        for depth, shift in enumerate(self.ruler.shifts[:-1]):
            cells = range(stretch.start >> shift, ((stretch.end - 1) >> shift) + 1)
            if len(cells) * _ENOUGH >= stretch.parts:
                return None
            if shut := [cell for cell in cells if (depth, cell) not in self.opened]:
                return depth, shut
        return None


def look_closer(
    plan: PricedPlan,
    run: Run,
    releaser: Releaser,
    place: int,
    priced: PricedMeasure,
    limits: tuple[int, int],
    lost: int | None,
) -> dict[Group, Seen]:
    """What was seen of every group.

    The limits are that of the interval, and the smaller one that finds the place; `lost` is about what the first one
    takes away, so that intervals find edges where they end.
    """
    return _Zoom(plan, run, releaser, place, priced, limits, lost or 0).seen()


class _Zoom:
    """The looks at one measure."""

    def __init__(
        self,
        plan: PricedPlan,
        run: Run,
        releaser: Releaser,
        place: int,
        priced: PricedMeasure,
        limits: tuple[int, int],
        lost: int,
    ) -> None:
        self.plan, self.run, self.releaser, self.place, self.priced = plan, run, releaser, place, priced
        self.lost = lost
        self.limits, self.ruler, self.keys = limits, priced.ruler, run.keys()
        self.points = priced.measure.points
        self.most = max(_FEWEST, min(_MOST, _ALL // max(1, len(self.keys) * len(self.points))))
        self.cells = dict.fromkeys(self.keys, _Cells(self.ruler))
        found = run.spots(place, limits, self.ruler.shifts[0], {})
        self.rows = {key: _Rows(*_starts(found.get(key, _NOTHING), self.ruler.shifts[0])) for key in self.keys}

    def seen(self) -> dict[Group, Seen]:
        looks = self.priced.looks
        groups = self._look("groups", 1, looks.groups, dict.fromkeys(self.keys, self._landmarks()))
        noise = self._noise(1, looks.place)
        stretches = {key: self._stretches(groups[key].cleared(), noise) for key in self.keys}
        self._open(stretches)
        places = self._look("place", 1, looks.place, {key: self._cut(key, stretches[key]) for key in self.keys})
        noise = self._noise(0, looks.around)
        stretches = {key: self._equal(places[key], noise) for key in self.keys}
        self._open(stretches)
        edges = {
            key: self.cells[key].snapped([*self._cut(key, stretches[key]), *self._around(places[key], noise)])
            for key in self.keys
        }
        around = self._look("around", 0, looks.around, edges)
        return {key: Seen(around[key], places[key]) for key in self.keys}

    def _noise(self, which: int, share: Share) -> Noise:
        return share.noise(self.plan.moves(self.priced, self.limits[which]))

    def _look(self, name: str, which: int, share: Share, edges: Mapping[Group, tuple[int, ...]]) -> dict[Group, Line]:
        """Noisy numbers of rows between the edges of all groups, weighed with one of the limits."""
        exact = [count for key in self.keys for count in self.rows[key].between(edges[key], which)]
        moves = self.plan.moves(self.priced, self.limits[which])
        noisy = iter(self.releaser.release(f"{name} {self.place}", exact, moves, share))
        return {
            key: Line(self.ruler, edges[key], tuple(next(noisy) for _ in edges[key][1:]), share.noise(moves))
            for key in self.keys
        }

    def _landmarks(self) -> tuple[int, ...]:
        """Edges between which about as many units have their values, for all groups: each unit is counted once."""
        ruler, share, moves = self.ruler, self.priced.looks.landmarks, self.plan.histogram_moves
        edges = (*range(0, ruler.size, ruler.coarse), ruler.size)
        found = self.run.landmarks(self.place, ruler.coarse)
        exact = [found.get(cell, 0) for cell in range(len(edges) - 1)]
        counts = self.releaser.release(f"landmarks {self.place}", exact, moves, share)
        line = Line(ruler, edges, tuple(counts), share.noise(moves)).cleared()
        if line.total <= 0:
            return tuple(sorted({*edges[:: -(-len(edges) // _FIRST)], ruler.size}))
        shares = [Fraction(1, 500), *(Fraction(part, _FIRST) for part in range(1, _FIRST)), Fraction(499, 500)]
        return _Cells(ruler).snapped(int(line.address(line.tips(share, 0.0))) for share in shares)

    def _stretches(self, look: Line, noise: Noise) -> list[_Stretch]:
        """Where the quantiles lie by what a look saw, and into how many cells the next one cuts that."""
        extreme = beyond(self._noise(0, self.priced.looks.around))
        windows = [look.window(point, extreme, 0.0, _MISS) for point in self.points]
        found = []
        # Nothing says where an empty stretch beyond a minimum or a maximum ends, but the place where it seems to.
        for point in self.points:
            cell = int(look.tips(point, extreme))
            if point in (0, 1) and cell < len(look.counts):
                ends = look.edges[cell], look.edges[cell + 1]
                found.append(_Stretch(*ends, self.most, (), -1 if point == 0 else 1))
        for first, end in windows:
            clear = max(0.0, look.left[end] - look.left[first]) / noise.deviation()
            parts = round(math.sqrt(clear))  # more cells would add more noise than they add detail
            if end == first + 1:
                parts = max(parts, self._parts(look, first, noise))
            beside = (*look.edges[max(0, first - 2) : first], *look.edges[end + 1 : end + 3])
            found.append(_Stretch(look.edges[first], look.edges[end], max(_FEWEST, min(self.most, parts)), beside))
        return found

    def _parts(self, look: Line, cell: int, noise: Noise) -> int:
        """Into how many a cell is cut that holds many rows: likely equal values, which deserve many."""
        rows = look.counts[cell]
        if rows * _MANY < look.total:
            return 1
        return min(self.most, round((max(0.0, rows) / noise.deviation() / _CLEAR) ** 2))

    def _equal(self, look: Line, noise: Noise) -> list[_Stretch]:
        """The cells that seem to hold a quantile among many equal values."""
        extreme = beyond(self._noise(0, self.priced.looks.around))
        cells = {min(int(look.tips(point, extreme)), len(look.counts) - 1) for point in self.points}
        return [
            _Stretch(look.edges[cell], look.edges[cell + 1], parts)
            for cell in cells
            if (parts := self._parts(look, cell, noise)) > 1
        ]

    def _open(self, stretches: Mapping[Group, Sequence[_Stretch]]) -> None:
        """Open the cells in which quantiles may lie: one pass over the rows in them for each depth."""
        wanted: dict[int, dict[Group, set[int]]] = {}
        for key, listed in stretches.items():
            for stretch in listed:
                if (found := self.cells[key].to_open(stretch)) is not None:
                    wanted.setdefault(found[0], {}).setdefault(key, set()).update(found[1])
        for depth, opened in wanted.items():
            outer, inner = self.ruler.shifts[depth : depth + 2]
            inside = self.run.spots(self.place, self.limits, inner, opened, outer)
            for key, shut in opened.items():
                self.cells[key] = _Cells(self.ruler, self.cells[key].opened | {(depth, cell) for cell in shut})
                starts = _starts(inside.get(key, _NOTHING), inner)
                self.rows[key] = self.rows[key].opened((cell << outer for cell in shut), starts)

    def _cut(self, key: Group, stretches: Sequence[_Stretch]) -> tuple[int, ...]:
        """Many edges where a quantile may lie, few beside."""
        edges: list[int] = []
        for stretch in stretches:
            edges += [*stretch.edges(), *stretch.beside]
        return self.cells[key].snapped(edges)

    def _around(self, look: Line, noise: Noise) -> list[int]:
        """Edges around the places of quantiles: so many rows away as make a difference to the last look's noise."""
        extreme = beyond(noise)
        edges: list[int] = []
        for point in self.points:
            balance = look.rising(point, extreme)
            # An interval ends where the noise does, and where all rows that are lost would move the quantile to.
            left, right = -self.lost * (1 - float(point)), self.lost * float(point)
            steps = noise.deviation() * np.array(_AROUND)
            apart = np.concatenate([-steps, steps, left - steps, right + steps] if self.lost else [-steps, steps])
            places = np.interp(apart, balance, np.arange(len(balance)))
            edges += [int(look.address(each)) for each in places]
            # Where the noise is small all of these are in one cell: then the interval ends where that does.
            edges += [look.edges[math.floor(places.min())], look.edges[math.ceil(places.max())]]
        return edges


def _starts(spots: Spots, shift: int) -> Spots:
    """The first addresses of cells, with their rows."""
    return Spots(spots.cells << shift, spots.rows)
