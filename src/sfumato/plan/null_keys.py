"""Keys whose NULL the question speaks of: `SELECT COALESCE(r, 'none') AS r, COUNT(*) FROM t GROUP BY r`.

In SQL, GROUP BY r means the column r, even where an output is named r, and rows without a value are one group, here
shown as 'none'. Rows whose key is NULL are left out here, so such a question would lose a group that it asks for. It
means the same as GROUP BY COALESCE(r, 'none') where no key is 'none' already and r itself is not shown: then it is
answered so. Else it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from sfumato.dataset.keys import Key
from sfumato.errors import UnsupportedQuery
from sfumato.plan.node import Call, Expression, Literal, children

Values = Callable[[Expression], Sequence[Key | None] | None]


def keys_with_null(
    keys: Sequence[Expression], shown: Sequence[Expression], others: Sequence[Expression], values: Values
) -> list[Expression]:
    """The keys of GROUP BY, each replaced by a COALESCE of it where that alone is shown.

    `shown` are the outputs and `others` HAVING and ORDER BY, as far as they are computed of rows; `values` gives the
    public values of a key, or None.
    """
    return list(dict.fromkeys(_replaced(key, shown, others, values) for key in keys))


def _replaced(key: Expression, shown: Sequence[Expression], others: Sequence[Expression], values: Values) -> Expression:
    if _never_null(key):
        return key
    caught = list(dict.fromkeys(part for whole in shown for part in _catching(whole, key)))
    caught += [part for whole in others for part in _asking(whole, key)]
    if not caught:
        return key
    first = caught[0]
    alone = not any(_used(whole, key, first) for whole in (*shown, *others))
    if alone and isinstance(first, Call) and first.function == "coalesce" and _is_new(first, key, values(key)):
        return first
    raise UnsupportedQuery(
        f"GROUP BY {key.sql()} leaves out rows without a value, so {first.sql()} would miss them; GROUP BY "
        f"{first.sql()} itself, or by its position"
    )


def _catching(whole: Expression, key: Expression) -> list[Expression]:
    """The parts that make something of a key that is NULL: COALESCE and IS NULL."""
    match whole:
        case Call("coalesce", (value, _)) if _has(value, key):
            return [whole]
        case Call("is_null", (value,)) if _has(value, key):
            return [whole]
    return [] if whole == key else [part for child in children(whole) for part in _catching(child, key)]


def _asking(condition: Expression, key: Expression) -> list[Expression]:
    """The parts of HAVING that hold for a key that is NULL: IS NULL, but not IS NOT NULL."""
    match condition:
        case Call("is_null", (value,)) if _has(value, key):
            return [condition]
        case Call("not", (Call("is_null"),)):
            return []
    return [part for child in children(condition) for part in _asking(child, key)]


def _has(whole: Expression, key: Expression) -> bool:
    return whole == key or any(_has(child, key) for child in children(whole))


def _used(whole: Expression, key: Expression, within: Expression) -> bool:
    """Whether a key is used outside of the part that catches its NULL."""
    if whole == within:
        return False
    return whole == key or any(_used(child, key, within) for child in children(whole))


def _never_null(key: Expression) -> bool:
    match key:
        case Call("coalesce", (_, second)):
            return _never_null(second)
        case Literal(value):
            return value is not None
    return False


def _is_new(coalesce: Call, key: Expression, known: Sequence[Key | None] | None) -> bool:
    """Whether COALESCE(key, constant) has another value for NULL than for each public key."""
    match coalesce.arguments:
        case (first, Literal(str(text)) as constant) if first == key and known is not None:
            if constant.is_number:
                return Fraction(text) not in [Fraction(value) for value in known if isinstance(value, int | float)]
            return constant.is_text and text not in known
    return False
