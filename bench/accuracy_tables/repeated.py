"""One question with thousands of draws of noise: the exact numbers are read once.

The way is that of `Curator.ask`: plan and price, `measure_all`, `rows_of`. Only the engine's answers are remembered, by
method and arguments, whatever the methods are called; so a change of the product shows without a change here. Before
and after the repetitions the same noise goes through `Curator.ask` itself on the real engine, and must give the same
rows: then nothing was remembered that should have been read again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.curator.answers.answer import answer_rows
from sfumato.curator.answers.rows import rows_of
from sfumato.curator.measurement.measure import measure_all
from sfumato.curator.measurement.release import NoisyReleaser
from sfumato.curator.options import Options
from sfumato.engines.registry import EngineOfTables

OPEN_RUNS = 3  # runs of the engine that stay open, each prepared in its own way
UNLIMITED = sf.Guarantee(epsilon=10**6, delta=0.5)
Array = NDArray[np.float64]
Rows = tuple[list[dict[str, Any]], dict[str, Any]]


class Seeded:
    """Repeatable words: an `Entropy` for figures that can be had again. The product has none."""

    def __init__(self, *seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._stock: dict[object, list[int]] = {}

    def fill(self, words: NDArray[np.uint32]) -> None:
        """Overwrite `words`."""
        words[...] = self._random.integers(0, 1 << 32, words.shape, np.uint32)

    def bits(self, count: int) -> int:
        """A uniform integer of `count` bits."""
        size = (count + 7) // 8
        return int.from_bytes(self._random.bytes(size), "little") >> (8 * size - count)

    def stock(self) -> dict[object, list[int]]:
        """What was drawn ahead."""
        return self._stock


class Remembered:
    """The engine's `Run`, asked once for each thing.

    A method that returns nothing, such as `prepare`, changes what later calls mean, so the calls of this kind that
    went before are part of what is remembered. They reach the engine only when something new is asked after them.
    """

    def __init__(self, plan: Any) -> None:
        self._plan, self._engine = plan, EngineOfTables()
        self._known: dict[Any, Any] = {}
        self._changing: set[str] = set()
        self._states: dict[Any, int] = {}  # by what went before and the call: the number of the new state
        self._calls: list[tuple[int, str, tuple[Any, ...], dict[str, Any]]] = [(0, "", (), {})]
        self._state = 0
        self._open: OrderedDict[int, tuple[ExitStack, Any]] = OrderedDict()

    statements = ()

    def begin(self) -> Remembered:
        """A new question."""
        self._state = 0
        return self

    def close(self) -> None:
        """Let go of the data."""
        while self._open:
            self._open.popitem()[1][0].close()

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **named: self._ask(name, given, named)

    def _ask(self, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        asked = self._state, name, frozen(given), frozen(named)
        if name in self._changing:
            self._state = self._after(asked, given, named)
            return None
        if asked not in self._known:
            real = self._real(self._state)
            said = getattr(real, name)(*given, **named)
            if said is None:
                self._changing.add(name)
                before, self._state = self._state, self._after(asked, given, named)
                self._open[self._state] = self._open.pop(before)
                return None
            self._known[asked] = said
        return self._known[asked]

    def _after(self, asked: Any, given: tuple[Any, ...], named: dict[str, Any]) -> int:
        if asked not in self._states:
            self._states[asked] = len(self._calls)
            self._calls.append((asked[0], asked[1], given, named))
        return self._states[asked]

    def _real(self, state: int) -> Any:
        """A run of the engine on which the calls that led to a state were made."""
        if state in self._open:
            self._open.move_to_end(state)
            return self._open[state][1]
        while len(self._open) >= OPEN_RUNS:
            self._open.popitem(last=False)[1][0].close()
        path = []
        at = state
        while at:
            path.append(self._calls[at])
            at = self._calls[at][0]
        stack = ExitStack()
        run = stack.enter_context(self._engine.run(self._plan))
        for _, name, given, named in reversed(path):
            getattr(run, name)(*given, **named)
        self._open[state] = stack, run
        return run


def frozen(value: Any) -> Any:
    """An argument as a key of a dictionary."""
    if isinstance(value, Mapping):
        return tuple((key, frozen(each)) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(frozen(each) for each in value)
    if isinstance(value, (set, frozenset)):
        return frozenset(value)
    return value.tobytes() if isinstance(value, np.ndarray) else value


@dataclass(frozen=True, slots=True)
class Draws:
    """The answers of one column: a row for each draw of noise, a column for each group; what is open is infinite."""

    truth: Array
    value: Array
    low: Array
    high: Array


class Question:
    """A question on declared tables with a fixed epsilon, whose noise is drawn again and again."""

    def __init__(
        self, tables: Mapping[str, Any], sql: str, *, epsilon: float = 1, options: Mapping[str, Any] | None = None
    ) -> None:
        self._tables, self._sql, self._epsilon, self._options = tables, sql, epsilon, dict(options or {})
        self.plan = sf.Curator(tables, budget=UNLIMITED).plan(sql, epsilon, Options(**self._options))
        self._run = Remembered(self.plan)

    def close(self) -> None:
        """Let go of the data."""
        self._run.close()

    def answer(self, entropy: Seeded) -> Rows:
        """The rows of one answer, and the intervals of each column."""
        found = measure_all(self.plan, self._run.begin(), NoisyReleaser(entropy))
        return answer_rows(rows_of(self.plan, found), tuple(column.name for column in self.plan.bound.shown))

    def ask(self, entropy: Seeded) -> Rows:
        """The same from `Curator.ask`."""
        curator = sf.Curator(self._tables, budget=UNLIMITED, replay=False, releaser=NoisyReleaser(entropy))
        answer = curator.ask(self._sql, epsilon=self._epsilon, **self._options)
        return answer.rows, answer.intervals

    def check(self, *seed: int) -> None:
        """The repeated way and `Curator.ask` give the same answer with the same noise."""
        repeated, asked = repr(self.answer(Seeded(*seed))), repr(self.ask(Seeded(*seed)))
        assert repeated == asked, f"repeated {repeated}, asked {asked}: {self._sql}"

    def draw(self, column: str, truth: Mapping[Any, float], repeat: int, seed: int = 0, key: str = "") -> Draws:
        """Many answers; `truth` is by the values of the column `key`, or has one entry, whatever its name."""
        own = crc32(f"{self._sql} {truth}".encode())  # figures of different questions are independent
        self.check(own, seed, 1)
        entropy, shape = Seeded(own, seed, 0), (repeat, len(truth))
        found = Draws(np.array(list(truth.values()), float), *(np.full(shape, np.nan) for _ in range(3)))
        places = {name: place for place, name in enumerate(truth)}
        for number in range(repeat):
            rows, intervals = self.answer(entropy)
            for row, bar in zip(rows, intervals[column], strict=True):
                place, value = places[row[key]] if key else 0, row[column]
                found.value[number, place] = np.nan if value is None else value
                found.low[number, place], found.high[number, place] = ends(bar)
        self.check(own, seed, 2)
        return found


def ends(bar: tuple[float | None, float | None] | None) -> tuple[float, float]:
    """Both ends of an interval; one that is not there is open."""
    low, high = bar or (None, None)
    return -np.inf if low is None else low, np.inf if high is None else high
