"""One-line preconditions, by keyword: the name in the call is the name in the message.

>>> positive(epsilon=0.1)
Fraction(1, 10)
>>> positive(epsilon=-1)
Traceback (most recent call last):
    ...
sfumato.errors.InvalidArgument: epsilon must be positive; got -1; for a strong promise choose 1 or less, for example 0.5

Every check returns the number exactly. A Python float means the decimal that it prints as, so that what is typed is
what is charged: ten times 0.1 is 1. Floats of other widths are read by their binary value.
"""

from __future__ import annotations

import importlib.util
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import InvalidArgument

Number = int | float | Fraction | Decimal

_FAR = 1_000  # decimal places beyond which a number is not worth its arithmetic

HELP = {
    "epsilon": "for a strong promise choose 1 or less, for example 0.5",
    "delta": "choose far less than 1 / number of people, for example 1e-9, or 0 for a pure promise",
    "sensitivity": "say how far one unit can move the value, for example 1 for a count",
    "confidence": "for example 0.95",
    "rho": "for example 0.1",
    "scale": "for example 10",
    "size": "the number of numbers in the vector, or none for a single one",
    "keys": "the most keys that one unit may have",
    "prior": "a probability, for example 0.1 for ten percent",
}


def _refuse(name: str, rule: str, value: object) -> InvalidArgument:
    return InvalidArgument("; ".join((f"{name} must be {rule}", f"got {value!r}", *HELP.get(name, "").splitlines())))


def _only(named: dict[str, Any]) -> tuple[str, Any]:
    ((name, value),) = named.items()
    return name, value


def number(**named: Number) -> Fraction:
    """Read a finite number exactly."""
    name, value = _only(named)
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, numbers.Number | Decimal):
        raise _refuse(name, "a number", value)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > _FAR:
        raise _refuse(name, f"between 1e-{_FAR} and 1e{_FAR} in size", value)
    try:
        return _exactly(value)
    except (ValueError, OverflowError, AttributeError):
        raise _refuse(name, "a finite number", value) from None


def _exactly(value: Any) -> Fraction:
    if isinstance(value, float):  # also numpy's float64; what a subclass prints does not matter
        return Fraction(float.__repr__(value))
    if isinstance(value, Decimal):
        return Fraction(*Decimal.as_integer_ratio(value))
    top, bottom = value.as_integer_ratio()
    return Fraction(int(top), int(bottom))


def positive(**named: Number) -> Fraction:
    """Read a number above zero."""
    name, value = _only(named)
    exact = number(**named)
    if exact <= 0:
        raise _refuse(name, "positive", value)
    return exact


def non_negative(**named: Number) -> Fraction:
    """Read a number of at least zero."""
    name, value = _only(named)
    exact = number(**named)
    if exact < 0:
        raise _refuse(name, "zero or more", value)
    return exact


def below_one(**named: Number) -> Fraction:
    """Read a number in [0, 1), such as delta."""
    name, value = _only(named)
    exact = number(**named)
    if not 0 <= exact < 1:
        raise _refuse(name, "at least 0 and below 1", value)
    return exact


def probability(**named: Number) -> Fraction:
    """Read a number in [0, 1]."""
    name, value = _only(named)
    exact = number(**named)
    if not 0 <= exact <= 1:
        raise _refuse(name, "between 0 and 1", value)
    return exact


def inside(**named: Number) -> Fraction:
    """Read a number in the open interval (0, 1), such as a confidence."""
    name, value = _only(named)
    exact = number(**named)
    if not 0 < exact < 1:
        raise _refuse(name, "above 0 and below 1", value)
    return exact


def whole(least: int = 0, **named: int) -> int:
    """Read a whole number of at least `least`."""
    name, value = _only(named)
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, numbers.Integral) or value < least:
        raise _refuse(name, f"a whole number of at least {least}", value)
    return int(value)


def flag(**named: bool) -> bool:
    """Read True or False, and nothing that Python takes for one of them: the text "False" is true to it.

    >>> flag(monotonic=True)
    True
    """
    name, value = _only(named)
    if not isinstance(value, bool | np.bool_):
        raise _refuse(name, "True or False", value)
    return bool(value)


def installed(package: str, *, extra: str, needs: str) -> None:
    """Refuse what needs a package that is not installed, with the extra that brings it."""
    if importlib.util.find_spec(package) is None:
        raise InvalidArgument(
            f"{needs} must have {package}; it is not installed; pip install 'sfumato[{extra}]' brings it"
        )
