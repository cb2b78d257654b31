"""What several releases cost together.

Claims: sums of epsilon, of delta and of rho hold for releases one after the other, also if each is chosen after seeing
the earlier answers. Over disjoint parts of the data only the part that a unit is in counts; under `REPLACE` a unit may
move from one part to another, so two parts count. `advanced` and `optimal` are for parameters fixed in advance.
Proof: docs/proofs/accounting.md, section 7. Papers: Dwork, Rothblum, Vadhan 2010; Kairouz, Oh, Viswanath 2015.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from sfumato import checks
from sfumato.accounting import distribution
from sfumato.checks import Number
from sfumato.errors import InvalidArgument, ScaleTooLarge
from sfumato.privacy.loss import Loss
from sfumato.privacy.neighbors import Neighbors, Relation
from sfumato.privacy.pair import Pair, TwoPoint
from sfumato.privacy.shifts import merged
from sfumato.rounding import exp_bounds, exp_up, log_up, sqrt_up

NOTHING = Loss.pure(Fraction(0))
_MOST_EXACT = 2_000  # uses, and sum of epsilon, up to which equal parts are composed in fractions
_LARGEST_EPSILON = 10_000


def sequential(losses: Iterable[Loss]) -> Loss:
    """The loss of all releases together; what one currency cannot bound, it cannot bound together.

    >>> sequential([Loss.pure(Fraction(1, 4)), Loss.pure(Fraction(1, 2))]).epsilon
    Fraction(3, 4)
    """
    parts = [loss for loss in map(Loss.read, losses) if loss != NOTHING]
    if len(parts) < 2:
        return parts[0] if parts else NOTHING
    epsilon, rho = _total(loss.epsilon for loss in parts), _total(loss.rho for loss in parts)
    return Loss(epsilon, rho, _pair(parts, epsilon), min(Fraction(1), sum((loss.delta for loss in parts), Fraction(0))))


def _total(values: Iterable[Fraction | None]) -> Fraction | None:
    total = Fraction(0)
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _pair(parts: Sequence[Loss], epsilon: Fraction | None) -> Pair | None:
    """One pair for all, where there is one: normal losses add up, and randomized response dominates what is pure."""
    pairs = [(loss.pair, 1) for loss in parts if loss.pair is not None]
    if len(pairs) == len(parts) and [count for _, count in merged(pairs)] == [1]:
        return merged(pairs)[0][0]
    return None if epsilon is None else TwoPoint(epsilon)


def parallel(losses: Iterable[Loss], neighbors: Neighbors | Relation) -> Loss:
    """The loss of releases on disjoint parts, each loss holding for a part that gains, loses or changes a unit.

    >>> cells = [Loss.pure(Fraction(1, 2))] * 12
    >>> parallel(cells, Neighbors.ADD_REMOVE).epsilon, parallel(cells, Neighbors.REPLACE).epsilon
    (Fraction(1, 2), Fraction(1, 1))
    """
    parts = [Loss.read(loss) for loss in losses]
    touched = 2 if Neighbors.read(neighbors) is Neighbors.REPLACE else 1
    epsilon, rho = _largest([p.epsilon for p in parts], touched), _largest([p.rho for p in parts], touched)
    delta = _largest([loss.delta for loss in parts], touched)
    assert delta is not None
    alike = parts[:touched] if len({loss.pair for loss in parts}) == 1 else []
    pair = _pair(alike, epsilon) if alike else None if epsilon is None else TwoPoint(epsilon)
    return Loss(epsilon, rho, pair, min(Fraction(1), delta))


def _largest(values: list[Fraction | None], count: int) -> Fraction | None:
    """The sum of the `count` largest values."""
    known = [value for value in values if value is not None]
    return sum(sorted(known)[-count:], Fraction(0)) if len(known) == len(values) else None


def zcdp(losses: Iterable[Loss]) -> Fraction:
    """The sum of rho."""
    total = _total(Loss.read(loss).rho for loss in losses)
    if total is None:
        raise InvalidArgument("a loss without rho cannot be added by zCDP; use accounting.sequential")
    return total


def advanced(epsilon: Number, delta: Number, count: int, slack: Number) -> tuple[Fraction, Fraction]:
    """(epsilon', delta') of `count` releases that are (epsilon, delta)-private each, rounded up.

    epsilon' = epsilon sqrt(2 count ln(1 / slack)) + count epsilon (exp(epsilon) - 1), delta' = count delta + slack.
    """
    e, d = checks.non_negative(epsilon=epsilon), checks.below_one(delta=delta)
    k, s = checks.whole(1, count=count), checks.inside(slack=slack)
    if e > _LARGEST_EPSILON:
        raise ScaleTooLarge(f"epsilon must be at most {_LARGEST_EPSILON}; got a larger one; it promises nothing")
    return e * sqrt_up(2 * k * log_up(1 / s)) + k * e * (exp_up(e) - 1), min(Fraction(1), k * d + s)


def optimal(parts: Sequence[tuple[Number, Number, int]], delta: Number) -> Fraction:
    """The least epsilon that holds with `delta` for (epsilon, delta, count) each, rounded up.

    It is exact if all are equal and neither their number nor their sum is above 2,000.

    >>> round(float(optimal([(0.1, 0, 100)], 1e-6)), 9)
    4.774567588
    """
    total = checks.inside(delta=delta)
    equal: dict[tuple[Fraction, Fraction], int] = {}
    for e, d, k in parts:
        key = checks.non_negative(epsilon=e), checks.below_one(delta=d)
        equal[key] = equal.get(key, 0) + checks.whole(1, count=k)
    if not equal:
        raise InvalidArgument("there is nothing to compose; give at least one (epsilon, delta, count)")
    if len(equal) > 1 or any(k > _MOST_EXACT or k * e > _MOST_EXACT for (e, _), k in equal.items()):
        losses = [(Loss.pure(e, delta=d), k) for (e, d), k in equal.items()]
        high = distribution.compose(losses).epsilon(total).high
        if high == math.inf:
            raise InvalidArgument("delta must exceed what the parts' own deltas add up to")
        return Fraction(high)
    (((e, d), k),) = equal.items()
    left = 1 - (1 - total) / _power_down(1 - d, k)
    if left <= 0:
        raise InvalidArgument("delta must exceed what the parts' own deltas add up to")
    return _homogeneous(e, k, left)


def _power_down(x: Fraction, count: int) -> Fraction:
    """x**count for x in (0, 1], rounded down."""
    result, bits = 1 << 256, 256
    factor = (x.numerator << bits) // x.denominator
    for digit in bin(count)[2:]:
        result = (result * result) >> bits
        result = (result * factor) >> bits if digit == "1" else result
    return Fraction(max(result, 1), 1 << bits)


def _homogeneous(e: Fraction, count: int, delta: Fraction) -> Fraction:
    """The logarithm of the largest (A_j - delta Z) / B_j over j, rounded up.

    With E = exp(-e), A_j and B_j are the sums of C(count, i) E^i and of C(count, i) E^(count - i) over i <= j, and
    Z = (1 + E)^count. They are the P- and the Q-mass, times Z, of the j + 1 largest losses; the delta at epsilon is the
    largest A_j - exp(epsilon) B_j, over Z.
    """
    bits = 200 + 2 * math.ceil(count * e) + count + delta.denominator.bit_length()
    least, most = _powers(e, count, bits)
    total = sum(math.comb(count, i) * least[i] for i in range(count + 1))
    best, ways, p, q = Fraction(1), 1, 0, 0
    for i in range(count // 2 + 1):
        p, q = p + ways * most[i], q + ways * least[count - i]
        best = max(best, (p - delta * total) / q)
        ways = ways * (count - i) // (i + 1)
    return log_up(best) if best > 1 else Fraction(0)


def _powers(e: Fraction, count: int, bits: int) -> tuple[list[int], list[int]]:
    """exp(-e i) * 2**bits for i = 0 .. count, rounded down and rounded up."""
    low, high = exp_bounds(-e, bits)
    least, most = [1 << bits], [1 << bits]
    for _ in range(count):
        least.append((least[-1] * low) >> bits)
        most.append(-((-most[-1] * high) >> bits))
    return least, most
