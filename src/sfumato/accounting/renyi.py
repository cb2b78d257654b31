"""Rényi accounting: the divergence of each order is bounded, bounds add up, and the best order is chosen at the end.

Claims. D_a, the Rényi divergence of order a > 1, adds up over releases one after the other, also adaptive ones. A
rho-zCDP release has D_a <= rho a; an epsilon-private one at most that of randomized response,

    D_a <= ln((e^(a epsilon) + e^(-(a - 1) epsilon)) / (1 + e^epsilon)) / (a - 1) <= epsilon.

Gaussian noise on a Poisson sample of rate q has, for whole a, (a - 1) D_a = ln of the sum over k of
C(a, k) (1 - q)^(a - k) q^k exp((k**2 - k) mu**2 / 2). A curve is (epsilon, delta)-private at each order by the
conversion of `convert`. Proof: docs/proofs/accounting.md, section 9. Papers: Mironov 2017; Bun and Steinke 2016;
Mironov, Talwar, Zhang 2019; Canonne, Kamath, Steinke 2020.

>>> curve = renyi([(Loss.pure(Fraction(1, 10)), 100)])
>>> round(float(curve.epsilon(1e-6)), 3)               # 4.775 by `optimal`, the best there is
5.073
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato import checks
from sfumato.accounting.convert import order_delta, order_epsilon
from sfumato.checks import Number
from sfumato.errors import InvalidArgument
from sfumato.privacy.loss import Loss
from sfumato.privacy.pair import Pair
from sfumato.privacy.sampled import Sampled
from sfumato.privacy.shifts import DiscreteGaussianShift, GaussianShift
from sfumato.rounding import exp_down, exp_up, log_up

ORDERS = (
    *(1 + Fraction(k, 10) for k in range(1, 100)),
    *(Fraction(k) for k in (*range(11, 64), *range(64, 129, 4), 160, 192, 256, 384, 512, 1024)),
)
_FAR = 2_000  # of order times epsilon: beyond it randomized response is as good as its epsilon
_SLACK = 2.0**-46  # for a sum in floats, relative to its largest logarithm
_HIGHEST = 1 << 12  # order of a sum over k


@dataclass(frozen=True, slots=True)
class Renyi:
    """Upper bounds on the divergence at each order; `failure` is the probability that they do not hold."""

    orders: tuple[Fraction, ...]
    bounds: tuple[Fraction, ...]
    failure: Fraction = Fraction(0)

    def epsilon(self, delta: Number) -> Fraction:
        """The least epsilon, over all orders, that holds with `delta`, rounded up."""
        left = checks.inside(delta=delta) - self.failure
        if left <= 0:
            raise InvalidArgument("delta must exceed what the losses' own deltas add up to; got less; give a larger")
        return min(order_epsilon(a, bound, left) for a, bound in zip(self.orders, self.bounds, strict=True))

    def delta(self, epsilon: Number) -> Fraction:
        """The least delta, over all orders, that holds with `epsilon`, rounded up."""
        exact = checks.non_negative(epsilon=epsilon)
        least = min(order_delta(a, bound, exact) for a, bound in zip(self.orders, self.bounds, strict=True))
        return min(Fraction(1), least + self.failure)

    def then(self, other: Renyi) -> Renyi:
        """The curve of this and then another release, at the same orders."""
        if self.orders != other.orders:
            raise InvalidArgument("curves must have the same orders to be added; got others; give orders= to both")
        sums = tuple(mine + theirs for mine, theirs in zip(self.bounds, other.bounds, strict=True))
        return Renyi(self.orders, sums, min(Fraction(1), self.failure + other.failure))


def renyi(parts: Iterable[Loss | tuple[Loss, int]], orders: Sequence[Number] = ORDERS) -> Renyi:
    """The curve of losses, or of (loss, count), one after the other."""
    listed = tuple(checks.number(order=order) for order in orders)
    if not listed or min(listed) <= 1:
        raise InvalidArgument("orders must all be above 1, at least one; got others; leave them out, or give 2, 4, 8")
    curve = Renyi(listed, (Fraction(0),) * len(listed))
    for part in parts:
        loss, uses = part if isinstance(part, tuple) and len(part) == 2 else (part, 1)
        count = checks.whole(1, count=uses)
        bounds = tuple(count * divergence(Loss.read(loss), order) for order in listed)
        curve = curve.then(Renyi(listed, bounds, min(Fraction(1), count * loss.delta)))
    return curve


def divergence(loss: Loss, order: Number) -> Fraction:
    """An upper bound on the Rényi divergence of this order, by whichever currency shows the least.

    >>> divergence(Loss.concentrated(Fraction(1, 8)), 4)
    Fraction(1, 2)
    """
    a = checks.number(order=order)
    shown = [] if loss.rho is None else [loss.rho * a]
    if loss.epsilon is not None:
        shown.append(_pure(loss.epsilon, a))
    if (square := _sampled_square(loss.pair)) is not None and a <= _HIGHEST:
        assert isinstance(loss.pair, Sampled)
        shown.append(_sampled(square, loss.pair.rate, math.ceil(a)))  # it grows with the order
    if not shown:
        raise InvalidArgument("loss must have an epsilon or a rho for Rényi accounting; got neither; use compose")
    return min(shown)


def _pure(epsilon: Fraction, order: Fraction) -> Fraction:
    if order * epsilon > _FAR or epsilon == 0:
        return epsilon
    total = (exp_up(order * epsilon) + exp_up((1 - order) * epsilon)) / (1 + exp_down(epsilon))
    return min(epsilon, log_up(total) / (order - 1))


def _sampled_square(pair: Pair | None) -> Fraction | None:
    """The squared shift over the variance, where the pair is Gaussian noise on a sample."""
    inner = pair.pair if isinstance(pair, Sampled) else None
    if isinstance(inner, GaussianShift):
        return inner.mu * inner.mu
    if isinstance(inner, DiscreteGaussianShift):
        return inner.steps * inner.steps / inner.variance
    return None


def _sampled(square: Fraction, rate: Fraction, order: int) -> Fraction:
    """The sum over k, in floats: no term is negative, so rounding is relative, and it is rounded up."""
    k = np.arange(order + 1, dtype=np.float64)
    ways = [math.lgamma(order + 1) - math.lgamma(i + 1) - math.lgamma(order - i + 1) for i in range(order + 1)]
    stay = math.log1p(-float(rate)) if 2 * rate < 1 else math.log(float(1 - rate))
    terms = np.array(ways) + (order - k) * stay + k * math.log(float(rate)) + k * (k - 1) / 2 * float(square)
    top = float(terms.max())
    size = float(np.abs(terms).max()) + order * math.log(2 * order)  # of what was added up on the way
    with np.errstate(under="ignore"):
        total = top + math.log(math.fsum(np.exp(terms - top))) + _SLACK * (1 + size)
    return Fraction(total / (order - 1))
