"""The system's source: uniform words, never the same ones twice, in no process and no thread.

Statistical tests set the key, so they have one outcome; with a fresh key a right source would fail each of them with
probability `FALSE_ALARM`, and a twin shows what they catch. Where keys are fresh, two equal rows come once in 2**128.
"""

from __future__ import annotations

import inspect
import multiprocessing
import os
import pickle
import threading
import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from goodness import FALSE_ALARM
from sfumato import entropy
from sfumato.entropy import REKEY_AFTER, SYSTEM, SystemEntropy
from sfumato.errors import InvalidArgument
from sfumato.mechanisms.samplers import discrete_laplace, draw_one

SAMPLER = discrete_laplace(Fraction(2**50))
Drawn = tuple[list[int], int, list[int]]


def some_draws() -> Drawn:
    """Words, digits and single draws, enough of each that two equal ones are no accident."""
    words = np.empty(8, np.uint32)
    SYSTEM.fill(words)
    return words.tolist(), SYSTEM.bits(128), [draw_one(SAMPLER, SYSTEM) for _ in range(8)]


def assert_all_differ(draws: list[Drawn]) -> None:
    for kind in zip(*draws, strict=True):
        assert len({str(value) for value in kind}) == len(draws)


def forked(work: Callable[[], Drawn]) -> Drawn:
    """What a child made by a bare fork returns."""
    end, start = os.pipe()
    with warnings.catch_warnings():
        # From Python 3.12 on a fork warns if the test runner has threads; this child only draws, writes and leaves.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.write(start, pickle.dumps(work()))
        finally:
            os._exit(0)
    os.close(start)
    with os.fdopen(end, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    drawn: Drawn = pickle.loads(answer)  # noqa: S301  (written by this test)
    return drawn


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@needs_fork
def test_forked_children_and_their_parent_never_share_words_or_draws() -> None:
    some_draws()  # so that a key is in use and a block has been drawn ahead
    assert SYSTEM.stock()[SAMPLER]
    draws = [forked(some_draws), forked(some_draws), some_draws()]
    assert_all_differ(draws)


@needs_fork
def test_a_child_of_a_child_shares_nothing_either() -> None:
    some_draws()

    def both() -> Drawn:
        words, bits, single = some_draws()
        words2, bits2, single2 = forked(some_draws)
        assert words != words2 and bits != bits2 and single != single2
        return words2, bits2, single2

    assert_all_differ([forked(both), some_draws()])


@needs_fork
def test_what_was_drawn_ahead_does_not_survive_a_fork() -> None:
    some_draws()
    assert SYSTEM.stock()
    assert forked(lambda: ([], len(SYSTEM.stock()), [])) == ([], 0, [])
    assert SYSTEM.stock()  # the parent keeps its own


@needs_fork
def test_a_fork_that_python_was_not_told_of_is_noticed_by_the_process_number(monkeypatch: pytest.MonkeyPatch) -> None:
    source = SystemEntropy()
    before = source._stream()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert source._stream() is not before


@needs_fork
def test_a_fork_that_reuses_a_process_number_is_noticed_by_the_generation() -> None:
    source = SystemEntropy()
    before = source._stream()
    source._forget()
    assert source._stream() is not before


@needs_fork
def test_workers_of_a_pool_never_share_words_or_draws() -> None:
    some_draws()
    context = multiprocessing.get_context("fork")
    answers = [context.SimpleQueue() for _ in range(2)]
    workers = [context.Process(target=lambda queue=queue: queue.put(some_draws())) for queue in answers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as in `forked`
        for worker in workers:
            worker.start()
    draws = [queue.get() for queue in answers]
    for worker in workers:
        worker.join()
    assert_all_differ([*draws, some_draws()])


def test_threads_never_share_words_or_draws() -> None:
    draws = [some_draws()]
    threads = [threading.Thread(target=lambda: draws.append(some_draws())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(draws) == 9
    assert_all_differ(draws)


def test_each_thread_has_a_stream_of_its_own() -> None:
    streams: list[object] = [SYSTEM._stream()]
    thread = threading.Thread(target=lambda: streams.append(SYSTEM._stream()))
    thread.start()
    thread.join()
    assert streams[0] is not streams[1] and streams[0] is SYSTEM._stream()


# Keys


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes asked of the operating system so far."""
    asked: list[int] = []
    system = os.urandom

    def counting(size: int) -> bytes:
        asked.append(size)
        return system(size)

    monkeypatch.setattr(os, "urandom", counting)
    return asked


def test_a_key_is_dropped_after_its_bytes(keys: list[int]) -> None:
    source, piece = SystemEntropy(), np.empty(1 << 18, np.uint32)  # 1 MiB
    for _ in range(REKEY_AFTER >> 20):
        source.fill(piece)
    assert keys == [32, 16]
    source.bits(8)
    assert keys == [32, 16] * 2


def test_no_key_gives_more_than_its_bytes(keys: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropy, "REKEY_AFTER", 1 << 21)
    source = SystemEntropy()
    source.fill(np.empty((5 << 18) + 1, np.uint32))  # a little over 5 MiB in one go
    assert keys == [32, 16] * 3


def test_the_digits_after_a_new_key_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entropy, "REKEY_AFTER", 64)
    source = SystemEntropy()
    assert len({source.bits(128) for _ in range(1000)}) == 1000


def test_there_is_no_seed() -> None:
    assert not inspect.signature(SystemEntropy).parameters
    public = [getattr(SystemEntropy, name) for name in dir(SystemEntropy) if not name.startswith("_")]
    assert {p for method in public for p in inspect.signature(method).parameters} == {"self", "words", "count"}


# Words


@pytest.mark.parametrize(
    "count", [1, 2, 3, 4, 5, 7, 1023, (1 << 18) - 1, (1 << 18) + 1, (1 << 18) + 3, 3 * (1 << 18) + 2]
)
def test_every_word_is_written_whatever_the_size(count: int) -> None:
    source = SystemEntropy()
    touched = np.zeros(count, bool)
    for _ in range(5):  # a word stays zero five times once in 2**160
        room = np.zeros(count + 2, np.uint32)
        source.fill(room[1:-1])
        touched |= room[1:-1] != 0
        assert room[0] == room[-1] == 0
    assert touched.all()


@pytest.mark.parametrize("size", [1, 3, 4, 5, 15, 16, 17, 31, 33, (1 << 20) - 1, (1 << 20) + 1, (1 << 20) + 17])
def test_the_stream_does_not_depend_on_how_it_is_cut(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", bytes)  # one known key
    whole, cut = bytearray(3 * size), bytearray(3 * size)
    SystemEntropy()._stream().fill(memoryview(whole))
    source = SystemEntropy()
    for start in range(0, 3 * size, size):
        source._stream().fill(memoryview(cut)[start : start + size])
    assert whole == cut


def test_the_stream_is_aes_256_in_counter_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    out = bytearray(16)
    SystemEntropy()._stream().fill(memoryview(out))
    assert out.hex() == "dc95c078a2408989ad48a21492842087"  # AES-256 of zero under zero, NIST's test vector


def test_a_table_is_filled_row_by_row() -> None:
    table = np.zeros((3, 1000), np.uint32)
    SYSTEM.fill(table)
    assert (table == 0).sum() <= 3


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 31, 64, 65, 1000])
def test_digits_fill_their_range(count: int) -> None:
    drawn = [SYSTEM.bits(count) for _ in range(200)]
    assert all(0 <= x < 1 << count for x in drawn)
    if count:
        assert any(x >> (count - 1) for x in drawn) and any(x & 1 for x in drawn)


def test_every_byte_of_a_word_is_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    words = np.empty(1 << 18, np.uint32)
    SystemEntropy().fill(words)
    for column in words.view(np.uint8).reshape(-1, 4).T:
        assert chisquare(np.bincount(column, minlength=256)).pvalue > FALSE_ALARM


def test_digits_are_uniform_and_a_lost_one_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    source = SystemEntropy()
    drawn = np.array([source.bits(7) for _ in range(50_000)])
    assert chisquare(np.bincount(drawn, minlength=128)).pvalue > FALSE_ALARM
    assert chisquare(np.bincount(drawn | 1, minlength=128)).pvalue < FALSE_ALARM


SQUARE = np.zeros((4, 4), np.uint32)


@pytest.mark.parametrize("words", [SQUARE[0, ::2], SQUARE.T, SQUARE[:, :2]])
def test_an_array_with_gaps_is_refused_since_only_its_copy_would_be_filled(words: np.ndarray) -> None:
    with pytest.raises(InvalidArgument, match="contiguous"):
        SYSTEM.fill(words)
    assert not words.any()
