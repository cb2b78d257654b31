"""From private cells to the rows of the answer: arithmetic, HAVING, ORDER BY, LIMIT; all post-processing.

An output that uses several measures gets each of them with a share of the miss probability, so that its interval holds
at the stated confidence all the same. Sums and ratios of counts and sums are narrower: their noises combine (`forms`).
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sfumato.curator.measurement.intervals.arithmetic import combined, form_in
from sfumato.curator.measurement.intervals.estimate import Estimates, cell_error
from sfumato.curator.measurement.measure import Measured
from sfumato.dataset.column import Key
from sfumato.errors import UnsupportedQuery
from sfumato.plan.expressions.types import time_of
from sfumato.plan.plan import Sort
from sfumato.plan.pricing.price import PricedPlan, measured
from sfumato.plan.syntax.node import Call, Case, Exact, Expression, In, KeyAt, Literal, MeasureAt, TotalAt, children
from sfumato.statistics.estimate import Estimate, exactly
from sfumato.statistics.statistic import CellError

Value = Estimate | Key | None

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": operator.eq, "unequal": operator.ne, "less": operator.lt, "at_most": operator.le,
    "greater": operator.gt, "at_least": operator.ge,
}  # fmt: skip
ROUNDING: dict[str, Callable[[float], float]] = {
    "floor": math.floor, "ceil": math.ceil, "round": lambda x: _half_away(x), "as_integer": round,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the answer: values by column, and intervals where a value is an estimate."""

    values: dict[str, Any]
    intervals: dict[str, tuple[float, float] | None]
    key: tuple[Key, ...] = ()


def rows_of(plan: PricedPlan, found: Sequence[Measured]) -> list[Row]:
    """The rows of the answer, filtered, ordered and cut as the question says."""
    bound, keys = plan.bound, list(found[0].cells)
    miss = 1 - plan.confidence
    if plan.simultaneous:
        miss /= max(1, len(keys) * sum(1 for column in bound.shown if measured(column.expression)))
    kept = _kept(plan, found, miss)
    bars = _Bars(found, kept)
    for sort in reversed(bound.order):
        kept = _sorted(kept, sort, bars, miss)
    return rows_for(plan, found, kept[: bound.limit], miss)


def rows_for(plan: PricedPlan, found: Sequence[Measured], keys: Sequence[tuple[Key, ...]], miss: Fraction) -> list[Row]:
    """The rows of some groups, the interval of each estimate being wrong with probability `miss` at most."""
    bars = _Bars(found, _kept(plan, found, miss))
    columns = [_column(column.name, column.expression, keys, miss, bars) for column in plan.bound.shown]
    return [_row(key, columns) for key in keys]


def _kept(plan: PricedPlan, found: Sequence[Measured], miss: Fraction) -> list[tuple[Key, ...]]:
    """The groups that HAVING keeps."""
    keys, having = list(found[0].cells), plan.bound.having
    if having is None:
        return keys
    bars = _Bars(found, ())
    return [key for key in keys if bars.evaluation(key, miss).value(having) is True]


def _joint(
    expression: Expression, keys: Sequence[tuple[Key, ...]], miss: Fraction, bars: _Bars
) -> tuple[Expression | None, dict[tuple[Key, ...], Estimate]]:
    """The one sum or ratio of measures that a column is computed from, and its estimates by group."""
    form = form_in(expression)
    used = set() if form is None else measured(form)
    if form is None or not used:
        return None, {}
    return form, combined(form, bars.found, keys, bars.summed, bars.of(miss / len(used)), miss)


