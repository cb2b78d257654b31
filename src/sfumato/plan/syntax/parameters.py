"""Values for placeholders (`?`, `:name`, `$name`): they become constants of the tree, before it is read.

A value is never part of a text that is read, so it cannot become anything but a value.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from sfumato.errors import InvalidArgument, UnknownName, UnsupportedQuery
from sfumato.phrases import Action, Phrase
from sfumato.plan.syntax.syntax_errors import DIALECT
from sfumato.plan.syntax.tree import encodes
from sfumato.suggestions import nearest

LARGEST, LEAST = Decimal("1e300"), Decimal("1e-300")
# Where a constant is a value: not after GROUP BY and ORDER BY, where a number means a column, nor for a unit of time.
VALUED = (
    exp.Like, exp.Between, exp.In, exp.If, exp.Case, exp.Coalesce, exp.Cast, exp.Limit,
    exp.Where, exp.Having, exp.Select, exp.Alias,
)  # fmt: skip
VALUES = ("this", "expression", "expressions", "low", "high", "true", "default")
Parameters = Sequence[Any] | Mapping[str, Any]
# What a number must be to be written in digits; Python prints no integer of more than 4,300.
NUMBERS: dict[type, Callable[[Any], bool]] = {
    int: lambda value: abs(value) <= int(LARGEST), float: math.isfinite, Decimal: Decimal.is_finite,
}  # fmt: skip


def bind_values(tree: exp.Expression, parameters: Parameters, functions: Sequence[type[exp.Expression]]) -> None:
    """Put constants into the tree in place of placeholders, which may stand inside these functions too."""
    placeholders = [node for node in tree.walk() if isinstance(node, exp.Placeholder)]
    values = _named_values(parameters, {node.name for node in placeholders})
    for node in placeholders:
        around: Any = node
        while isinstance(around.parent, exp.Paren):
            around = around.parent
        if type(around.parent) not in (*VALUED, *functions) or around.arg_key not in VALUES:
            raise UnsupportedQuery(f"a placeholder may stand for a value; {_written(node.name)} does not; write it out")
        node.replace(_constant(values[node.name], _written(node.name)))


def _written(name: str) -> str:
    return f"number {name[1:]}" if name.startswith("?") else f":{name}"


def _named_values(parameters: Parameters, names: set[str]) -> Mapping[str, Any]:
    """The values by the names of their placeholders, which are ?1, ?2 and so on where they have none."""
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence | Mapping):
        raise InvalidArgument(f"parameters must be a list or a mapping; got a {type(parameters).__name__}")
    if names and not parameters:
        raise UnsupportedQuery(
            "a placeholder needs a parameter; got none",
            fix=Phrase(Action("give it, or write the value"), " into the question"),
        )
    numbered = {f"?{place}": value for place, value in enumerate(parameters, 1)}
    values = parameters if isinstance(parameters, Mapping) else numbered
    if any(name.startswith("?") != (values is numbered) for name in names):
        raise InvalidArgument("parameters must be a list for placeholders ?, a mapping for :name; got another")
    if values is numbered and len(values) != len(names):
        raise InvalidArgument(f"parameters must be as many as placeholders, {len(names)}; got {len(values)}")
    for name in names - set(values):
        raise InvalidArgument(f"parameters must have a value for :{name}; got none; {nearest(name, map(str, values))}")
    for name in set(values) - names:
        raise UnknownName(f"unknown parameter {name!r}; {nearest(str(name), names)}")
    return values


def _constant(value: Any, written: str) -> exp.Expression:
    """A Python value as a constant of the tree; a float means the decimal that it prints as."""
    kind = type(value)  # no subclasses: a missing time of pandas is a datetime, too
    if value is None:
        return exp.Null()
    if kind is bool:
        return exp.Boolean(this=value)
    if kind is str and encodes(value):
        return exp.Literal.string(value)
    if kind in NUMBERS and NUMBERS[kind](value):
        size = exp.Literal.number(str(value).removeprefix("-"))
        return exp.Neg(this=size) if str(value).startswith("-") else size
    if kind in (datetime.date, datetime.datetime) and getattr(value, "tzinfo", None) is None:
        to = exp.DataType.build("date" if kind is datetime.date else "timestamp", dialect=DIALECT)
        return exp.Cast(this=exp.Literal.string(str(value)), to=to)
    raise InvalidArgument(
        f"parameter {written} must be None, a truth value, a finite number, a text in Unicode without NUL, a date or a "
        f"time without a zone; got a {kind.__name__} that is none of these; convert it first"
    )
