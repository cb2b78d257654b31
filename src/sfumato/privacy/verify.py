"""Verifying a mechanism from its probabilities: what two neighboring data sets give away, exactly.

A pair (p, q) holds the probability of every outcome on a data set and on its neighbor. For discrete outcomes looking
at each outcome suffices: if p(o) <= e^epsilon q(o) for every outcome, then so it is for every set of them. With delta
the worst set is that of all outcomes where p(o) > e^epsilon q(o), so the least delta is the sum of what exceeds there
(Dwork and Roth 2014, section 3.5). Masses are exact fractions; e^epsilon is bracketed, and every answer is a bracket
(low, high), rounded outward: `high` proves a claim, `low` refutes one.

>>> survey = {"yes": Fraction(3, 4), "no": Fraction(1, 4)}        # a coin decides: the truth, or a second coin
>>> other = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}
>>> low, high = largest_loss(survey, other)                       # ln 3
>>> round(low, 12), round(high, 12)
(1.098612288668, 1.098612288668)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import TypeVar

from sfumato import checks, rounding
from sfumato.checks import Number
from sfumato.errors import InvalidArgument

Outcome = TypeVar("Outcome", bound=Hashable)
Other = TypeVar("Other", bound=Hashable)

MOST = 1_000


def largest_loss(p: Mapping[Outcome, Number], q: Mapping[Outcome, Number]) -> tuple[float, float]:
    """Bracket the largest |ln(p/q)|, the epsilon that this pair really costs; infinite where one of them is zero.

    >>> largest_loss({"exact": 1}, {"other": 1})
    (inf, inf)
    """
    ratios = []
    for mine, theirs in _aligned(p, q):
        if min(mine, theirs) == 0:
            return math.inf, math.inf
        ratios.append(max(mine / theirs, theirs / mine))
    worst = max(ratios)
    if worst == 1:  # the only fraction whose logarithm is a fraction
        return 0.0, 0.0
    return rounding.down(rounding.log_down(worst)), rounding.up(rounding.log_up(worst))


def excess(p: Mapping[Outcome, Number], q: Mapping[Outcome, Number], epsilon: Number) -> tuple[float, float]:
    """Bracket the least delta with Pr_p[S] <= e^epsilon Pr_q[S] + delta for every set S; a promise needs both orders.

    >>> excess({"kept": Fraction(99, 100), "Ada is in": Fraction(1, 100)}, {"kept": 1}, epsilon=1)
    (0.009999999999999998, 0.01)
    """
    exact, pairs = _door(epsilon), _aligned(p, q)
    high, low = (
        sum((max(Fraction(0), mine - factor * theirs) for mine, theirs in pairs), Fraction(0))
        for factor in (rounding.exp_down(exact), rounding.exp_up(exact))
    )
    return rounding.down(low), rounding.up(high)


def beyond(p: Mapping[Outcome, Number], q: Mapping[Outcome, Number], epsilon: Number) -> Fraction:
    """The exact probability under p that the privacy loss ln(p/q) is above epsilon or below -epsilon.

    Probabilistic privacy asks that this be at most delta. It implies (epsilon, delta)-privacy; the converse is false.

    >>> beyond({0: Fraction(1, 10), 1: Fraction(9, 10)}, {1: 1}, epsilon=1)
    Fraction(1, 10)
    """
    exact = _door(epsilon)
    return sum((m for m, t in _aligned(p, q) if _exceeds(m, t, exact) or _exceeds(t, m, exact)), Fraction(0))


def processed(p: Mapping[Outcome, Number], step: Callable[[Outcome], Other]) -> dict[Other, Fraction]:
    """The distribution after `step` was applied to the outcome: what post-processing makes of a release.

    >>> processed({1: Fraction(1, 4), 2: Fraction(1, 2), 3: Fraction(1, 4)}, lambda outcome: outcome >= 2)
    {False: Fraction(1, 4), True: Fraction(3, 4)}
    """
    after: dict[Other, Fraction] = {}
    for outcome, mass in p.items():
        after[step(outcome)] = after.get(step(outcome), Fraction(0)) + checks.probability(mass=mass)
    return after


def _door(epsilon: Number) -> Fraction:
    exact = checks.non_negative(epsilon=epsilon)
    if exact > MOST:  # e^epsilon would have thousands of digits
        raise InvalidArgument(f"epsilon must be at most {MOST} to be verified; got {epsilon!r}; it promises nothing")
    return exact


def _aligned(p: Mapping[Outcome, Number], q: Mapping[Outcome, Number]) -> list[tuple[Fraction, Fraction]]:
    """The two masses of every outcome that can happen at all."""
    mine = {outcome: checks.probability(mass=mass) for outcome, mass in p.items()}
    theirs = {outcome: checks.probability(mass=mass) for outcome, mass in q.items()}
    for masses in (mine, theirs):
        if sum(masses.values()) != 1:
            raise InvalidArgument(
                f"probabilities must add up to 1; got {float(sum(masses.values()))!r}; give exact fractions, "
                "and one outcome for all that is left out"
            )
    pairs = [(mine.get(o, Fraction(0)), theirs.get(o, Fraction(0))) for o in mine | theirs]
    return [pair for pair in pairs if max(pair) > 0]


def _exceeds(a: Fraction, b: Fraction, epsilon: Fraction) -> bool:
    """Whether a > e^epsilon b, decided exactly."""
    if epsilon == 0 or b == 0:
        return a > b
    bits = 80
    while True:  # e^epsilon is irrational for a fraction epsilon > 0, so some precision decides
        if a > rounding.exp_up(epsilon, bits) * b:
            return True
        if a <= rounding.exp_down(epsilon, bits) * b:
            return False
        bits *= 2
