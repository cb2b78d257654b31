"""What an engine does for a question: exact integers, which never leave the curator.

An engine runs SQL that is rendered from plan nodes only. It answers three things about one question: the public keys,
histograms over units of something that is to be bought, and the weighted cells. In between, the curator releases what
it was given and decides limits from what was released.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from sfumato.dataset.column import Key
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan

FAILED = "the engine failed on this question; it is charged; ask the owner to look"

Cells = Mapping[tuple[Key, ...], Sequence[int]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Whole = np.ndarray[Any, Any]  # integers of 64 bits, or of any size where these might not do


class Among(Enum):
    """Which units are looked at; in a sample each is or is not by its own columns, so it is on one side for ever."""

    ALL = auto()
    SAMPLE = auto()
    OTHERS = auto()


class Spots(NamedTuple):
    """Cells of a line in order, and the weighted rows in each: a column for each limit."""

    cells: Integers
    rows: Whole


class Run(Protocol):
    """One question on its data."""

    @property
    def statements(self) -> Sequence[str]:
        """The SQL that ran so far, for explanations."""

    def keys(self) -> list[tuple[Key, ...]]:
        """The keys of all groups, from declarations only; one empty key where nothing is grouped."""

    def scores(self, weights: Sequence[int], found: Collection[tuple[Key, ...]]) -> Mapping[tuple[Key, ...], int]:
        """For keys that nobody listed: the weighted units of every key that occurs and was not found before.

        A unit with k keys gives each of them the k-th weight; of more keys than weights it chooses so many by itself.
        """

    def choose(self, keys: Sequence[tuple[Key, ...]]) -> None:
        """Go on with these keys."""

    def magnitudes(self, measure: int) -> list[int]:
        """How many units have their largest absolute value in each bin of magnitudes."""

    def averages(self, measure: int, priced: PricedMeasure, among: Among) -> list[int]:
        """How many units have their average value in each bin of signed magnitudes; none is in a sample and outside."""

    def prepare(self, measures: Sequence[PricedMeasure]) -> None:
        """Pass over the units once; all intervals are known by now."""

    def contributions(self, measure: int) -> list[int]:
        """How many units have their contribution to a measure in each bin (`plan.contribution`)."""

    def cells(self, limits: Sequence[int]) -> Cells:
        """The weighted lattice sums of every group, measure by measure, a mean's two; absent groups are zero."""

    def landmarks(self, measure: int, width: int) -> Mapping[int, int]:
        """How many units have one of their values, their own choice, in each cell of so many addresses."""

    def spots(
        self,
        measure: int,
        limits: Sequence[int],
        shift: int,
        opened: Mapping[tuple[Key, ...], Collection[int]],
        outer: int = 0,
    ) -> Mapping[tuple[Key, ...], Spots]:
        """The weighted rows of every group, for each limit, by the address of their value without `shift` digits.

        With `opened` only of rows in these cells, which are addresses (`plan.ruler`) without `outer` digits.
        """


class Engine(Protocol):
    """Runs questions."""

    def run(self, plan: PricedPlan) -> AbstractContextManager[Run]:
        """Open the data of one question."""


class Ready(Protocol):
    """All that a question needs besides its data: threads, connections, locks on sources."""

    def run(self) -> AbstractContextManager[Run]:
        """Run the question; whatever fails from now on is charged."""


@runtime_checkable
class EngineThatOpens(Engine, Protocol):
    """An engine that finds out before the charge whether it can begin. Not every engine has to."""

    def open(self, plan: PricedPlan) -> AbstractContextManager[Ready]:
        """Make all ready without reading a row; what is missing is refused (`EngineUnavailable`)."""