@dataclass(frozen=True, slots=True)
class _Bars:
    """Error bars of all measures by miss probability, worked out once each; totals are of the groups `summed`."""

    found: Sequence[Measured]
    summed: Sequence[tuple[Key, ...]]
    known: dict[Fraction, list[Estimates]] = field(default_factory=dict)

    def of(self, miss: Fraction) -> list[CellError]:
        return [each.error for each in self.estimates(miss)]

    def estimates(self, miss: Fraction) -> list[Estimates]:
        if miss not in self.known:
            self.known[miss] = [Estimates(measured, cell_error(measured, miss)) for measured in self.found]
        return self.known[miss]

    def evaluation(self, key: tuple[Key, ...], miss: Fraction) -> _Evaluation:
        """Of one group, where each number goes wrong with probability `miss` at most."""
        return self.evaluations(miss)(key, {})

    def evaluations(self, miss: Fraction) -> Callable[[tuple[Key, ...], Mapping[Expression, Estimate]], _Evaluation]:
        """The same for any group, and with parts that are known."""
        bars = self.estimates(miss)
        return lambda key, known: _Evaluation(key, bars, lambda place: self._total(place, miss), known)

    def _total(self, place: int, miss: Fraction) -> Estimate:
        return combined(TotalAt(place), self.found, [()], self.summed, self.of(miss), miss)[()]


def _sorted(keys: list[tuple[Key, ...]], sort: Sort, bars: _Bars, miss: Fraction) -> list[tuple[Key, ...]]:
    """By one key; NULL comes last in both directions."""
    values = {key: _plain(bars.evaluation(key, miss).value(sort.expression)) for key in keys}
    known = [key for key in keys if values[key] is not None]
    ordered = sorted(known, key=lambda key: values[key], reverse=sort.descending)
    return ordered + [key for key in keys if values[key] is None]


@dataclass(frozen=True, slots=True)
class _Column:
    """One column of the answer, with all that is the same in every group."""

    name: str
    expression: Expression
    is_private: bool
    form: Expression | None
    joint: Mapping[tuple[Key, ...], Estimate]
    evaluation: Callable[[tuple[Key, ...], Mapping[Expression, Estimate]], _Evaluation]


def _column(name: str, expression: Expression, keys: Sequence[tuple[Key, ...]], miss: Fraction, bars: _Bars) -> _Column:
    used, (form, joint) = _numbers(expression), _joint(expression, keys, miss, bars)
    return _Column(name, expression, bool(used), form, joint, bars.evaluations(miss / max(1, len(used))))


def _row(key: tuple[Key, ...], columns: Sequence[_Column]) -> Row:
    values: dict[str, Any] = {}
    intervals: dict[str, tuple[float, float] | None] = {}
    for column in columns:
        known = {column.form: column.joint[key]} if column.form is not None and key in column.joint else {}
        value = column.evaluation(key, known).value(column.expression)
        values[column.name] = value.value if isinstance(value, Estimate) else value
        intervals[column.name] = (value.low, value.high) if isinstance(value, Estimate) and column.is_private else None
    return Row(values, intervals, key)


def _numbers(expression: Expression) -> set[Expression]:
    """The private numbers in an expression; a measure and its total are two, each with its own noise."""
    if isinstance(expression, (MeasureAt, TotalAt)):
        return {expression}
    return set().union(*map(_numbers, children(expression)))


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """Expressions over the results of one group; `known` are parts whose estimates were worked out together."""

    key: tuple[Key, ...]
    bars: Sequence[Estimates]
    total: Callable[[int], Estimate]
    known: Mapping[Expression, Estimate]

    def value(self, expression: Expression) -> Value:
        if expression in self.known:
            return self.known[expression]
        match expression:
            case KeyAt(position):
                key = self.key[position]
                is_number = isinstance(key, (int, float)) and not isinstance(key, bool)
                return exactly(key) if is_number else key  # type: ignore[arg-type]
            case MeasureAt(position, point):
                return self.bars[position].of(self.key, point)
            case TotalAt(position):
                return self.total(position)
            case Literal():
                return _constant(expression)
            case Exact(value, scale):
                return _nearest(self.value(value), scale)
            case In(value, items):
                return _among(self.value(value), [self.value(item) for item in items])
            case Case(branches, otherwise):
                return self._case(branches, otherwise)
            case Call(function, arguments):
                return _apply(function, [self.value(argument) for argument in arguments])
        raise UnsupportedQuery(f"{expression.sql()} cannot be computed from results")

    def _case(self, branches: Sequence[tuple[Expression, Expression]], otherwise: Expression | None) -> Value:
        """The branch that holds; where noise decides which, the interval covers all of them."""
        values = [self.value(then) for _, then in branches] + [None if otherwise is None else self.value(otherwise)]
        holds = (i for i, (condition, _) in enumerate(branches) if self.value(condition) is True)
        chosen = values[next(holds, -1)]
        if not any(measured(condition) for condition, _ in branches) or not _is_number(chosen):
            return chosen
        possible = [_estimate(value) for value in values if _is_number(value)]
        low, high = min(each.low for each in possible), max(each.high for each in possible)
        return Estimate(_estimate(chosen).value, low, high)


