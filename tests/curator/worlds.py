"""Random databases of one population, and random questions that join, stack and aggregate their tables by the unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import pyarrow as pa

from sfumato.dataset.column import column
from sfumato.dataset.public_table import PublicTable, public
from sfumato.dataset.table import Table, table, through
from sfumato.engines.duckdb._matches import most_matches
from sfumato.errors import UnboundedColumn, UnsupportedQuery
from sfumato.plan.binding.bind import bind
from sfumato.plan.pricing.price import PricedPlan, price
from sfumato.plan.relations.rows import Catalog
from sfumato.plan.syntax.parse import parse

ODD = (None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e300, -1e300, 1e18, 0.1, 0.2, 0.3, 1.5, -2.5, 2.0**60)
TEXTS = (None, "a", "a", "b", "it's", "")
KINDS = ("numbers", "texts", "days")  # of units: a person with a number, with a name, or a person on a day
PERSON, DAY = ("p", pa.int64()), ("d", pa.int64())
Value = object
Row = tuple[Value, ...]


@dataclass(frozen=True)
class World:
    """A database: declared tables, their rows, and the columns that tell units apart, in one order everywhere.

    `named` are the unit's columns in each table, also where they come through another table; `own` those that have
    them among their own.
    """

    tables: dict[str, Table]
    public: dict[str, PublicTable]
    rows: dict[str, pa.Table]
    named: dict[str, tuple[str, ...]]
    own: frozenset[str]
    units: list[Row]
    means: tuple[str, ...] = field(default=("person",))

    @property
    def known(self) -> Catalog:
        """For the binder."""
        return Catalog(self.tables, self.public, most_matches)

    def over(self, rows: dict[str, pa.Table]) -> World:
        """The same declarations over other rows."""
        tables = {name: replace(each, source=table(rows[name], unit=None).source) for name, each in self.tables.items()}
        return replace(self, tables=tables, rows=rows)

    def without(self, unit: Row) -> World:
        """The database without a unit, in all tables at once; what belonged to it by a key alone is nobody's."""
        kept = {
            name: rows.filter([not self.is_of(name, row, unit) for row in rows.to_pylist()]) if rows.num_rows else rows
            for name, rows in self.rows.items()
        }
        return self.over(kept)

    def is_of(self, name: str, row: dict[str, Value], unit: Row) -> bool:
        """Whether a row of a table is the unit's by the table's own columns."""
        return name in self.own and tuple(row[column] for column in self.named[name]) == unit


def random_world(random: Random, kind: str, most: int = 24) -> World:
    """Tables with the worst of values; a unit may be in one of them only, in many rows, or in none."""
    days = kind == "days"
    persons: list[Value] = [f"p{n}" if n else "" for n in range(24)] if kind == "texts" else list(range(-1, 23))
    units = [(person, day) for person in persons[:8] for day in (0, 1, 2)] if days else [(each,) for each in persons]
    units = units[:most]
    typed = pa.string() if kind == "texts" else pa.int64()

    def owners() -> list[Row]:
        """Of each row; the last unit is in few tables, and NULL is nobody."""
        chosen = random.choices(units[:-1], k=random.choice((0, 12, 18, 24))) + [units[-1]] * random.choice((0, 0, 3))
        return [tuple(None if random.random() < 0.05 else part for part in each) for each in chosen]

    def rows(names: Sequence[str], turned: bool = False, **keys: Callable[[], Value]) -> pa.Table:
        """A table of owners, odd values and keys; some rows are there twice."""
        listed = [
            (
                *(each[::-1] if turned else each),
                *(random.choice(options) for options in (ODD, (None, 0, 1, 1, 2, 7, 2**62), TEXTS)),
                *(key() for key in keys.values()),
            )
            for each in owners()
        ]
        listed += random.sample(listed, min(2, len(listed)))
        random.shuffle(listed)
        types = [typed] if not days else [pa.int64(), pa.int64()]
        fields = [*zip(names, types, strict=True), ("x", pa.float64()), ("k", pa.int64()), ("r", pa.string())]
        schema = pa.schema([*fields, *((name, pa.int64()) for name in keys)])
        columns = zip(*listed, strict=True) if listed else [()] * len(schema)
        return pa.Table.from_arrays(
            [pa.array(list(values), each.type) for values, each in zip(columns, schema, strict=True)], schema=schema
        )

    def key() -> Value:
        return random.choice((None, 1, 2, 3, 4))

    here, there = (("p", "d"), ("who", "what_day")) if days else (("p",), ("who",))
    made = {
        "few": rows(here),  # declared to have fewer rows of a unit than it has
        "many": rows(there[::-1] if days else there, turned=days),
        "orders": rows(here, o=key),
        "items": rows(here, o=key, i=key).drop_columns(list(here)),
        "parts": rows(here, i=key).drop_columns(list(here)),
    }
    said = {"person": here[0], **({"day": here[1]} if days else {})}
    other = {**({"day": there[1]} if days else {}), "person": there[0]}
    wide = {"x": column(bounds=(-10, 10))} if random.random() < 0.5 else {}
    neighbors = {"columns": wide}
    return World(
        {
            "few": table(made["few"], unit=said, max_rows_per_unit=random.choice((1, 2, 3)), **neighbors),
            "many": table(made["many"], unit=other, **neighbors),
            "orders": table(made["orders"], unit=said, max_rows_per_unit=random.choice((None, 2)), **neighbors),
            "items": table(made["items"], unit=through("orders", on="o"), **neighbors),
            "parts": table(made["parts"], unit=through("items", on="i"), **neighbors),
        },
        {"prods": public(_products(random)), "bands": public(_bands(random))},
        made,
        {"few": here, "many": there, "orders": here, "items": here, "parts": here},
        frozenset(("few", "many", "orders")),
        units,
        ("person", "day") if days else ("person",),
    )


