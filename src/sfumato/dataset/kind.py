"""The kinds of values that a column may hold; one for the many types of engines, files and frames.

A kind follows from the name of a type, never from a value: a pandas column of objects is text, whatever it holds. An
engine reads every column by a cast to its kind that cannot fail; what does not fit becomes NULL.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from enum import Enum

from sfumato.errors import InvalidArgument


class Kind(Enum):
    """A kind of value; its value is the SQL type that every engine understands."""

    INTEGER = "BIGINT"
    REAL = "DOUBLE"
    TEXT = "VARCHAR"
    BOOLEAN = "BOOLEAN"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"

    @property
    def is_number(self) -> bool:
        """Whether it can be added up."""
        return self in (Kind.INTEGER, Kind.REAL)

    def __str__(self) -> str:
        """The word for it in declarations and messages."""
        return "double" if self is Kind.REAL else self.name.lower()


_INTEGERS = "bigint integer int smallint tinyint hugeint ubigint uinteger usmallint utinyint uhugeint"
_SIZED = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
_REALS = "double real float numeric number float32 float64"
_DECIMALS = "decimal decimal32 decimal64 decimal128"
_TEXTS = "text varchar string str char bpchar uuid enum utf8 large_string string_view object category categorical"
_TIMES = "timestamp datetime datetime64 timestamp_us timestamp_ns"

NAMES = {
    **dict.fromkeys(f"{_INTEGERS} {_SIZED}".split(), Kind.INTEGER),
    **dict.fromkeys(f"{_REALS} {_DECIMALS}".split(), Kind.REAL),
    **dict.fromkeys(_TEXTS.split(), Kind.TEXT),
    **dict.fromkeys(("boolean", "bool"), Kind.BOOLEAN),
    **dict.fromkeys(("date", "date32", "date64"), Kind.DATE),
    # an instant is read in UTC, so that the owner's clock does not enter the answer
    **dict.fromkeys((*_TIMES.split(), "timestamp with time zone", "timestamptz"), Kind.TIMESTAMP),
}

WHOLE = -1  # in the place of a number of digits after the point: a whole number
UNSCALED = 99  # a decimal that has any number of them
_DECIMAL = re.compile(r"(?:decimal\d*|numeric|number)\b\s*(?:\(([^)]*)\))?")
_ARRAY = re.compile(r"\[\d*\]$")  # INTEGER[] and INTEGER[3]; datetime64[ns] is none
_REST = re.compile(r"[(\[<].*", re.DOTALL)
_DICTIONARY = "dictionary<values="
# Times in seconds or milliseconds: an engine fails on those too far out, which is a property of a row. Those of
# pandas without a zone are converted first.
_COARSE = re.compile(r"(?<!datetime64)\[m?s\]|\[m?s, |time_unit='ms'|timestamp_m?s$")


def kind_named(name: str) -> Kind | None:
    """The kind that the name of a type means, whatever its width; None: such a column cannot be asked about.

    >>> kind_named("DECIMAL(10,2)"), kind_named("datetime64[ns, UTC]"), kind_named("INTEGER[]")
    (<Kind.REAL: 'DOUBLE'>, <Kind.TIMESTAMP: 'TIMESTAMP'>, None)
    """
    plain = name.lower().removeprefix(_DICTIONARY)
    return (
        None if _ARRAY.search(plain) or _COARSE.search(plain) else NAMES.get(_REST.sub("", plain).split(",")[0].strip())
    )


def scale_named(name: str) -> int | None:
    """How many digits after the point the name of a type gives to its decimals; None: it is no type of decimals.

    >>> scale_named("DECIMAL(10,2)"), scale_named("Decimal(precision=None, scale=2)"), scale_named("double")
    (2, 2, None)
    """
    found = _DECIMAL.match(name.lower().removeprefix(_DICTIONARY))
    if found is None or kind_named(name) is None:
        return None
    sizes = re.findall(r"-?\d+", found[1] or "")
    if not sizes:
        return UNSCALED
    digits = int(sizes[-1]) if len(sizes) > 1 or "scale=" in found[1] else 0  # DECIMAL(5) is one of whole numbers
    return min(max(digits, 0), UNSCALED)


def without_parts(name: str) -> str:
    """The name of a type for a message, without the values that an enumeration lists: they may come from the rows.

    >>> without_parts("ENUM('a', 'b')[]")
    'ENUM(...)'
    """
    return re.sub(r"[(<].*", "(...)", name, flags=re.DOTALL)


def kinds(types: Mapping[str, str]) -> dict[str, Kind]:
    """The kind of each column, in order; a column of another type is left out."""
    return {name: kind for name, type in types.items() if (kind := kind_named(type)) is not None}


def unread(types: Mapping[str, str]) -> dict[str, str]:
    """The columns that are left out, and the names of their types for a message.

    >>> unread({"n": "BIGINT", "tags": "VARCHAR[]"})
    {'tags': 'VARCHAR[]'}
    """
    return {name: without_parts(type) for name, type in types.items() if kind_named(type) is None}


def read_kind(name: str) -> Kind:
    """The kind that an owner declares.

    >>> read_kind("int")
    <Kind.INTEGER: 'BIGINT'>
    """
    kind = kind_named(name) if isinstance(name, str) else None
    if kind is None:
        raise InvalidArgument(f"type must be one of {', '.join(map(str, Kind))}; got {name!r}; choose the nearest")
    return kind


def kind_of(value: object) -> Kind:
    """The kind of a Python value."""
    match value:
        case bool():
            return Kind.BOOLEAN
        case int():
            return Kind.INTEGER
        case float():
            return Kind.REAL
        case str():
            return Kind.TEXT
        case datetime.datetime():
            return Kind.TIMESTAMP
        case datetime.date():
            return Kind.DATE
    raise InvalidArgument(f"keys must be numbers, texts, booleans or dates; got a {type(value).__name__}; convert it")


def may_be_read_as(stored: Kind, declared: Kind) -> bool:
    """Whether an owner may declare another kind than the source's: text is parsed, a time may be read as its day.

    Every such cast is total, and what does not fit is NULL.

    >>> may_be_read_as(Kind.TEXT, Kind.DATE), may_be_read_as(Kind.REAL, Kind.INTEGER)
    (True, False)
    """
    others = {(Kind.INTEGER, Kind.REAL), (Kind.DATE, Kind.TIMESTAMP), (Kind.TIMESTAMP, Kind.DATE)}
    return stored is declared or stored is Kind.TEXT or (stored, declared) in others
