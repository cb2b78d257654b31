"""The comparisons of `test_travel` and of shuffled rows have power: each way of losing track of a unit is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random

import pyarrow as pa
import pytest

from curator.traveling import Mutate, Traveling
from curator.worlds import World, plan_of, random_plan, random_world
from sfumato.engines.sql import relation
from sfumato.engines.sql.relation import Sources
from sfumato.plan.relations.relation import Grouped, Inherited, Relation

UNIT = re.compile(r'TRY_CAST\(l\."u0" AS \w+\) = TRY_CAST\(r\."u0" AS \w+\)')
CAPPED = (
    "SELECT SUM(x) AS a, SUM(k) AS b "
    "FROM (SELECT a.who AS p, b.x AS x, b.k AS k FROM many AS a JOIN few AS b ON a.who = b.p) AS q"
)
SOUGHT = (
    "SELECT SUM(x) AS a FROM (SELECT a.p, a.x FROM few AS a "
    "ANTI JOIN many AS b ON b.who = a.p AND b.x > 1e17 AND b.k > 100) AS q"
)
SUMMED = "SELECT SUM(x) AS a FROM (SELECT p, SUM(x) AS x FROM orders GROUP BY p) AS q"


def without_unit(sql: str) -> str:
    """A join of whoever with whoever."""
    return UNIT.sub("TRUE", sql)


def sought_anywhere(sql: str) -> str:
    """Units that are sought among all units at once."""
    return re.sub(r"((?:SEMI|ANTI) JOIN .* AS r ON )TRY_CAST\S+ AS \w+\) = \S+ AS \w+\)", r"\1TRUE", sql)


def of_all(sql: str) -> str:
    """A cap of the rows of all units together."""
    return sql.replace('OVER (PARTITION BY "u0"', "OVER (PARTITION BY TRUE")


def by_place(sql: str) -> str:
    """A cap that takes the rows which come first."""
    return re.sub(r'(row_number\(\) OVER \(PARTITION BY "u0") ORDER BY [^)]*\)[^)]*\)', r"\1)", sql)


MUTATIONS: dict[str, tuple[str, Mutate]] = {
    "a join without the unit": (CAPPED, without_unit),
    "units sought among all": (SOUGHT, sought_anywhere),
    "a cap of all units together": (CAPPED, of_all),
}


def grouped_together(self: Sources, relation: Relation, how: Grouped, names: dict[str, str]) -> str:
    """One row for all units."""
    head, _, by = SOUND_GROUPED(self, relation, how, names).rpartition(" GROUP BY ")
    listed = ", ".join(by.split(", ")[1:])
    return head.replace('"u0" FROM (', 'min("u0") AS "u0" FROM (', 1) + (f" GROUP BY {listed}" if listed else "")


def first_owner(self: Sources, relation: Relation, how: Inherited, names: dict[str, str]) -> str:
    """A row of a table that inherits its unit goes to one of the units that have its key."""
    sql = SOUND_INHERITED(self, relation, how, names)
    chosen = 'SELECT DISTINCT "u0", "c0" FROM'
    before, _, after = sql.rpartition(") AS parent ON ")
    if chosen not in before.split(" AS mine JOIN (", 1)[1][: len(chosen)]:
        return sql
    return before.replace(chosen, 'SELECT min("u0") AS "u0", "c0" FROM', 1) + f' GROUP BY "c0") AS parent ON {after}'


SOUND_GROUPED, SOUND_INHERITED = Sources._grouped, Sources._inherited
METHODS: dict[str, tuple[str, Callable[..., str], str]] = {
    "a sub-query that groups by less than the unit": ("_grouped", grouped_together, SUMMED),
    "a row that belongs to one of its units": ("_inherited", first_owner, "SELECT SUM(x) AS a FROM items"),
}


def found_by(traveling: Traveling, kind: str = "numbers", worlds: int = 12, question: str = "") -> Iterator[str]:
    """What a question, or random ones, find in random databases."""
    for number in range(worlds):
        random = Random(number)
        world = random_world(random, kind)
        traveling.load(world)
        for _ in range(1 if question else 10):
            yield from traveling.violations(plan_of(world, question) if question else random_plan(random, world))


@pytest.mark.parametrize("name", MUTATIONS)
def test_an_engine_that_mixes_units_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Joins, caps and sub-queries that look at rows of other units change what is left without a unit."""
    question, mutate = MUTATIONS[name]
    assert next(found_by(Traveling(monkeypatch, mutate), worlds=60, question=question), None) is not None


@pytest.mark.parametrize("name", METHODS)
def test_an_engine_that_loses_a_unit_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sub-query by less than the unit, or an owner chosen among several."""
    method, broken, question = METHODS[name]
    monkeypatch.setattr(Sources, method, broken)
    assert next(found_by(Traveling(monkeypatch), question=question), None) is not None


def test_units_that_are_paired_by_their_places_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's number is no day, though both are whole numbers."""

    def mutate(sql: str) -> str:
        return sql.replace('TRY_CAST("u1" AS BIGINT) AS "u0"', 'TRY_CAST("u0" AS BIGINT) AS "u0"').replace(
            'TRY_CAST("u0" AS BIGINT) AS "u1"', 'TRY_CAST("u1" AS BIGINT) AS "u1"'
        )

    stacked = "SELECT p, d, x FROM few UNION ALL SELECT who, what_day, x FROM many"
    found = found_by(Traveling(monkeypatch, mutate), "days", question=f"SELECT SUM(x) AS a FROM ({stacked}) AS q")
    assert next(found, None) is not None


def shuffled(world: World, seed: int) -> World:
    """The same rows in another order."""
    return world.over(
        {
            name: rows.take(pa.array(Random(f"{seed} {name}").sample(range(rows.num_rows), rows.num_rows), pa.int64()))
            for name, rows in world.rows.items()
        }
    )


def depends_on_order(question: str, patch: pytest.MonkeyPatch, mutate: Mutate = str) -> bool:
    """Whether the rows that count change with the order of the rows in the tables."""
    traveling, found = Traveling(patch, mutate), []
    for number in range(5):
        world = random_world(Random(number), "numbers", most=4)
        for seed in range(3):
            other = shuffled(world, seed)
            traveling.load(other)
            traveling.open(plan_of(other, question))
            found.append((number, traveling.counted()))
    return any(one != other for number, one in found for again, other in found if number == again)


def test_a_cap_by_place_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which rows are taken must follow from their contents."""
    assert not depends_on_order(CAPPED, monkeypatch)
    assert depends_on_order(CAPPED, monkeypatch, by_place)


def test_a_sum_of_doubles_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of doubles depends on the order of rows, which others' rows may change."""
    assert not depends_on_order(SUMMED, monkeypatch)
    monkeypatch.setattr(relation, "_sum", lambda dialect, value, small: f"sum({value})")
    assert depends_on_order(SUMMED, monkeypatch)


def test_the_sound_engine_is_not_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The questions that catch broken engines find nothing in this one."""
    assert list(found_by(Traveling(monkeypatch), worlds=2)) == []