def _products(random: Random) -> pa.Table:
    """Keys with duplicates and NULL."""
    keys = random.choices(TEXTS, k=5)
    return pa.table({"r": pa.array(keys, pa.string()), "w": pa.array([random.choice(ODD) for _ in keys], pa.float64())})


def _bands(random: Random) -> pa.Table:
    """Ranges that overlap, are empty, or have no end."""
    ends = [(random.choice((None, -1, 0, 1)), random.choice((None, 0, 1, 2, 8))) for _ in range(4)]
    low, high = zip(*ends, strict=True)
    return pa.table({"low": pa.array(low, pa.int64()), "high": pa.array(high, pa.int64()), "band": list("abab")})


def random_plan(random: Random, world: World, question: Callable[[Random, World], str] | None = None) -> PricedPlan:
    """A priced plan for a random question that is not refused."""
    while True:
        text = (question or random_question)(random, world)
        try:
            return plan_of(world, text, random.choice(("laplace", "gaussian")), random.choice((None, 1, 3)))
        except (UnsupportedQuery, UnboundedColumn):  # too many rows of a unit on both sides, or by mere numbers
            continue


def plan_of(world: World, text: str, noise: str = "laplace", bound: int | None = None) -> PricedPlan:
    """A question, priced."""
    bought = bind(parse(text), world.known)
    return price(bought, epsilon=1, delta=1e-6, noise=noise, estimate_bounds=True, limit=bound)


def random_question(random: Random, world: World) -> str:
    """Every column that came through goes into a measure, so that all are compared."""
    rows = _Rows(random, world).select(random.choice((1, 2, 2, 3)))
    where = random.choice(("", "", " WHERE x > 0", " WHERE r <> 'b' OR k > 0"))
    return f"SELECT SUM(x) AS a, SUM(k) AS b, COUNT(DISTINCT r) AS c FROM ({rows}) AS q{where}"


