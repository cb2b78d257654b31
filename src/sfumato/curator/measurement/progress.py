"""What is being done for a question, shown while it runs: which phases there are follows from the plan alone.

    >>> str(Phase("counting", 4, 5))
    'counting (4 of 5)'

How long a phase lasts does depend on the data. So this is for the one who runs the program, who can read the data
anyway; whoever answers others must not pass the moments on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from sfumato.errors import InvalidArgument
from sfumato.plan.pricing.price import PricedMeasure, PricedPlan


class Phase(NamedTuple):
    """A phase by name, and its place among those of the question."""

    name: str
    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.name} ({self.number} of {self.of})"


class At(Enum):
    """Where the work on a question has arrived; the order is that of the work."""

    RESERVING = auto()
    OPENING = auto()
    BOUNDS = auto()
    CENTERS = auto()
    LIMITS = auto()
    COUNTING = auto()
    NOISE = auto()


Progress = Callable[[Phase], object]
Tell = Callable[[At], None]


def silent(at: At) -> None:
    """Tell nobody."""


def telling(plan: PricedPlan, progress: Progress | None) -> Tell:
    """Tell `progress` the phases of a plan; what it raises is no reason to lose an answer that is paid for."""
    if progress is None:
        return silent
    if not callable(progress):
        raise InvalidArgument(f"progress must be callable with a phase; got {progress!r}; for example print")
    names = _names(plan)
    phases = {at: Phase(name, number, len(names)) for number, (at, name) in enumerate(names.items(), 1)}

    def tell(at: At) -> None:
        with contextlib.suppress(Exception):
            if at in phases:
                progress(phases[at])

    return tell


def _names(plan: PricedPlan) -> dict[At, str]:
    """The phases that a plan has, in its own words."""
    bounds = [each for each in plan.measures if each.value_range is None and each.bounds_share]
    centers = [each for each in plan.measures if each.center_share]
    is_estimated = any(each.declared_limit is None for each in plan.measures)
    names = {
        At.RESERVING: "reserving",
        At.OPENING: "opening the table",
        At.BOUNDS: f"estimating bounds of {_arguments(bounds)}" if bounds else "",
        At.CENTERS: f"estimating the center of {_arguments(centers)}" if centers else "",
        At.LIMITS: "estimating limits" if is_estimated else "limiting contributions",
        At.COUNTING: "counting",
        At.NOISE: "adding noise",
    }
    return {at: name for at, name in names.items() if name}


def _arguments(measures: list[PricedMeasure]) -> str:
    written = [each.measure.argument.expression.sql().replace('"', "") for each in measures if each.measure.argument]
    return ", ".join(dict.fromkeys(written))
