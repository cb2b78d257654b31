"""An engine's run that answers from memory what it was asked before: only the noise of a question is then new.

What a run says depends on the keys that were chosen and the measures that were prepared, and on nothing else; so what
is not remembered is asked of a new run that is brought into the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sfumato.dataset.column import Key
from sfumato.engines.engine import Among, Cells, Engine, Run, Spots
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan

Group = tuple[Key, ...]


class Remembered:
    """A `Run` for many draws of the same question."""

    def __init__(self, plan: PricedPlan, engine: Engine) -> None:
        self._plan, self._engine = plan, engine
        self._known: dict[Any, Any] = {}
        self.begin()

    def begin(self) -> None:
        """A new draw: nothing is chosen or prepared."""
        self._chosen: tuple[Group, ...] | None = None
        self._prepared: tuple[PricedMeasure, ...] | None = None

    def _ask(self, name: str, *arguments: Any, ask: Callable[[Run], Any]) -> Any:
        state = self._chosen, self._prepared, name, arguments
        if state not in self._known:
            with self._engine.run(self._plan) as run:
                if self._chosen is not None:
                    run.scores(self._weights, ())
                    run.choose(self._chosen)
                if self._prepared is not None:
                    run.prepare(self._prepared)
                self._known[state] = ask(run)
        return self._known[state]

    @property
    def statements(self) -> Sequence[str]:
        """Nobody asks."""
        return ()

    def keys(self) -> list[Group]:
        """The keys of all groups."""
        found: list[Group] = self._ask("keys", ask=lambda run: run.keys())
        return list(found)

    def scores(self, weights: Sequence[int], found: Collection[Group]) -> Mapping[Group, int]:
        """The weighted units of every key."""
        self._weights = weights
        asked = "scores", tuple(weights), frozenset(found)
        scores: Mapping[Group, int] = self._ask(*asked, ask=lambda run: dict(run.scores(weights, found)))
        return scores

    def choose(self, keys: Sequence[Group]) -> None:
        """Go on with these keys."""
        self._chosen = tuple(keys)

    def magnitudes(self, measure: int) -> list[int]:
        """Units by their largest absolute value."""
        found: list[int] = self._ask("magnitudes", measure, ask=lambda run: run.magnitudes(measure))
        return found

    def averages(self, measure: int, priced: PricedMeasure, among: Among) -> list[int]:
        """Units by their average value."""
        asked = "averages", measure, priced, among
        found: list[int] = self._ask(*asked, ask=lambda run: run.averages(measure, priced, among))
        return found

    def prepare(self, measures: Sequence[PricedMeasure]) -> None:
        """Pass over the units once."""
        self._prepared = tuple(measures)

    def contributions(self, measure: int) -> list[int]:
        """Units by their contribution."""
        found: list[int] = self._ask("contributions", measure, ask=lambda run: run.contributions(measure))
        return found

    def cells(self, limits: Sequence[int]) -> Cells:
        """The weighted sums of every group."""
        cells: Cells = self._ask("cells", tuple(limits), ask=lambda run: dict(run.cells(limits)))
        return cells

    def landmarks(self, measure: int, width: int) -> Mapping[int, int]:
        """Units by the cell of one of their values."""
        found: Mapping[int, int] = self._ask("landmarks", measure, width, ask=lambda run: run.landmarks(measure, width))
        return found

    def spots(
        self,
        measure: int,
        limits: Sequence[int],
        shift: int,
        opened: Mapping[Group, Collection[int]],
        outer: int = 0,
    ) -> Mapping[Group, Spots]:
        """The weighted rows of every group by address."""
        where = tuple((group, tuple(sorted(cells))) for group, cells in opened.items())
        asked = "spots", measure, tuple(limits), shift, where, outer
        found: Mapping[Group, Spots] = self._ask(
            *asked, ask=lambda run: run.spots(measure, limits, shift, opened, outer)
        )
        return found
