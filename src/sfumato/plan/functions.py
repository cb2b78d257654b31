"""The functions and operators that a question may use on rows and on results.

All are total: whatever a row holds, they give a value or NULL, never an error. Numbers are computed in doubles, since
an integer that overflows would be an error that depends on data; division by zero gives NULL.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Shape(Enum):
    """What a function takes and gives, for `bind`."""

    ARITHMETIC = "numbers to a number"
    ROUNDING = "a number to a whole number"
    COMPARISON = "two values of one kind to a truth value"
    LOGIC = "truth values to a truth value"
    NULLNESS = "any value to a truth value"
    PATTERN = "a text and a constant pattern to a truth value"
    SAME = "values of one kind to that kind"
    DATE_PART = "a date to a date"
    DATE_NUMBER = "a date to a whole number"


@dataclass(frozen=True, slots=True)
class Function:
    """How many arguments, how it is written by the analyst, and how an engine computes it, if that differs."""

    shape: Shape
    arity: int
    template: str
    engine: str | None = None

    @property
    def engine_template(self) -> str:
        """The way an engine computes it."""
        return self.engine or self.template


_PARTS = {part: f"EXTRACT({part.upper()} FROM {{0}})" for part in ("year", "quarter", "month", "day", "hour")}
_TRUNCATED = {
    unit: f"DATE_TRUNC('{unit.upper()}', {{0}})" for unit in ("year", "quarter", "month", "week", "day", "hour")
}

FUNCTIONS = {
    "add": Function(Shape.ARITHMETIC, 2, "({0} + {1})"),
    "subtract": Function(Shape.ARITHMETIC, 2, "({0} - {1})"),
    "multiply": Function(Shape.ARITHMETIC, 2, "({0} * {1})"),
    "divide": Function(Shape.ARITHMETIC, 2, "({0} / {1})", "({0} / NULLIF({1}, 0))"),
    "negate": Function(Shape.ARITHMETIC, 1, "(-{0})"),
    "abs": Function(Shape.ARITHMETIC, 1, "ABS({0})"),
    "floor": Function(Shape.ROUNDING, 1, "FLOOR({0})"),
    "ceil": Function(Shape.ROUNDING, 1, "CEIL({0})"),
    "round": Function(Shape.ROUNDING, 1, "ROUND({0})"),
    # numbers stay doubles, in which nothing overflows; a cast rounds halves to the even number
    "as_integer": Function(Shape.ROUNDING, 1, "CAST({0} AS BIGINT)", "ROUND_EVEN({0}, 0)"),
    "as_double": Function(Shape.ARITHMETIC, 1, "CAST({0} AS DOUBLE)"),
    "equal": Function(Shape.COMPARISON, 2, "({0} = {1})"),
    "unequal": Function(Shape.COMPARISON, 2, "({0} <> {1})"),
    "less": Function(Shape.COMPARISON, 2, "({0} < {1})"),
    "at_most": Function(Shape.COMPARISON, 2, "({0} <= {1})"),
    "greater": Function(Shape.COMPARISON, 2, "({0} > {1})"),
    "at_least": Function(Shape.COMPARISON, 2, "({0} >= {1})"),
    "between": Function(Shape.COMPARISON, 3, "({0} BETWEEN {1} AND {2})"),
    "and": Function(Shape.LOGIC, 2, "({0} AND {1})"),
    "or": Function(Shape.LOGIC, 2, "({0} OR {1})"),
    "not": Function(Shape.LOGIC, 1, "(NOT {0})"),
    "is_null": Function(Shape.NULLNESS, 1, "({0} IS NULL)"),
    "like": Function(Shape.PATTERN, 2, "({0} LIKE {1})"),
    "coalesce": Function(Shape.SAME, 2, "COALESCE({0}, {1})"),
    **{f"extract_{part}": Function(Shape.DATE_NUMBER, 1, template) for part, template in _PARTS.items()},
    **{f"truncate_{unit}": Function(Shape.DATE_PART, 1, template) for unit, template in _TRUNCATED.items()},
}
