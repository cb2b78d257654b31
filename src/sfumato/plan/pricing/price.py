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

from sfumato import checks
from sfumato.dataset.kind import Kind
from sfumato.errors import InvalidArgument, UnboundedColumn
from sfumato.phrases import Option, Phrase
from sfumato.plan.binding.bind import argument_of
from sfumato.plan.plan import BoundPlan, Measure
from sfumato.plan.pricing.currency import noise_of, select
from sfumato.plan.pricing.key_discovery import KeyDiscovery
from sfumato.plan.syntax.node import Call, Case, Exact, Expression, In, KeyAt, MeasureAt, TotalAt
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.sensitivity import Norm
from sfumato.statistics.quantile.rounds import Looks, looks_of
from sfumato.statistics.quantile.ruler import Ruler
from sfumato.statistics.ranges import Range
from sfumato.statistics.share import Share
from sfumato.statistics.statistic import Center, RangeNeed

LARGEST_EPSILON = 10_000
_LEAST_MISS = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class PricedMeasure:
    """A measure with its shares, its interval and its limit.

    `rows` is the number of rows of a unit that count fully by the question's own word; None: the limit is bought with
    `limit_share`. `max_rows_per_unit` is the declared maximum.
    `value_range` holds the values; None: it is bought with `bounds_share`, and the measure then known by `within`.
    """

    measure: Measure
    share: Share
    limit_share: Share
    bounds_share: Share
    center_share: Share
    rows: int | None
    max_rows_per_unit: int | None
    value_range: Range | None
    center: Center | None = None

    def around(self, center: Center) -> PricedMeasure:
        """The same mean, its center now bought."""
        if center.is_declared or self.limit_share or not self.center_share:
            return replace(self, center=center)
        limit = self.share.part(Fraction(1, 10))  # the limit does not follow from the declaration any more
        return replace(self, center=center, share=self.share.less(limit), limit_share=limit)

    def within(self, value_range: Range) -> PricedMeasure:
        """The same measure, its interval now bought."""
        return replace(self, value_range=value_range)

    @property
    def row_steps(self) -> int:
        """The most lattice steps of one row, rounded up."""
        return self.measure.statistic.row_steps(self)

    @property
    def step(self) -> Fraction:
        """What one lattice step is worth: a part of a row, or of the values' own unit."""
        return self.measure.statistic.step(self)

    @property
    def declared_limit(self) -> int | None:
        """The contribution limit in steps, where nothing has to be estimated."""
        return self.measure.statistic.declared_limit(self)

    @property
    def most(self) -> int | None:
        """The most that a unit can contribute by declaration, in steps; None: its rows are not declared."""
        if self.max_rows_per_unit is None or self.bounds_share:  # estimated bounds are not declared
            return None
        return self.measure.statistic.largest_contribution(self, self.max_rows_per_unit)

    @property
    def cells(self) -> int:
        """How many lattice sums it needs in each group."""
        return self.measure.statistic.cells

    @property
    def ruler(self) -> Ruler:
        """The line of values on which quantiles are looked for."""
        assert self.measure.argument is not None
        return Ruler.of(self.value_range, self.measure.argument.kind is Kind.INTEGER)

    @property
    def looks(self) -> Looks:
        """What each look at the line costs."""
        return looks_of(self.share)

    @property
    def signed(self) -> bool:
        """Whether rows may count negatively."""
        return not self.measure.statistic.is_nonnegative(self)


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
    key_discovery: KeyDiscovery | None = None

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
        delta = Fraction(0) if self.norm is Norm.L1 and self.key_discovery is None else self.delta
        return Guarantee(self.epsilon, delta, self.bound.table.neighbors, self.bound.table.unit)

    def moves(self, measure: PricedMeasure, limit: int) -> int:
        """How far one unit can move the cells of a measure for a limit C: in L1, or the square of it in L2."""
        positive = not measure.signed
        one_cell = positive and not self.bound.groups and measure.cells == 1
        if self.bound.table.neighbors is Neighbors.ADD_REMOVE or one_cell:
            return limit if self.norm is Norm.L1 else limit**2  # one cell between 0 and C moves by C also in replacing
        if self.norm is Norm.L1:
            return 2 * limit
        return 2 * limit**2 if positive else 4 * limit**2  # two vectors without a negative part are sqrt(2) C apart

    @property
    def histogram_moves(self) -> int:
        """How far one unit can move a histogram of units; 2 is the L1 distance and the square of the L2 distance."""
        return 1 if self.bound.table.neighbors is Neighbors.ADD_REMOVE else 2


