"""Random sources: what stands after FROM, with the columns that it has.

Tables, sub-queries that select and filter, WITH, one row for each person, joins with public tables and of private ones,
and UNION ALL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from differential.expressions import Column, Expressions
from differential.tables import REACH
from differential.text import Text, made, plain

KINDS = {
    "x": "number", "y": "odd", "k": "whole", "m": "number", "e": "number", "r": "text", "q": "text", "b": "truth",
    "d": "date", "w": "time", "z": "number", "s": "text", "c": "text", "v": "number", "band": "text", "low": "whole",
    "price": "number", "pet": "whole",
}  # fmt: skip
OF_TABLE = ("x", "y", "k", "m", "e", "r", "q", "b", "d", "w")
TABLES = ("t", "t", "t", "few", "nothing", "loose")


@dataclass(frozen=True)
class Source:
    """The rows that a question is about; `ctes` stand before SELECT. `declared` are columns with keys as declared."""

    table: str
    text: Text
    columns: Mapping[str, Column]
    ctes: Text | None = None
    unit: str = "pid"
    declared: frozenset[str] = field(default_factory=frozenset)

    def column(self, name: str) -> Text | None:
        """A column as a question names it."""
        return self.columns[name].text if name in self.columns else None


def columns(names: Sequence[str], label: str = "") -> dict[str, Column]:
    """Columns of these names."""
    return {name: Column(name, KINDS[name], label) for name in names}


def draw_source(random: Random) -> Source:
    """A random source."""
    name = random.choice(TABLES)
    drawn = [_table, _table, _filtered, _with, _with_public, _with_bands]
    if name != "loose":
        drawn += [
            _per_person,
            _per_person,
            _distinct,
            _with_private,
            _sought,
            _stacked,
            _with_totals,
            _inherited,
            _nested,
        ]
    return random.choice(drawn)(random, name)


KEYED = frozenset(("r", "k", "d", "b"))


def _table(random: Random, name: str) -> Source:
    if random.random() < 0.3:
        return Source(name, plain(f"{name} AS tt", "alias"), columns(OF_TABLE, "tt"), unit="tt.pid", declared=KEYED)
    return Source(name, plain(name), columns(OF_TABLE), declared=KEYED)


def _condition(random: Random, name: str) -> Text:
    return Expressions(random, columns(OF_TABLE)).truth(1)


def _filtered(random: Random, name: str) -> Source:
    text = made(f"(SELECT * FROM {name} WHERE {{0}}) AS s0", _condition(random, name), uses="subquery")
    return Source(name, text, columns(OF_TABLE), declared=KEYED)


def _with(random: Random, name: str) -> Source:
    unit = "" if name == "loose" else "pid, "
    halved = made(
        f"WITH c0 AS (SELECT {unit}x * 0.5 AS x, y, k, r, b AS b, d FROM {name} WHERE {{0}})",
        _condition(random, name), uses="with multiply",
    )  # fmt: skip
    return Source(name, plain("c0"), columns(("x", "y", "k", "r", "b", "d")), halved, declared=KEYED)


def _per_person(random: Random, name: str) -> Source:
    """One row for each person, or for each person and text; sums inside are cut at the bounds of their columns."""
    asked = {
        "SUM(x) AS a": "SUM(x) AS a",
        "COUNT(*) AS n": "COUNT(*) AS n",
        "AVG(k) AS v": "AVG(k) AS v",
        "MAX(x) AS h": "MAX(x) AS h",
        "MIN(k) AS l": "MIN(k) AS l",
        "MEDIAN(x) AS h": "MEDIAN(x) AS h",
        "COUNT(DISTINCT k) AS n": "COUNT(DISTINCT k) AS n",
        "SUM(y) AS a": f"SUM(greatest(least(y, {REACH}), -{REACH})) FILTER (WHERE y IS NOT NULL) AS a",
        "COUNT(x) AS n": "COUNT(x) AS n",
        "MAX(d) AS day": "MAX(d) AS day",
        "MIN(w) AS since": "MIN(w) AS since",
        "SUM(x) / COUNT(*) AS a": "SUM(x) / COUNT(*) AS a",
        "COUNT(*) - COUNT(k) AS n": "COUNT(*) - COUNT(k) AS n",
        "MAX(r) AS word": "MAX(r) AS word",
    }
    chosen = {each.split()[-1]: each for each in random.sample(list(asked), 4)}
    keys = ["pid", *random.choice(([], ["r"], ["b"]))]
    having = random.choice(("", "", " HAVING COUNT(*) > 1", " HAVING SUM(k) >= 2", " HAVING MAX(x) > 0"))
    where = _condition(random, name) if random.random() < 0.5 else None
    body = "SELECT {keys}, {asked} FROM {name}{where} GROUP BY {keys}{having}"
    both = []
    for spelled in (list(chosen.values()), [asked[each] for each in chosen.values()]):
        condition = "" if where is None else f" WHERE {where.sql if not both else where.true}"
        parts = {
            "keys": ", ".join(keys),
            "asked": ", ".join(spelled),
            "name": name,
            "where": condition,
            "having": having,
        }
        both.append(body.format(**parts))
    uses = frozenset({"per_person", *({"inner_having"} if having else ())}) | (where.uses if where else frozenset())
    kinds = {"n": "whole", "l": "whole", "day": "date", "since": "time", "word": "text"}
    found = {each: Column(each, kinds.get(each, "number")) for each in chosen} | columns(keys[1:])
    if random.random() < 0.5:
        with_ctes = Text(f"WITH c0 AS ({both[0]})", f"WITH c0 AS ({both[1]})", uses | {"with"})
        return Source(name, plain("c0"), found, with_ctes)
    return Source(name, Text(f"({both[0]}) AS s0", f"({both[1]}) AS s0", uses), found)


def _distinct(random: Random, name: str) -> Source:
    kept = random.choice((("r",), ("k",), ("r", "b")))
    text = plain(f"(SELECT DISTINCT pid, {', '.join(kept)} FROM {name}) AS s0", "inner_distinct")
    return Source(name, text, columns(kept), declared=KEYED & set(kept))


def _with_public(random: Random, name: str) -> Source:
    how = random.choice(("JOIN", "INNER JOIN", "LEFT JOIN"))
    on = random.choice((f"{name}.r = pub.r", f"{name}.r = pub.r AND pub.v > 0"))
    text = plain(f"{name} {how} pub ON {on}", "join_public", how)
    found = columns([each for each in OF_TABLE if each != "r"], name) | columns(("r", "c", "v"), "pub")
    return Source(name, text, found, unit=f"{name}.pid")


def _with_bands(random: Random, name: str) -> Source:
    text = plain(f"{name} JOIN bands ON k >= low AND k < high", "join_public", "JOIN")
    return Source(name, text, columns((*OF_TABLE, "band", "low")), declared=KEYED)


def _with_private(random: Random, name: str) -> Source:
    how = random.choice(("JOIN", "LEFT JOIN"))
    joined = random.choice(("USING (pid)", f"ON {name}.pid = u.pid", f"ON {name}.pid = u.pid AND u.z > 1"))
    uses = ("join_private", how, joined.split()[0])
    return Source(name, plain(f"{name} {how} u {joined}", *uses), columns((*OF_TABLE, "z", "s")), unit=f"{name}.pid")


def _sought(random: Random, name: str) -> Source:
    how = random.choice(("SEMI JOIN", "ANTI JOIN"))
    joined = random.choice(("USING (pid)", f"ON {name}.pid = u.pid", f"ON {name}.pid = u.pid AND u.s = 'p'"))
    text = plain(f"{name} {how} u {joined}", how)
    return Source(name, text, columns(OF_TABLE, name), unit=f"{name}.pid", declared=KEYED)


def _with_totals(random: Random, name: str) -> Source:
    """A table beside one row for each of its people."""
    totals = "(SELECT pid, SUM(z) AS z, COUNT(*) AS visits FROM u GROUP BY pid) AS s0"
    text = plain(f"{name} {random.choice(('JOIN', 'LEFT JOIN'))} {totals} ON {name}.pid = s0.pid", "join_totals")
    found = columns(OF_TABLE, name) | {"z": Column("z", "number", "s0"), "visits": Column("visits", "whole", "s0")}
    return Source(name, text, found, unit=f"{name}.pid")


def _stacked(random: Random, name: str) -> Source:
    one, two = (_condition(random, name) for _ in "12")
    text = made(
        f"(SELECT pid, x, r, k FROM {name} WHERE {{0}} UNION ALL SELECT pid, x + 1, r, k FROM few WHERE {{1}} "
        "UNION ALL SELECT pid, z, s, NULL FROM u) AS s0",
        one, two, uses="union_all add",
    )  # fmt: skip
    return Source(name, text, columns(("x", "r", "k")))


def _inherited(random: Random, name: str) -> Source:
    """Rows whose unit is that of a row in another table."""
    if random.random() < 0.5:
        return Source("toys", plain("toys", "through"), columns(("price", "pet")))
    text = plain("(SELECT pid, SUM(price) AS z, COUNT(*) AS n FROM toys GROUP BY pid) AS s0", "through", "per_person")
    return Source("toys", text, {"z": Column("z", "number"), "n": Column("n", "whole")})


def _nested(random: Random, name: str) -> Source:
    """Sub-queries in sub-queries: joined rows, then one row for each person and text, then one for each person."""
    test = _condition(random, name)
    inner = f"SELECT pid, r, SUM(x) AS a, COUNT(*) AS n FROM {name} WHERE {{0}} GROUP BY pid, r"
    outer = f"SELECT pid, MAX(a) AS a, SUM(n) AS n, COUNT(*) AS l FROM ({inner}) AS s1 GROUP BY pid HAVING COUNT(*) < 4"
    found = {each: Column(each, "number") for each in "anl"}
    if random.random() < 0.5:
        chain = made(
            f"WITH c1 AS ({inner}), c0 AS (SELECT pid, AVG(a) AS a, MAX(n) AS n FROM c1 WHERE n > 1 GROUP BY pid)", test
        )
        return Source(
            name, plain("c0"), columns(()) | {each: found[each] for each in "an"}, chain.using("with", "nested")
        )
    return Source(name, made(f"({outer}) AS s0", test, uses="nested"), found)
