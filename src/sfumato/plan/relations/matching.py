"""How a private row finds rows of a public table: by keys that must be equal, and a value that must lie in a range.

From these the most public rows that one private row can match is counted in the public table alone, before anything is
charged. Other conditions only leave out matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sfumato.dataset.column import Column as Declared
from sfumato.dataset.kind import Kind
from sfumato.dataset.public_table import PublicTable
from sfumato.plan.expressions.types import same_kind, typed
from sfumato.plan.syntax.node import Call, Column, Expression, children

_TURNED = {"less": "greater", "at_most": "at_least", "greater": "less", "at_least": "at_most"}


@dataclass(frozen=True, slots=True)
class Compared:
    """An expression over public columns, and the kind in which it is compared."""

    expression: Expression
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class End:
    """One end of a range; closed: the value itself is inside."""

    at: Compared
    closed: bool


@dataclass(frozen=True, slots=True)
class Matching:
    """What is known of the rows of a public table that match one private row."""

    public: PublicTable
    columns: Mapping[str, Declared]  # of the public table, by the names that expressions use
    names: Mapping[str, str]  # from these names to the table's own
    keys: tuple[Compared, ...]
    low: End | None = None
    high: End | None = None


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The conditions that must all hold."""
    match condition:
        case Call("and", (first, second)):
            yield from conjuncts(first)
            yield from conjuncts(second)
        case Call("between", (value, low, high)):
            yield Call("at_least", (value, low))
            yield Call("at_most", (value, high))
        case _:
            yield condition


def matching(
    condition: Expression, columns: Mapping[str, Declared], public: PublicTable, names: Mapping[str, str]
) -> Matching:
    """Keys and range of a condition over private columns and those of a public table, under their names in it."""
    keys: list[Compared] = []
    ranges: dict[Expression, dict[str, End]] = {}
    for part in conjuncts(condition):
        if (found := _compared(part, columns, names)) is None:
            continue
        function, private, compared = found
        if function == "equal":
            keys.append(compared)
        elif function in _TURNED:
            side = "low" if function in ("greater", "at_least") else "high"
            ranges.setdefault(private, {}).setdefault(side, End(compared, function.startswith("at_")))
    both = next((ends for ends in ranges.values() if len(ends) == 2), {})
    if both and both["low"].at.kind is not both["high"].at.kind:
        both = {}
    own = {name: columns[name] for name in names}
    return Matching(public, own, names, tuple(keys), both.get("low"), both.get("high"))


def _compared(
    part: Expression, columns: Mapping[str, Declared], names: Mapping[str, str]
) -> tuple[str, Expression, Compared] | None:
    """A comparison of private with public, as if the private stood first; None: it is something else."""
    if not isinstance(part, Call) or part.function not in ("equal", *_TURNED):
        return None
    first, second = part.arguments
    kind = same_kind(part, (typed(first, columns), typed(second, columns)))
    if _only(second, names) and not _any(first, names):
        return part.function, first, Compared(second, kind)
    if _only(first, names) and not _any(second, names):
        return _TURNED.get(part.function, part.function), second, Compared(first, kind)
    return None


def _columns(expression: Expression) -> Iterator[str]:
    if isinstance(expression, Column):
        yield expression.name
    for child in children(expression):
        yield from _columns(child)


def _only(expression: Expression, names: Mapping[str, str]) -> bool:
    found = list(_columns(expression))
    return bool(found) and all(name in names for name in found)


def _any(expression: Expression, names: Mapping[str, str]) -> bool:
    return any(name in names for name in _columns(expression))
