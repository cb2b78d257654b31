"""Durations of releases beside their outputs: how they are measured, and how they are looked at.

An observer who times a release sees a pair (output, duration). Duration alone may say nothing where both say much: a
randomized response that takes longer for a lie gives the answer away once the output is known. So durations are looked
at alone, for each common output or range of outputs, and by the learned likelihood ratio of the pair.

Claim. Let E be an event of the pair, fixed before the releases that test it. The machine's state changes from release
to release; given the states, the releases are independent, and E has the probability p_t on the value and q_t on the
neighbor. The numbers of hits then have lighter tails than binomial ones with the mean probabilities (Hoeffding 1956,
theorem 4), so the bounds of `proportion` hold for these means. If every release is (epsilon, delta)-private in the
state it meets, p_t <= e^epsilon q_t + delta for all t and so for the means, and `finding` certifies as it does for
outputs. Turns in random order give both sides the same states on average.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.audit.draw import CHUNK, Outputs, Patience, Progress, Sample, checked, trying
from sfumato.audit.outputs.bins import Bins
from sfumato.audit.outputs.features import Lens
from sfumato.audit.outputs.outputs import Floats, Reader
from sfumato.entropy import Entropy

Clock = Callable[[], int]
_WARM_UP = 200  # pairs that are released and not measured: a first call fills caches
_FIRST = 16  # pairs before progress is told for the first time; then ever more
_MOST_OUTPUTS = 16  # common outputs, or ranges of outputs, whose durations are looked at one by one
_CELLS = 48  # bins of durations in the likelihood ratio of the pair


@dataclass(frozen=True, slots=True)
class Timed:
    """Outputs and durations in nanoseconds, for the value and for the neighbor."""

    outputs: tuple[Outputs, Outputs]
    durations: tuple[Floats, Floats]


def draw_timed(
    sample: Sample,
    values: tuple[Any, Any],
    count: int,
    entropy: Entropy,
    patience: Patience,
    progress: Progress,
    clock: Clock,
) -> Timed:
    """`count` timed releases for each of the values, in turns.

    Every second pair goes to the first half and the others to the second, so that what is learned from one half is
    tested under the same load.
    """
    drawn: list[int] = []
    outputs: tuple[list[Any], list[Any]] = ([], [])
    durations: tuple[list[int], list[int]] = ([], [])
    with patience.limit(drawn) as check:
        with trying():
            _measure(sample, values, _turns(min(_WARM_UP, count // 10), entropy), entropy, clock, ([], []), ([], []))
        while (done := len(outputs[0])) < count:
            check()
            size = min(count - done, CHUNK, 8 * drawn[-1] if drawn else _FIRST)
            with trying():
                _measure(sample, values, _turns(size, entropy), entropy, clock, outputs, durations)
            drawn.append(2 * size)
            progress(sum(drawn), 2 * count)
    order = [*range(0, count, 2), *range(1, count, 2)]
    sides = [[side[i] for i in order] for side in outputs]
    times = [np.array(side, np.float64)[order] for side in durations]
    return Timed((sides[0], sides[1]), (times[0], times[1]))


def _turns(count: int, entropy: Entropy) -> list[int]:
    """Which of the two comes first, for each pair."""
    words = np.empty(count, np.uint32)
    entropy.fill(words)
    turns: list[int] = (words >> np.uint32(31)).tolist()
    return turns


def _measure(
    sample: Sample,
    values: Sequence[Any],
    turns: Sequence[int],
    entropy: Entropy,
    clock: Clock,
    outputs: Sequence[list[Any]],
    durations: Sequence[list[int]],
) -> None:
    for first in turns:
        for side in (first, 1 - first):  # the same instructions for both sides
            value = values[side]
            start = clock()
            released = sample(value, 1, entropy)
            end = clock()
            outputs[side].append(checked(released, 1)[0])
            durations[side].append(end - start)


def timing_lenses(reader: Reader, mine: Floats, theirs: Floats) -> list[Lens]:
    """Durations, which are the last column of the rows: alone, by output, and by the likelihood ratio of the pair."""
    found = [Lens("duration in ns", _duration)]
    kinds = _Kinds.learn(reader, mine, theirs)
    found += [Lens(name, kinds.duration_where(code)) for code, name in kinds.names()]
    found.append(Lens("likelihood ratio of output and duration", _Joint.learn(kinds, mine, theirs).look))
    return found


def _duration(rows: Floats) -> Floats:
    return rows[:, -1]


@dataclass(frozen=True)
class _Kinds:
    """Outputs by their first number: the commonest values, or ranges where there are many; and missing ones."""

    reader: Reader
    bins: Bins
    is_few: bool

    @classmethod
    def learn(cls, reader: Reader, mine: Floats, theirs: Floats) -> _Kinds:
        numbers = np.concatenate([mine[:, 0], theirs[:, 0]])
        present = numbers[np.isfinite(numbers)]
        is_few = len(np.unique(present)) <= _MOST_OUTPUTS
        shares = np.arange(1, _MOST_OUTPUTS) / _MOST_OUTPUTS
        edges = np.unique(present if is_few else np.quantile(present, shares, method="lower"))
        return cls(reader, Bins(edges), is_few)

    def place(self, rows: Floats) -> NDArray[np.int64]:
        return self.bins.place(rows[:, 0])

    def duration_where(self, code: int) -> Callable[[Floats], Floats]:
        return lambda rows: np.where(self.place(rows) == code, rows[:, -1], np.nan)

    def names(self) -> Iterator[tuple[int, str]]:
        edges, column = self.bins.edges, self.reader.columns[0]
        for code, edge in enumerate(edges):
            if self.is_few:
                yield code, f"duration in ns where {column} is {self.reader.label(edge)}"
            else:
                low = f"{edges[code - 1]:.4g} < " if code else ""
                yield code, f"duration in ns where {low}{column} <= {edge:.4g}"
        if not self.is_few:
            yield len(edges), f"duration in ns where {column} > {edges[-1]:.4g}"
        yield len(edges) + 1, f"duration in ns where {column} is missing"


@dataclass(frozen=True)
class _Joint:
    """The learned logarithm of the likelihood ratio, for every kind of output and bin of durations."""

    kinds: _Kinds
    times: Bins
    logs: Floats

    @classmethod
    def learn(cls, kinds: _Kinds, mine: Floats, theirs: Floats) -> _Joint:
        times = Bins.learn(np.concatenate([mine[:, -1], theirs[:, -1]]), most=_CELLS)
        unlearned = cls(kinds, times, np.empty(0))
        size = kinds.bins.size * times.size
        here, there = (np.bincount(unlearned._cell(rows), minlength=size) for rows in (mine, theirs))
        return cls(kinds, times, np.log((here + 1) / (there + 1)))

    def _cell(self, rows: Floats) -> NDArray[np.int64]:
        return self.kinds.place(rows) * self.times.size + self.times.place(rows[:, -1])

    def look(self, rows: Floats) -> Floats:
        return np.asarray(self.logs[self._cell(rows)])
