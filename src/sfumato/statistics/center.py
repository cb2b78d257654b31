"""Values measured from a center: what means and variances have in common. Proof: docs/proofs/means.md, section 1.

With y the distance of a value from a center in spreads, a row gives parts that add up to one row, so noise is in
proportion to the spread and not to the largest value. Where bounds and the rows of a unit are declared, the center is
the middle of the bounds and the limit follows: nothing has to be estimated. A twentieth of the share still looks where
the units' averages lie, and is used only where the bounds turn out to be far too wide. Otherwise a tenth estimates the
center, and another tenth the limit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from sfumato.statistics.contribution import HALVES, quantile_bin, signed_bin_middle
from sfumato.statistics.contribution_histogram import ContributionHistogram, Limit, choose
from sfumato.statistics.row_sql import RowSql
from sfumato.statistics.share import Share
from sfumato.statistics.statistic import FEW, NONE, TENTH, Center, Priced, Shares, Statistic
from sfumato.statistics.steps import DIGITS

_TWENTIETH = Fraction(1, 20)
_TOO_WIDE = 8  # times the spread that was seen, in half the width of the bounds: then a limit is worth its price
_MANY = 8  # times what noise may do, in units that are seen: fewer are no reason to doubt the bounds
_ENOUGH = 32  # times what noise may do, in units that are seen: fewer do not say where all lie
_BESIDE, _UNSEEN = 4 * HALVES, Fraction(1, 20)  # bins about those that are seen, and how many may be in others of them


class Centered(Statistic):
    """A statistic of the distances of values from their center."""

    spread_factor: ClassVar[int] = 1  # of the distance to the outer deciles
    finest_digits: ClassVar[int] = 20  # a spread is at least this part of the range, as a power of two

    def declared_rows(self, asked: int | None, most: int | None) -> int | None:
        """A small declared maximum is taken: to estimate a smaller limit costs more than it saves."""
        return most if asked is None and most is not None and most <= FEW else asked

    def divide(self, share: Share, *, has_range: bool, has_limit: bool) -> Shares:
        """A tenth each for the limit, for the center, and for bounds that are missing; or a twentieth for a look."""
        if has_range and has_limit:
            look = share.part(_TWENTIETH)
            return Shares(share.less(look), share.part(NONE), share.part(NONE), look)
        for_limit, for_center = share.part(TENTH), share.part(TENTH)
        for_bounds = share.part(NONE if has_range else TENTH)
        return Shares(share.less(for_limit, for_bounds, for_center), for_limit, for_bounds, for_center)

    def declared_limit(self, priced: Priced) -> int | None:
        """None: how far rows lie from a center that was estimated is not declared."""
        if priced.rows is None or priced.center is None or not priced.center.is_declared:
            return None
        return priced.rows * priced.row_steps

    def row_steps(self, priced: Priced) -> int:
        """A power of two such that the value farthest from the center has at most 2**30 steps."""
        return 1 << max(0, self._most_digits(_digits(priced)))

    def _most_digits(self, farthest: int) -> int:
        return DIGITS - 1 - farthest

    def largest_contribution(self, priced: Priced, rows: int) -> int:
        """Of rows at the farthest end; a row at the center has the steps of one row as well."""
        away = math.ceil(_farthest(priced) * priced.row_steps) + 1
        return rows * (max(self._row_size(away, priced.row_steps), priced.row_steps) + 2)

    @abstractmethod
    def _row_size(self, away: int, row_steps: int) -> int:
        """The steps of a row so far from the center."""

    def is_nonnegative(self, priced: Priced) -> bool:
        """A row beyond the spread gives less than nothing to one of its parts."""
        return False

    def away(self, row: RowSql, priced: Priced) -> str:
        """The distance of a value from the center in steps, at most 2**30 by the choice of the steps."""
        return f"CAST({self.away_double(row, priced)} AS BIGINT)"

    def away_double(self, row: RowSql, priced: Priced) -> str:
        """The same as a double, which is a whole number.

        It is cut at what exact arithmetic allows. Doubles of bounds that lie closer together than a double can tell
        are much farther apart than the bounds: without the cut some rows would overflow, and so fail by their values.
        """
        assert priced.value_range is not None
        assert priced.center is not None
        distance = f"({row.clipped(priced.value_range)} - {row.dialect.real(priced.center.middle)})"
        steps = f"floor({row.dialect.scaled(distance, priced.row_steps / priced.center.spread)} + 0.5)"
        most = Fraction(priced.row_steps << _digits(priced))
        return f"greatest(least({steps}, {row.dialect.real(most)}), {row.dialect.real(-most)})"

    def center(self, priced: Priced, averages: Sequence[int], reach: int) -> Center:
        """The middle of the bounds; or the median of the units' averages, and how far most are from it."""
        values = priced.value_range
        assert values is not None
        found = self._seen_center(priced, averages, reach)
        if priced.rows is None or priced.bounds_share:
            return found
        declared = Center(values.low + values.width / 2, values.width / 2, is_declared=True)
        many = sum(count for count in averages if count > reach)
        pays = many > _MANY * reach and found.spread * _TOO_WIDE <= declared.spread
        return found if pays else declared

    def _seen_center(self, priced: Priced, averages: Sequence[int], reach: int) -> Center:
        values = priced.value_range
        assert values is not None
        low, middle, high = (quantile_bin(averages, reach, Fraction(share, 10)) for share in (1, 5, 9))
        if low is None or middle is None or high is None:
            half = values.width / 2
            # Estimated bounds are far wider than the values that were seen: as far as these is enough.
            seen = 2 ** (self.octaves_beyond - (self.spread_factor - 1)) if priced.bounds_share else 1
            return Center(values.low + half, half / seen)
        center = min(max(signed_bin_middle(middle), values.low), values.high)
        far = max(abs(signed_bin_middle(bin) - center) for bin in (low, high))
        spread, finest = self.spread_factor * max(far, abs(center) / 2), values.width / 2**self.finest_digits
        return Center(center, min(max(spread, finest), values.width))

    def choose_limit(self, histogram: ContributionHistogram, priced: Priced, groups: int) -> Limit:
        """By the error; the declared maximum is covered where that costs little."""
        cells = max(1, groups * self.cells)
        return choose(histogram, priced.share.variance(), cells, counts=False, centered=True)

    def is_predictable(self, priced: Priced) -> bool:
        """It depends on how many rows there are, which is private."""
        return False


def says_enough(noisy: Sequence[int], reach: int) -> bool:
    """Whether averages of a sample say where most lie: many units are seen, and few are near them without being seen.

    Else outer deciles of what is seen would be too close, where averages have many magnitudes.
    """
    seen = [bin for bin, count in enumerate(noisy) if count > reach]
    if not seen:
        return False
    near = noisy[max(0, seen[0] - _BESIDE) : seen[-1] + _BESIDE + 1]
    many = sum(noisy[bin] for bin in seen)
    return many > _ENOUGH * reach and sum(near) - many <= _UNSEEN * many


def _farthest(priced: Priced) -> Fraction:
    """How many spreads from the center a value can be."""
    assert priced.value_range is not None
    assert priced.center is not None
    ends = (priced.value_range.low, priced.value_range.high)
    return max(abs(end - priced.center.middle) for end in ends) / priced.center.spread


def _digits(priced: Priced) -> int:
    return math.ceil(_farthest(priced)).bit_length()
