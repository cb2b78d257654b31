"""The public keys of a question as a table of the engine."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.dataset.column import Key
from sfumato.dataset.kind import Kind
from sfumato.engines.sql.lower import Lower
from sfumato.engines.sql.session import Listed, Session
from sfumato.plan.plan import BoundPlan, Group, KeyDomain
from sfumato.plan.syntax.node import quoted

MOST_REMEMBERED = 1_000
_REMEMBERED: dict[tuple[tuple[Group, ...], tuple[KeyDomain, ...]], list[tuple[Key, ...]]] = {}


class Keys:
    """Makes a table of the keys of all groups, each with its place from 1 on."""

    def __init__(self, session: Session, bound: BoundPlan, groups: Sequence[str], table: str = "keys") -> None:
        self.session, self.bound, self.groups, self.table = session, bound, groups, table

    def listed(self) -> list[tuple[Key, ...]]:
        """The keys in order; they are the same for the same declarations, so short lists are remembered."""
        if not self.groups:
            return [()]
        known = self.bound.groups, self.bound.key_domains
        listed = _REMEMBERED.get(known)
        if listed is not None:
            self.put(listed)
            return listed
        maker = self.session.keys()
        self._make(maker)
        listed = maker.fetch(f"SELECT {', '.join(self.groups)} FROM {self.table} ORDER BY place")
        if maker is not self.session:
            self.put(listed)
        if len(listed) <= MOST_REMEMBERED:
            if len(_REMEMBERED) >= MOST_REMEMBERED:
                _REMEMBERED.clear()
            _REMEMBERED[known] = listed
        return listed

    def put(self, listed: Sequence[tuple[Key, ...]]) -> None:
        """Make the table of given keys."""
        values = [list(column) for column in zip(*listed, strict=True)] or [[] for _ in self.groups]
        columns = [
            Listed(name, group.kind, column)
            for group, name, column in zip(self.bound.groups, self.groups, values, strict=True)
        ]
        places = Listed("place", Kind.INTEGER, range(1, len(listed) + 1))
        self.session.ship(self.table, [*columns, places])

    def _make(self, maker: Session) -> None:
        """The group expressions over the cross product of the key_domains' values."""
        names = {atom.expression: quoted(f"a{i}") for i, atom in enumerate(self.bound.key_domains)}
        for i, atom in enumerate(self.bound.key_domains):
            places = Listed(f"p{i}", Kind.INTEGER, range(len(atom.values)))
            maker.ship(f"atom{i}", [Listed(f"a{i}", atom.kind, atom.values), places])
        render = Lower(maker.dialect, self.bound.table.columns, names)
        listed = [
            f"{render.sql(group.expression)} AS {name}"
            for group, name in zip(self.bound.groups, self.groups, strict=True)
        ]
        key_domains = range(len(self.bound.key_domains))
        place = "0"
        for i in key_domains:  # one number for the place in the cross product, so that no two keys are tied
            place = f"({place} * {len(self.bound.key_domains[i].values)} + p{i})"
        keys = ", ".join(self.groups)
        maker.keep(
            self.table,
            f"SELECT {keys}, row_number() OVER (ORDER BY min(p)) AS place "
            f"FROM (SELECT {', '.join(listed)}, {place} AS p "
            f"FROM {', '.join(f'atom{i}' for i in key_domains)}) AS crossed "
            f"WHERE {' AND '.join(f'{name} IS NOT NULL' for name in self.groups)} GROUP BY {keys}",
        )
