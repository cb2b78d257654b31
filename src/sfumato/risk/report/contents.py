"""All that a report says, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.errors import InvalidArgument
from sfumato.risk.counting.partition import Uniqueness
from sfumato.risk.diversity import Diversity
from sfumato.risk.dominance import Dominance
from sfumato.risk.linkage import Linkage
from sfumato.risk.profile import Profile

NOTICE = "For the owner only: not private. This report is exact, shows values of individuals, and must not be shared."


@dataclass(frozen=True, slots=True)
class Anonymity:
    """The groups by all columns: k, how many groups there are, and how large they are.

    sizes   for each range of sizes, (least, most), how many groups it has and how many units, or rows, are in them
    """

    columns: tuple[str, ...]
    k: int
    groups: int
    unique: int
    sizes: tuple[tuple[int, int | None, int, int], ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a raw table gives away; `Report` says what each part is."""

    source: str
    rows: int
    unit: tuple[str, ...]
    of: int
    columns: tuple[str, ...]
    size: int
    all_sets: tuple[Uniqueness, ...]
    growth: tuple[Uniqueness, ...]
    worst: tuple[Uniqueness, ...]
    anonymity: Anonymity
    profiles: tuple[Profile, ...]
    suggested: tuple[str, ...]
    diversity: tuple[Diversity, ...] = ()
    dominance: Dominance | None = None
    linkage: Linkage | None = None
    notes: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """What every form of the report says first."""
        return NOTICE

    @property
    def whom(self) -> str:
        """What is counted, in a word."""
        return "units" if self.unit else "rows"

    @property
    def share(self) -> float:
        """The share of unique units, or rows, by all columns."""
        return self.anonymity.unique / self.of

    def uniqueness(self, *columns: str) -> Uniqueness:
        """What one of the sets that were tried singles out."""
        wanted = {name.lower() for name in columns}
        for each in (*self.all_sets, *self.growth, *self.worst):
            if {name.lower() for name in each.columns} == wanted:
                return each
        raise InvalidArgument(
            f"uniqueness must be asked of a set that was tried; got {', '.join(columns)}; name it by columns=[...]"
        )
