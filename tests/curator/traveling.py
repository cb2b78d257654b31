"""The rows that count, of a database and of its neighbors, on one connection: each neighbor is a filter of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

import duckdb
import pytest

from curator.worlds import Row, World, random_plan, random_world
from sfumato.dataset.table import Table
from sfumato.engines.duckdb import session as duckdb_session
from sfumato.engines.duckdb.session import DuckdbSession
from sfumato.engines.sql.rows import Rows
from sfumato.plan.pricing.price import PricedPlan
from sfumato.plan.syntax.node import quoted, text_literal

Counted = Counter[tuple[str, ...]]  # rows in which every bit of a number can be seen
Mutate = Callable[[str], str]


class Traveling:
    """The engine's own SQL for the rows that count, once for each question; `mutate` breaks it on purpose."""

    def __init__(self, patch: pytest.MonkeyPatch, mutate: Mutate = str) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute("PRAGMA disable_optimizer")  # whole runs have it
        self._mutate = mutate
        patch.setattr(duckdb_session, "open_source", self._open)

    def load(self, world: World) -> None:
        """The tables, and nothing of others."""
        self.world = world
        self._names = {id(each): name for name, each in world.tables.items()}
        self._public = {id(each.rows): name for name, each in world.public.items()}
        shared = {**world.rows, **{name: each.rows for name, each in world.public.items()}}
        for name, rows in shared.items():
            self.connection.register("given", rows)
            self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM given")
            self.connection.unregister("given")

    def _open(self, connection: object, declared: Table, columns: Iterable[str], name: str) -> str:
        """A table without whoever is gone; whose rows these are by a key alone, the parent says."""
        named = self._names[id(declared)]
        if named not in self.world.own:
            return named
        own = " AND ".join(f"{quoted(column)} = ${place + 1}" for place, column in enumerate(self.world.named[named]))
        return f"(FROM {named} WHERE NOT coalesce({own}, FALSE))"

    def register(self, name: str, rows: object) -> None:
        """A public table, which is here already."""
        self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM {self._public[id(rows)]}")

    def execute(self, sql: str, values: object = None) -> Any:
        """What the engine would compute of the rows."""
        self._counted = sql.removeprefix("CREATE TEMP TABLE counted AS ")

    def open(self, plan: PricedPlan) -> None:
        """A question."""
        self._counted = ""
        rows = Rows(DuckdbSession(self), plan)
        if not self._counted:  # of one table alone, which the engine does not keep
            self._counted = f"SELECT * FROM {rows.counted}"
        self.connection.execute(f"PREPARE counted AS {self._mutate(self._counted)}")
        self.means = plan.bound.table.means

    def counted(self, gone: Row | None = None) -> Counted:
        """The rows that count of all, or of all but one unit."""
        values = ["NULL"] * len(self.world.means) if gone is None else map(_literal, gone)
        found = self.connection.execute(f"EXECUTE counted({', '.join(values)})").fetchall()
        return Counter(tuple(map(repr, row)) for row in found)

    def owner(self, row: tuple[str, ...]) -> tuple[str, ...]:
        """The unit of a row that counts, its parts in the world's order."""
        return tuple(row[self.means.index(each)] for each in self.world.means)

    def violations(self, plan: PricedPlan) -> Iterator[str]:
        """Units without which more changes than that their own rows are gone."""
        self.open(plan)
        full = self.counted()
        for gone in self.world.units:
            spelled = tuple(map(repr, gone))
            expected = Counter({row: n for row, n in full.items() if self.owner(row) != spelled})
            if (found := self.counted(gone)) != expected:
                yield f"{plan.bound.canonical} without {gone}: {(found - expected) or (expected - found)}"


def _literal(value: object) -> str:
    return text_literal(value) if isinstance(value, str) else str(value)


def search(traveling: Traveling, seed: int, kind: str, wanted: int, questions: int = 12) -> tuple[int, list[str]]:
    """Violations among at least so many pairs of a question and a unit, with words to find them again."""
    pairs, number, found = 0, 0, []
    while pairs < wanted:
        random = Random(f"{seed} {number} {kind}")
        world = random_world(random, kind)
        traveling.load(world)
        for _ in range(questions):
            plan = random_plan(random, world)
            found += [f"world {number}: {each}" for each in traveling.violations(plan)]
            pairs += len(world.units)
        number += 1
    return pairs, found
