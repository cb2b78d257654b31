"""The contract suite finds drafts of mechanisms that round their parameters: each passed everything in version 0.1."""

from __future__ import annotations

from typing import Any

import pytest

from drafts import Bell, Binary, Crashing, Denying, Hiding, Truncating
from sfumato.mechanisms import Geometric, Laplace
from sfumato.testing.mechanisms import MechanismTests
from sfumato.testing.odd_parameters import AUDITED, Change, changes, check_odd, check_spellings

OTHERS = (
    "test_probabilities_add_up_to_one",
    "test_the_loss_is_the_maximal_log_ratio_of_its_own_distribution",
    "test_the_dominating_pair_dominates",
    "test_rho_bounds_every_renyi_divergence",
    "test_the_error_bar_covers_at_its_confidence",
    "test_samples_follow_the_distribution",
)


@pytest.mark.parametrize("test", OTHERS)
def test_a_draft_with_int_of_its_sensitivity_passes_what_version_0_1_had(test: str) -> None:
    """On whole sensitivities nothing is wrong with it."""
    (example,) = Truncating.examples()
    getattr(MechanismTests(), test)(example)


@pytest.mark.parametrize(
    ("draft", "says"),
    [
        (Truncating, "times likelier"),
        (Hiding, "must use the whole sensitivity"),
        (Denying, "an audit certifies"),
        (Bell, "outputs lose more than epsilon"),
    ],
)
def test_a_draft_with_int_of_its_sensitivity_fails(draft: Any, says: str) -> None:
    """By its own probabilities, by the distance of its neighbors, or by its releases alone."""
    with pytest.raises(AssertionError, match=says):
        check_odd(draft, Change("sensitivity", 1.999))


def test_a_draft_that_fails_in_the_arithmetic_fails_the_suite() -> None:
    """A refusal is an error of the tree."""
    with pytest.raises(ZeroDivisionError):
        check_odd(Crashing, Change("sensitivity", 0.3))


def test_a_draft_that_reads_epsilon_by_its_type_fails() -> None:
    with pytest.raises(AssertionError, match=r"epsilon=Fraction\(1, 10\)"):
        check_spellings(Binary, "epsilon")


def test_every_mechanism_with_a_sensitivity_is_fed_fractional_ones() -> None:
    """And every mechanism a tiny and a huge epsilon."""
    fed = list(changes(Laplace))
    assert {change.name for change in fed} == {"sensitivity", "epsilon"}
    assert sum(float(change.number) % 1 > 0 for change in fed if change.name == "sensitivity") == 7
    assert set(AUDITED) <= {change.number for change in fed}
    assert {change.number for change in changes(Geometric)} >= {10_000, 1e-3}
