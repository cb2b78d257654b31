"""Which keys occur: for questions whose keys nobody listed.

A unit has each of its keys once, and its weight depends on how many it has; of more keys than there are weights it
keeps as many as a hash of their contents chooses. Both are its own affair, so that no unit moves another's. Inside,
keys go by numbers, in the order of that hash: of two keys the same one comes first whatever others there are. The
numbers never leave. Proof: docs/proofs/unknown_keys.md.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sfumato.dataset.column import Key
from sfumato.engines.sql.group_keys import Keys
from sfumato.engines.sql.rows import Rows


class UndeclaredKeys:
    """The keys that occur, with their numbers (`named`), and every unit with each of its keys, once (`held`).

    `held` also has sums of a unit's rows with the key, where these can be worked out at once.
    """

    def __init__(self, run: Rows, sums: str, names: Sequence[str]) -> None:
        self.run, self.keys, self.units, self.sums = run, ", ".join(run.groups), ", ".join(run.units), names
        rows = self._candidates()
        distinct = f"SELECT DISTINCT {self.keys} FROM {rows}"
        number = f"row_number() OVER (ORDER BY {run.dialect.mixed(run.groups)}, {self.keys})"
        # In 32 bits, which units with their keys are collapsed by: so many keys as would not fit fit no memory either.
        run.keep("named", f"SELECT *, CAST({number} AS {run.dialect.number}) AS id FROM ({distinct}) AS found")
        by = ", ".join([*run.units, "id"])
        listed = f"{by}, {sums}" if sums else by
        if not run.units:  # a row is a unit and has one key
            listed, by = "id, count(*) AS units", "id"
        rows = f"(SELECT * FROM {rows}) AS those JOIN named USING ({self.keys})"
        run.keep("held", f"SELECT {listed} FROM {rows} GROUP BY {by}")

    def scores(self, weights: Sequence[int], found: Collection[tuple[Key, ...]]) -> dict[tuple[Key, ...], int]:
        """The weighted units of every key that occurs and was not found before."""
        Keys(self.run.session, self.run.bound, self.run.groups, "before").put(sorted(found))
        before = f"(SELECT id FROM named JOIN before USING ({self.keys}))"
        held = f"(SELECT * FROM {self.run.dialect.having('held', before, ['id'], 'held', anti=True)}) AS held"
        scores = f"SELECT id, units * {weights[0]} AS score FROM {held}"
        if self.run.units:
            weighed = self._weighed(held, weights)
            scores = f"SELECT id, sum(weight) AS score FROM ({weighed}) AS weighed GROUP BY id"
        rows = self.run.fetch(f"SELECT {self.keys}, score FROM named JOIN ({scores}) AS scores USING (id)")
        self.run.check_unchanged()
        return {tuple(key): int(score) for *key, score in rows}

    def _weighed(self, held: str, weights: Sequence[int]) -> str:
        """Each unit's keys with its weight; the keys of a unit that has too many are chosen by their hash."""
        dialect, most = self.run.dialect, len(weights)
        picked = dialect.pick(weights, f"least(count(*), {most})")
        counted = f"SELECT {self.units}, count(*) AS many, {picked} AS weight FROM {held} GROUP BY {self.units}"
        self.run.keep("many", counted, again=True)
        weight = f"(SELECT {self.units}, weight FROM many WHERE many <= {most}) AS few"
        few = f"{held} JOIN {weight} USING ({self.units})"
        others = dialect.having(held, f"(SELECT {self.units} FROM many WHERE many > {most})", self.run.units, "held")
        place = f"row_number() OVER (PARTITION BY {self.units} ORDER BY id) AS place"
        placed = f"(SELECT id, {place} FROM {others}) AS placed"
        first = f"SELECT id, {weights[-1]} AS weight FROM {placed} WHERE place <= {most}"
        return f"SELECT id, weight FROM {few} UNION ALL {first}"

    def parts(self) -> str:
        """Each unit's sums with the keys that were chosen, by the places of these."""
        chosen = f"SELECT id, place AS g FROM named JOIN keys USING ({self.keys})"
        columns = ", ".join([*self.run.units, *self.sums, "g"])
        return f"SELECT {columns} FROM held JOIN ({chosen}) AS chosen USING (id)"

    def _candidates(self) -> str:
        """The rows whose keys are all there, those of columns with public keys among these."""
        run, rows = self.run, f"(SELECT * FROM {self.run.counted}) AS candidates"
        public = [place for place, group in enumerate(run.bound.groups) if group.keyless is None]
        if public:
            names = [run.groups[place] for place in public]
            bound = replace(run.bound, groups=tuple(run.bound.groups[place] for place in public))
            Keys(run.session, bound, names, "listed").listed()
            rows = run.dialect.having(rows, "listed", names, "candidates")
            rows = f"(SELECT * FROM {rows}) AS public"
        return f"{rows} WHERE {' AND '.join(f'{name} IS NOT NULL' for name in run.groups)}"
