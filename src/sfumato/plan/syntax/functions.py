"""The functions and operators that a question may use on rows and on results, one entry each.

An entry states all there is to know of a function: what it takes and gives, how an analyst writes it, how each engine
computes it, and the range of its result. To add one, add an entry here, or call `register` from outside.

What must hold of an entry:

- It is total: whatever a row holds (NULL, infinity, the largest double), it gives a value or NULL, never an error: an
  error that depends on data would say something about it. Numbers are computed in doubles, since an integer that
  overflows is an error; division by zero gives NULL.
- `result` holds every value that it gives for arguments within their ranges, or is None where there is no bound. Values
  are clipped to it, so a range that is too narrow protects as well, and biases every answer. There is no default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from sfumato.errors import InvalidArgument
from sfumato.statistics import by_function
from sfumato.statistics.ranges import Range, hull

ResultRange = Callable[..., Range | None]
DUCKDB, POSTGRES, SPARK = "DuckDB", "PostgreSQL", "Spark"  # the names of the dialects
_NAME = re.compile("[a-z][a-z0-9_]*")


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


_NUMBERS = (Shape.ARITHMETIC, Shape.ROUNDING, Shape.SAME, Shape.DATE_NUMBER)
_OF_ROWS = (Shape.PATTERN, Shape.DATE_PART, Shape.DATE_NUMBER)


def no_number(*_: Range | None) -> Range | None:
    """State the range of a function that gives no numbers."""
    return None


@dataclass(frozen=True, slots=True)
class Function:
    """One function or operator.

    name      its name; a function from outside is written by it
    shape     what it takes and gives
    arity     how many arguments it takes
    template  how an analyst writes it
    result    the range of its result, given the range of each argument (None: not known); None: there is no bound
    engines   total SQL by the name of a dialect; DuckDB's is also that of dialects without an own one, and the
              template where DuckDB has none
    """

    name: str
    shape: Shape
    arity: int
    template: str
    result: ResultRange
    engines: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not callable(self.result) or (self.result is no_number) is (self.shape in _NUMBERS):
            raise InvalidArgument(
                f"SQL function {self.name!r} must state the range of its result; got {self.result!r}; give a function "
                "of the ranges of its arguments, or no_number if its result is no number"
            )

    def sql(self, dialect: str) -> str:
        """The SQL that a dialect computes it by."""
        return self.engines.get(dialect) or self.engines.get(DUCKDB) or self.template

    @property
    def of_rows(self) -> bool:
        """Whether it is computed of rows only, and not of results."""
        return self.shape in _OF_ROWS or self.name in OUTSIDE


def _known(result: Callable[..., Range | None]) -> ResultRange:
    """A range that is known if those of all arguments are."""
    return lambda *ranges: None if any(one is None for one in ranges) else result(*ranges)


def _always(low: int, high: int) -> ResultRange:
    """A range that does not depend on arguments."""
    return lambda *_: Range(Fraction(low), Fraction(high))


_ROUNDED = _known(lambda x: x.rounded())
_WHOLE = 2.0**53  # from here on every double is a whole number
_PARTS = {"year": (1, 9999), "quarter": (1, 4), "month": (1, 12), "day": (1, 31), "hour": (0, 23)}
_UNITS = ("year", "quarter", "month", "week", "day", "hour")
# In PostgreSQL a double that overflows, or becomes too small, is an error: {most}, {least} and {inf} guard against it.
_ADD = (
    "CASE WHEN {0} > 0 AND {1} > 0 AND {0} < {inf} AND {1} < {inf} AND {0} > {most} - greatest({1}, 0) "
    "THEN {inf} WHEN {0} < 0 AND {1} < 0 AND {0} > -{inf} AND {1} > -{inf} AND {0} < -{most} - least({1}, 0) "
    "THEN -{inf} ELSE {0} + {1} END"
)
_MULTIPLY = (
    "CASE WHEN abs({0}) > 1 AND abs({0}) < {inf} AND abs({1}) < {inf} AND abs({1}) > {most} / "
    "greatest(abs({0}), 1) THEN CASE WHEN ({0} < 0) = ({1} < 0) THEN {inf} ELSE -{inf} END "
    "WHEN {0} <> 0 AND abs({0}) < 1 AND abs({1}) < {least} / CASE WHEN {0} = 0 THEN 1 ELSE least(abs({0}), 1) END "
    "THEN 0 ELSE {0} * {1} END"
)
_DIVIDE = (
    "CASE WHEN {1} = 0 THEN NULL WHEN abs({1}) < 1 AND abs({0}) < {inf} AND abs({0}) > {most} * "
    "least(abs({1}), 1) THEN CASE WHEN ({0} < 0) = ({1} < 0) THEN {inf} ELSE -{inf} END "
    "WHEN abs({1}) > 1 AND abs({1}) < {inf} AND abs({0}) < {least} * "
    "greatest(least(abs({1}), {most}), 1) THEN 0 ELSE {0} / NULLIF({1}, 0) END"
)
_ROUND = {
    POSTGRES: "(sign({0}) * (trunc(abs({0})) + CASE WHEN abs({0}) - trunc(abs({0})) >= 0.5 THEN 1 ELSE 0 END))",
    SPARK: f"(CASE WHEN abs({{0}}) < {_WHOLE!r} THEN signum({{0}}) * (floor(abs({{0}})) + "
    "CASE WHEN abs({0}) - floor(abs({0})) >= 0.5 THEN 1 ELSE 0 END) ELSE {0} END)",
}
# FLOOR and CEIL give 64 bits in Spark.
_FLOOR, _CEIL = (
    {SPARK: f"(CASE WHEN abs({{0}}) < {_WHOLE!r} THEN CAST({name}({{0}}) AS DOUBLE) ELSE {{0}} END)"}
    for name in ("floor", "ceil")
)
# Numbers stay doubles, in which nothing overflows; a cast rounds halves to the even number, as PostgreSQL's ROUND does.
_EVEN = {DUCKDB: "ROUND_EVEN({0}, 0)", POSTGRES: "ROUND({0})", SPARK: "rint({0})"}

_LISTED = (
    Function("add", Shape.ARITHMETIC, 2, "({0} + {1})", _known(lambda x, y: x + y), {POSTGRES: _ADD}),
    Function("subtract", Shape.ARITHMETIC, 2, "({0} - {1})", _known(lambda x, y: x - y)),
    Function("multiply", Shape.ARITHMETIC, 2, "({0} * {1})", _known(lambda x, y: x * y), {POSTGRES: _MULTIPLY}),
    Function(
        "divide", Shape.ARITHMETIC, 2, "({0} / {1})", _known(lambda x, y: x.over(y)),
        {DUCKDB: "({0} / NULLIF({1}, 0))", POSTGRES: _DIVIDE},
    ),
    Function("negate", Shape.ARITHMETIC, 1, "(-{0})", _known(lambda x: -x)),
    Function("abs", Shape.ARITHMETIC, 1, "ABS({0})", _known(lambda x: x.absolute())),
    Function("floor", Shape.ROUNDING, 1, "FLOOR({0})", _ROUNDED, _FLOOR),
    Function("ceil", Shape.ROUNDING, 1, "CEIL({0})", _ROUNDED, _CEIL),
    Function("round", Shape.ROUNDING, 1, "ROUND({0})", _ROUNDED, _ROUND),
    Function("as_integer", Shape.ROUNDING, 1, "CAST({0} AS BIGINT)", _ROUNDED, _EVEN),
    Function(
        "as_double", Shape.ARITHMETIC, 1, "CAST({0} AS DOUBLE)", _known(lambda x: x),
        {POSTGRES: "CAST({0} AS DOUBLE PRECISION)"},
    ),
    Function("equal", Shape.COMPARISON, 2, "({0} = {1})", no_number),
    Function("unequal", Shape.COMPARISON, 2, "({0} <> {1})", no_number),
    Function("less", Shape.COMPARISON, 2, "({0} < {1})", no_number),
    Function("at_most", Shape.COMPARISON, 2, "({0} <= {1})", no_number),
    Function("greater", Shape.COMPARISON, 2, "({0} > {1})", no_number),
    Function("at_least", Shape.COMPARISON, 2, "({0} >= {1})", no_number),
    Function("between", Shape.COMPARISON, 3, "({0} BETWEEN {1} AND {2})", no_number),
    Function("and", Shape.LOGIC, 2, "({0} AND {1})", no_number),
    Function("or", Shape.LOGIC, 2, "({0} OR {1})", no_number),
    Function("not", Shape.LOGIC, 1, "(NOT {0})", no_number),
    Function("is_null", Shape.NULLNESS, 1, "({0} IS NULL)", no_number),
    Function("like", Shape.PATTERN, 2, "({0} LIKE {1})", no_number, {POSTGRES: "({0} LIKE {1} ESCAPE '')"}),
    Function("coalesce", Shape.SAME, 2, "COALESCE({0}, {1})", lambda *ranges: hull(ranges)),
    *(
        Function(f"extract_{part}", Shape.DATE_NUMBER, 1, f"EXTRACT({part.upper()} FROM {{0}})", _always(*ends))
        for part, ends in _PARTS.items()
    ),
    *(
        Function(f"truncate_{unit}", Shape.DATE_PART, 1, f"DATE_TRUNC('{unit.upper()}', {{0}})", no_number)
        for unit in _UNITS
    ),
)  # fmt: skip
FUNCTIONS: dict[str, Function] = {function.name: function for function in _LISTED}
OUTSIDE: set[str] = set()  # the names of functions that were registered


def register(function: Function) -> None:
    """Add a function of your own, of numbers to a number; SQL then knows it by its name.

    It is computed of rows, inside an aggregate, in WHERE and in GROUP BY; of results it is refused.

    >>> square = Function("square", Shape.ARITHMETIC, 1, "SQUARE({0})", None)
    Traceback (most recent call last):
        ...
    sfumato.errors.InvalidArgument: SQL function 'square' must state the range of its result; got None; give a \
