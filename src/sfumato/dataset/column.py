"""What may be said in public about one column of a private table.

Bounds and keys are declared, never read from the data: whoever sees them would learn the largest income.

>>> column(bounds=(0, 200_000)).bounds.high
Fraction(200000, 1)
>>> column(keys=range(3)).keys
(0, 1, 2)
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sfumato import checks
from sfumato.dataset.keys import Key, dates, in_kind, read_keys
from sfumato.dataset.kind import UNSCALED, Kind, kind_of, may_be_read_as, read_kind, scale_named
from sfumato.errors import InvalidArgument
from sfumato.phrases import Dates, Phrase, Setting
from sfumato.suggestions import takes

__all__ = ["Bounds", "Column", "Key", "column", "dates"]


_DATES = Phrase("for dates declare ", Setting("keys", Dates("2026-01-01", "2026-12-31")))
_NUMBERS = Phrase("declare ", Setting("type", "double"), " if it holds numbers")


@dataclass(frozen=True, slots=True)
class Bounds:
    """An interval that holds every value, after clipping."""

    low: Fraction
    high: Fraction

    @classmethod
    def read(cls, low: checks.Number, high: checks.Number) -> Bounds:
        """Check two declared numbers."""
        bounds = cls(checks.number(low=low), checks.number(high=high))
        if bounds.low >= bounds.high:
            raise InvalidArgument(f"bounds must be (low, high) with low below high; got ({low!r}, {high!r}); turn them")
        return bounds

    @property
    def largest(self) -> Fraction:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True, slots=True)
class Column:
    """The public declaration of a column; kind None: as the source says.

    `scale` is how many digits after the point decimals have, None for doubles; `misses`: they were computed, so that a
    double may miss the decimal that it stands for by its last digit.
    """

    kind: Kind | None = None
    bounds: Bounds | None = None
    keys: tuple[Key, ...] | None = None
    scale: int | None = field(default=None, repr=False)
    misses: bool = field(default=False, repr=False)

    def of_kind(self, kind: Kind) -> Column:
        """The same column, its kind known; refuses a declaration that does not fit it."""
        if self.bounds is not None and not kind.is_number:
            advice = _DATES if kind in (Kind.DATE, Kind.TIMESTAMP) else _NUMBERS
            raise InvalidArgument(f"bounds must belong to numbers; got a column of type {kind}", fix=advice)
        return replace(self, kind=kind, keys=None if self.keys is None else in_kind(self.keys, kind))

    def stored_as(self, stored: Kind, scale: int | None = None) -> Column:
        """The same column in a source that stores this kind; a declared type must be one that it can be read as."""
        if self.kind is None:
            return replace(self.of_kind(stored), scale=scale)
        if self.scale is not None and scale is not None:  # the digits that are there, not those that were declared
            return replace(self.of_kind(self.kind), scale=scale)
        if not may_be_read_as(stored, self.kind):
            raise InvalidArgument(f"type must be one that {stored} can be read as; got {self.kind}; convert the column")
        return self.of_kind(self.kind)

    def untyped(self) -> Column:
        """The same column in a source without types: the declaration decides, and without one it is text.

        >>> column(bounds=(0, 1)).untyped().kind, column(keys=[1, 2]).untyped().kind, column().untyped().kind
        (<Kind.REAL: 'DOUBLE'>, <Kind.INTEGER: 'BIGINT'>, <Kind.TEXT: 'VARCHAR'>)
        """
        if self.kind is not None:
            return self.of_kind(self.kind)
        if self.keys is not None:
            return self.of_kind(kind_of(self.keys[0]))
        return self.of_kind(Kind.TEXT if self.bounds is None else Kind.REAL)


@takes("the column's own name stands before it: columns={'age': sf.column(bounds=(0, 120))}")
def column(
    *,
    type: str | None = None,
    bounds: tuple[checks.Number, checks.Number] | None = None,
    keys: Iterable[Key] | None = None,
) -> Column:
    """Declare a column: its type, the bounds of its values, or the keys by which it may be grouped."""
    listed = None if keys is None else read_keys(keys)
    interval = None if bounds is None else Bounds.read(*_two(bounds))
    kind = None if type is None else read_kind(type)
    # A declared number of digits is not enforced on values, so it is not relied on.
    scale = UNSCALED if type is not None and scale_named(type) is not None else None
    declared = Column(kind, interval, listed, scale)
    return declared if kind is None else declared.of_kind(kind)


def _two(bounds: object) -> tuple[checks.Number, checks.Number]:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise InvalidArgument(f"bounds must be two numbers (low, high); got {bounds!r}; for example (0, 100)")
    if any(isinstance(bound, (datetime.date, str)) for bound in bounds):
        raise InvalidArgument(f"bounds must be two numbers (low, high); got {bounds!r}", fix=_DATES)
    return bounds[0], bounds[1]
