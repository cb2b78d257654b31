"""What a question would cost and how accurate it would be, from its text alone."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.accounting.filter import Remaining
from sfumato.curator.answers.explain import known_notes
from sfumato.curator.measurement.intervals.arithmetic import weights_of
from sfumato.mechanisms._noise.sums import Term, reach
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan, measured
from sfumato.plan.syntax.node import Expression, MeasureAt
from sfumato.privacy.guarantee import Guarantee
from sfumato.statistics.contribution_histogram import units_needed


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected half-width of a column: a number where the limit is declared, else a multiple of the limit C."""

    half_width: float | None
    of: str

    def __str__(self) -> str:
        """In words."""
        if self.half_width is None:
            return "cannot be predicted before the data is read"
        return f"± {float(f'{self.half_width:.3g}'):,.12g}{self.of}"


@dataclass(frozen=True, slots=True)
class Quote:
    """The cost and the expected half-width per column.

    `wanted` is the half-width that was asked for. Where a `pilot` must tell what it needs, the cost is the most that
    pilot and answer together can be charged, and the expected half-widths are those for all of it.
    """

    cost: Guarantee
    expected: dict[str, Expected]
    fits: bool = True
    notes: tuple[str, ...] = ()
    wanted: str | None = None
    pilot: Guarantee | None = None

    def __str__(self) -> str:
        """In words."""
        wanted = "" if self.wanted is None else f"for {self.wanted} it "
        first = "" if self.pilot is None else f"{_said(self.pilot)} for a pilot and in total at most "
        columns = "; ".join(f"{name}: {expected}" for name, expected in self.expected.items())
        short = "" if self.fits else ", which is more than is left"
        said = "".join(f"; note: {note}" for note in self.notes)
        return f"{wanted}costs {first}{_said(self.cost)}{short}; {columns}{said}"


def _said(cost: Guarantee) -> str:
    return f"epsilon {float(cost.epsilon):g}" + (f" and delta {float(cost.delta):g}" if cost.delta else "")


def quote_of(plan: PricedPlan, left: Remaining | None = None) -> Quote:
    """The quote of a priced plan, given what is left."""
    expected = {}
    for column in plan.bound.shown:
        if isinstance(column.expression, MeasureAt):
            expected[column.name] = _expected(plan, plan.measures[column.expression.position])
        elif measured(column.expression):
            expected[column.name] = _combined(plan, column.expression)
    fits = left is None or plan.epsilon <= left.epsilon or (plan.loss.rho or 0) <= left.rho
    return Quote(plan.promise, expected, fits, known_notes(plan))


def least_half_width(plan: PricedPlan) -> float:
    """What no interval of a number of rows or units can be below, whoever is in the table: as if each had one row.

    A lower limit would make noise smaller, and what it takes away from everybody larger than that.
    """
    least = 0.0
    for column in plan.bound.shown:
        if not isinstance(column.expression, MeasureAt):
            continue  # arithmetic may make it smaller
        priced = plan.measures[column.expression.position]
        limit = priced.measure.statistic.least_limit(priced)
        if limit is not None:
            least = max(least, _reach(plan, priced, limit))
    return least


def _reach(plan: PricedPlan, priced: PricedMeasure, limit: int) -> float:
    return float(priced.share.noise(plan.moves(priced, limit)).reach(plan.confidence) * priced.step)


def _combined(plan: PricedPlan, result: Expression) -> Expected:
    """Of a sum or a difference of measures whose limits are declared the combined noise; anything else depends."""
    weights, terms = weights_of(result), []
    for place, weight in weights.items():
        priced = plan.measures[place]
        limit = priced.declared_limit
        if limit is None or not priced.measure.statistic.adds_up:
            return Expected(None, "")
        terms.append(Term(priced.share.noise(plan.moves(priced, limit)), float(weight * priced.step)))
    return Expected(reach(tuple(terms), 1 - plan.confidence), "") if terms else Expected(None, "")


def _expected(plan: PricedPlan, priced: PricedMeasure) -> Expected:
    if not priced.measure.statistic.is_predictable(priced):
        return Expected(None, "")
    limit = priced.declared_limit
    half_width = _reach(plan, priced, limit if limit is not None else priced.row_steps)
    if limit is not None:
        return Expected(half_width, "")
    if priced.most is not None:
        return Expected(_reach(plan, priced, priced.most), ", or less if few people have that many rows")
    row = priced.measure.statistic.describe_row(priced)
    needed = float(f"{units_needed(priced.limit_share.noise(plan.histogram_moves)):.2g}")
    estimated = f"the limit is estimated privately; needs about {needed:,.0f} people for a two-sided interval"
    return Expected(half_width, f" per {row} allowed per person ({estimated})")
