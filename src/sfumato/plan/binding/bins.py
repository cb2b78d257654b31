"""Bins in GROUP BY: a CASE whose values are constants has these for keys, however many conditions it has.

Without that its keys would be sought among all combinations of its conditions, two to the power of their number.
"""

from __future__ import annotations

from sfumato.dataset.column import Key
from sfumato.plan.syntax.node import Call, Case, Column, Expression, Literal, children

_EXACT = 2**53  # whole numbers below have their own double


def constants_of(case: Case) -> tuple[Key, ...]:
    """The texts or whole numbers among which a CASE chooses, in order; none where it does something else."""
    if not _has_column(case):
        return ()
    found: dict[Key, None] = {}
    values = [*(value for _, value in case.branches), *(() if case.otherwise is None else (case.otherwise,))]
    for value in values:
        listed = constants_of(value) if isinstance(value, Case) else _constant(value)
        if listed is None or (isinstance(value, Case) and not listed):
            return ()
        found |= dict.fromkeys(listed)
    return tuple(found) if len({type(value) for value in found}) == 1 else ()


def _constant(value: Expression) -> tuple[Key, ...] | None:
    """The key that a constant is, none for NULL; None where it is no constant."""
    match value:
        case Literal(None):
            return ()
        case Literal(str(text)) if value.is_text:
            return (text,)
        case Literal(str(digits), is_number=True) if digits.isdecimal() and int(digits) < _EXACT:
            return (int(digits),)
        case Call("negate", (Literal(str(digits), is_number=True),)) if digits.isdecimal() and int(digits) < _EXACT:
            return (-int(digits),)
    return None


def _has_column(expression: Expression) -> bool:
    return isinstance(expression, Column) or any(map(_has_column, children(expression)))
