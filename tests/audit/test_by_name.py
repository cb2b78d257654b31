"""Mechanisms by name: each has neighbors at the declared distance, and others are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

import sfumato as sf
from sfumato.audit.by_name import NAMES, is_mechanism, mechanism_game
from sfumato.errors import InvalidArgument
from sources import Seeded


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_can_be_audited_by_its_name(name: str) -> None:
    """However it is spelled, with no options at all; a new mechanism whose neighbors nobody knows fails here."""
    spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
    assert is_mechanism(spelled)
    finding = mechanism_game(spelled, {}).play(1_000, 1 - 1e-7, entropy=Seeded(1))
    assert not finding.refuted


@pytest.mark.parametrize(
    ("name", "options", "least"),
    [
        ("laplace", {"epsilon": 2, "sensitivity": 3}, 1.6),
        ("laplace", {"epsilon": 2, "size": 2}, 1.2),
        ("geometric", {"epsilon": 1, "sensitivity": 2}, 0.7),
        ("exponential", {"epsilon": 2, "candidates": ("a", "b")}, 0.3),
        ("randomized_response", {"epsilon": 1}, 0.8),
        ("quantile", {"epsilon": 2}, 0.5),
        ("propose-test-release", {"epsilon": 2, "delta": 1e-3}, 0.7),
        ("propose-test-release", {"epsilon": 2, "delta": 1e-3, "neighbors": "replace"}, 0.2),
        ("sparse-vector", {"epsilon": 2}, 0.4),
        ("sparse-vector", {"epsilon": 2, "monotonic": True}, 0.4),
        ("laplace-threshold", {"epsilon": 2}, 1.2),
        ("gaussian-threshold", {"epsilon": 2}, 0.1),
        ("truncated-geometric", {"epsilon": 2}, 0.9),
    ],
)
def test_the_neighbors_tell_much(name: str, options: dict[str, Any], least: float) -> None:
    """Most of what is claimed is certified."""
    cheap = {"laplace", "geometric", "randomized_response"}
    samples = 2_000 if name == "exponential" else 20_000 if name in cheap and "size" not in options else 5_000
    finding = mechanism_game(name, options).play(samples, 0.999, entropy=Seeded(2))
    assert finding.certified > least


@pytest.mark.parametrize(
    ("name", "options", "both", "said"),
    [
        ("laplace", {}, (0, 1.5), "at most 1 apart, the sensitivity, in L1; got 0 and 1.5"),
        ("laplace", {"size": 2}, ((0, 0), (0.75, 0.75)), "no neighbors"),
        ("gaussian", {"size": 2}, ((0, 0), (0.75, 0.75)), "in L2"),
        ("laplace-threshold", {}, (1, 3), "one unit of a key"),
        ("exponential", {}, ((0, 0, 0), (0, 0, 2)), "in every score"),
        ("exponential", {}, ((0, 0, 0), (0, 0)), "must have as many numbers; got 3 and 2"),
        ("exponential", {"monotonic": True}, ((3, 0, 0), (2, 1, 1)), "in one direction only"),
        ("sparse-vector", {}, ((2, 2, 2), (2, 2)), "must have as many numbers; got 3 and 2"),
        ("sparse-vector", {"monotonic": True}, ((2, 2), (1, 3)), "in one direction only"),
        ("inverse-sensitivity", {}, ((0, 9, 9), (9, 9, 0)), "one step, in every distance"),
        ("quantile", {}, ((0,) * 6, (16,) * 6), "differ by one row"),
        ("quantile", {}, ((1, 2), (1, 3)), "differ by one row, which add-remove may change"),
        ("quantile", {"neighbors": "replace"}, ((1, 2), (3, 4)), "differ by one row, which replace may change"),
        ("propose-test-release", {}, ((0,) * 6, (16,) * 6), "differ by one row"),
        ("subsampled", {}, ((9,), ()), "at most 1 apart, what the mechanism is made for"),
        ("subsampled", {}, ((1, 1, 1), (1,)), "differ by one row"),
        ("laplace", {"scale": 2}, (None, None), "has no parameter 'scale'"),
        ("laplace", {"delta": 0.1}, (None, None), "has no parameter 'delta'"),
        ("laplac", {}, (None, None), "did you mean 'Laplace'"),
        ("laplace", {"epsilon": -1}, (None, None), "epsilon must be positive"),
        ("laplace", {}, ("x", 1), "value must be a number"),
    ],
)
def test_what_cannot_be_meant_is_refused(name: str, options: dict[str, Any], both: tuple[Any, Any], said: str) -> None:
    """With what was expected."""
    with pytest.raises(InvalidArgument, match=re.escape(said)):
        mechanism_game(name, options, *both)


def test_a_mechanism_of_this_package_is_not_accused_by_inputs_that_are_no_neighbors() -> None:
    """Also where it is given as it is, not by its name; what a function of one's own takes is believed."""
    with pytest.raises(InvalidArgument, match="which are no neighbors"):
        sf.audit.game(sf.mechanisms.Laplace(sensitivity=1, epsilon=1), 0, 10)
    assert sf.audit.game(lambda value: value, 0, 10, epsilon=1).value == 0


def test_whole_numbers_are_drawn_in_bins_without_teeth() -> None:
    """As many whole numbers in each bin: a geometric distribution falls from its top on both sides, up to noise."""
    finding = mechanism_game("geometric", {"epsilon": 0.1}).play(20_000, entropy=Seeded(3))
    drawn = [side for side in finding.sides if side.end > side.start]
    assert len(drawn) > 41 and {side.end - side.start for side in drawn} == {1.0}
    assert sum(side.value for side in drawn) > 0.98