def _nearest(value: Value, scale: int) -> Value:
    """The doubles nearest to decimals; ends of an interval stay around the decimal that is between them."""
    if not isinstance(value, Estimate):
        return value
    return Estimate(*(round(x, scale) if math.isfinite(x) else x for x in (value.value, value.low, value.high)))


def _half_away(x: float) -> float:
    """The nearest whole number, of two the one that is farther from zero."""
    below = math.floor(abs(x))
    return math.copysign(below + (abs(x) - below >= 0.5), x)


def _is_number(value: Value) -> bool:
    return isinstance(value, (Estimate, int, float)) and not isinstance(value, bool)


def _estimate(value: Value) -> Estimate:
    assert isinstance(value, (Estimate, int, float))
    return value if isinstance(value, Estimate) else exactly(float(value))


def _among(value: Value, items: list[Value]) -> bool | None:
    if value is None:
        return None
    if any(item is not None and _compare("equal", value, item) for item in items):
        return True
    return None if None in items else False


def _constant(literal: Literal) -> Value:
    if literal.is_number:
        return exactly(float(Fraction(str(literal.value))))
    if literal.is_date:
        return time_of(literal).date()
    return time_of(literal) if literal.is_time else literal.value


def _apply(function: str, arguments: list[Value]) -> Value:
    """A function of results; as in SQL, what is computed from NULL is NULL, but for a truth that is sure anyway."""
    match function:
        case "is_null":
            return arguments[0] is None
        case "coalesce":
            return arguments[1] if arguments[0] is None else arguments[0]
        case "and":
            return False if False in arguments else None if None in arguments else True
        case "or":
            return True if True in arguments else None if None in arguments else False
    if any(argument is None for argument in arguments):
        return None
    if function == "not":
        return not arguments[0]
    if function == "between":
        return _compare("at_least", arguments[0], arguments[1]) and _compare("at_most", arguments[0], arguments[2])
    if function in COMPARISONS:
        return _compare(function, arguments[0], arguments[1])
    return _arithmetic(function, [argument for argument in arguments if isinstance(argument, Estimate)])


def _arithmetic(function: str, numbers: list[Estimate]) -> Estimate | None:
    first = numbers[0]
    match function:
        case "add":
            return first + numbers[1]
        case "subtract":
            return first + -numbers[1]
        case "multiply":
            return first * numbers[1]
        case "divide":
            inverse = numbers[1].inverse()
            return None if inverse is None else first * inverse
        case "negate":
            return -first
        case "as_double":
            return first
        case "abs":
            least = 0.0 if first.low <= 0 <= first.high else min(abs(first.low), abs(first.high))
            return Estimate(abs(first.value), least, max(abs(first.low), abs(first.high)))
    step = ROUNDING.get(function)
    if step is None:
        raise UnsupportedQuery(f"{function} is not supported on results")
    return Estimate(*(float(step(x)) if math.isfinite(x) else x for x in (first.value, first.low, first.high)))


def _plain(value: Value) -> Any:
    """The value to compare: a number, a text, a truth value, or a time for dates and times alike."""
    if isinstance(value, Estimate):
        return value.value
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    return value


def _compare(function: str, first: Value, second: Value) -> bool:
    return COMPARISONS[function](_plain(first), _plain(second))
