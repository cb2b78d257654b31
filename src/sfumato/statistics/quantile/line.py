"""Noisy numbers of rows along a line, and the quantiles that follow from them, with intervals.

A quantile is where a balance tips: for the share q of rows, (1 - q) times the rows on the left less q times those on
the right. Below the quantile the balance is negative, above it positive; so the interval ends at the first edge that is
not surely below and after the last that is not surely above. Each end is judged by one edge, the true one, and so holds
with the stated probability however many edges there are. Rows that the limit took away may be on either side.

A minimum is the value that a few rows lie below: fewer could be one unit's. Its interval begins where the values may.
Proof: docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist

import numpy as np

from sfumato.mechanisms._noise.noise import GaussianNoise, LaplaceNoise
from sfumato.statistics.estimate import Estimate
from sfumato.statistics.quantile.ruler import FIRST_OCTAVE, Ruler, simplest
from sfumato.statistics.steps import ROW

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
_KURTOSIS = 3  # of Laplace noise, beyond a normal one's
_NARROW = 1 << 16  # parts of the line, or of a value's size
_MANY = 8  # an eighth of all rows in a narrow cell is many
_SEEN = 2  # deviations of the noise
_BEYOND = 5  # deviations of the noise: so many rows lie beyond a minimum or a maximum


@dataclass(frozen=True)
class Line:
    """Noisy numbers of rows (in steps) between edges, which are addresses of a ruler."""

    ruler: Ruler
    edges: tuple[int, ...]
    counts: tuple[int, ...]
    noise: LaplaceNoise | GaussianNoise
    empty: frozenset[int] = frozenset()  # cells that are taken for empty, and so are without noise

    @cached_property
    def left(self) -> Floats:
        """The rows on the left of each edge."""
        return np.concatenate([[0.0], np.cumsum(np.array(self.counts, dtype=float))])

    @property
    def total(self) -> float:
        """All rows."""
        return float(self.left[-1])

    def cleared(self) -> Line:
        """The same with nothing in cells that noise alone may have filled: to find a place, not to measure."""
        least = _SEEN * self.noise.deviation()
        empty = frozenset(cell for cell, count in enumerate(self.counts) if count <= least)
        return replace(self, counts=tuple(0 if c in empty else rows for c, rows in enumerate(self.counts)), empty=empty)

    def balance(self, point: Fraction, beyond: float) -> Floats:
        """The balance at each edge; `beyond` is the number of rows that lie beyond a minimum or a maximum."""
        a, b = _sides(point)
        balance: Floats = a * self.left - b * (self.left[-1] - self.left)
        if point in (0, 1):  # many cells have much noise together, so that more rows are needed to be sure of some
            cells = self._noisy if point == 0 else self._noisy[-1] - self._noisy
            balance -= (1 if point == 0 else -1) * (beyond + _SEEN * self.noise.deviation() * np.sqrt(cells))
        return balance

    @cached_property
    def _noisy(self) -> Floats:
        """The cells with noise on the left of each edge."""
        return np.concatenate([[0.0], np.cumsum([float(cell not in self.empty) for cell in range(len(self.counts))])])

    def reach(self, point: Fraction, miss: float) -> Floats:
        """What the noise in each balance exceeds on one side with probability `miss`, about."""
        a, b = _sides(point)
        below, above = self._noisy, self._noisy[-1] - self._noisy
        squares = a**2 * below + b**2 * above
        fourths = a**4 * below + b**4 * above
        z = -NormalDist().inv_cdf(miss)
        heavy = _KURTOSIS if isinstance(self.noise, LaplaceNoise) else 0
        with np.errstate(invalid="ignore", divide="ignore"):  # no cell on either side: no noise
            tail = np.where(squares > 0, fourths / squares**2, 0.0) * heavy
        reach: Floats = self.noise.deviation() * np.sqrt(squares) * (z + max(0.0, z**3 - 3 * z) / 24 * tail)
        return reach

    def window(self, point: Fraction, beyond: float, lost: float, miss: float) -> tuple[int, int]:
        """The cells, from the first to before the second, in which the quantile lies but with probability 2 `miss`."""
        a, b = _sides(point)
        # SQL's quantile may lie between two rows, of which the balance tips at one: so a row more on either side.
        balance, reach = self.balance(point, beyond), self.reach(point, miss) + ROW
        not_below = np.flatnonzero(balance + a * lost >= -reach)
        not_above = np.flatnonzero(balance - b * lost <= reach)
        last = len(self.edges) - 1
        first = max(0, int(not_below[0]) - 1) if len(not_below) else last - 1
        end = min(last, int(not_above[-1]) + 1) if len(not_above) else 1
        return (first, end) if first < end else (end - 1, first + 1)

    def rising(self, point: Fraction, beyond: float) -> Floats:
        """The balance without what noise makes of it: it never falls."""
        from scipy.optimize import isotonic_regression

        return np.asarray(isotonic_regression(self.balance(point, beyond)).x, dtype=float)

    def tips(self, point: Fraction, beyond: float) -> float:
        """The place, as a number of edges, where the balance tips from negative to positive."""
        rising = self.rising(point, beyond)
        after = int(np.searchsorted(rising, 0.0, side="right"))
        if after in (0, len(rising)):
            return float(after and len(rising) - 1)
        if point in (0, 1):  # few rows are there, and nothing says where in the cell
            return float(after if point == 0 else after - 1)
        before = rising[after - 1]
        return after - 1 + float(-before / (rising[after] - before))

    def address(self, place: float) -> Fraction:
        """The address of a place given as a number of edges."""
        cell = min(int(place), len(self.counts) - 1)
        return self.edges[cell] + Fraction(place - cell) * (self.edges[cell + 1] - self.edges[cell])


@dataclass(frozen=True, slots=True)
class Seen:
    """The last look, around a quantile, and the one that found its place, perhaps with another limit."""

    around: Line
    place: Line


def _sides(point: Fraction) -> tuple[float, float]:
    return 1 - float(point), float(point)


def beyond(noise: LaplaceNoise | GaussianNoise) -> float:
    """How many rows, in steps, lie beyond what is taken for a minimum or a maximum."""
    return _BEYOND * noise.deviation()


def quantile_of(seen: Seen, point: Fraction, lost: float | None, miss: float) -> Estimate:
    """A quantile with its interval; `lost` is what the limit took away at most, None: nobody knows."""
    line, ruler, rows = seen.around, seen.around.ruler, beyond(seen.around.noise)
    better = seen.place if line.total <= 0 else min(seen.place, line, key=lambda each: _unsure(each, point))
    first, end = 0, len(line.edges) - 1
    if lost is not None and line.total > 0:
        first, end = line.window(point, rows, lost, miss / 2)
    low, high = (0 if point == 0 else first), (len(line.edges) - 1 if point == 1 else end)
    ends = _open(ruler, line.edges[low], line.edges[high])
    if better.total <= 0:
        return Estimate(_middle(ruler), *ends)
    below, above = ruler.edge(line.edges[first]), ruler.edge(line.edges[end])
    fullest = max(range(first, end), key=line.counts.__getitem__)
    cell = [ruler.edge(each) for each in line.edges[fullest : fullest + 2]]
    many = line.counts[fullest] * _MANY > max(0, line.total)
    if many and cell[1] - cell[0] <= _narrow(ruler, *cell):  # many equal values, which have few digits
        found = simplest(*cell, closed=line.edges[fullest + 1] == ruler.size)
    else:
        found = _tipping(better, point, rows, inside=point not in (0, 1))
        if point in (0, 1):  # with too few rows to be sure of any beyond it, the middle of all is nearer than the end
            found = (min if point == 0 else max)(found, _tipping(better, Fraction(1, 2), rows))
    value = _rounded(ruler, below, min(max(found, below), above), above)
    return Estimate(value, min(ends[0], value), max(ends[1], value))


def _unsure(line: Line, point: Fraction) -> float:
    """How large the noise of a balance may be."""
    return float(line.reach(point, 0.1).max())


def _tipping(line: Line, point: Fraction, beyond: float, inside: bool = False) -> Fraction:
    """The value where the balance tips; `inside`: not beyond the outermost edges, where nothing says how far."""
    place = line.tips(point, beyond)
    if inside:
        place = min(max(place, 1.0), max(1.0, len(line.counts) - 1.0))
    return line.ruler.edge(min(int(line.address(place)), line.ruler.size - 1))


def _open(ruler: Ruler, low: int, high: int) -> tuple[float, float]:
    """The values at two edges; whole numbers lie before the upper one, and no bounds are no end of the line."""
    below = -math.inf if ruler.low is None and low == 0 else float(ruler.edge(low))
    above = math.inf if ruler.low is None and high == ruler.size else float(ruler.edge(high))
    if ruler.whole:
        below = math.ceil(below) if math.isfinite(below) else below
        above = math.ceil(above) - 1 if math.isfinite(above) else above
    return below, above


def _rounded(ruler: Ruler, below: Fraction, value: Fraction, above: Fraction) -> float:
    """The value; of whole numbers the nearest, among those of the cell if it has any."""
    if not ruler.whole:
        return float(value)
    first, last = math.ceil(below), math.ceil(above) - 1
    nearest = math.floor(value + Fraction(1, 2))
    return float(min(max(nearest, first), last) if first <= last else nearest)


def _narrow(ruler: Ruler, below: Fraction, above: Fraction) -> Fraction:
    """The width of a cell that is far smaller than what its values differ by, unless they are equal."""
    if ruler.low is not None:
        return ruler.size * ruler.width / _NARROW
    if below <= 0 <= above:
        return 4 * Fraction(2) ** FIRST_OCTAVE  # so near to zero all values are alike
    return abs(below) / _NARROW


def _middle(ruler: Ruler) -> float:
    return 0.0 if ruler.low is None else float(ruler.edge(ruler.size // 2))
