"""The people behind one or several tables, and what may be spent on them.

One person may be in many tables, so the tables of one population share one budget, and protect the same unit. Two
populations that shared a source would let the same rows be paid from two budgets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sfumato.dataset.one_file import check_one_file
from sfumato.dataset.protected import bindings_of, check_one_unit
from sfumato.dataset.table import Table
from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import at


@dataclass(frozen=True, slots=True)
class Population:
    """The tables that hold the same people, and their budget."""

    name: str
    budget: Guarantee
    tables: Mapping[str, Table] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", MappingProxyType(dict(self.tables)))


def check_apart(populations: Iterable[Population]) -> None:
    """Refuse tables of one population whose units differ, and a source that two populations share."""
    owners: dict[str, tuple[str, str]] = {}
    for population in populations:
        bindings = {name: bindings_of(name, population.tables) for name in population.tables}
        for name, bound in bindings.items():
            for identity in bound:
                owner, other = owners.setdefault(identity, (population.name, name))
                if owner != population.name:
                    raise InvalidArgument(
                        f"a source must belong to one population; got {population.tables[name].source.label} as "
                        f"{other!r} in {owner!r} and as {name!r} in {population.name!r}; put both tables into one"
                    )
        with at(f"population {population.name!r}"):
            check_one_unit(population.tables, bindings)
    check_one_file(owners, owners)
