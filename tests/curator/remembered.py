"""A run that asks the engine once for each thing, so that thousands of draws of noise are fast."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np

from sfumato.dataset.column import Key
from sfumato.engines.duckdb.session import DuckdbSession
from sfumato.engines.engine import Among, Spots
from sfumato.engines.sql.run import SqlRun
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan

Group = tuple[Key, ...]


class Again:
    """A connection on which a run may prepare itself again and again."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"threads": 1})

    def register(self, name: str, frame: object) -> None:
        self._connection.register(name, frame)

    def execute(self, sql: str, values: object = None) -> Any:
        if sql.startswith("SET "):
            return None
        return self._connection.execute(sql.replace("CREATE TEMP ", "CREATE OR REPLACE TEMP ", 1), values)


class Remembered:
    """What the engine said, for each thing that was asked with the same keys, measures and limits."""

    def __init__(self, plan: PricedPlan) -> None:
        self._run = SqlRun(DuckdbSession(Again()), plan)
        self._known: dict[Any, Any] = {}
        self._keys: tuple[Group, ...] = tuple(self._run.keys())
        self._measures: tuple[PricedMeasure, ...] = ()
        self._prepared: object = None

    @property
    def statements(self) -> Sequence[str]:
        return self._run.statements

    def _remember(self, *key: Any, compute: Callable[[SqlRun], Any]) -> Any:
        """What depends on the keys only."""
        if (self._keys, key) not in self._known:
            if self._run.bound.undeclared and tuple(self._run.keys()) != self._keys:
                self._run.choose(self._keys)
            self._known[self._keys, key] = compute(self._run)
        return self._known[self._keys, key]

    def _prepare(self, *key: Any, compute: Callable[[SqlRun], Any]) -> Any:
        """What depends on the measures, too."""

        def prepared(run: SqlRun) -> Any:
            if self._prepared != (self._keys, self._measures):
                run.prepare(self._measures)
                self._prepared = self._keys, self._measures
            return compute(run)

        return self._remember(*key, self._measures, compute=prepared)

    def keys(self) -> list[Group]:
        return list(self._keys)

    def scores(self, weights: Sequence[int], found: Collection[Group]) -> dict[Group, int]:
        known = ("scores", tuple(weights), frozenset(found))
        if known not in self._known:
            self._known[known] = self._run.scores(weights, found)
        scores: dict[Group, int] = self._known[known]
        return scores

    def choose(self, keys: Sequence[Group]) -> None:
        self._keys = tuple(keys)

    def magnitudes(self, place: int) -> Any:
        return self._remember("magnitudes", place, compute=lambda run: run.magnitudes(place))

    def averages(self, place: int, priced: PricedMeasure, among: Among) -> Any:
        asked = "averages", place, priced.value_range, among
        return self._remember(*asked, compute=lambda run: run.averages(place, priced, among))

    def prepare(self, measures: Sequence[PricedMeasure]) -> None:
        self._measures = tuple(measures)

    def contributions(self, place: int) -> Any:
        return self._prepare("contributions", place, compute=lambda run: run.contributions(place))

    def cells(self, limits: Sequence[int]) -> Any:
        return self._prepare("cells", tuple(limits), compute=lambda run: run.cells(limits))

    def landmarks(self, place: int, width: int) -> Any:
        return self._prepare("landmarks", place, width, compute=lambda run: run.landmarks(place, width))

    def spots(
        self, place: int, limits: Sequence[int], shift: int, opened: Mapping[Group, Collection[int]], outer: int = 0
    ) -> dict[Group, Spots]:
        """By what the engine found at the finest addresses: where cells are opened differs from draw to draw."""
        finest = self._prepare("spots", place, tuple(limits), compute=lambda run: run.spots(place, limits, 0, {}))
        found = {}
        for group in opened or finest:
            if group not in finest:
                continue
            addresses, rows = finest[group]
            if opened:
                inside = np.isin(addresses >> outer, list(opened[group]))
                addresses, rows = addresses[inside], rows[inside]
            cells, first = np.unique(addresses >> shift, return_index=True)
            found[group] = Spots(cells, np.add.reduceat(rows, first) if len(cells) else rows)
        return found
