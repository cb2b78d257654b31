"""How an answer was computed, in plain words: unit, bounds, limits, noise, shares, and why the result is private."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.curator.measurement.measure import Measured
from sfumato.plan.binding.undeclared import strangers
from sfumato.plan.pricing.key_discovery import FULL
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan, max_rows_per_unit
from sfumato.plan.relations.describe import travels
from sfumato.privacy.sensitivity import Norm
from sfumato.statistics.quantile.line import beyond

_KINDS = {Norm.L1: "discrete Laplace", Norm.L2: "discrete Gaussian"}


def explain_plan(plan: PricedPlan) -> str:
    """What would happen, from the question's text and the declarations alone."""
    lines = [*_opening(plan), *_selection_lines(plan)]
    lines += [*(line for one in plan.measures for line in _price_lines(one)), *_closing(plan)]
    return "\n".join([*lines, *(f"Note: {note}" for note in known_notes(plan))])


def explain(plan: PricedPlan, found: Sequence[Measured], noted: Sequence[str], statements: Sequence[str]) -> str:
    """How an answer was computed, with what was estimated, what was noted and the SQL that ran."""
    lines = _opening(plan)
    also = ", including groups without rows" if plan.key_discovery is None else " with discovered keys"
    lines.insert(-1, f"Groups: {len(found[0].cells)}{also}.")
    lines += _selection_lines(plan)
    for measured in found:
        lines += _measure_lines(measured.priced, measured)
    lines += [*_closing(plan), *noted, "The engine ran:", *(f"  {sql}" for sql in statements)]
    return "\n".join(lines)


def _opening(plan: PricedPlan) -> list[str]:
    table, bound = plan.bound.table, plan.bound
    rows = "filtered by WHERE" if bound.where else "no filter"
    excluded = [f"Rows without a value in {', '.join(table.unit.columns)} are excluded."] if table.unit.columns else []
    excluded += ["Rows whose key is NULL or undeclared are excluded."] if bound.groups else []
    keys = "No grouping"
    if bound.groups:
        public = [group.expression.sql() for group in bound.groups if group.keyless is None]
        found = [group.expression.sql() for group in bound.groups if group.keyless is not None]
        keys = "Grouped by " + " and ".join(
            f"{', '.join(listed)} ({what})"
            for what, listed in (("declared keys", public), ("keys discovered privately", found))
            if listed
        )
    return [
        f"Protected: {table.unit}; neighbors: {table.neighbors.value}.",
        *(["Where the unit goes:", *(f"  {line}" for line in travels(table))] if table.inputs else []),
        f"Question: {bound.canonical}",
        " ".join([f"{keys}{', ' if bound.groups or bound.where else ' and '}{rows}.", *excluded]),
    ]


def _selection_lines(plan: PricedPlan) -> list[str]:
    if plan.key_discovery is None:
        return []
    rounds = plan.key_discovery.rounds
    return [
        f"key discovery: {plan.key_discovery.share} in {len(rounds)} rounds; a unit's keys share a weight of 1",
        *(
            f"  round {number}: {each.share}; keys with a noisy weight above {each.threshold / FULL:,.4g} are shown; a "
            f"key that only one unit has is shown with probability at most {float(each.delta):g}"
            for number, each in enumerate(rounds, 1)
        ),
    ]


def _closing(plan: PricedPlan) -> list[str]:
    total = f"epsilon = {float(plan.epsilon):g}"
    if plan.norm is Norm.L2:
        total = f"{plan.whole}, which gives {total} with delta = {float(plan.delta):g}"
    return [
        f"The shares add up to {total}. Each step is differentially private for its share, whatever earlier steps "
        "released. HAVING, ORDER BY, LIMIT and arithmetic on results are post-processing and cost nothing.",
        ("All intervals together, shown or not, hold" if plan.simultaneous else "Each interval holds")
        + f" with probability {float(plan.confidence):.0%} over the noise. Intervals describe this table, not a larger "
        "population.",
    ]


def _named(priced: PricedMeasure) -> str:
    argument = priced.measure.argument
    return priced.measure.statistic.name + ("" if argument is None else f" of {argument.expression.sql()}")


