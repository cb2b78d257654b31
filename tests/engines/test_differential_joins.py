"""Joins, sub-queries and UNION ALL mean what DuckDB means by the same text, row by row.

Where the meaning differs by design, data and questions avoid it: rows without a unit are left out, a division by zero
is NULL, infinities and what is no number are none, and a table has no more rows of a unit than its owner says. A table
that inherits its unit has the columns of it, so DuckDB is given a view with these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from curator.worlds import World, random_question
from engines.test_differential import NEVER_BINDS, Silent, agree
from sfumato.curator.answers.rows import rows_of
from sfumato.curator.curator import Curator, Options
from sfumato.curator.measurement.measure import measure_all
from sfumato.dataset.column import column
from sfumato.dataset.public_table import public
from sfumato.dataset.table import table, through
from sfumato.engines.duckdb.engine import DuckdbEngine
from sfumato.errors import UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.pricing.price import price
from sfumato.plan.syntax.parse import parse
from sfumato.privacy.guarantee import Guarantee

QUESTIONS = 60  # of each of two kinds of units, three times


def tame_world(random: Random, days: bool) -> World:
    """Tables without the values that mean something else here; every declaration is true."""

    def rows(names: tuple[str, ...], size: int, **keys: Callable[[int], int | None]) -> pa.Table:
        owners = [(random.randrange(6), random.randrange(3)) for _ in range(size)]
        owned = {"p": [person for person, _ in owners], "d": [day for _, day in owners]}
        listed = [owned["d" if "d" in name else "p"] for name in names]
        drawn = {
            "x": [random.choice((None, *(n / 4 for n in range(-20, 21)))) for _ in owners],
            "k": [random.choice((None, 1, 2, 3, 7)) for _ in owners],
            "r": [random.choice((None, "a", "b", "it's", "")) for _ in owners],
            **{name: [made(place) for place in range(size)] for name, made in keys.items()},
        }
        arrays = {**dict(zip(names, listed, strict=True)), **drawn}
        types = {"x": pa.float64(), "r": pa.string()}
        return pa.table({name: pa.array(values, types.get(name, pa.int64())) for name, values in arrays.items()})

    here, there = (("p", "d"), ("what_day", "who")) if days else (("p",), ("who",))
    few = rows(here, 8)
    most = max(Counter(zip(*(few[name].to_pylist() for name in here), strict=True)).values())
    made = {
        "few": few,
        "many": rows(there, 25),
        "orders": rows(here, 12, o=lambda place: place),
        "items": rows((), 20, o=lambda place: random.choice((None, 99, *range(12))), i=lambda place: place),
        "parts": rows((), 20, i=lambda place: random.choice((None, 99, *range(20)))),
    }
    said = {"person": "p", "day": "d"} if days else {"person": "p"}
    other = {"day": "what_day", "person": "who"} if days else {"person": "who"}
    products = pa.table({"r": ["a", "a", "b", None], "w": [1.0, 2.5, None, 0.25]})
    bands = pa.table({"low": [0, 1, 2, None], "high": [2, 1, 7, 9], "band": ["a", "b", "a", "b"]})
    return World(
        {
            "few": table(made["few"], unit=said, max_rows_per_unit=most),
            "many": table(made["many"], unit=other),
            "orders": table(made["orders"], unit=said),
            "items": table(made["items"], unit=through("orders", on="o")),
            "parts": table(made["parts"], unit=through("items", on="i")),
        },
        {"prods": public(products), "bands": public(bands)},
        {**made, "prods": products, "bands": bands},
        {"few": here, "many": ("who", "what_day")[: len(here)], "orders": here, "items": here, "parts": here},
        frozenset(("few", "many", "orders")),
        [],
        ("person", "day")[: len(here)],
    )


class Plain:
    """DuckDB itself, with the tables of a world."""

    def __init__(self, world: World) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        for name, rows in world.rows.items():
            self.connection.register(f"{name}_rows", rows)
            listed = ", ".join(f"parent.{unit}" for unit in world.named.get(name, ()))
            parent, key = {"items": ("orders", "o"), "parts": ("items", "i")}.get(name, ("", ""))
            inherited = f"SELECT mine.*, {listed} FROM {name}_rows AS mine JOIN {parent} AS parent USING ({key})"
            self.connection.execute(
                f"CREATE TEMP TABLE {name} AS {inherited if parent else f'SELECT * FROM {name}_rows'}"
            )

    def rows(self, question: str, means: tuple[str, ...]) -> Counter[tuple[object, ...]]:
        """The rows that the aggregates of a random question are over."""
        units = ", ".join({"person": "p", "day": "d"}[each] for each in means)
        inner = question.split(" FROM ", 1)[1]
        text = re.sub(r" / (\w+\.\w+)", r" / NULLIF(\1, 0)", f"SELECT {units}, x, k, r FROM {inner}")
        return Counter(map(_rounded, self.connection.execute(text).fetchall()))


def _rounded(row: tuple[object, ...]) -> tuple[object, ...]:
    """Numbers to twelve digits, all as doubles."""
    return tuple(
        float(f"{float(value):.12g}") + 0.0 if isinstance(value, (int, float)) else value
        for value in row
    )  # fmt: skip


@pytest.mark.parametrize("days", (False, True))
@pytest.mark.parametrize("seed", range(3))
def test_random_questions_have_the_databases_own_rows(seed: int, days: bool) -> None:
    """Whatever is joined, stacked, filtered and aggregated: the rows that count are those of the text, all of them."""
    random, asked = Random(f"{seed} {days}"), 0
    world = tame_world(random, days)
    plain = Plain(world)
    while asked < QUESTIONS:
        question = random_question(random, world)
        try:
            plan = price(bind(parse(question), world.known), epsilon=1, estimate_bounds=True)
        except UnsupportedQuery:
            continue
        asked += 1
        with DuckdbEngine().run(plan) as run:
            found = Counter(map(_rounded, run.fetch(f"SELECT * FROM {run.counted}")))
        assert found == plain.rows(question, plan.bound.table.means), question


PEOPLE = pd.DataFrame({"id": range(40), "age": [20 + 7 * n % 60 for n in range(40)], "g": ["n", "s"] * 20})
VISITS = pd.DataFrame(
    {
        "who": [n * n % 37 for n in range(200)],
        "spend": [n % 17 / 4 for n in range(200)],
        "p": [("a", "b", "c", None)[n % 4] for n in range(200)],
    }
)
GOODS = pd.DataFrame({"p": ["a", "b", "b"], "w": [1.0, 2.0, 4.0], "c": ["x", "y", "x"]})
BANDS = pd.DataFrame({"low": [0, 30, 60], "high": [30, 60, 120], "band": ["young", "mid", "old"]})
EACH = "(SELECT who, SUM(spend) AS total, COUNT(*) AS n FROM visits GROUP BY who)"
IN_ORDER = (
    f"SELECT AVG(total) AS m, COUNT(*) AS n, SUM(n) AS s FROM {EACH} AS t",
    f"SELECT g, SUM(total) AS s, COUNT(*) AS n FROM people JOIN {EACH} AS t ON id = who GROUP BY g ORDER BY g",
    f"SELECT g, COUNT(total) AS s, COUNT(*) AS n FROM people LEFT JOIN {EACH} AS t ON id = who GROUP BY g ORDER BY g",
    "SELECT g, COUNT(*) AS n, SUM(spend) AS s FROM visits JOIN people ON id = who WHERE age > 40 GROUP BY g ORDER BY g",
    "SELECT c, COUNT(*) AS n, AVG(w) AS w FROM visits JOIN goods USING (p) GROUP BY c ORDER BY c",
    "SELECT COUNT(*) AS n, COUNT(w) AS w, SUM(spend) AS s FROM visits LEFT JOIN goods ON visits.p = goods.p AND w > 1",
    "SELECT band, COUNT(*) AS n FROM people JOIN bands ON age >= low AND age < high GROUP BY band ORDER BY band",
    "SELECT COUNT(*) AS n FROM people SEMI JOIN visits ON id = who AND spend > 3",
    "SELECT COUNT(*) AS n, SUM(age) AS a FROM people ANTI JOIN visits ON id = who",
    "SELECT SUM(v) AS s, COUNT(DISTINCT u) AS n FROM (SELECT id AS u, age AS v FROM people UNION ALL "
    "SELECT who, spend FROM visits) AS t",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT who, p FROM visits) AS t",
    "WITH a AS (SELECT who, p, COUNT(*) AS n FROM visits GROUP BY who, p HAVING COUNT(*) > 1), "
    "b AS (SELECT who, MAX(n) AS n FROM a GROUP BY who) "
    "SELECT SUM(b.n) AS n, COUNT(*) AS c FROM b JOIN people ON id = who",
    "SELECT SUM(t.w) AS w FROM (SELECT * FROM visits JOIN goods USING (p)) AS t WHERE spend > 1",
)


@pytest.mark.parametrize("noise", ("laplace", "gaussian"))
@pytest.mark.parametrize("question", IN_ORDER)
def test_answers_without_noise_are_the_databases_own(question: str, noise: str) -> None:
    """From the text to the numbers of the answer, with limits that bind nobody; counts of the data are declared."""
    curator = Curator(
        {
            "people": table(
                PEOPLE,
                unit={"person": "id"},
                max_rows_per_unit=1,
                columns={"age": column(bounds=(0, 120)), "g": column(keys=["n", "s"])},
            ),
            "visits": table(
                VISITS, unit={"person": "who"}, max_rows_per_unit=50, columns={"spend": column(bounds=(0, 5))}
            ),
            "goods": public(GOODS),
            "bands": public(BANDS),
        },
        budget=Guarantee(1),
    )
    plan = curator.plan(question, 1, Options(max_rows_per_unit=NEVER_BINDS, delta=1e-6, noise=noise))
    with DuckdbEngine().run(plan) as run:
        found = [row.values for row in rows_of(plan, measure_all(plan, run, Silent()))]
    with duckdb.connect() as connection:
        for name, rows in (("people", PEOPLE), ("visits", VISITS), ("goods", GOODS), ("bands", BANDS)):
            connection.register(name, rows)
        expected = connection.execute(question)
        names = [each[0] for each in expected.description]
        assert agree(found, [dict(zip(names, row, strict=True)) for row in expected.fetchall()])


def test_a_row_counts_once_for_each_unit_that_has_its_key() -> None:
    """A parent that is listed twice for one unit gives it the row once; two units that share it have it each."""
    orders = pa.table({"o": [1, 1, 1, 2], "who": [5, 5, 6, None]})
    items = pa.table({"o": [1, 1, 2, 3, None], "price": [1.0, 2.0, 4.0, 8.0, 16.0]})
    curator = Curator(
        {"orders": table(orders, unit="who"), "items": table(items, unit=through("orders", on="o"))},
        budget=Guarantee(1),
    )
    plan = curator.plan("SELECT SUM(price) AS s FROM items", 1, Options(estimate_bounds=True))
    with DuckdbEngine().run(plan) as run:
        assert sorted(run.fetch(f"SELECT * FROM {run.counted}")) == [(5, 1.0), (5, 2.0), (6, 1.0), (6, 2.0)]


def test_units_are_compared_by_their_letters_whatever_the_owner_takes_for_equal(tmp_path: Path) -> None:
    """A collation of the database would make one unit of two: in joins, sub-queries and units through a key."""
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE people (id VARCHAR COLLATE NOCASE, o VARCHAR COLLATE NOCASE, age INT)")
        connection.execute("INSERT INTO people VALUES ('a', 'k', 1), ('A', 'K', 2), ('b', 'z', 3)")
        connection.execute("CREATE TABLE visits (id VARCHAR COLLATE NOCASE, y INT)")
        connection.execute("INSERT INTO visits VALUES ('a', 10), ('A', 20), ('B', 30)")
        connection.execute("CREATE TABLE items (o VARCHAR COLLATE NOCASE, y INT)")
        connection.execute("INSERT INTO items VALUES ('k', 10), ('K', 20), ('Z', 30)")
    source = f"duckdb:///{tmp_path}/t.db"
    curator = Curator(
        {
            "people": table(f"{source}#people", unit="id", max_rows_per_unit=1),
            "visits": table(f"{source}#visits", unit="id"),
            "items": table(f"{source}#items", unit=through("people", on="o")),
        },
        budget=Guarantee(1),
    )
    asked = {
        "SELECT SUM(y) AS s FROM visits JOIN people USING (id)": [("A", 20.0), ("a", 10.0)],
        "SELECT SUM(age) AS s FROM people SEMI JOIN visits USING (id)": [("A", 2.0), ("a", 1.0)],
        "SELECT SUM(age) AS s FROM people ANTI JOIN visits USING (id)": [("b", 3.0)],
        "SELECT SUM(s) AS s FROM (SELECT id, SUM(y) AS s FROM visits GROUP BY id) AS t":
            [("A", 20.0), ("B", 30.0), ("a", 10.0)],
        "SELECT SUM(y) AS s FROM items": [("A", 20.0), ("a", 10.0)],
    }  # fmt: skip
    for question, expected in asked.items():
        with DuckdbEngine().run(curator.plan(question, 1, Options(estimate_bounds=True))) as run:
            assert sorted(run.fetch(f"SELECT * FROM {run.counted}")) == expected, question
