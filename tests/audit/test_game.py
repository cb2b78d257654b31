"""The auditor by sampling: what it certifies is true, it finds what is wrong, and it says what it cannot find.

Sources are repeatable, so these tests never flicker. At `GATE` an honest mechanism is accused with probability 1e-7.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.audit import game
from sfumato.audit.finding import ceiling
from sfumato.audit.outputs.outputs import Kind, Reader
from sfumato.errors import InvalidArgument, MechanismFailed
from sfumato.mechanisms import Geometric, Laplace
from sfumato.mechanisms.samplers import discrete_laplace
from sources import Seeded

GATE = 1 - 1e-7
MILLION = 1_000_000


def test_a_correct_laplace_is_certified_nearly_at_its_epsilon() -> None:
    """10^6 samples a side, at gate confidence: 0.96 at least, and never above 1. Measured: 0.975 to 0.978."""
    finding = game(Laplace(1, 1), 0.0, 1.0).play(MILLION, GATE, entropy=Seeded(1))
    assert 0.96 <= finding.certified <= 1
    assert not finding.refuted and finding.could_refute


def test_noise_that_is_five_percent_too_small_is_found() -> None:
    """The expected bound is 1.028, eight standard deviations above 1."""
    finding = game(Laplace(0.95, 1), 0.0, 1.0, epsilon=1).play(MILLION, GATE, entropy=Seeded(2))
    assert finding.refuted and 1 < finding.certified <= 1 / 0.95


def test_an_honest_mechanism_is_not_accused_more_often_than_stated() -> None:
    """400 audits of randomized response at 90 %: at most 40 false alarms expected; 70 has a chance below 1e-6.

    The worst case there is: both events of two outcomes, at exactly the claimed epsilon.
    """
    rng = np.random.default_rng(3)

    class Response:
        def sample(self, value: int, count: int) -> np.ndarray:
            return (rng.random(count) < math.e / (1 + math.e)).astype(int) ^ value

    accused = sum(game(Response(), 0, 1, epsilon=1).play(1_000, 0.9).refuted for _ in range(400))
    assert accused < 70


def test_delta_is_granted() -> None:
    """What happens with probability delta on one side only is allowed; with 1.5 delta it is not."""
    rng = np.random.default_rng(4)

    class Leak:
        def __init__(self, chance: float) -> None:
            self.chance = chance

        def sample(self, value: int, count: int) -> list[str]:
            return ["me" if value and x else "-" for x in rng.random(count) < self.chance]

    assert not game(Leak(0.01), 1, 0, epsilon=1, delta=0.01).play(200_000, GATE).refuted
    assert game(Leak(0.015), 1, 0, epsilon=1, delta=0.01).play(200_000, GATE).refuted


@pytest.mark.parametrize(
    ("value", "neighbor", "release"),
    [
        ((0, 0), (1, 1), lambda value, noise: tuple(x + next(noise) for x in value)),
        (0, 1, lambda value, noise: {"a"} if value + next(noise) > 1 else {"a", "b"}),
        (0, 1, lambda value, noise: {"a": value + next(noise), "b": next(noise)}),
        (0, 1, lambda value, noise: "yes" if value + next(noise) > 1 else "no"),
        (0, 1, lambda value, noise: None if value + next(noise) > 1 else next(noise)),
        (0, 1, lambda value, noise: [value + next(noise)] * (2 + (next(noise) > 0))),
        (0, 1, lambda value, noise: np.array([value + next(noise), next(noise)])),
    ],
    ids=["vector", "keys", "mapping", "text", "number or none", "length differs", "array"],
)
def test_outputs_of_every_kind_tell_neighbors_apart(value: Any, neighbor: Any, release: Any) -> None:
    """Noise of scale 1/2 for a sensitivity of 1 costs 2 (twice for a vector), and 1 is claimed."""
    entropy, stock = Seeded(5), []

    def noise() -> Any:
        while True:
            if not stock:
                stock.extend(discrete_laplace(Fraction(1, 2)).draw(8_192, entropy).tolist())
            yield stock.pop()

    draws = noise()
    finding = game(lambda x: release(x, draws), value, neighbor, epsilon=1).play(40_000, GATE)
    assert finding.refuted and finding.certified <= (4.01 if isinstance(value, tuple) else 2.01)


def test_too_few_samples_are_said() -> None:
    """A hundred samples could not even tell different constants apart at epsilon 3."""
    finding = game(lambda x: x, 0, 1, epsilon=3).play(100)
    assert not finding.could_refute and "can certify at most" in finding.describe() and "too few" in finding.describe()
    assert finding.certified <= finding.ceiling == ceiling(50, 0.0, (1 - finding.confidence) / 6)
    with pytest.raises(InvalidArgument, match="samples must be at least 100"):
        game(lambda x: x, 0, 1, epsilon=3).play(99)


def test_what_a_mechanism_does_wrong_is_told_in_one_line() -> None:
    """It raises, returns texts that are all different, answers with the wrong number of samples."""
    with pytest.raises(MechanismFailed, match="raised ZeroDivisionError: division by zero; call it"):
        game(lambda x: 1 / x, 0, 1, epsilon=1).play(100)
    count = iter(range(10**6))
    with pytest.raises(MechanismFailed, match=r"outputs must be numbers.*type str"):
        game(lambda x: f"noisy {next(count)}", 0, 1, epsilon=1).play(1_000)

    class Short:
        def sample(self, value: int, count: int) -> list[int]:
            return [value]

    with pytest.raises(MechanismFailed, match="a list or array of 8 outputs; got 1"):
        game(Short(), 0, 1, epsilon=1).play(100)


def test_a_mechanism_that_ends_the_program_is_not_taken_for_honest() -> None:
    """By the exit code 0, which says that nothing was refuted."""
    with pytest.raises(MechanismFailed, match="raised SystemExit: 0; call it"):
        game(lambda x: sys.exit(0), 0, 1, epsilon=1).play(100)


def test_outputs_and_errors_may_be_as_odd_as_they_like() -> None:
    """They fail when they are compared, or when they are asked what they are."""

    class Odd(Exception):
        def __hash__(self) -> int:
            raise RuntimeError("not me")

        __str__ = __repr__ = lambda self: 1 // 0  # type: ignore[assignment]

    with pytest.raises(MechanismFailed, match="reading one raised RuntimeError: not me; return plain values"):
        game(lambda x: Odd(), 0, 1, epsilon=1).play(100)

    def fail(value: int) -> None:
        raise Odd

    with pytest.raises(MechanismFailed, match="it raised Odd; call it"):
        game(fail, 0, 1, epsilon=1).play(100)


def test_long_arrays_that_differ_in_their_middle_are_neighbors() -> None:
    """Their texts leave it out."""
    here, there = np.zeros(5_000), np.zeros(5_000)
    there[2_500] = 1
    assert game(np.sum, here, there, epsilon=1).play(1_000).refuted
    with pytest.raises(InvalidArgument, match="got the same twice"):
        game(np.sum, here, here.copy(), epsilon=1)


def test_a_mechanism_that_takes_too_long_is_stopped() -> None:
    """Also one that never returns, or catches every exception."""

    def stuck(value: int) -> int:
        while True:
            with contextlib.suppress(Exception):
                time.sleep(5)

    began = time.monotonic()
    with pytest.raises(MechanismFailed, match=r"within 0\.2 seconds; got 0 by then; take fewer samples"):
        game(stuck, 0, 1, epsilon=1).play(100, seconds=0.2)
    assert time.monotonic() - began < 3


def test_a_limit_holds_in_another_thread() -> None:
    """Where no alarm can ring, the clock is looked at between draws."""
    found: list[BaseException] = []

    def run() -> None:
        try:
            game(lambda x: time.sleep(0.001) or x, 0, 1, epsilon=1).play(20_000, seconds=0.1)
        except MechanismFailed as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "within 0.1 seconds" in str(found[0])


@pytest.mark.parametrize(
    ("value", "neighbor", "relation", "said"),
    [
        (1, 1, "add-remove", "got the same twice"),
        ([1, 2], [1, 2, 3, 4], "add-remove", "differ by one row"),
        ([1, 2], [3, 4, 5], "add-remove", "differ by one row"),
        ([1, 2], [1, 2, 3], "replace", "as many rows; got 2 and 3"),
    ],
)
def test_inputs_that_are_no_neighbors_are_refused(value: Any, neighbor: Any, relation: Any, said: str) -> None:
    """Where that can be seen."""
    with pytest.raises(InvalidArgument, match=said):
        game(len, value, neighbor, epsilon=1, neighbors=relation)


def test_a_claim_must_be_there() -> None:
    """Given, or the mechanism's own."""
    assert game(Geometric(1, 0.5), 0, 1).claim.epsilon == Geometric(1, 0.5).guarantee.epsilon
    with pytest.raises(InvalidArgument, match="epsilon must be given"):
        game(len, [1], [1, 2])
    with pytest.raises(InvalidArgument, match="a function of one input"):
        game(3, 0, 1, epsilon=1)


