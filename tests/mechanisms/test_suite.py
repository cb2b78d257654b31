"""What every mechanism promises, tested for each by the same code: loss, error bar, distribution.

Statistical tests have a false-alarm rate of 1e-7 each; their sources are repeatable, so they never flicker. Power: with
20,000 draws a distribution whose probabilities are 10 % off in a cell of probability 0.1 is found with near certainty
(`test_the_suite_finds_noise_that_is_ten_percent_too_small`); with 5,000, where a draw is dear, one that is 25 % off.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, chi2

from cases import CASES, Case, _miss
from goodness import FALSE_ALARM
from sfumato.mechanisms import MECHANISMS
from sfumato.mechanisms.geometric import Geometric
from sfumato.mechanisms.noise import LaplaceNoise
from sfumato.privacy.pair import hockey_stick
from sources import Seeded

SLACK = 1 + 1e-9  # of floats in log_probability
each = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_every_mechanism_has_a_case() -> None:
    """A mechanism that is listed is tested."""
    assert {type(case.mechanism) for case in CASES} == set(MECHANISMS)


def divergence(case: Case, epsilon: float) -> float:
    """The exact delta at epsilon between the two neighbours, in the worse direction."""
    p, q = (np.exp(case.log_probabilities(value)) for value in (case.value, case.neighbour))
    return max(np.maximum(0, a - np.exp(epsilon) * b).sum() for a, b in ((p, q), (q, p)))


@each
def test_probabilities_add_up_to_one(case: Case) -> None:
    """`log_probability` is a distribution on the outputs listed."""
    for value in (case.value, case.neighbour):
        assert np.exp(case.log_probabilities(value)).sum() == pytest.approx(1, abs=1e-8)


@each
def test_the_loss_is_the_maximal_log_ratio_of_its_own_distribution(case: Case) -> None:
    """Pure: the largest log-ratio is epsilon, not more, and (as the case says) not less. Else: the same for delta."""
    promise = case.mechanism.guarantee
    epsilon, delta = float(promise.epsilon), float(promise.delta)
    if delta == 0:
        p, q = (case.log_probabilities(value) for value in (case.value, case.neighbour))
        largest = np.abs(p - q).max()
        assert largest <= epsilon * SLACK
        assert largest >= case.tight * epsilon / SLACK
    else:
        assert divergence(case, epsilon) <= delta * SLACK + 1e-13
        assert divergence(case, epsilon) >= case.tight * delta / SLACK


@each
def test_the_dominating_pair_dominates(case: Case) -> None:
    """At every epsilon the pair's delta, and the loss's own, covers what these neighbours really lose."""
    loss = case.mechanism.loss
    assert loss.pair is not None
    for epsilon in np.linspace(0, 3, 13):
        covered = hockey_stick(loss.pair, float(epsilon)) + float(loss.delta)
        assert divergence(case, float(epsilon)) <= covered * SLACK + 1e-13


@each
def test_rho_bounds_every_renyi_divergence(case: Case) -> None:
    """zCDP: the Rényi divergence of order a is at most rho * a, where no delta stands aside."""
    loss = case.mechanism.loss
    assert loss.rho is not None
    if loss.delta:
        assert loss.rho > 0
        return
    p, q = (case.log_probabilities(value) for value in (case.value, case.neighbour))
    for order in (1.01, 1.5, 2, 4, 16):
        renyi = np.log(np.exp(order * p + (1 - order) * q).sum()) / (order - 1)
        assert renyi <= float(loss.rho) * order * SLACK + 1e-9


@each
def test_the_error_bar_covers_at_its_confidence(case: Case) -> None:
    """Exactly, from the distribution: outputs within `error` of the value have at least the probability stated."""
    if case.misses is None:
        assert case.mechanism.error(0.9) <= case.mechanism.error(0.99)
        return
    probabilities = np.exp(case.log_probabilities(case.value))
    misses = np.array([case.misses(output, case.value) for output in case.outputs])
    for confidence in (0.5, 0.9, 0.95, 0.99):
        size = getattr(case.mechanism, "size", None) or 1
        covered = probabilities[misses <= case.mechanism.error(confidence)].sum()
        assert covered >= confidence**size - 1e-9


@each
def test_the_simultaneous_error_bar_covers_all_numbers_at_once(case: Case) -> None:
    """Exactly, from the distribution; and a bar that leaves out the outermost outputs it covers would not do."""
    size = getattr(case.mechanism, "size", None)
    if size is None:
        return
    probabilities = np.exp(case.log_probabilities(case.value))
    misses = np.array([_miss(output, case.value) for output in case.outputs])
    for confidence in (0.5, 0.9, 0.95, 0.99):
        bar = case.mechanism.error(confidence, simultaneous=True)
        assert probabilities[misses <= bar].sum() >= confidence - 1e-9
        assert probabilities[misses < bar - 0.5].sum() < confidence  # a lattice of spacing 1, half of it for rounding
        assert bar >= case.mechanism.error(confidence)


def fit(case: Case, mechanism: object, seed: int) -> float:
    """The chi-square p-value of releases against `log_probability`, with rare outputs in one cell."""
    draws = case.draws
    counts = Counter(replace(case, mechanism=mechanism).releases(draws, Seeded(seed)))
    expected = draws * np.exp(case.log_probabilities(case.value))
    observed = np.array([counts[output] for output in case.outputs], float)
    often = expected >= 20
    wanted = np.append(expected[often], max(1e-9, draws - expected[often].sum()))
    seen = np.append(observed[often], draws - observed[often].sum())
    if wanted[-1] < 20:  # too rare for chi-square: an exact tail instead
        if binom.sf(seen[-1] - 1, draws, wanted[-1] / draws) < FALSE_ALARM and seen[-1] > 0:
            return 0.0
        wanted, seen = wanted[:-1], seen[:-1]
    return float(chi2.sf(((seen - wanted) ** 2 / wanted).sum(), max(1, wanted.size - 1)))


@each
def test_samples_follow_the_distribution(case: Case) -> None:
    """Releases fit `log_probability`."""
    assert fit(case, case.mechanism, seed=CASES.index(case)) > FALSE_ALARM


def test_the_suite_finds_noise_that_is_ten_percent_too_small() -> None:
    """Power: the same test rejects a mechanism whose scale is a tenth below the stated one."""

    class Weak(Geometric):
        @property
        def _additive(self):  # type: ignore[no-untyped-def]
            honest = Geometric._additive.func(self)  # type: ignore[attr-defined]
            return replace(honest, noise=LaplaceNoise(honest.noise.scale * Fraction(9, 10)))

    case = next(case for case in CASES if case.name == "geometric")
    assert fit(case, Weak(1, 0.5), seed=1) < FALSE_ALARM
