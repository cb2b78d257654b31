"""From a bound plan to a priced plan: shares of epsilon, lattices and limits, all from the question's text.

Noise kind, norm and every share are fixed here, before anything is bought; only scales follow what was bought. Each
measure gets its share. A tenth of the share buys the limit C where nobody declared it, another tenth the bounds of
values where the question asks for that. A mean always buys its limit, and with a tenth the place where its values lie,
about; its noise is then in proportion to their spread and not to their bounds.

With delta > 0 the noise is whichever of discrete Laplace and discrete Gaussian is smaller for this number of measures
and a unit in one group; who knows that units are in many groups asks for Gaussian noise (decision 0008).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from sfumato import checks
from sfumato.dataset.kind import Kind
from sfumato.errors import InvalidArgument, UnboundedColumn
from sfumato.plan.bind import argument_of
from sfumato.plan.bound import BoundPlan, Measure, Statistic
from sfumato.plan.currency import noise_of, select
from sfumato.plan.interval import Interval
from sfumato.plan.node import Call, Case, Exact, Expression, In, KeyAt, MeasureAt, TotalAt
from sfumato.plan.ruler import Ruler
from sfumato.plan.selection import Selection
from sfumato.plan.share import Share
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbours import Neighbours
from sfumato.privacy.sensitivity import Norm

ROW = 1 << 20  # lattice steps of one row in a count
_DIGITS = 31  # a value has at most 2**31 steps, so that products with a weight fit 64 bits
_SQUARE_DIGITS = 41  # of a row that is far out in a variance: 2**48 rows fit 128 bits
LARGEST_EPSILON = 10_000
_LEAST_MISS = Fraction(1, 10**12)
_FEW = 8  # rows of a unit that are not worth the price of a limit
_LOOKS = (Fraction(1, 25), Fraction(7, 50), Fraction(17, 50), Fraction(12, 25))
_TENTH, _NONE = Fraction(1, 10), Fraction(0)


@dataclass(frozen=True, slots=True)
class Centre:
    """Where the values of a mean lie, about: most within `spread` of `middle`."""

    middle: Fraction
    spread: Fraction


class Looks(NamedTuple):
    """The shares of looking for quantiles: where units have values, the rows of groups, a place, and around it."""

    landmarks: Share
    groups: Share
    place: Share
    around: Share


@dataclass(frozen=True, slots=True)
class PricedMeasure:
    """A measure with its shares, its interval and its limit.

    `rows` is the number of rows of a unit that count fully by the question's own word; None: the limit is bought with
    `limit_share`. `most_rows` is the declared maximum.
    `interval` holds the values; None: it is bought with `bounds_share`, and the measure then known by `within`.
    """

    measure: Measure
    share: Share
    limit_share: Share
    bounds_share: Share
    centre_share: Share
    rows: int | None
    most_rows: int | None
    interval: Interval | None
    centre: Centre | None = None

    def around(self, centre: Centre) -> PricedMeasure:
        """The same mean, its centre now bought."""
        return replace(self, centre=centre)

    def within(self, interval: Interval) -> PricedMeasure:
        """The same measure, its interval now bought."""
        return replace(self, interval=interval)

    @property
    def row_steps(self) -> int:
        """The most lattice steps of one row, outward."""
        if self.measure.statistic is Statistic.SUM:
            assert self.interval is not None
            return max(1, math.ceil(self.interval.largest / self.step))
        if not self.measure.statistic.is_centred:
            return ROW
        # A power of two: the value farthest from the centre has at most 2**30 steps, and its square, in rows, 2**41.
        digits = math.ceil(self._farthest()).bit_length()
        most = _DIGITS - 1 - digits
        return 1 << max(0, min(most, _SQUARE_DIGITS - 2 * digits) if self.measure.statistic.is_spread else most)

    def _farthest(self) -> Fraction:
        """How many spreads from the centre a value can be."""
        assert self.interval is not None
        assert self.centre is not None
        ends = (self.interval.low, self.interval.high)
        return max(abs(end - self.centre.middle) for end in ends) / self.centre.spread

    @property
    def step(self) -> Fraction:
        """What one lattice step is worth: a part of a row, or of the values' own unit."""
        if self.measure.statistic is Statistic.SUM:
            assert self.interval is not None
            return sum_step(self.interval.largest)
        return Fraction(1, self.row_steps)

    @property
    def declared_limit(self) -> int | None:
        """The limit C in steps, where nothing has to be bought."""
        if self.rows is None or self.measure.statistic.is_centred:
            return None
        return self.rows * self.row_steps

    @property
    def most(self) -> int | None:
        """The most influence that a unit can have by declaration, in steps; None: its rows are not declared."""
        if self.most_rows is None or self.bounds_share:  # bought bounds are nobody's word
            return None
        if not self.measure.statistic.is_centred:
            return self.most_rows * self.row_steps
        away = math.ceil(self._farthest() * self.row_steps) + 1
        row = -(-away * away // self.row_steps) if self.measure.statistic.is_spread else away
        return self.most_rows * (max(row, self.row_steps) + 2)  # a row at the centre has the steps of one row as well

    @property
    def cells(self) -> int:
        """How many lattice sums it needs in each group."""
        if self.measure.statistic.is_spread:
            return 3
        return {Statistic.MEAN: 2, Statistic.QUANTILES: 0}.get(self.measure.statistic, 1)

    @property
    def ruler(self) -> Ruler:
        """The line of values on which quantiles are looked for."""
        assert self.measure.argument is not None
        return Ruler.of(self.interval, self.measure.argument.kind is Kind.INTEGER)

    @property
    def looks(self) -> Looks:
        """What each look at the line costs."""
        return Looks(*(self.share.part(each) for each in _LOOKS))

    @property
    def signed(self) -> bool:
        """Whether rows may count negatively."""
        return self.measure.statistic is Statistic.SUM and (self.interval is None or self.interval.low < 0)


@dataclass(frozen=True, slots=True)
class PricedPlan:
    """A question with its price: everything that is decided before the data is touched."""

    bound: BoundPlan
    measures: tuple[PricedMeasure, ...]
    epsilon: Fraction
    delta: Fraction
    whole: Share
    confidence: Fraction
    simultaneous: bool
    selection: Selection | None = None

    @property
    def norm(self) -> Norm:
        """How distances are measured: L1 with Laplace noise, L2 with Gaussian."""
        return self.whole.norm

    @property
    def loss(self) -> Loss:
        """What the answer costs: the shares add up to epsilon, or to the rho that gives (epsilon, delta), exactly."""
        if self.norm is Norm.L1:
            return Loss.pure(self.epsilon, delta=self.promise.delta)
        return Loss(self.epsilon, self.whole.amount, None, self.delta)

    @property
    def promise(self) -> Guarantee:
        """What the answer promises a unit; Laplace noise needs no delta, and none is charged, but for unknown keys."""
        delta = Fraction(0) if self.norm is Norm.L1 and self.selection is None else self.delta
        return Guarantee(self.epsilon, delta, self.bound.table.neighbours, self.bound.table.unit)

    def moves(self, measure: PricedMeasure, limit: int) -> int:
        """How far one unit can move the cells of a measure for a limit C: in L1, or the square of it in L2."""
        positive = not measure.measure.statistic.is_centred and not measure.signed
        one_cell = positive and not self.bound.groups and measure.cells == 1
        if self.bound.table.neighbours is Neighbours.ADD_REMOVE or one_cell:
            return limit if self.norm is Norm.L1 else limit**2  # one cell between 0 and C moves by C also in replacing
        if self.norm is Norm.L1:
            return 2 * limit
        return 2 * limit**2 if positive else 4 * limit**2  # two vectors without a negative part are sqrt(2) C apart

    @property
    def histogram_moves(self) -> int:
        """How far one unit can move a histogram of units; 2 is the L1 distance and the square of the L2 distance."""
        return 1 if self.bound.table.neighbours is Neighbours.ADD_REMOVE else 2


def sum_step(largest: Fraction) -> Fraction:
    """The lattice of a sum: a power of two such that the largest value has at most 2**31 steps."""
    size = max(largest, Fraction(1, 1 << 200))
    power = math.ceil(size).bit_length() if size >= 1 else -_leading_zeros(size)
    return Fraction(2) ** (power - _DIGITS)


def _leading_zeros(x: Fraction) -> int:
    """The largest z with x * 2**z <= 1."""
    return (x.denominator // x.numerator).bit_length() - 1


def price(
    bound: BoundPlan,
    *,
    epsilon: checks.Number,
    delta: checks.Number = 0,
    noise: str | None = None,
    confidence: checks.Number = 0.95,
    shares: Mapping[str, checks.Number] | None = None,
    limit: int | None = None,
    buy_bounds: bool = False,
    simultaneous: bool = False,
) -> PricedPlan:
    """Give every measure its share, or refuse what cannot be answered soundly."""
    total, failure = checks.positive(epsilon=epsilon), checks.below_one(delta=delta)
    if total > LARGEST_EPSILON:
        raise InvalidArgument(f"epsilon must be at most {LARGEST_EPSILON:,}; got a larger one; it promises nothing")
    for_keys, *weights = _weights(bound, shares or {})
    selection = None
    if bound.unknown:
        whole, selection = select(bound, total, failure, noise, for_keys)
        weights = [Fraction(1)] if selection.counts else weights
    else:
        whole = noise_of(total, failure, weights, noise)
    rows = None if limit is None else checks.whole(least=1, bound=limit)
    measures = tuple(
        _measure(bound, measure, whole.part(weight), rows, buy_bounds or bound.table.aggregates)
        for measure, weight in zip(bound.measures, weights, strict=True)
    )
    # Cells that are shown because they look large are chosen by their noise, so their intervals must hold for all.
    chosen = simultaneous or picks_by_measure(bound)
    return PricedPlan(bound, measures, total, failure, whole, _confidence(confidence), chosen, selection)


def _confidence(confidence: checks.Number) -> Fraction:
    level = checks.inside(confidence=confidence)
    if 1 - level < _LEAST_MISS:
        raise InvalidArgument("confidence must leave at least 1e-12 to chance; got more; 0.999 is high already")
    return level


def picks_by_measure(bound: BoundPlan) -> bool:
    """Whether HAVING, or ORDER BY with LIMIT, decides from noisy values what is shown."""
    sorts = [sort.expression for sort in bound.order] if bound.limit is not None else []
    return any(measured(part) for part in [*sorts, *([] if bound.having is None else [bound.having])])


def _weights(bound: BoundPlan, shares: Mapping[str, checks.Number]) -> list[Fraction]:
    """The parts of the whole: for finding keys (none where they are public), then for each measure."""
    names = [column.name for column in bound.shown]
    if not isinstance(shares, Mapping):
        raise InvalidArgument(f"shares must map columns to numbers; got a {type(shares).__name__}; as in {{'n': 2}}")
    for name in shares:
        if name not in names:
            raise InvalidArgument(f"shares must name columns of the answer ({', '.join(names)}); got {name!r}")
    weights, for_keys = [Fraction(0)] * len(bound.measures), Fraction(0)
    for column in bound.shown:
        weight = checks.positive(share=shares.get(column.name, 1))
        for value in measured(column.expression):
            weights[value.position] = max(weights[value.position], weight)
        if isinstance(column.expression, KeyAt) and bound.groups[column.expression.position].keyless is not None:
            for_keys = max(for_keys, weight)
    used = [weight or Fraction(1) for weight in weights]  # those of HAVING or ORDER BY alone have one too
    for_keys = (for_keys or Fraction(1)) if bound.unknown else Fraction(0)
    return [weight / (for_keys + sum(used)) for weight in (for_keys, *used)]


def measured(result: Expression) -> set[MeasureAt]:
    """Which private values an expression over results uses."""
    match result:
        case MeasureAt():
            return {result}
        case TotalAt(position):
            return {MeasureAt(position)}
        case Call(_, arguments):
            return set().union(*(measured(part) for part in arguments))
        case In(value) | Exact(value):
            return measured(value)
        case Case(branches, otherwise):
            parts = [part for branch in branches for part in branch] + ([] if otherwise is None else [otherwise])
            return set().union(*(measured(part) for part in parts))
    return set()


def _measure(bound: BoundPlan, measure: Measure, share: Share, rows: int | None, buy: bool) -> PricedMeasure:
    interval = _interval(measure, buy)
    valued = measure.statistic is Statistic.SUM or measure.statistic.is_centred
    most = most_rows(bound, measure)
    declared = most if rows is None and measure.statistic.is_count and most is not None and most <= _FEW else rows
    centred = measure.statistic.is_centred
    for_bounds = share.part(_TENTH if valued and interval is None else _NONE)
    for_limit = share.part(_TENTH if declared is None or centred else _NONE)
    for_centre = share.part(_TENTH if centred else _NONE)
    left = share.less(for_limit, for_bounds, for_centre)
    if not all(part.drawable() for part in (left, for_bounds, for_limit, for_centre) if part):
        raise InvalidArgument(
            "epsilon must leave a noise that can be drawn; got too small a share; 1e-9 is small enough"
        )
    return PricedMeasure(
        measure,
        left,
        for_limit,
        for_bounds,
        for_centre,
        declared,
        declared if most is None else min(most, declared or most),
        interval,
    )


def most_rows(bound: BoundPlan, measure: Measure) -> int | None:
    """The most rows of a unit, or groups that it is in where units are counted; None: nobody said."""
    most = bound.table.most_rows if bound.table.unit.columns else 1
    if measure.statistic is not Statistic.UNITS:
        return most
    if bound.unknown:
        return most
    groups = math.prod(len(atom.values) for atom in bound.atoms)
    return groups if most is None else min(most, groups)


def _interval(measure: Measure, buy: bool) -> Interval | None:
    if measure.statistic.is_count:
        return None
    argument = argument_of(measure)
    interval = argument.interval
    if interval is None and measure.statistic is Statistic.QUANTILES:
        return None  # a quantile has to know no bounds: see `ruler`
    if interval is None and not buy:
        raise UnboundedColumn(
            f"{argument.expression.sql()} has no declared bounds; declare them for its columns, or let the question "
            "buy them: bounds='auto'"
        )
    if interval is not None and interval.largest > 2**200:
        raise UnboundedColumn(
            f"the bounds of {argument.expression.sql()} are too wide to be exact; declare closer ones"
        )
    if interval is not None and 0 < interval.width < Fraction(1, 2**200):
        raise UnboundedColumn(
            f"the bounds of {argument.expression.sql()} are too close together to be told apart; ask for multiples"
        )
    return interval if interval is None or interval.width > 0 else Interval(interval.low, interval.low + 1)
