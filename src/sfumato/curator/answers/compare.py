"""Groups of one answer compared: differences, ratios, shares of the total, with intervals and at no cost.

Counts and sums are compared by what was released of them (`released`). Of other columns (means, spreads, quotients) the
answer keeps a second interval with half the probability of a miss, so that two of them together hold as often as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato import charts
from sfumato.curator.answers.released import Released, released_of
from sfumato.curator.answers.rows import Row, rows_for
from sfumato.curator.measurement.measure import Measured
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.plan.pricing.price import PricedPlan, measured
from sfumato.statistics.estimate import Estimate
from sfumato.suggestions import nearest

Pair = tuple[float, float] | None
MOST_ROWS = 10_000  # of an answer that keeps second intervals


@dataclass(frozen=True, slots=True)
class Basis:
    """What comparisons are made from: released numbers by column, second intervals by column, and how many groups."""

    released: Mapping[str, Released] = field(default_factory=dict)
    seconds: Mapping[str, Sequence[Pair]] = field(default_factory=dict)
    groups: int = 0


def basis_of(plan: PricedPlan, found: Sequence[Measured], rows: Sequence[Row]) -> Basis:
    """What comparisons of an answer's groups are made from."""
    released = released_of(plan, found, rows)
    names = [c.name for c in plan.bound.shown if c.name not in released and measured(c.expression)]
    if not names or not 2 <= len(rows) <= MOST_ROWS:
        return Basis(released, {}, len(found[0].cells))
    miss = 1 - plan.confidence  # shared by two groups, or by all of them where all intervals hold at once
    again = rows_for(plan, found, [row.key for row in rows], miss / (len(found[0].cells) if plan.simultaneous else 2))
    return Basis(released, {name: [row.intervals[name] for row in again] for name in names}, len(found[0].cells))


@dataclass(frozen=True, slots=True)
class Groups:
    """The rows of an answer by their keys."""

    keys: tuple[str, ...]
    rows: Sequence[Mapping[str, Any]]
    basis: Basis

    def difference(self, column: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Estimate:
        """One group less another."""
        released = self.basis.released.get(column)
        if released is not None:
            return released.difference(*self._two(one, other))
        first, second = self._single(column, one, other)
        return first + -second

    def ratio(self, column: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Estimate:
        """One group divided by another."""
        released = self.basis.released.get(column)
        found: Estimate | None
        if released is not None:
            found = released.ratio(*self._two(one, other))
        else:
            first, second = self._single(column, one, other)
            inverse = second.inverse()
            found = None if inverse is None else first * inverse
        if found is None:
            raise InvalidArgument(f"a ratio must have a divisor other than zero; got 0 for {_words(other)}; turn it")
        return found

    def shares(self, column: str) -> list[Estimate | None]:
        """Each row's part of the sum over all groups."""
        if column not in self.basis.released:
            raise InvalidArgument(f"a share of the total must be of a count or a sum; got {column!r}; {self._known()}")
        return self.basis.released[column].shares()

    def _known(self) -> str:
        return f"choose {' or '.join(self.basis.released)}" if self.basis.released else "this answer keeps none"

    def _two(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[list[int], list[int]]:
        """The rows of two groups; a group by some of the keys is the sum over the others."""
        first, second = self._matching(one), self._matching(other)
        if set(first) & set(second):
            raise InvalidArgument(
                f"two groups must have no row in common; got {_words(one)} and {_words(other)}; name other keys"
            )
        return first, second

    def _single(self, column: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[Estimate, Estimate]:
        first, second = self._two(one, other)
        if len(first) > 1 or len(second) > 1:
            raise InvalidArgument(
                f"each group must be one row, since {column!r} does not add up; got {len(first)} and {len(second)}; "
                f"name all of {', '.join(self.keys)}"
            )
        if column not in self.basis.seconds:
            raise UnknownName(
                f"column {column!r} cannot be compared; {nearest(column, {*self.basis.released, *self.basis.seconds})}"
            )
        return self._estimate(column, first[0]), self._estimate(column, second[0])

    def _estimate(self, column: str, row: int) -> Estimate:
        value, pair = self.rows[row][column], self.basis.seconds[column][row]
        if value is None or pair is None:
            raise InvalidArgument(f"both groups must have a value; got NULL for {column!r}; name other groups")
        return Estimate(value, *pair)

    def _matching(self, group: Mapping[str, Any]) -> list[int]:
        if not isinstance(group, Mapping) or not group:
            raise InvalidArgument(f"a group must map keys to values; got {group!r}; for example {{'region': 'north'}}")
        for name in group:
            if name not in self.keys:
                raise UnknownName(f"unknown key {name!r}; {nearest(str(name), self.keys)}")
        found = [
            place
            for place, row in enumerate(self.rows)
            if all(_same(row[name], value) for name, value in group.items())
        ]
        if not found:
            raise InvalidArgument(f"a group must be in the answer; got {_words(group)}, which is not; look at its rows")
        if len(found) > 1 and len(self.rows) < self.basis.groups:
            raise InvalidArgument(
                f"a group must be one row, since HAVING or LIMIT left rows out; got {_words(group)} with {len(found)}; "
                f"name all of {', '.join(self.keys)}"
            )
        return found


def _same(key: Any, given: Any) -> bool:
    """Whether a key is meant; dates may be written as texts."""
    return bool(key == given) or (isinstance(given, str) and charts.in_words(key) == given)


def _words(group: Mapping[str, Any]) -> str:
    return " and ".join(f"{name} = {charts.in_words(value)}" for name, value in group.items())
