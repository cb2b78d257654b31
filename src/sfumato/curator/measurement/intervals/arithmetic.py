"""Arithmetic on counts and sums in one row: which of it is a sum, a difference or a ratio, so that noises combine.

`2 * COUNT(*) - COUNT(x)` is a weighted sum of released numbers, `100.0 * COUNT(x) / COUNT(*)` a ratio of two. Whatever
is neither (a product of measures, a mean, a CASE) keeps the interval that its parts give corner by corner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.curator.measurement.intervals.estimate import for_noise
from sfumato.curator.measurement.measure import Measured
from sfumato.dataset.column import Key
from sfumato.mechanisms._noise.sums import Floats
from sfumato.plan.syntax.node import Call, Expression, Literal, MeasureAt, TotalAt, children
from sfumato.statistics.estimate import Estimate
from sfumato.statistics.ratios import Part, Source, linear, quotients
from sfumato.statistics.statistic import CellError


@dataclass(frozen=True, slots=True)
class _Sum:
    """Measures, and totals of measures, by their weights, and a constant."""

    weights: Mapping[MeasureAt | TotalAt, Fraction]
    constant: Fraction = Fraction(0)

    def plus(self, other: _Sum, times: Fraction = Fraction(1)) -> _Sum:
        used = {*self.weights, *other.weights}
        weights = {i: self.weights.get(i, Fraction(0)) + times * other.weights.get(i, Fraction(0)) for i in used}
        return _Sum(weights, self.constant + times * other.constant)

    def times(self, factor: Fraction) -> _Sum:
        return _Sum({}).plus(self, factor)


@dataclass(frozen=True, slots=True)
class _Form:
    """A sum, or the ratio of two."""

    above: _Sum
    below: _Sum | None = None

    @property
    def number(self) -> Fraction | None:
        """The constant that it is, None if it is none."""
        return self.above.constant if self.below is None and not self.above.weights else None

    @property
    def used(self) -> list[int]:
        parts = (*self.above.weights, *(() if self.below is None else self.below.weights))
        return sorted({part.position for part in parts})


def weights_of(expression: Expression) -> dict[int, Fraction]:
    """The measures of a weighted sum with their weights; none where an expression is something else."""
    form = _form(expression)
    if form is None or form.below is not None or any(isinstance(of, TotalAt) for of in form.above.weights):
        return {}
    return {of.position: weight for of, weight in form.above.weights.items()}


def form_in(expression: Expression) -> Expression | None:
    """The one sum or ratio that an expression is computed from, perhaps rounded; None: it has several, or none."""
    found = _forms_in(expression)
    return next(iter(found)) if len(found) == 1 else None


def _forms_in(expression: Expression) -> set[Expression]:
    form = _form(expression)
    if form is not None:
        return {expression} if form.used else set()
    return set().union(*map(_forms_in, children(expression)))


def combined(
    expression: Expression,
    found: Sequence[Measured],
    keys: Sequence[tuple[Key, ...]],
    summed: Sequence[tuple[Key, ...]],
    bars: Sequence[CellError],
    miss: Fraction,
) -> dict[tuple[Key, ...], Estimate]:
    """The estimates by group of a sum or a ratio of counts and sums; empty: it is something else.

    A total is that of the groups `summed`. `bars` are for the share of `miss` that each measure has.
    """
    form = None if isinstance(expression, MeasureAt) else _form(expression)
    used = [] if form is None else form.used
    if form is None or not all(found[i].priced.measure.statistic.adds_up for i in used):
        return {}
    sources = [_source(form, i, found[i], bars[i], len(summed)) for i in used]
    noise_miss = sum((for_noise(found[i], miss / len(used)) for i in used), Fraction(0))
    above = _values(form.above, found, keys, summed)
    if form.below is None:
        middle = linear(sources, 0.0, noise_miss)
        return {k: Estimate(v, v + middle.low, v + middle.high) for k, v in zip(keys, above.tolist(), strict=True)}
    below = _values(form.below, found, keys, summed)
    ends = zip(*quotients(sources, above, below, noise_miss), strict=True)
    listed = zip(keys, above.tolist(), below.tolist(), ends, strict=True)
    return {k: Estimate(a / b, float(low), float(high)) for k, a, b, (low, high) in listed if b != 0}


def _source(form: _Form, place: int, measured: Measured, bar: CellError, groups: int) -> Source:
    """A measure's own number with its weights; where its total is used, the numbers of the other groups as well."""
    step, sums = float(measured.priced.step), [form.above, form.below or _Sum({})]
    total = [float(part.weights.get(TotalAt(place), 0)) * step for part in sums]
    own = [float(part.weights.get(MeasureAt(place), 0)) * step for part in sums]
    parts = [Part(1, own[0] + total[0], own[1] + total[1])]
    parts += [Part(groups - 1, *total)] if any(total) and groups > 1 else []
    return Source(measured.noise, tuple(parts), bar.lost, measured.priced.signed)


def _values(
    part: _Sum, found: Sequence[Measured], keys: Sequence[tuple[Key, ...]], summed: Sequence[tuple[Key, ...]]
) -> Floats:
    values = np.full(len(keys), float(part.constant))
    for of, weight in part.weights.items():
        cells, scale = found[of.position].cells, float(weight) * float(found[of.position].priced.step)
        if isinstance(of, TotalAt):
            values += scale * float(sum(cells[key][0] for key in summed))
        else:
            values += scale * np.array([float(cells[key][0]) for key in keys])
    return values


def _form(expression: Expression) -> _Form | None:
    """The sum or ratio that an expression is, None if it is neither."""
    match expression:
        case MeasureAt() | TotalAt():
            return _Form(_Sum({expression: Fraction(1)}))
        case Literal(value, is_number=True):
            return _Form(_Sum({}, Fraction(str(value))))
        case Call(function, arguments):
            parts = [_form(argument) for argument in arguments]
            known = [part for part in parts if part is not None]
            return _called(function, known) if len(known) == len(parts) else None
    return None


def _called(function: str, parts: list[_Form]) -> _Form | None:
    match function, parts:
        case "as_double", [one]:
            return one
        case "negate", [one]:
            return _scaled(one, Fraction(-1))
        case "add", [one, two]:
            return _added(one, two, Fraction(1))
        case "subtract", [one, two]:
            return _added(one, two, Fraction(-1))
        case "multiply", [one, two]:
            if two.number is not None:
                return _scaled(one, two.number)
            return None if one.number is None else _scaled(two, one.number)
        case "divide", [one, two]:
            if two.number is not None:
                return _scaled(one, 1 / two.number) if two.number else None
            return _Form(one.above, two.above) if one.below is None and two.below is None else None
    return None


def _scaled(form: _Form, factor: Fraction) -> _Form:
    return _Form(form.above.times(factor), form.below)


def _added(one: _Form, two: _Form, sign: Fraction) -> _Form | None:
    if one.below is None and two.below is None:
        return _Form(one.above.plus(two.above, sign))
    if one.below is not None and two.number is not None:
        return _Form(one.above.plus(one.below, sign * two.number), one.below)
    if two.below is not None and one.number is not None:
        return _added(_scaled(two, sign), _Form(_Sum({}, one.number)), Fraction(1))
    return None