class _Rows:
    """Writes queries of rows with the columns p, perhaps d, x, k and r."""

    def __init__(self, random: Random, world: World) -> None:
        self.random, self.world = random, world
        self.means = ("p", "d")[: len(world.means)]

    def select(self, depth: int) -> str:
        """A query of rows."""
        if depth == 0:
            return self.plain(0)
        makers = (
            self.plain, self.grouped, self.grouped, self.distinct, self.joined, self.joined, self.using, self.sought,
            self.looked, self.looked, self.by_key, self.stacked, self.cte,
        )  # fmt: skip
        return self.random.choice(makers)(depth)

    def arm(self, depth: int) -> tuple[str, tuple[str, ...]]:
        """What may stand after FROM, and its unit's columns."""
        if depth <= 0 or self.random.random() < 0.2:
            name = self.random.choice(list(self.world.named))
            return name, self.world.named[name]
        return f"({self.select(depth)})", self.means

    def few(self, depth: int) -> tuple[str, tuple[str, ...]]:
        """The same, of few rows of each unit."""
        return (
            ("few", self.world.named["few"]) if self.random.random() < 0.4 else (f"({self.grouped(depth)})", self.means)
        )

    def units(self, columns: Sequence[str], label: str = "a") -> str:
        return ", ".join(f"{label}.{name} AS {own}" for name, own in zip(columns, self.means, strict=True))

    def where(self, *labels: str) -> str:
        return f" WHERE {self.truth(*labels)}" if self.random.random() < 0.4 else ""

    def truth(self, *labels: str) -> str:
        """A condition on columns of these tables."""
        a, b = self.random.choice(labels), self.random.choice(labels)
        return self.random.choice(
            (
                f"{a}.x > 0", f"{a}.x <= {b}.x", f"{a}.k = {b}.k", f"{a}.r IN ('a', 'b')", f"{a}.r IS NULL",
                f"{a}.x / {b}.k > 0.5", f"NOT ({a}.r = {b}.r)", f"{a}.k BETWEEN 0 AND 2", f"{a}.x = 0",
            )
        )  # fmt: skip

    def plain(self, depth: int) -> str:
        text, columns = self.arm(depth - 1)
        x = self.random.choice(("a.x", "a.x", "COALESCE(a.x, a.k)", "-a.x", "a.x * 3"))
        return f"SELECT {self.units(columns)}, {x} AS x, a.k AS k, a.r AS r FROM {text} AS a{self.where('a')}"

    def grouped(self, depth: int) -> str:
        text, columns = self.arm(depth - 1)
        x = self.random.choice(("SUM", "SUM", "AVG", "MEDIAN", "MIN", "MAX"))
        k = self.random.choice(("COUNT(*)", "COUNT(a.x)", "COUNT(DISTINCT a.r)", "COUNT(DISTINCT a.x)", "SUM(a.k)"))
        by, extra = ", ".join(f"a.{name}" for name in columns), self.random.choice(("", "", ", a.r", ", FLOOR(a.x)"))
        having = self.random.choice(("", "", " HAVING COUNT(*) > 1", " HAVING MIN(a.x) < 1", " HAVING SUM(a.k) <> 2"))
        r = "a.r" if extra == ", a.r" else self.random.choice(("MIN(a.r)", "MAX(a.r)"))
        return (
            f"SELECT {self.units(columns)}, {x}(a.x) AS x, {k} AS k, {r} AS r "
            f"FROM {text} AS a{self.where('a')} GROUP BY {by}{extra}{having}"
        )

    def distinct(self, depth: int) -> str:
        text, columns = self.arm(depth - 1)
        return f"SELECT DISTINCT {self.units(columns)}, a.x AS x, a.k AS k, a.r AS r FROM {text} AS a{self.where('a')}"

    def _both(self) -> str:
        x = self.random.choice(("a.x", "b.x", "a.x + b.x", "COALESCE(b.x, a.x)"))
        return f"{x} AS x, {self.random.choice('ab')}.k AS k, COALESCE(b.r, a.r) AS r"

    def joined(self, depth: int) -> str:
        (one, mine), (two, theirs) = self.random.sample([self.arm(depth - 1), self.few(depth - 1)], 2)
        on = " AND ".join(f"a.{first} = b.{second}" for first, second in zip(mine, theirs, strict=True))
        more = f" AND {self.truth('a', 'b')}" if self.random.random() < 0.4 else ""
        how, where = self.random.choice(("JOIN", "LEFT JOIN")), self.where("a", "b")
        return f"SELECT {self.units(mine)}, {self._both()} FROM {one} AS a {how} {two} AS b ON {on}{more}{where}"

    def using(self, depth: int) -> str:
        listed, how = ", ".join(self.means), self.random.choice(("JOIN", "LEFT JOIN"))
        one, two = self.select(depth - 1), self.grouped(depth - 1)
        return f"SELECT {listed}, {self._both()} FROM ({one}) AS a {how} ({two}) AS b USING ({listed})"

    def sought(self, depth: int) -> str:
        (one, mine), (two, theirs) = self.arm(depth - 1), self.arm(depth - 1)
        on = " AND ".join(f"b.{second} = a.{first}" for first, second in zip(mine, theirs, strict=True))
        more = f" AND {self.truth('b')}" if self.random.random() < 0.5 else ""
        how = self.random.choice(("SEMI JOIN", "ANTI JOIN"))
        return f"SELECT {self.units(mine)}, a.x AS x, a.k AS k, a.r AS r FROM {one} AS a {how} {two} AS b ON {on}{more}"

    def looked(self, depth: int) -> str:
        text, columns = self.arm(depth - 1)
        how = self.random.choice(("JOIN", "LEFT JOIN"))
        on = self.random.choice(
            (
                "prods AS b ON a.r = b.r", "prods AS b ON b.r = a.r AND b.w > a.x", "prods AS b ON a.x = b.w",
                "bands AS b ON a.k >= b.low AND a.k < b.high", "bands AS b ON a.x BETWEEN b.low AND b.high",
                "bands AS b ON a.r = b.band", "bands AS b ON a.x > b.low",
            )
        )  # fmt: skip
        mine = (
            "b.w AS x, a.k AS k, COALESCE(b.r, 'none') AS r" if "prods" in on else "a.x AS x, b.high AS k, b.band AS r"
        )
        return f"SELECT {self.units(columns)}, {mine} FROM {text} AS a {how} {on}{self.where('a')}"

    def by_key(self, depth: int) -> str:
        child, parent, key = self.random.choice((("items", "orders", "o"), ("parts", "items", "i")))
        one, two = self.random.sample((child, parent), 2)
        how = self.random.choice(("JOIN", "LEFT JOIN"))
        units = self.units(self.world.named[one])
        return f"SELECT {units}, {self._both()} FROM {one} AS a {how} {two} AS b ON a.{key} = b.{key}{self.where('a')}"

    def stacked(self, depth: int) -> str:
        listed = ", ".join((*self.means, "x", "k", "r"))
        parts = (self.select(depth - 1) for _ in range(2))
        return " UNION ALL ".join(
            f"SELECT {listed} FROM ({part}) AS w" if "WITH" in part[:4] else part for part in parts
        )

    def cte(self, depth: int) -> str:
        listed = ", ".join(self.means)
        where = self.random.choice(("", " WHERE k > 0"))
        return f"WITH c AS ({self.select(depth - 1)}) SELECT {listed}, x, k, r FROM c{where}"