function of the ranges of its arguments, or no_number if its result is no number
    """
    name, written = function.name, f"{function.name.upper()}({', '.join(f'{{{i}}}' for i in range(function.arity))})"
    if FUNCTIONS.get(name) == function:
        return
    if not _NAME.fullmatch(name) or name in FUNCTIONS or by_function(name) is not None:
        raise InvalidArgument(f"a SQL function must have a name of its own, in small letters; got {name!r}; rename it")
    if function.shape not in (Shape.ARITHMETIC, Shape.ROUNDING) or function.arity < 1 or function.template != written:
        raise InvalidArgument(
            f"a SQL function from outside must make a number of numbers and be written {written}; got "
            f"{function.shape.value}, written {function.template}; change the entry"
        )
    _check_range(function)
    FUNCTIONS[name] = function
    OUTSIDE.add(name)


def _check_range(function: Function) -> None:
    """Refuse a range that cannot be computed: it is needed when a question is bound, before anything is charged."""
    for sample in (None, Range(Fraction(-1), Fraction(1)), Range(Fraction(0), Fraction(0))):
        try:
            found: object = function.result(*[sample] * function.arity)
        except Exception as error:
            found = error
        if not isinstance(found, Range | None) or (isinstance(found, Range) and found.low > found.high):
            raise InvalidArgument(
                f"the range of SQL function {function.name!r} must be a Range or None; got {found!r} for {sample!r}; "
                "take as many ranges as it has arguments, each of which may be None"
            )
