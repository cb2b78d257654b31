"""The people behind one or several tables, and what may be spent on them.

One person may be in many tables, so the tables of one population share one allowance. Two populations that shared a
source would let the same rows be paid from two allowances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sfumato.dataset.table import Table
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee


@dataclass(frozen=True, slots=True)
class Population:
    """The tables that hold the same people, and their allowance."""

    name: str
    allowance: Guarantee
    tables: Mapping[str, Table] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", MappingProxyType(dict(self.tables)))


def check_apart(populations: Iterable[Population]) -> None:
    """Refuse a source that two populations share: the same people would have two allowances."""
    owners: dict[str, tuple[str, str]] = {}
    for population in populations:
        for name, table in population.tables.items():
            for identity in sorted(table.source.identity):
                owner, other = owners.setdefault(identity, (population.name, name))
                if owner != population.name:
                    raise InvalidArgument(
                        f"a source must belong to one population; got {table.source.label} as {other!r} in {owner!r} "
                        f"and as {name!r} in {population.name!r}; put both tables into one"
                    )
