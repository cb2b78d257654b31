"""Bounds of a probability from a number of hits, by Clopper and Pearson: exact, and rounded outward.

Claim. Let hits be binomial with an unknown probability p. Then `at_least` exceeds p, and `at_most` lies below it, with
probability `miss` at most, whatever p is and however few the trials are. Paper: Clopper and Pearson 1934.

scipy inverts the incomplete beta function in floats. So each bound is moved outward until the tail that it stands for,
worked out anew and enlarged by more than its error, is below `miss`.

>>> at_least(500, 1_000, 0.001) < 0.5 < at_most(500, 1_000, 0.001)
True
>>> at_least(0, 1_000, 0.001), at_most(1_000, 1_000, 0.001)
(0.0, 1.0)
"""

from __future__ import annotations

from sfumato import checks
from sfumato.errors import InvalidArgument

_SLACK = 1 + 1e-9  # far above the relative error of a tail, which is about 1e-12
_STEP = 1e-11  # by which a bound is moved


def at_least(hits: int, trials: int, miss: float) -> float:
    """A lower bound of the probability: more than `hits - 1` hits would have had the probability `miss` at most."""
    from scipy.special import betainc, betaincinv

    _check(hits, trials)
    if hits == 0:
        return 0.0
    bound, step = float(betaincinv(hits, trials - hits + 1, miss)), _STEP
    while bound > 0 and not betainc(hits, trials - hits + 1, bound) * _SLACK <= miss:
        bound, step = max(0.0, bound * (1 - step)), 2 * step
    return bound


def at_most(hits: int, trials: int, miss: float) -> float:
    """An upper bound of the probability: at most `hits` hits would have had the probability `miss` at most."""
    from scipy.special import betaincc, betainccinv

    _check(hits, trials)
    if hits == trials:
        return 1.0
    bound, step = float(betainccinv(hits + 1, trials - hits, miss)), _STEP
    while bound < 1 and not betaincc(hits + 1, trials - hits, bound) * _SLACK <= miss:
        bound, step = min(1.0, bound * (1 + step)), 2 * step
    return bound


def _check(hits: int, trials: int) -> None:
    checks.whole(least=1, trials=trials)
    if not 0 <= hits <= trials:
        raise InvalidArgument(f"hits must lie between 0 and the {trials} trials; got {hits}; count them again")
