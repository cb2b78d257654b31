"""The public keys of a question as a table of DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sfumato.dataset.column import Key
from sfumato.engines.lower import Lower
from sfumato.plan.bound import Atom, BoundPlan, Group
from sfumato.plan.node import quoted

MOST_REMEMBERED = 1_000
_REMEMBERED: dict[tuple[tuple[Group, ...], tuple[Atom, ...]], list[tuple[Key, ...]]] = {}


class Keys:
    """Makes a table of the keys of all groups, each with its place from 1 on."""

    def __init__(
        self, execute: Callable[..., Any], bound: BoundPlan, groups: Sequence[str], table: str = "keys"
    ) -> None:
        self.execute, self.bound, self.groups, self.table = execute, bound, groups, table

    def listed(self) -> list[tuple[Key, ...]]:
        """The keys in order; they are the same for the same declarations, so short lists are remembered."""
        if not self.groups:
            return [()]
        known = self.bound.groups, self.bound.atoms
        listed = _REMEMBERED.get(known)
        if listed is not None:
            self.put(listed)
            return listed
        self._make()
        rows = self.execute(f"SELECT {', '.join(self.groups)} FROM {self.table} ORDER BY place").fetchall()
        listed = [tuple(row) for row in rows]
        if len(listed) <= MOST_REMEMBERED:
            if len(_REMEMBERED) >= MOST_REMEMBERED:
                _REMEMBERED.clear()
            _REMEMBERED[known] = listed
        return listed

    def put(self, listed: Sequence[tuple[Key, ...]]) -> None:
        """Make the table of given keys."""
        columns = [
            f"unnest(CAST(? AS {group.kind.value}[])) AS {name}"
            for group, name in zip(self.bound.groups, self.groups, strict=True)
        ]
        place = f"unnest(range(1, {len(listed) + 1})) AS place"
        values = [list(column) for column in zip(*listed, strict=True)] or [[] for _ in self.groups]
        self.execute(f"CREATE OR REPLACE TEMP TABLE {self.table} AS SELECT {', '.join(columns)}, {place}", values)

    def _make(self) -> None:
        """The group expressions over the cross product of the atoms' values."""
        names = {atom.expression: quoted(f"a{i}") for i, atom in enumerate(self.bound.atoms)}
        for i, atom in enumerate(self.bound.atoms):
            self.execute(
                f"CREATE TEMP TABLE atom{i} AS SELECT unnest(CAST(? AS {atom.kind.value}[])) AS a{i}, "
                f"unnest(range({len(atom.values)})) AS p{i}",
                [list(atom.values)],
            )
        render = Lower(self.bound.table.columns, names)
        listed = [
            f"{render.sql(group.expression)} AS {name}"
            for group, name in zip(self.bound.groups, self.groups, strict=True)
        ]
        atoms = range(len(self.bound.atoms))
        place = "0"
        for i in atoms:  # one number for the place in the cross product, so that no two keys are tied
            place = f"({place} * {len(self.bound.atoms[i].values)} + p{i})"
        keys = ", ".join(self.groups)
        self.execute(
            f"CREATE TEMP TABLE {self.table} AS SELECT {keys}, row_number() OVER (ORDER BY min(p)) AS place "
            f"FROM (SELECT {', '.join(listed)}, {place} AS p FROM {', '.join(f'atom{i}' for i in atoms)}) "
            f"WHERE {' AND '.join(f'{name} IS NOT NULL' for name in self.groups)} GROUP BY {keys}"
        )
