"""The sparse vector technique: exact probabilities, the worst neighbors, and a stream that ends."""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import os
import pickle
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import BudgetExhausted, InvalidArgument, OutsideRange
from sfumato.mechanisms import SparseVector
from sfumato.mechanisms._noise.noise import LaplaceNoise
from sfumato.mechanisms.sparse_vector import Stream
from sources import Seeded


def summed(mechanism: SparseVector, said: tuple[bool, ...], answers: tuple[int, ...]) -> float:
    """The definition, with fractions of exponentials as floats: over all noise of the threshold, at spacing 1."""
    total = 0.0
    for drawn in range(-300, 301):
        chance = math.exp(mechanism._bar.log_probability(drawn))
        for yes, answer in zip(said, answers, strict=False):
            below = math.exp(mechanism._noise.log_at_most(int(mechanism.threshold) + drawn - answer - 1))
            chance *= 1 - below if yes else below
        total += chance
    return total


def test_an_output_has_the_probability_of_its_definition() -> None:
    mechanism, answers = SparseVector(2, 1, 2, hits=2, spacing=1), (0, 3, 1, 5)
    for said in ((True, True), (False, True, False, True), (False,) * 4, (True, False, False, False)):
        wanted = summed(mechanism, said, answers)
        assert mechanism.log_probability(said, answers) == pytest.approx(math.log(wanted), abs=1e-9)


def test_what_cannot_be_said_has_no_probability() -> None:
    """Too short, too long, too many hits, or words after the last hit."""
    mechanism = SparseVector(2, 1, 1, hits=1, spacing=1)
    for said in ((False,), (True, False), (False, False, False, False), (True, True)):
        assert mechanism.log_probability(said, (1, 2, 3)) == -math.inf
    assert mechanism.log_probability(True, (1, 2, 3)) == -math.inf  # type: ignore[arg-type]
    assert SparseVector(2, 1, 1, hits=2, spacing=1).log_probability((), ()) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("monotonic", "hits"), [(False, 1), (False, 2), (True, 1), (True, 2)])
def test_no_neighbors_lose_more_than_epsilon(monotonic: bool, hits: int) -> None:
    """All outputs of four answers, each moved by -1, 0 or 1 (one direction if monotonic), over several answers."""
    mechanism = SparseVector(0, 1, 1, hits, monotonic, spacing=1)
    worst = 0.0
    outputs = [every for every in itertools.product((False, True), repeat=4) if sum(every) == hits and every[-1]]
    for moves in itertools.product((0, 1) if monotonic else (-1, 0, 1), repeat=4):
        for base in ((0, 0, 0, 0), (-4, -4, -4, 4)):
            moved = tuple(a + m for a, m in zip(base, moves, strict=True))
            for said in outputs:
                worst = max(worst, abs(mechanism.log_probability(said, base) - mechanism.log_probability(said, moved)))
    assert 0.3 < worst <= 1 + 1e-9


def test_no_costs_nothing_more_however_often_it_is_said() -> None:
    """A thousand answers just below: the loss of all together stays below epsilon."""
    mechanism, many = SparseVector(5, 1, 1, spacing=1), 1_000
    said = (False,) * many
    loss = mechanism.log_probability(said, (-8,) * many) - mechanism.log_probability(said, (-7,) * many)
    assert 0.2 < loss <= 1


def test_a_fresh_threshold_for_every_answer_would_lose_without_end() -> None:
    """That the threshold's noise is drawn once is what makes a no free: else each no adds the same loss again."""
    bar, noise = LaplaceNoise(Fraction(2)), LaplaceNoise(Fraction(4))

    def no(answer: int) -> float:
        return math.fsum(math.exp(bar.log_probability(z) + noise.log_at_most(z - answer - 1)) for z in range(-150, 151))

    losses = [count * (math.log(no(0)) - math.log(no(1))) for count in (1, 10, 100)]
    assert losses[0] < 1 < losses[1] < losses[2]


def test_the_budget_is_split_as_the_paper_says() -> None:
    """epsilon_1 : epsilon_2 = 1 : (2 c)^(2/3), c^(2/3) if monotonic; together exactly epsilon."""
    for monotonic, hits in itertools.product((False, True), (1, 5, 50)):
        mechanism = SparseVector(0, 1, 1, hits, monotonic, spacing=1)
        ratio = (hits * (1 if monotonic else 2)) ** (2 / 3)
        assert float(mechanism._first) == pytest.approx(1 / (1 + ratio), rel=1e-6)
        assert 1 / mechanism._bar.scale + hits * (1 if monotonic else 2) / mechanism._noise.scale == 1
    assert SparseVector(0, 1, 1, share=Fraction(1, 3))._first == Fraction(1, 3)


