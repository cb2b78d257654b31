"""From private cells to the rows of the answer: arithmetic, HAVING, ORDER BY, LIMIT; all post-processing.

An output that uses several measures gets each of them with a share of the miss probability, so that its interval holds
at the stated confidence all the same. Sums and ratios of counts and sums are narrower: their noises combine (`forms`).
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.curator.estimate import Bar, bar, estimate
from sfumato.curator.forms import combined
from sfumato.curator.measure import Measured
from sfumato.curator.value import Estimate, exactly
from sfumato.dataset.column import Key
from sfumato.errors import UnsupportedQuery
from sfumato.plan.bound import Sort
from sfumato.plan.node import Call, Case, Expression, In, KeyAt, Literal, MeasureAt
from sfumato.plan.price import PricedPlan, measured
from sfumato.plan.typed import time_of

Value = Estimate | Key | None

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "equal": operator.eq, "unequal": operator.ne, "less": operator.lt, "at_most": operator.le,
    "greater": operator.gt, "at_least": operator.ge,
}  # fmt: skip
ROUNDING: dict[str, Callable[[float], float]] = {
    "floor": math.floor, "ceil": math.ceil, "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "as_integer": round,
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
    bars = _Bars(found, {})
    kept = [
        key
        for key in keys
        if bound.having is None or _Evaluation(found, key, bars.of(miss)).value(bound.having) is True
    ]
    for sort in reversed(bound.order):
        kept = _sorted(kept, found, sort, bars.of(miss))
    return rows_for(plan, found, kept[: bound.limit], miss)


def rows_for(plan: PricedPlan, found: Sequence[Measured], keys: Sequence[tuple[Key, ...]], miss: Fraction) -> list[Row]:
    """The rows of some groups, the interval of each estimate being wrong with probability `miss` at most."""
    bars = _Bars(found, {})
    joint = {column.name: _joint(column.expression, found, keys, miss, bars) for column in plan.bound.shown}
    return [_row(plan, found, key, miss, bars, joint) for key in keys]


def _joint(
    expression: Expression, found: Sequence[Measured], keys: Sequence[tuple[Key, ...]], miss: Fraction, bars: _Bars
) -> dict[tuple[Key, ...], Estimate]:
    """The estimates of a column that is a sum or a ratio of several measures, by group."""
    used = measured(expression)
    return combined(expression, found, keys, bars.of(miss / len(used)), miss) if used else {}


@dataclass(frozen=True, slots=True)
class _Bars:
    """Error bars of all measures by miss probability, worked out once each."""

    found: Sequence[Measured]
    known: dict[Fraction, list[Bar]]

    def of(self, miss: Fraction) -> list[Bar]:
        if miss not in self.known:
            self.known[miss] = [bar(measured, miss) for measured in self.found]
        return self.known[miss]


def _sorted(
    keys: list[tuple[Key, ...]], found: Sequence[Measured], sort: Sort, bars: Sequence[Bar]
) -> list[tuple[Key, ...]]:
    """By one key; NULL comes last in both directions."""
    values = {key: _plain(_Evaluation(found, key, bars).value(sort.expression)) for key in keys}
    known = [key for key in keys if values[key] is not None]
    ordered = sorted(known, key=lambda key: values[key], reverse=sort.descending)
    return ordered + [key for key in keys if values[key] is None]


def _row(
    plan: PricedPlan,
    found: Sequence[Measured],
    key: tuple[Key, ...],
    miss: Fraction,
    bars: _Bars,
    joint: Mapping[str, Mapping[tuple[Key, ...], Estimate]],
) -> Row:
    values: dict[str, Any] = {}
    intervals: dict[str, tuple[float, float] | None] = {}
    for column in plan.bound.shown:
        used = measured(column.expression)
        value: Value = joint[column.name].get(key)
        if value is None:
            value = _Evaluation(found, key, bars.of(miss / max(1, len(used)))).value(column.expression)
        values[column.name] = value.value if isinstance(value, Estimate) else value
        intervals[column.name] = (value.low, value.high) if isinstance(value, Estimate) and used else None
    return Row(values, intervals, key)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """Expressions over the results of one group."""

    found: Sequence[Measured]
    key: tuple[Key, ...]
    bars: Sequence[Bar]

    def value(self, expression: Expression) -> Value:
        match expression:
            case KeyAt(position):
                key = self.key[position]
                is_number = isinstance(key, (int, float)) and not isinstance(key, bool)
                return exactly(key) if is_number else key  # type: ignore[arg-type]
            case MeasureAt(position):
                return estimate(self.found[position], self.key, self.bars[position])
            case Literal():
                return _constant(expression)
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
        raise UnsupportedQuery(f"{function} is not answered on results")
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
