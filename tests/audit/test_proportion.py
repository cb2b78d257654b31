"""Clopper and Pearson's bounds: on the outer side of the exact ones, and hardly further out."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from sfumato.audit.proportion import at_least, at_most
from sfumato.errors import InvalidArgument

CASES = [
    (hits, trials, miss)
    for trials in (1, 7, 100, 5_000, 500_000)
    for hits in sorted({0, 1, 3, trials // 5, trials // 2, trials - 1, trials})
    if hits <= trials
    for miss in (0.4, 1e-3, 1.7e-8)
]


def tail(hits: int, trials: int, p: float) -> mpmath.mpf:
    """Pr[at least so many hits], with 40 digits: an incomplete beta function."""
    with mpmath.workdps(40):
        return mpmath.betainc(hits, trials - hits + 1, 0, mpmath.mpf(p), regularized=True)


@pytest.mark.parametrize(("hits", "trials", "miss"), [case for case in CASES if case[1] <= 5_000])
def test_a_bound_is_never_inside_the_exact_one(hits: int, trials: int, miss: float) -> None:
    """Its tail, in 40 digits, is at most the miss; and moving it inward by a millionth would break that."""
    low, high = at_least(hits, trials, miss), at_most(hits, trials, miss)
    if hits:
        assert tail(hits, trials, low) <= miss
        assert tail(hits, trials, low * (1 + 1e-5)) > miss
    if hits < trials:
        assert 1 - tail(hits + 1, trials, high) <= miss
        assert 1 - tail(hits + 1, trials, min(1.0, high * (1 - 1e-5))) > miss * (1 - 1e-3)


@pytest.mark.parametrize(("hits", "trials", "miss"), CASES)
def test_bounds_lie_on_both_sides(hits: int, trials: int, miss: float) -> None:
    """And hold the share itself."""
    low, high = at_least(hits, trials, miss), at_most(hits, trials, miss)
    assert 0 <= low <= hits / trials <= high <= 1
    assert low == pytest.approx(1 - at_most(trials - hits, trials, miss), abs=1e-8)


def test_bounds_hold_as_often_as_they_say() -> None:
    """Exactly, for 60 trials: the probability of all numbers of hits whose bound is wrong is at most the miss."""
    trials, miss = 60, 0.01
    lows = np.array([at_least(hits, trials, miss) for hits in range(trials + 1)])
    for p in np.linspace(0.01, 0.99, 99):
        mass = np.array([float(mpmath.binomial(trials, k) * p**k * (1 - p) ** (trials - k)) for k in range(trials + 1)])
        assert mass[lows > p].sum() <= miss * (1 + 1e-9)


def test_more_hits_than_trials_are_refused() -> None:
    """With what is wrong."""
    with pytest.raises(InvalidArgument, match="between 0 and the 5 trials"):
        at_least(6, 5, 0.1)