def test_a_stream_never_answers_after_its_last_hit() -> None:
    stream = SparseVector(0, 1, 1, hits=2).start(Seeded(1))
    assert [stream.ask(-10_000) for _ in range(500)] == [False] * 500
    assert stream.ask(10_000) and stream.left == 1 and stream.ask(10_000)
    for _ in range(3):
        with pytest.raises(BudgetExhausted, match="may say yes 2 times; all were said; start another"):
            stream.ask(-10_000)
    with pytest.raises(AttributeError):
        stream.left = 5  # type: ignore[misc]


def test_a_stream_cannot_be_copied_or_stored() -> None:
    """A copy would answer with the same noisy threshold again."""
    stream = SparseVector(0, 1, 1).start()
    for again in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(InvalidArgument, match="must not be copied"):
            again(stream)
    assert "bar" not in repr(stream)


def test_threads_share_the_hits_of_a_stream() -> None:
    """Four threads that ask at once hear one yes; without turns nine of ten streams said more."""
    before, most = sys.getswitchinterval(), 0
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            stream, said, gate = SparseVector(0, 1, 10).start(), list[bool](), threading.Barrier(4)

            def ask(stream: Stream = stream, said: list[bool] = said, gate: threading.Barrier = gate) -> None:
                gate.wait()
                with contextlib.suppress(BudgetExhausted):
                    said.append(stream.ask(1_000))

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            most = max(most, sum(said))
    finally:
        sys.setswitchinterval(before)
    assert most == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_stream_ends_at_a_fork() -> None:
    """A child with the same noisy threshold would say yes as often again; the parent goes on."""
    stream = SparseVector(0, 1, 10).start()
    child = os.fork()
    if child == 0:
        try:
            stream.ask(1_000)
        except InvalidArgument:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert stream.ask(1_000)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("hits", [1, 2])
def test_probabilities_of_all_that_can_be_said_add_up_to_one(hits: int, monotonic: bool) -> None:
    """Also of what cannot: nothing is said after the last hit."""
    mechanism = SparseVector(0, 1, 1, hits, monotonic, spacing=1)
    every = [said for length in range(4) for said in itertools.product((False, True), repeat=length)]
    total = math.fsum(math.exp(mechanism.log_probability(said, (1, -1, 2))) for said in every)
    assert total == pytest.approx(1, abs=1e-9)
    assert mechanism.log_probability((True,) * hits + (False,) * (3 - hits), (1, -1, 2)) == -math.inf


def test_a_bad_answer_is_refused_before_anything_is_drawn() -> None:
    stream = SparseVector(0, 1, 1).start()
    with pytest.raises(OutsideRange):
        stream.ask(math.nan)
    assert stream.left == 1


def test_answers_are_read_until_the_last_hit_only() -> None:
    """A generator of answers is not asked for more."""
    answers = iter([10_000, math.nan])
    assert SparseVector(0, 1, 1).release(answers) == (True,)
    assert math.isnan(next(answers))


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_an_answer_farther_than_the_error_is_judged_rightly(confidence: float) -> None:
    """Exactly, from the probabilities of one answer above and one below."""
    mechanism = SparseVector(0.3, 1, 1, spacing=0.5)
    far = mechanism.error(confidence)
    for answer, right in ((0.3 + far, (True,)), (0.3 - far, (False,))):
        assert math.exp(mechanism.log_probability(right, (answer,))) >= confidence


def test_the_default_lattice_follows_the_same_probabilities() -> None:
    """Spacing 1/512: close to continuous noise, and still summed."""
    fine, coarse = SparseVector(2, 1, 1), SparseVector(2, 1, 1, spacing=2.0**-6)
    for said in ((True,), (False, True), (False, False)):
        answers = (1.0, 3.0)
        assert fine.log_probability(said, answers) == pytest.approx(coarse.log_probability(said, answers), abs=0.02)
    assert np.isfinite(fine.log_probability((True,), (-200.0,)))
