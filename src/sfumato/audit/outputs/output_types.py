"""What an output shows beside its numbers: its type, its length, the order of its keys, digits that no float holds.

All of it is seen by whoever gets the output, so all of it may tell neighbors apart.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np

_LONG = 200  # characters of a text that count
_SHOWN = 60  # characters of a form that are shown


def form_of(output: Any) -> Hashable:
    """The same for two outputs that differ in their numbers only.

    >>> form_of(3) == form_of(4), form_of(3) == form_of(3.0), form_of({"a": 1}) == form_of({"b": 1})
    (True, False, False)
    """
    kind = type(output)
    match output:
        case Decimal():
            return kind, str(output.as_tuple().exponent)
        case str() | bytes():
            return kind, output[:_LONG]
        case np.ndarray():
            return kind, output.dtype.str, output.shape
        case Mapping():
            return kind, tuple(output), tuple(map(type, output)), tuple(map(type, output.values()))
        case Set():
            return kind, len(output)
        case list() | tuple():
            return kind, tuple(map(type, output))
    return cast(Hashable, kind)


def said_form(form: Hashable) -> str:
    """A form in a few words.

    >>> said_form(form_of(3)), said_form(form_of("ab")), said_form(form_of((1, 2.5)))
    ('int', "str 'ab'", 'tuple of 2: int, float')
    """
    kind, *more = form if isinstance(form, tuple) else (form,)
    words = getattr(kind, "__name__", "")
    match more:
        case [tuple() as types]:
            names = ", ".join(getattr(each, "__name__", "") for each in types)
            words += f" of {len(types)}: {names}"
        case [tuple() as keys, *_]:
            words += f" with keys {', '.join(map(repr, keys))}"
        case [first, *_]:
            words += f" {first!r}"
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}..."


def have_one_form(outputs: Iterable[Any]) -> bool:
    """Whether these are plain numbers of one type: quickly told, and the usual case."""
    types = set(map(type, outputs))
    return len(types) == 1 and types <= {int, float, bool, np.float64, np.int64}


def is_beyond(output: object) -> bool:
    """Whether a number has digits that its float has not."""
    if not isinstance(output, int | Fraction | Decimal) or (isinstance(output, Decimal) and not output.is_finite()):
        return False
    try:
        return float(output) != output
    except OverflowError:
        return True


def rest_of(output: object) -> float:
    """What its float leaves out; of a number too large for a float the last digits."""
    if not isinstance(output, numbers.Rational | Decimal) or not is_beyond(output):
        return 0.0
    exact = Fraction(output)
    try:
        return float(exact - Fraction(float(exact)))
    except OverflowError:
        return float(exact % 2**53)
