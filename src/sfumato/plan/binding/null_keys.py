"""Keys whose NULL the question speaks of: `SELECT COALESCE(r, 'none') AS r, COUNT(*) FROM t GROUP BY r`.

In SQL, GROUP BY r means the column r, even where an output is named r, and rows without a value are one group, here
shown as 'none'. Otherwise rows whose key is NULL are left out, so such a question would lose a group that it asks for.
Where the keys are public, that group is one more of them.

Where no key is 'none' already and r itself is not used, the question means the same as GROUP BY COALESCE(r, 'none').
Else NULL gets a stand-in, a value that is no key: r is grouped by CASE WHEN r <> 'NULL' THEN r WHEN r IS NULL THEN
'NULL' END, in which rows of an undeclared 'NULL' stay left out, and in the answer the stand-in is NULL again.

A COALESCE that is a key of its own beside r, `SELECT r, COALESCE(r, 'none') ... GROUP BY 1, 2`, says nothing of r: each
row of the answer has a value of r, as with GROUP BY r alone. What is left is refused.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from sfumato.dataset.keys import Key
from sfumato.errors import UnsupportedQuery
from sfumato.plan.syntax.node import Call, Case, Expression, KeyAt, Literal, children

Values = Callable[[Expression], Sequence[Key | None] | None]


@dataclass(frozen=True, slots=True)
class KeysWithNull:
    """What is grouped by, and keys of the question that these stand for: as expressions over what is grouped by."""

    keys: Sequence[Expression]
    meanings: Mapping[Expression, Expression]


def keys_with_null(
    keys: Sequence[Expression], shown: Sequence[Expression], others: Sequence[Expression], values: Values
) -> KeysWithNull:
    """The keys of GROUP BY, with a group for NULL where the question speaks of it.

    `shown` are the outputs and `others` HAVING and ORDER BY, as far as they are computed of rows; `values` gives the
    public values of a key, or None.
    """
    found, standing_in = list[Expression](), dict[Expression, Expression]()
    for key in keys:
        own = [part for part in shown if part in keys and part != key] if key in shown else []
        caught = _caught(key, [part for part in shown if part not in own], others)
        if not caught:
            found.append(key)
        elif _is_alone(key, caught[0], (*shown, *others), values):
            found.append(caught[0])
        elif (replaced := _with_stand_in(key, keys, values)) is not None:
            found.append(replaced)
            standing_in[key] = replaced
        else:
            raise UnsupportedQuery(
                f"GROUP BY {key.sql()} leaves out rows without a value, so {caught[0].sql()} would miss them; GROUP BY "
                f"{caught[0].sql()} itself, or by its position"
            )
    distinct = list(dict.fromkeys(found))
    return KeysWithNull(distinct, {key: _meaning(made, distinct.index(made)) for key, made in standing_in.items()})


def _caught(key: Expression, shown: Sequence[Expression], others: Sequence[Expression]) -> list[Expression]:
    """The parts of a question that make something of a key that is NULL."""
    if _never_null(key):
        return []
    caught = list(dict.fromkeys(part for whole in shown for part in _catching(whole, key)))
    return caught + [part for whole in others for part in _asking(whole, key)]


def _is_alone(key: Expression, caught: Expression, wholes: Sequence[Expression], values: Values) -> bool:
    """Whether a COALESCE is all that is used of a key, and its value for NULL is no other key."""
    if any(_used(whole, key, caught) for whole in wholes):
        return False
    return isinstance(caught, Call) and caught.function == "coalesce" and _is_new(caught, key, values(key))


def _with_stand_in(key: Expression, keys: Sequence[Expression], values: Values) -> Expression | None:
    """The key with a value for NULL that is none of its own; None: these are not public, or another key has it inside.

    With another key of the same values, groups that cannot be would be shown.
    """
    known = values(key)
    if known is None or any(other != key and _has(other, key) for other in keys):
        return None
    if any(isinstance(value, bool) for value in known):
        numbers = [Literal(str(number), is_number=True) for number in range(3)]
        return Case(((Call("not", (key,)), numbers[0]), (key, numbers[1])), numbers[2])
    new = _new(known)
    return Case(((Call("unequal", (key, new)), key), (Call("is_null", (key,)), new)), None)


def _meaning(made: Expression, position: int) -> Expression:
    """A key of the question, over the key with a stand-in that it is grouped by."""
    assert isinstance(made, Case)
    if made.otherwise is not None:  # of a truth value
        (_, (_, true)), null = made.branches, made.otherwise
        return Case(((Call("equal", (KeyAt(position), null)), Literal(None)),), Call("equal", (KeyAt(position), true)))
    _, (_, null) = made.branches
    return Case(((Call("equal", (KeyAt(position), null)), Literal(None)),), KeyAt(position))


def _new(known: Sequence[Key | None]) -> Literal:
    """A value of the same kind that is not among some."""
    match next((value for value in known if value is not None), None):
        case datetime.datetime() | datetime.date():
            days = (datetime.date(1970, 1, 1) + datetime.timedelta(days=day) for day in count())
            listed = {value.isoformat()[:10] for value in known if isinstance(value, datetime.date)}
            return Literal(next(day.isoformat() for day in days if day.isoformat() not in listed), is_date=True)
        case int() | float():
            return Literal(str(next(number for number in count() if number not in known)), is_number=True)
    return Literal(next(text for size in count() if (text := "NULL" + "_" * size) not in known))


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
