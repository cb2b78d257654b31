"""From one currency of loss to another, and from one unit to a group of them.

Claims: an epsilon-private release is (epsilon**2 / 2)-zCDP (Bun and Steinke 2016, proposition 1.4). A rho-zCDP release
is (epsilon, delta)-private with delta the least value over alpha > 1 of

    exp((alpha - 1) (alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)**alpha

(Canonne, Kamath, Steinke 2020, corollary 13). Any alpha proves a bound, so alpha is searched in floats and the value is
then computed in fractions, rounded up. Proof: docs/proofs/accounting.md, section 6.

>>> float(zcdp_delta(Fraction(1, 10), Fraction(2)))
4.3252...e-06
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato import checks
from sfumato.checks import Number
from sfumato.rounding import ceiling, exp_down, exp_up, log_down, log_up

_FINE = Fraction(1, 1 << 60)
_FARTHEST = 300.0  # of ln(alpha - 1)
_HUGE = Fraction(10) ** 100
_LEAST_EXPONENT = Fraction(-2000)  # a delta below exp(-2000) is reported as that


def pure_rho(epsilon: Number) -> Fraction:
    """The zCDP rho of an epsilon-private release."""
    return checks.non_negative(epsilon=epsilon) ** 2 / 2


def zcdp_delta(rho: Number, epsilon: Number) -> Fraction:
    """A delta with which a rho-zCDP release is (epsilon, delta)-private, rounded up."""
    r, e = checks.non_negative(rho=rho), checks.non_negative(epsilon=epsilon)
    if r == 0:
        return Fraction(0)
    about, reach = _float(r), _float(e)
    alpha = _best(lambda a: (a - 1) * (a * about - reach) - math.log(a - 1) + a * math.log1p(-1 / a), r, e)
    return order_delta(alpha, alpha * r, e)


def zcdp_epsilon(rho: Number, delta: Number) -> Fraction:
    """An epsilon with which a rho-zCDP release is (epsilon, delta)-private, rounded up."""
    r, d = checks.non_negative(rho=rho), checks.inside(delta=delta)
    if r == 0:
        return Fraction(0)
    log_d = log_down(d)
    about, reach = _float(r), float(log_d)
    alpha = _best(lambda a: a * about + (-math.log(a - 1) + a * math.log1p(-1 / a) - reach) / (a - 1), r, -log_d)
    return order_epsilon(alpha, alpha * r, d)


def zcdp_rho(epsilon: Number, delta: Number) -> Fraction:
    """The greatest rho, up to rounding down, that converts to (epsilon, delta)."""
    e, d = checks.positive(epsilon=epsilon), checks.inside(delta=delta)
    low, high = 0.0, _float(e) + 1.0
    for _ in range(60):
        middle = (low + high) / 2
        fits = middle > 0 and zcdp_epsilon(Fraction(middle), d) <= e
        low, high = (middle, high) if fits else (low, middle)
    return Fraction(low)


def order_epsilon(order: Fraction, bound: Fraction, delta: Fraction) -> Fraction:
    """An epsilon that holds with delta where the Rényi divergence of this order is at most `bound`, rounded up."""
    return max(Fraction(0), ceiling(bound + (_correction_up(order) - log_down(delta)) / (order - 1), _FINE))


def order_delta(order: Fraction, bound: Fraction, epsilon: Fraction) -> Fraction:
    """A delta that holds with epsilon where the Rényi divergence of this order is at most `bound`, rounded up."""
    exponent = ceiling((order - 1) * (bound - epsilon) + _correction_up(order), _FINE)
    return exp_up(max(exponent, _LEAST_EXPONENT)) if exponent < 0 else Fraction(1)


def group(epsilon: Number, delta: Number, size: int) -> tuple[Fraction, Fraction]:
    """What an (epsilon, delta)-private release promises a group of `size` units (Vadhan 2017, lemma 2.2).

    >>> group(Fraction(1, 2), 0, 3)
    (Fraction(3, 2), Fraction(0, 1))
    """
    e, d, k = checks.non_negative(epsilon=epsilon), checks.below_one(delta=delta), checks.whole(1, size=size)
    if d == 0 or k == 1:
        return k * e, d
    if k * e > 2000:  # no delta worth the name is left, and the exponential would be long
        return k * e, Fraction(1)
    growth = Fraction(k) if e == 0 else (exp_up(k * e) - 1) / (exp_down(e, _digits(e)) - 1)
    return k * e, min(Fraction(1), d * growth)


def group_rho(rho: Number, size: int) -> Fraction:
    """What a rho-zCDP release promises a group (Bun and Steinke 2016, proposition 1.9)."""
    return checks.non_negative(rho=rho) * checks.whole(1, size=size) ** 2


def _digits(e: Fraction) -> int:
    """Enough digits for exp(e) - 1 when e is small."""
    return 80 + max(0, e.denominator.bit_length() - e.numerator.bit_length())


def _correction_up(alpha: Fraction) -> Fraction:
    """An upper bound on alpha ln(1 - 1/alpha) - ln(alpha - 1)."""
    return alpha * log_up(1 - 1 / alpha) - log_down(alpha - 1)


def _log(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)


def _float(x: Fraction) -> float:
    """About x, and no overflow: it only steers the search."""
    return float(min(x, _HUGE))


def _best(cost: Callable[[float], float], rho: Fraction, reach: Fraction) -> Fraction:
    """The alpha of least cost, about: golden section over ln(alpha - 1)."""
    usual = max(_log((reach / rho + 1) / 2), _log(max(reach, Fraction(1)) / rho) / 2)
    low, high = -20.0, max(-19.0, min(usual + 10, _FARTHEST))
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if cost(1 + math.exp(left)) < cost(1 + math.exp(right)) else (left, high)
    return 1 + Fraction(round(math.exp((low + high) / 2) * 2**32) or 1, 1 << 32)
