"""How an answer came about, in plain words: unit, bounds, weights, noise, shares, and why the whole is private."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sfumato.curator.line import beyond
from sfumato.curator.measure import Measured
from sfumato.plan.origin import travels
from sfumato.plan.price import PricedMeasure, PricedPlan, most_rows
from sfumato.plan.selection import FULL
from sfumato.plan.stranger import strangers
from sfumato.privacy.sensitivity import Norm

_KINDS = {Norm.L1: "discrete Laplace", Norm.L2: "discrete Gaussian"}


def explain_plan(plan: PricedPlan) -> str:
    """What would happen, from the question's text and the declarations alone."""
    lines = [*_opening(plan), *_selection_lines(plan)]
    lines += [*(line for one in plan.measures for line in _price_lines(one)), *_closing(plan)]
    return "\n".join([*lines, *(f"Note: {note}" for note in known_notes(plan))])


def explain(plan: PricedPlan, found: Sequence[Measured], noted: Sequence[str], statements: Sequence[str]) -> str:
    """How an answer came about, with what was bought, what was noted and the SQL that ran."""
    lines = _opening(plan)
    also = "groups without rows appear too" if plan.selection is None else "those whose keys were found"
    lines.insert(-1, f"Groups: {len(found[0].cells)}; {also}.")
    lines += _selection_lines(plan)
    for measured in found:
        lines += _measure_lines(measured.priced, measured)
    lines += [*_closing(plan), *noted, "The engine ran:", *(f"  {sql}" for sql in statements)]
    return "\n".join(lines)


def _opening(plan: PricedPlan) -> list[str]:
    table, bound = plan.bound.table, plan.bound
    left_out = "rows that WHERE drops" if bound.where else "no row by WHERE"
    units = f"Rows without a value in {', '.join(table.unit.columns)} are left out. " if table.unit.columns else ""
    keys = "One group"
    if bound.groups:
        public = [group.expression.sql() for group in bound.groups if group.keyless is None]
        found = [group.expression.sql() for group in bound.groups if group.keyless is not None]
        keys = "; ".join(
            f"{what}: {', '.join(listed)}"
            for what, listed in (("Keys are public", public), ("Keys are to be found", found))
            if listed
        )
    return [
        f"Protected: {table.unit}; neighbours: {table.neighbours.value}.",
        *(["Where the unit travels:", *(f"  {line}" for line in travels(table))] if table.inputs else []),
        f"Question: {bound.canonical}",
        f"{units}{keys}; left out: {left_out}, and rows whose key is NULL or not declared.",
    ]


def _selection_lines(plan: PricedPlan) -> list[str]:
    if plan.selection is None:
        return []
    looks = plan.selection.rounds
    return [
        f"keys: {plan.selection.share} in {len(looks)} looks; a unit's keys share its weight, so it moves a look by 1",
        *(
            f"  look {place}: {look.share}, shown above a weight of {look.threshold / FULL:,.4g}; a unit's own key "
            f"appears with probability {float(look.delta):g} at most"
            for place, look in enumerate(looks, 1)
        ),
    ]


def _closing(plan: PricedPlan) -> list[str]:
    total = f"epsilon = {float(plan.epsilon):g}"
    if plan.norm is Norm.L2:
        total = f"{plan.whole}, which gives {total} with delta = {float(plan.delta):g}"
    return [
        f"The shares add up to {total}: each step is differentially private for its share, "
        "whatever was released before, and HAVING, ORDER BY, LIMIT and arithmetic on results are post-processing.",
        f"Intervals hold with probability {float(plan.confidence):.0%} over the noise, "
        + ("for all cells at once, shown or not, " if plan.simultaneous else "for each cell, ")
        + "and concern this table, not a population beyond it.",
    ]


def _named(priced: PricedMeasure) -> str:
    argument = priced.measure.argument
    return priced.measure.statistic.value + ("" if argument is None else f" of {argument.expression.sql()}")


