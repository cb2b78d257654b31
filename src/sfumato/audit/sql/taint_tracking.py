"""An engine's run whose exact numbers tell when somebody looks at one.

What is exact may only be handed to a release. To compare it, or to ask whether it is zero, is to decide something by
it; and made-up tables are so small that the decision is often the same on both neighbors, and nothing else tells. So
every exact number here is an integer that remembers having been compared, and so is what is computed from it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sfumato.dataset.column import Key
from sfumato.engines.engine import Among, Run

Group = tuple[Key, ...]


class Exact(int):
    """An integer that writes into `looks` how it was looked at.

    >>> looks = []
    >>> Exact.of(3, looks) + 1 > 2, looks
    (True, ['gt'])
    """

    looks: list[str]

    @classmethod
    def of(cls, value: int, looks: list[str]) -> Exact:
        """The same number, watched."""
        watched = cls(value)
        watched.looks = looks
        return watched

    __hash__ = int.__hash__

    def __bool__(self) -> bool:
        self.looks.append("bool")
        return int(self) != 0


def _compared(name: str) -> Callable[[Exact, Any], Any]:
    plain: Callable[[Any, Any], Any] = getattr(operator, name)

    def compare(self: Exact, other: Any) -> Any:
        self.looks.append(name)
        return plain(int(self), other)

    return compare


def _computed(name: str) -> Callable[..., Any]:
    plain: Callable[..., Any] = getattr(int, name)

    def compute(self: Exact, *others: Any) -> Any:
        found = plain(int(self), *others)
        return Exact.of(found, self.looks) if type(found) is int else found

    return compute


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Exact, f"__{_name}__", _compared(_name))
for _name in ("add", "sub", "mul", "floordiv", "mod", "lshift", "rshift", "and", "or"):
    setattr(Exact, f"__{_name}__", _computed(f"__{_name}__"))
    setattr(Exact, f"__r{_name}__", _computed(f"__r{_name}__"))
for _name in ("neg", "abs", "pos", "invert"):
    setattr(Exact, f"__{_name}__", _computed(f"__{_name}__"))


class Watched:
    """A `Run` whose histograms, scores and cells are watched; all else is the run's own."""

    def __init__(self, run: Run) -> None:
        self.looks: list[str] = []
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def _watched(self, numbers: Sequence[int]) -> list[int]:
        return [Exact.of(number, self.looks) for number in numbers]

    def scores(self, weights: Sequence[int], found: Collection[Group]) -> Mapping[Group, int]:
        """The weighted units of every key."""
        return {key: Exact.of(score, self.looks) for key, score in self._run.scores(weights, found).items()}

    def magnitudes(self, measure: int) -> list[int]:
        """Units by their largest absolute value."""
        return self._watched(self._run.magnitudes(measure))

    def averages(self, measure: int, priced: Any, among: Among) -> list[int]:
        """Units by their average value."""
        return self._watched(self._run.averages(measure, priced, among))

    def contributions(self, measure: int) -> list[int]:
        """Units by their contribution."""
        return self._watched(self._run.contributions(measure))

    def cells(self, limits: Sequence[int]) -> Mapping[Group, Sequence[int]]:
        """The weighted sums of every group."""
        return {key: self._watched(sums) for key, sums in self._run.cells(limits).items()}
