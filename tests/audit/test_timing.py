"""The auditor of durations, with a clock of the test's own: nothing here depends on how fast the machine is.

Sources are repeatable, so these tests never flicker. At `GATE` an honest mechanism is accused with probability 1e-7.
Power: at 4,000 releases a side a duration that differs by two deviations of its jitter is found with near certainty;
`test_a_small_difference_needs_more_releases` says what is not found.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

from sfumato.audit import game
from sfumato.errors import MechanismFailed
from sources import Seeded

GATE = 1 - 1e-7
EPSILON = 1.0
TRUE = math.e / (1 + math.e)  # randomized response at epsilon 1


class World:
    """A clock and a mechanism that takes time on it; `drift` makes everything slower and slower."""

    def __init__(self, seed: int, drift: float = 0.0) -> None:
        self.rng = np.random.default_rng(seed)
        self.now, self.drift, self.calls = 0, drift, 0

    def clock(self) -> int:
        return self.now

    def spend(self, nanoseconds: float, jitter: float = 20.0) -> None:
        self.calls += 1
        slow = 1 + self.drift * self.calls
        self.now += max(1, round(slow * (nanoseconds + jitter * float(self.rng.standard_normal()))))

    def answer(self, value: int) -> tuple[int, bool]:
        """Randomized response at exactly the claimed epsilon: what is said, and whether it is true."""
        true = bool(self.rng.random() < TRUE)
        return value ^ (not true), true


def play(world: World, mechanism: Any, samples: int = 4_000, confidence: float = GATE, **more: Any) -> Any:
    claimed = game(mechanism, 0, 1, epsilon=EPSILON, **more)
    return claimed.play_timing(samples, confidence, entropy=Seeded(1), clock=world.clock)


def honest(world: World) -> Any:
    def release(value: int) -> int:
        said, _ = world.answer(value)
        world.spend(1_000)
        return said

    return release


def test_a_duration_that_follows_the_value_is_found() -> None:
    """The output says nothing at all."""
    world = World(1)

    def release(value: int) -> None:
        world.spend(1_000 + 100 * value)

    finding = play(world, release)
    assert finding.refuted and finding.certified > 4
    assert finding.excess == pytest.approx(finding.certified - EPSILON)
    assert finding.best.words.startswith("duration in ns")
    assert finding.durations[1] - finding.durations[0] == pytest.approx(100, abs=5)


def test_a_duration_that_tells_truth_from_lie_is_found_with_the_output_only() -> None:
    """Neither the output nor the duration breaks the claim by itself; both together give the answer away."""
    world = World(2)

    def release(value: int) -> str:
        said, true = world.answer(value)
        world.spend(1_000 if true else 1_100)
        return ("no", "yes")[said]

    finding = play(world, release)
    assert finding.refuted and finding.certified > 4
    assert "where output is" in finding.best.words or "output and duration" in finding.best.words
    assert not game(release, 0, 1, epsilon=EPSILON).play(4_000, GATE).refuted


def test_a_duration_that_tells_the_noise_is_found_for_numbers() -> None:
    """Noise of scale 1, and a branch on its sign: with the output, that says on which side the value lies."""
    world = World(3)

    def release(value: int) -> float:
        noise = float(world.rng.laplace())
        world.spend(1_000 if noise > 0 else 1_100)
        return value + noise

    assert play(world, release, 20_000).certified > 2


@pytest.mark.parametrize("drift", [0.0, 1e-4])
def test_an_honest_mechanism_is_not_accused(drift: float) -> None:
    """Jitter alone, on a steady machine and on one that becomes twice as slow; the output costs all of epsilon."""
    world = World(4, drift)
    finding = play(world, honest(world), 5_000)
    assert not finding.refuted and 0.7 < finding.certified <= EPSILON
    assert "machine" in finding.describe() and finding.to_dict()["median_nanoseconds"] == list(finding.durations)


def test_a_leak_is_found_on_a_machine_that_becomes_slower() -> None:
    """By a tenth: both sides are measured in turns, and what is learned is tested under the same load."""
    world = World(5, 1e-5)
    assert play(world, lambda value: world.spend(1_000 + 100 * value)).refuted


def test_honest_mechanisms_are_accused_no_more_often_than_stated() -> None:
    """60 audits at 90 % on a drifting machine: at most 6 accused on average; 24 has a chance below 1e-7."""
    accused = 0
    for seed in range(60):
        world = World(100 + seed, 5e-4)
        accused += play(world, honest(world), 400, 0.9).refuted
    assert accused < 24


def test_a_small_difference_needs_more_releases() -> None:
    """A tenth of a deviation of the jitter: not seen in 1,000 releases, and no reason to trust it."""
    world = World(6)
    finding = play(world, lambda value: world.spend(1_000 + 2 * value), 1_000)
    assert not finding.refuted and "no proof" in finding.describe()


def test_delta_is_granted() -> None:
    """What takes long with probability delta on one side only is allowed; with ten times that it is not."""

    def leak(world: World, chance: float) -> Any:
        return lambda value: world.spend(5_000 if value and world.rng.random() < chance else 1_000)

    allowed, forbidden = World(7), World(8)
    assert not play(allowed, leak(allowed, 0.02), delta=0.02).refuted
    assert play(forbidden, leak(forbidden, 0.2), delta=0.02).refuted


def test_neighbors_take_turns_in_random_order() -> None:
    """Each pair is released back to back, either of them first about half the time."""
    world, order = World(9), list[int]()

    def release(value: int) -> None:
        order.append(value)
        world.spend(1_000)

    play(world, release, 1_000)
    pairs = [(order[i], order[i + 1]) for i in range(0, len(order), 2)]
    assert set(pairs) == {(0, 1), (1, 0)}
    assert 400 < sum(first for first, _ in pairs[-1_000:]) < 600  # beyond: 1e-9


def test_outputs_of_every_kind_are_timed() -> None:
    """None, sets of keys, vectors, mappings: the duration is one number more."""
    for made in (None, {"a"}, (1, 2.5), {"a": 3}, "text", [True], np.array([1.0, 2.0])):
        world = World(10)

        def release(value: int, made: Any = made, world: World = world) -> Any:
            world.spend(1_000 + 100 * value)
            return made

        assert play(world, release).refuted


def test_what_a_mechanism_does_wrong_is_told() -> None:
    """It raises, or takes too long; and a method for many outputs must return one where one is asked for."""
    with pytest.raises(MechanismFailed, match="raised ZeroDivisionError: division by zero; call it"):
        game(lambda x: 1 / x, 0, 1, epsilon=1).play_timing(100)
    with pytest.raises(MechanismFailed, match=r"within 0\.2 seconds"):
        game(lambda x: time.sleep(60), 0, 1, epsilon=1).play_timing(100, seconds=0.2)

    class Many:
        def sample(self, value: int, count: int) -> list[int]:
            return [value] * (count + 1)

    with pytest.raises(MechanismFailed, match="a list or array of 1 outputs; got 2"):
        game(Many(), 0, 1, epsilon=1).play_timing(100)


def test_progress_is_told_to_the_end() -> None:
    """In releases of both sides."""
    world, told = World(11), list[tuple[int, int]]()
    claimed = game(honest(world), 0, 1, epsilon=1)
    claimed.play_timing(1_000, clock=world.clock, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (2_000, 2_000) and told == sorted(told) and len(told) > 2
