"""The least noise that keeps a promise.

Claim: the noise returned was itself checked to keep the promise; that it is nearly the least rests on the loss falling
as noise grows, and only accuracy depends on that. No mechanism is named: whoever can say what a noise scale costs can
be calibrated.

>>> laplace = lambda scale: Loss.pure(1 / scale)
>>> float(least_noise(laplace, epsilon=0.5))
2.0
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sfumato import checks
from sfumato.accounting import convert
from sfumato.accounting.distribution import compose
from sfumato.checks import Number
from sfumato.errors import InvalidArgument
from sfumato.privacy.loss import Loss

_FARTHEST = 200  # doublings in either direction before giving up


def keeps(loss: Loss, uses: int, epsilon: Number, delta: Number) -> bool:
    """Whether `uses` releases of this loss are (epsilon, delta)-private together, by whichever currency shows it."""
    e, d = checks.non_negative(epsilon=epsilon), checks.below_one(delta=delta)
    count = checks.whole(1, uses=uses)
    failure = count * Loss.read(loss).delta
    if failure > d:
        return False
    if loss.epsilon is not None and count * loss.epsilon <= e:
        return True
    if failure == d:
        return False
    if loss.rho is not None and convert.zcdp_delta(count * loss.rho, e) <= d - failure:
        return True
    return loss.pair is not None and compose([(loss, count)]).epsilon(d).high <= e


def least_noise(
    cost: Callable[[Fraction], Loss],
    *,
    epsilon: Number,
    delta: Number = 0,
    uses: int = 1,
    start: Number = 1,
    precision: Number = Fraction(1, 1 << 16),
) -> Fraction:
    """The least scale, up to the relative `precision`, whose `cost` over all `uses` is within (epsilon, delta)."""
    e, d, count = checks.positive(epsilon=epsilon), checks.below_one(delta=delta), checks.whole(1, uses=uses)
    fine, high = checks.positive(precision=precision), checks.positive(start=start)

    def enough(scale: Fraction) -> bool:
        return keeps(cost(scale), count, e, d)

    doublings = 0
    while not enough(high):
        high, doublings = 2 * high, doublings + 1
        if doublings > _FARTHEST:
            raise InvalidArgument(f"no noise keeps epsilon {e} with delta {d}; this mechanism needs a larger delta")
    low = high / 2
    while doublings == 0 and enough(low) and high > Fraction(1, 1 << _FARTHEST):
        low, high = low / 2, low
    while high - low > fine * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