def test_how_outputs_are_read_is_fixed_by_the_first_half() -> None:
    """What comes later and does not fit is missing, whatever it is."""
    assert Reader.learn([{"a"}, {"b"}]).kind is Kind.KEYS
    assert Reader.learn([(1, 2), (1,)]).read([(1, 2, 3), "x", (5,)]).shape == (3, 3)  # and the form
    assert Reader.learn(["a", "b"]).read(["b", 7]).ravel()[0] in (0, 1)
    assert Reader.learn([1, 10**400]).read([10**400])[0, 0] == math.inf


def test_progress_is_told() -> None:
    """From the first sample to the last."""
    told: list[tuple[int, int]] = []
    game(lambda x: x, 0, 1, epsilon=1).play(10_000, progress=lambda done, of: told.append((done, of)))
    assert told[0] == (1, 20_000) and told[-1] == (20_000, 20_000)


def test_a_finding_is_drawn_and_written() -> None:
    """As a dictionary of plain values, and as a chart."""
    from sfumato.audit.picture import draw_finding

    for mechanism, neighbor in ((Laplace(1, 1), 1.0), (lambda x: "ab"[int(x)], 1.0)):
        finding = game(mechanism, 0.0, neighbor, epsilon=1).play(2_000, entropy=Seeded(1))
        assert finding.to_dict()["claimed"] == {"epsilon": 1.0, "delta": 0.0}
        assert "layer" in draw_finding(finding).to_dict() or "mark" in draw_finding(finding).to_dict()