def price(
    bound: BoundPlan,
    *,
    epsilon: checks.Number,
    delta: checks.Number = 0,
    noise: str | None = None,
    confidence: checks.Number = 0.95,
    shares: Mapping[str, checks.Number] | None = None,
    limit: int | None = None,
    estimate_bounds: bool = False,
    simultaneous: bool = False,
) -> PricedPlan:
    """Give every measure its share, or refuse what cannot be answered soundly."""
    total, failure = checks.positive(epsilon=epsilon), checks.below_one(delta=delta)
    if total > LARGEST_EPSILON:
        raise InvalidArgument(f"epsilon must be at most {LARGEST_EPSILON:,}; got a larger one; it promises nothing")
    for_keys, *weights = _weights(bound, shares or {})
    key_discovery = None
    if bound.undeclared:
        whole, key_discovery = select(bound, total, failure, noise, for_keys)
        weights = [Fraction(1)] if key_discovery.counts else weights
    else:
        whole = noise_of(total, failure, weights, noise)
    rows = None if limit is None else checks.whole(least=1, max_rows_per_unit=limit)
    measures = tuple(
        _measure(bound, measure, whole.part(weight), rows, estimate_bounds or bound.table.aggregates)
        for measure, weight in zip(bound.measures, weights, strict=True)
    )
    # Cells that are shown because they look large are chosen by their noise, so their intervals must hold for all.
    chosen = simultaneous or picks_by_measure(bound)
    return PricedPlan(bound, measures, total, failure, whole, _confidence(confidence), chosen, key_discovery)


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
    for_keys = (for_keys or Fraction(1)) if bound.undeclared else Fraction(0)
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


def _measure(bound: BoundPlan, measure: Measure, share: Share, rows: int | None, estimate: bool) -> PricedMeasure:
    value_range = _value_range(measure, estimate)
    statistic, most = measure.statistic, max_rows_per_unit(bound, measure)
    declared = statistic.declared_rows(rows, most)
    shares = statistic.divide(share, has_range=value_range is not None, has_limit=declared is not None)
    parts = (shares.values, shares.bounds, shares.limit, shares.center)
    if min(part.amount for part in parts) < 0 or sum((part.amount for part in parts), Fraction(0)) != share.amount:
        raise InvalidArgument(f"{statistic!r} must divide its share into parts that add up to it; got others; mend it")
    if not all(part.drawable() for part in parts if part):
        raise InvalidArgument(
            "epsilon must leave a noise that can be drawn; got too small a share; 1e-9 is small enough"
        )
    return PricedMeasure(
        measure,
        shares.values,
        shares.limit,
        shares.bounds,
        shares.center,
        declared,
        declared if most is None else min(most, declared or most),
        value_range,
    )


def max_rows_per_unit(bound: BoundPlan, measure: Measure) -> int | None:
    """The most rows of a unit, or groups that it is in where units are counted; None: nobody said."""
    most = bound.table.max_rows_per_unit if bound.table.unit.columns else 1
    groups = None if bound.undeclared else math.prod(len(domain.values) for domain in bound.key_domains)
    return measure.statistic.max_rows(most, groups)


def _value_range(measure: Measure, estimate: bool) -> Range | None:
    if measure.statistic.range_need is RangeNeed.NONE:
        return None
    argument = argument_of(measure)
    value_range = argument.value_range
    if value_range is None and measure.statistic.range_need is RangeNeed.OPTIONAL:
        return None
    if value_range is None and not estimate:
        raise UnboundedColumn(
            f"{argument.expression.sql()} has no declared bounds",
            fix=Phrase(
                "declare them for its columns, or let the question estimate them: ", Option("estimate_bounds", True)
            ),
        )
    if value_range is not None and value_range.largest > 2**200:
        raise UnboundedColumn(
            f"the bounds of {argument.expression.sql()} are too wide to be exact; declare closer ones"
        )
    if value_range is not None and 0 < value_range.width < Fraction(1, 2**200):
        raise UnboundedColumn(
            f"the bounds of {argument.expression.sql()} are too close together to be told apart; ask for multiples"
        )
    return value_range if value_range is None or value_range.width > 0 else Range(value_range.low, value_range.low + 1)
