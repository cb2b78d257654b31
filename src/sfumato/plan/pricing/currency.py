"""In which noise a question is answered, and so in which currency its shares are: epsilon, or rho.

With delta > 0 it is whichever of discrete Laplace and discrete Gaussian is smaller for this number of measures. Where
keys have to be found it is Gaussian, which shows more of them, unless every unit has one key.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from sfumato.accounting import zcdp_rho
from sfumato.errors import InvalidArgument, UnsupportedQuery
from sfumato.phrases import Option, Phrase
from sfumato.plan.plan import BoundPlan
from sfumato.plan.pricing.key_discovery import KeyDiscovery
from sfumato.privacy.sensitivity import Norm
from sfumato.statistics.share import Share

_LEAST_DELTA = Fraction(1, 10**300)


@lru_cache(maxsize=64)
def _rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    return zcdp_rho(epsilon, delta)


def noise_of(epsilon: Fraction, delta: Fraction, weights: Sequence[Fraction], wanted: str | None) -> Share:
    """The whole in the currency of the noise that is wanted, or of the smaller one over all measures."""
    if wanted not in (None, "laplace", "gaussian"):
        raise InvalidArgument(
            f"noise must be 'laplace' or 'gaussian'; got {wanted!r}; leave it out to let it be chosen"
        )
    laplace = Share(Norm.L1, epsilon)
    if wanted == "laplace" or (delta == 0 and wanted is None):
        return laplace
    if delta == 0:
        raise InvalidArgument(
            Phrase(Option("noise", "gaussian"), " needs a delta; got none"),
            fix=Phrase("give ", Option("delta", 1e-9), ", or leave ", Option("noise"), " out"),
        )
    gaussian = Share(Norm.L2, _rho(epsilon, delta))
    if wanted == "gaussian":
        return gaussian
    return min((laplace, gaussian), key=lambda whole: math.prod(whole.part(each).variance() for each in weights))


def select(
    bound: BoundPlan, epsilon: Fraction, delta: Fraction, noise: str | None, weight: Fraction
) -> tuple[Share, KeyDiscovery]:
    """The whole, and the part of it that finds the keys; Gaussian noise shows more of them, and takes half of delta."""
    if delta == 0:
        raise UnsupportedQuery(*next(group.keyless for group in bound.groups if group.keyless is not None))
    if delta < _LEAST_DELTA:
        raise InvalidArgument("delta must be at least 1e-300 to find keys; got a smaller one; 1e-12 is small enough")
    single = not bound.table.unit.columns or bound.table.max_rows_per_unit == 1
    counts = single and _counts_rows(bound)
    whole = noise_of(epsilon, delta / 2, [Fraction(1)], noise or ("laplace" if counts else "gaussian"))
    left = delta if whole.norm is Norm.L1 else delta / 2
    return whole, KeyDiscovery(whole if counts else whole.part(weight), left, bound.table.neighbors, counts, single)


def _counts_rows(bound: BoundPlan) -> bool:
    """Whether the number of units with each key is all that is asked, where every unit is one row."""
    return [each.statistic.counts_single_rows(each.argument is not None) for each in bound.measures] == [True]