def _price_lines(priced: PricedMeasure) -> list[str]:
    lines = [f"{_named(priced)}: {priced.share} for the values"]
    for share, what in (
        (priced.bounds_share, "bounds of the values"),
        (priced.centre_share, "where the values lie"),
        (priced.limit_share, "the limit C of one unit"),
    ):
        if share:
            lines.append(f"  {share} buys {what}")
    return lines


def _measure_lines(priced: PricedMeasure, measured: Measured) -> list[str]:
    step = priced.step
    lines = _price_lines(priced)[:1]
    if priced.interval is not None:
        origin = f"bought for {priced.bounds_share}" if priced.bounds_share else "declared"
        lines.append(f"  values clipped to [{float(priced.interval.low):g}, {float(priced.interval.high):g}], {origin}")
    if priced.centre is not None:
        middle, spread = float(priced.centre.middle), float(priced.centre.spread)
        lines.append(f"  measured from {middle:g} in units of {spread:g}, bought for {priced.centre_share}")
    origin = f"bought for {priced.limit_share}" if priced.limit_share else "declared"
    lines.append(
        f"  a unit counts up to C = {float(measured.limit.steps * step):g}, {origin}; whoever has more is weighed down"
    )
    deviation, kind = measured.noise.deviation() * float(step), _KINDS[priced.share.norm]
    lines.append(f"  {kind} noise of standard deviation {deviation:g} on every cell")
    return lines


def notes(plan: PricedPlan, found: Sequence[Measured]) -> tuple[str, ...]:
    """What the answer does not say, or only with reservations; what is the same for several measures is said once."""
    kinds: dict[str, list[str]] = {}
    for measured in found:
        kind, about = _note(plan, measured)
        kinds.setdefault(kind, []).append(about)
    found_out = [said.format("; ".join(kinds[kind])) for kind, said in _NOTES.items() if kind in kinds]
    if "unseen" in kinds and plan.bound.table.most_rows is None:
        found_out[-1] = found_out[-1].removesuffix(".") + "; a maximum (most_rows) helps."
    extreme = [each for each in found if {Fraction(0), Fraction(1)} & set(each.priced.measure.points)]
    rows = max((beyond(each.noise) * float(each.priced.step) for each in extreme), default=0.0)
    found_out += [f"About {rows:,.0f} rows lie beyond a minimum or a maximum here."] if extreme else []
    return (*known_notes(plan), *found_out)


def known_notes(plan: PricedPlan) -> tuple[str, ...]:
    """What is to be said of a question by its text alone."""
    said = list(strangers(plan.bound))
    if plan.selection is not None:
        people = min(look.people for look in plan.selection.rounds)
        said.append(
            f"Keys were not declared: one that about {people:,.0f} units have appears half of the time, one of far "
            "fewer never; units with many keys count less. Totals and shares are of the keys that appear."
        )
    if any(point in (0, 1) for measure in plan.bound.measures for point in measure.points):
        said.append(
            "A minimum or maximum is a value that a few rows lie beyond: the outermost may be one person's, and is not "
            "shown; the interval reaches to where values may lie."
        )
    return tuple(said)


_NOTES = {
    "given": "{}: the limit was given, so what it takes away is not known and not in the interval.",
    "few": "{}: too few units to see how much the largest ones have, so the interval has no bound on that side; "
    "declare most_rows for the table, or give bound=, or ask with more epsilon.",
    "unseen": "Units of unusually large influence may exist that are too few to be seen: {}. Intervals cover what the "
    "limit takes from them only as far as their numbers fall off like those seen.",
}


def _note(plan: PricedPlan, measured: Measured) -> tuple[str, str]:
    """Which note a measure needs ('' for none), and what to say of it."""
    priced, limit = measured.priced, measured.limit
    tails = measured.tails((1 - plan.confidence) / 5)
    name, most = _named(priced), most_rows(plan.bound, priced.measure)
    if priced.rows is not None and (most is None or priced.rows < most):
        return "given", name
    if tails is None or limit.closed:
        return "", name
    if not tails.enough():
        return "few", name
    beyond = float(max(limit.steps, tails.edge(tails.top)) * priced.step)
    return "unseen", f"{name}, up to {tails.unseen(limit.steps)} above {beyond:,.4g}"
