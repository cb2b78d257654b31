"""The keys by which a column may be grouped: declared by the owner, therefore public, shown also where nobody has them.

>>> read_keys([0, 0.5, 1])
(0.0, 0.5, 1.0)
>>> [str(day) for day in dates("2026-01-31", "2026-03-31", step="month")]
['2026-01-31', '2026-02-28', '2026-03-31']
"""

from __future__ import annotations

import calendar
import datetime
import math
from collections.abc import Iterable, Sized
from itertools import count, islice
from typing import Any, Literal, cast, get_args

from sfumato.dataset.kind import Kind, kind_of
from sfumato.errors import InvalidArgument
from sfumato.phrases import Phrase, Setting

Key = str | int | float | bool | datetime.date | datetime.datetime
Step = Literal["day", "week", "month", "year"]
MOST_KEYS = 1_000_000
_EXACT = 2**53  # whole numbers up to here have their own double
_WIDEST = 2**63


def read_keys(keys: Iterable[Any]) -> tuple[Key, ...]:
    """Check declared keys: a list or an array of different values of one kind."""
    if isinstance(keys, (str, bytes)) or not isinstance(keys, Iterable):
        raise InvalidArgument(f"keys must be a list; got {keys!r}; for example ['north', 'south']")
    if isinstance(keys, Sized):
        _check_number(_length(keys))  # before a range of 10^12 is written out
    listed = [_plain(key) for key in islice(keys, MOST_KEYS + 1)]
    _check_number(len(listed))
    kinds = {kind_of(key) for key in listed}
    if kinds == {Kind.INTEGER, Kind.REAL}:
        return in_kind(listed, Kind.REAL)
    if len(kinds) > 1:
        raise InvalidArgument(f"keys must all be of one type; got {_and(kinds)}; write them alike")
    if isinstance(keys, (set, frozenset)):
        listed.sort()  # a set has no order, and an answer needs one
    return in_kind(listed, kinds.pop())


def _length(keys: Sized) -> int:
    try:
        return len(keys)
    except OverflowError:  # a range that is longer than a list can be
        return MOST_KEYS + 1


def in_kind(keys: Iterable[Key], kind: Kind) -> tuple[Key, ...]:
    """The same keys as values of the kind, each of them once."""
    listed = tuple(_as(key, kind) for key in keys)
    if len(set(listed)) < len(listed):
        raise InvalidArgument("keys must differ from each other; got one twice; list each once")
    return listed


def dates(first: str | datetime.date, last: str | datetime.date, step: Step = "day") -> tuple[datetime.date, ...]:
    """The dates from first to last, both included, by step; where a month is too short, its last day.

    >>> len(dates("2026-01-01", "2026-12-31"))
    365
    """
    if step not in get_args(Step):
        raise InvalidArgument(f"step must be {', '.join(get_args(Step))}; got {step!r}; choose one")
    start, end = _date(first), _date(last)
    if end < start:
        raise InvalidArgument(f"dates must run from the first to the last; got {start} to {end}; turn them")
    listed: list[datetime.date] = []
    for number in count():
        day = _later(start, number, step)
        if day is None or day > end:
            return tuple(listed)
        _check_number(len(listed) + 1)
        listed.append(day)
    raise AssertionError("the calendar ends")


def _check_number(number: int) -> None:
    if not 1 <= number <= MOST_KEYS:
        found = "none" if number == 0 else "more"
        raise InvalidArgument(f"keys must be 1 to {MOST_KEYS:,} values; got {found}; list those to be shown")


def _and(kinds: Iterable[Kind]) -> str:
    return " and ".join(sorted(map(str, kinds)))


def _plain(key: Any) -> Key:
    """The Python value of a scalar of pandas, Arrow or numpy."""
    if hasattr(key, "to_pydatetime"):
        key = key.to_pydatetime(warn=False) if key == key else None  # NaT is a datetime that differs from itself
    elif hasattr(key, "as_py"):
        key = key.as_py()
    elif hasattr(key, "item"):
        key = (key.astype("datetime64[us]") if key.dtype == "datetime64[ns]" else key).item()  # not an integer of ns
    if key is None or (isinstance(key, float) and not math.isfinite(key)):
        raise InvalidArgument("keys must be values; got a missing or infinite one; leave it out")
    if isinstance(key, datetime.datetime) and key.tzinfo is not None:
        raise InvalidArgument("keys must be times without a zone; got one with a zone; write it in UTC, without zone")
    if isinstance(key, int) and not -_WIDEST <= key < _WIDEST:
        raise InvalidArgument("keys must fit into 64 bits; got a larger number; write it as text")
    return cast("Key", key)


def _as(key: Key, kind: Kind) -> Key:
    found = kind_of(key)
    if kind is Kind.REAL and found is Kind.INTEGER and abs(cast("int", key)) <= _EXACT:
        return float(cast("int", key))
    if kind is Kind.TIMESTAMP and found is Kind.DATE:
        return datetime.datetime.combine(cast("datetime.date", key), datetime.time())
    if kind is Kind.DATE and isinstance(key, datetime.datetime) and key.time() == datetime.time():
        return key.date()
    if found is not kind:
        other = (", or declare ", Setting("type", str(found))) if kind is Kind.TEXT else ()  # a text is read as any
        raise InvalidArgument(
            f"keys must be of the column's type {kind}; got {found}", fix=Phrase(f"write them as {kind}", *other)
        )
    return key


def _date(day: str | datetime.date) -> datetime.date:
    if isinstance(day, datetime.date) and not isinstance(day, datetime.datetime):
        return day
    try:
        return datetime.date.fromisoformat(day)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InvalidArgument(f"dates must be year-month-day; got {day!r}; for example '2026-01-31'") from None


def _later(start: datetime.date, number: int, step: Step) -> datetime.date | None:
    """The date `number` steps after the start, always counted from there: a short month must not shorten the next."""
    if step in ("day", "week"):
        ordinal = start.toordinal() + number * (7 if step == "week" else 1)
        return datetime.date.fromordinal(ordinal) if ordinal <= datetime.date.max.toordinal() else None
    months = start.month - 1 + number * (12 if step == "year" else 1)
    year, month = start.year + months // 12, months % 12 + 1
    if year > datetime.MAXYEAR:
        return None
    return datetime.date(year, month, min(start.day, calendar.monthrange(year, month)[1]))
