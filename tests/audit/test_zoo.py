"""The gate: every broken mechanism is caught, its mended twin and every mechanism of the package are not.

A mutant that is not caught fails the build. Sampling is at gate confidence: an honest mechanism is accused with
probability 1e-7 at most. Power: each bound of the zoo lies several standard deviations above its claim, so that other
seeds find the same (`test_other_seeds_find_the_same`).
"""

from __future__ import annotations

import pytest

from sfumato.audit import game
from sfumato.audit.exact import judge
from sfumato.audit.zoo import ZOO, Broken
from sfumato.audit.zoo.rare import _HONEST, _shown_mass
from sfumato.mechanisms import MECHANISMS, RandomizedResponse
from sfumato.mechanisms._examples.example import Example
from sources import Seeded

GATE = 1 - 1e-7
# Of releases that take long fewer are drawn: 4,000 a side still refute a mechanism that spends 1.5 times an epsilon of
# 1, and what they really spend is worked out exactly by the suite of the mechanisms.
EXAMPLES = [example for kind in MECHANISMS for example in kind.examples()]
FEW = {
    **dict.fromkeys(("exponential", "exponential, monotonic"), 2_000),
    **dict.fromkeys(("laplace, vector", "laplace, L2", "geometric, vector", "gaussian, vector"), 4_000),
    **dict.fromkeys(("median", "ninth tenth", "inverse sensitivity of a count"), 4_000),
    **dict.fromkeys(("permute and flip", "permute and flip, monotonic"), 8_000),
    **dict.fromkeys(("report noisy max", "report noisy max, far"), 8_000),
    **{case.name: 4_000 for case in EXAMPLES if type(case.mechanism).__module__.startswith("sfumato.mechanisms.local")},
}
each = pytest.mark.parametrize("broken", ZOO, ids=lambda broken: broken.name)
sampled = [broken for broken in ZOO if broken.masses is None]
mended = [broken for broken in ZOO if broken.mended is not None]


@each
def test_a_broken_mechanism_is_caught(broken: Broken) -> None:
    """By sampling, or by exact probabilities where its mistake is a rare event."""
    if broken.masses is not None:
        assert judge(broken.name, *broken.masses, broken.game.claim).refuted
    else:
        assert broken.game.play(broken.samples, GATE, entropy=Seeded(1)).refuted


@pytest.mark.parametrize("broken", mended, ids=lambda broken: broken.name)
def test_its_mended_twin_is_not_accused(broken: Broken) -> None:
    """So it was caught for its mistake and for nothing else."""
    assert broken.mended is not None
    finding = broken.mended.play(min(broken.samples, 100_000), GATE, entropy=Seeded(2))
    assert not finding.refuted and finding.could_refute


@pytest.mark.parametrize("seed", range(10, 13))
def test_other_seeds_find_the_same(seed: int) -> None:
    """Those of little margin or few samples; nobody chose a lucky seed."""
    chosen = {"noise-ten-percent-low", "noise-five-percent-low", "sparse-vector-3", "name-and-shame", "float-laplace"}
    for broken in sampled:
        if broken.name in chosen:
            assert broken.game.play(broken.samples, GATE, entropy=Seeded(seed)).refuted, broken.name


def test_a_right_threshold_is_not_accused_by_exact_probabilities() -> None:
    """One more, and the same check finds nothing."""
    claim = _HONEST.guarantee
    assert not judge("right", {"shown": _shown_mass(_HONEST.threshold)}, {}, claim).refuted


def test_every_broken_mechanism_has_a_name_and_a_story_of_two_sentences() -> None:
    """Names are different; a story says what somebody did, and why it fails."""
    assert len({broken.name for broken in ZOO}) == len(ZOO) >= 19
    for broken in ZOO:
        assert broken.story.rstrip(".").count(". ") == 1 and broken.story.endswith("."), broken.name


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case.name)
def test_a_mechanism_of_the_package_is_not_accused(case: Example) -> None:
    """On the neighbors of the shared suite, by what it releases."""
    finding = game(case.mechanism, case.value, case.neighbor).play(FEW.get(case.name, 40_000), GATE, entropy=Seeded(3))
    assert not finding.refuted
    assert finding.certified <= float(case.mechanism.guarantee.epsilon)


def test_few_samples_find_what_is_half_as_much_again() -> None:
    """An epsilon of 1.5 where 1 is claimed, by 4,000 releases; the bound is 1.2, six standard deviations above 1."""
    mechanism = RandomizedResponse(epsilon=1.5)
    assert game(mechanism, "yes", "no", epsilon=1).play(4_000, GATE, entropy=Seeded(4)).refuted


def test_every_mechanism_of_the_package_is_audited() -> None:
    """A mechanism that is listed is audited."""
    assert set(FEW) <= {case.name for case in EXAMPLES}
    assert {type(case.mechanism) for case in EXAMPLES} == set(MECHANISMS)