def _price_lines(priced: PricedMeasure) -> list[str]:
    lines = [f"{_named(priced)}: {priced.share} for the values"]
    for share, what in (
        (priced.bounds_share, "the bounds of the values"),
        (priced.center_share, "the center of the values"),
        (priced.limit_share, "the contribution limit of one unit"),
    ):
        if share:
            lines.append(f"  {share} to estimate {what}")
    return lines


def _measure_lines(priced: PricedMeasure, measured: Measured) -> list[str]:
    step = priced.step
    lines = _price_lines(priced)[:1]
    if priced.value_range is not None:
        origin = f"estimated with {priced.bounds_share}" if priced.bounds_share else "declared"
        lines.append(
            f"  values clipped to [{float(priced.value_range.low):g}, {float(priced.value_range.high):g}], {origin}"
        )
    if priced.center is not None:
        middle, spread = float(priced.center.middle), float(priced.center.spread)
        lines.append(f"  centered at {middle:g} with spread {spread:g}, estimated with {priced.center_share}")
    origin = f"estimated with {priced.limit_share}" if priced.limit_share else "declared"
    limit = float(measured.limit.steps * step)
    lines.append(f"  contribution limit of one unit {limit:g}, {origin}; larger contributions are scaled down")
    deviation, kind = measured.noise.deviation() * float(step), _KINDS[priced.share.norm]
    lines.append(f"  {kind} noise of standard deviation {deviation:g} on every cell")
    return lines


def notes(plan: PricedPlan, found: Sequence[Measured]) -> tuple[str, ...]:
    """What the answer does not say, or only with reservations; what is the same for several measures is said once."""
    kinds: dict[str, list[str]] = {}
    for measured in found:
        kind, about = _note(plan, measured, alone=len(found) == 1)
        kinds.setdefault(kind, []).append(about)
    found_out = [said.format(_begin("; ".join(kinds[kind]))) for kind, said in _NOTES.items() if kind in kinds]
    if "unseen" in kinds and plan.bound.table.max_rows_per_unit is None:
        found_out[-1] += " Declare max_rows_per_unit for this table to remove the uncertainty."
    extreme = [each for each in found if {Fraction(0), Fraction(1)} & set(each.priced.measure.points)]
    rows = max((beyond(each.noise) * float(each.priced.step) for each in extreme), default=0.0)
    found_out += [f"About {rows:,.0f} rows lie beyond the minimum or maximum shown here."] if extreme else []
    return (*known_notes(plan), *found_out)


def _begin(text: str) -> str:
    return text[:1].upper() + text[1:]


def known_notes(plan: PricedPlan) -> tuple[str, ...]:
    """What is to be said of a question by its text alone."""
    said = list(strangers(plan.bound))
    if plan.key_discovery is not None:
        people = min(each.people for each in plan.key_discovery.rounds)
        said.append(
            f"A value shared by about {people:,.0f} people is shown half of the time, rarer ones less often. Totals "
            "cover the values shown."
        )
    if any(point in (0, 1) for measure in plan.bound.measures for point in measure.points):
        said.append(
            "A few rows lie beyond a minimum or maximum, because the outermost value may belong to one person. The "
            "interval extends to the end of the possible values."
        )
    return tuple(said)


_NOTES = {
    "given": "{}: you set the contribution limit, so the interval does not include what the limit removes.",
    "few": "{}: there are too few people to estimate the largest contributions, so the interval is open on that side. "
    "Declare max_rows_per_unit for the table, set it for the question, or ask with more epsilon.",
    "unseen": "{}. Their effect on the error bars is extrapolated.",
}


def _note(plan: PricedPlan, measured: Measured, alone: bool) -> tuple[str, str]:
    """Which note a measure needs ('' for none), and what to say of it."""
    priced, limit = measured.priced, measured.limit
    histogram = measured.histogram((1 - plan.confidence) / 5)
    name, most = _named(priced), max_rows_per_unit(plan.bound, priced.measure)
    if priced.rows is not None and (most is None or priced.rows < most):
        return "given", name
    if histogram is None or limit.closed:
        return "", name
    if not histogram.enough():
        return "few", name
    beyond = float(max(limit.steps, histogram.edge(histogram.top)) * priced.step)
    which = f"{beyond:,.4g}" if alone else f"{name}: {beyond:,.4g}"
    unseen = histogram.unseen(limit.steps)
    return "unseen", f"up to {unseen:,} people may contribute more than the limit used here ({which})"
