"""Random tables and random questions about them, from a seed: the worst values, bounds and shapes there are."""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pandas as pd
import pyarrow as pa

from sfumato.curator.curator import Curator, Options
from sfumato.dataset.column import column
from sfumato.dataset.table import Table, table
from sfumato.errors import UnboundedColumn
from sfumato.plan.pricing.price import PricedPlan
from sfumato.privacy.guarantee import Guarantee

BOUNDS = ((-10, 10), (0, 5), (1000, 2000), (-7, -3), (-1e-30, 1e-30), (0, 1e18), (-3e59, 1e59), (0.1, 0.3), (-1, 3))
ODD = (math.nan, math.inf, -math.inf, None, 0.0, -0.0, 5e-324, 1e300, -1e300, 1e18, -1e18, 0.1, 1.5, 2.5, -2.5, 1999.5)
UNITS = ("pid", ("pid", "day"), None)
FIRST = datetime.date(2026, 1, 30)
DAYS = [FIRST + datetime.timedelta(days=n) for n in range(4)]
Question = Callable[[Random], str]
TYPES = {"pid": "Int64", "x": "float64", "y": "float64", "k": "Int64", "r": "str", "b": "boolean", "d": "M8[us]"}


@dataclass(frozen=True)
class Case:
    """A table, its rows with their owners, and other rows that could stand in an owner's place."""

    declared: Table
    rows: pd.DataFrame  # with owner (-1: nobody's) and side (1: the owner's other rows)
    owners: list[int]


def _identity(owner: int, unit_columns: int) -> tuple[int, datetime.date]:
    """Person and day; two person-days are of one person."""
    return (owner // 2 if unit_columns == 2 else owner), DAYS[owner % 4]


def random_case(random: Random, *, neighbors: str, unit: object) -> Case:
    """A small table with the worst of values; one unit in three is in many rows."""
    wide = random.choice(BOUNDS)
    units = random.choice((0, 5, 8, 11, 12, 12, 12))
    rows = [row for owner in range(units) for side in (0, 1) for row in _rows(random, owner, side, unit, wide)]
    rows += [_row(random, -1, 0, None, FIRST, wide) for _ in range(random.choice((0, 2)))] if unit else []
    names = ["owner", "side", "pid", "day", "x", "y", "k", "r", "b", "d"]
    frame = pd.DataFrame(rows, columns=names).astype({name: TYPES[name] for name in names if name in TYPES})
    frame["day"] = pd.to_datetime(frame["day"]).astype("M8[us]")
    declared = table(
        pa.Table.from_pandas(frame.drop(columns=["owner", "side"])),
        unit=unit,  # type: ignore[arg-type]
        neighbors=neighbors,  # type: ignore[arg-type]
        columns={
            "x": column(bounds=wide),
            "k": column(bounds=(random.choice((-2, 0)), 4)),
            "r": column(keys=["a", "b", "a'b"]),
            "d": column(keys=[datetime.datetime.combine(day, datetime.time()) for day in DAYS]),
        },
        max_rows_per_unit=random.choice((None, None, 2)) if unit else None,
    )
    return Case(declared, frame, list(range(units)))


def _rows(random: Random, owner: int, side: int, unit: object, wide: tuple[float, float]) -> list[tuple[object, ...]]:
    size = 1 if unit is None else random.choice((0, 1, 1, 2, 3, 9))
    pid, day = _identity(owner, 2 if isinstance(unit, tuple) else 1)
    first = _row(random, owner, side, pid, day, wide)
    same = random.random() < 0.3  # all rows alike: one cell gets all
    return [first if same else _row(random, owner, side, pid, day, wide) for _ in range(size)]


def _row(
    random: Random, owner: int, side: int, pid: int | None, day: datetime.date, wide: tuple[float, float]
) -> tuple[object, ...]:
    def number() -> float | None:
        return random.choice((*ODD, *wide, random.uniform(*wide), random.uniform(-9, 9), float(random.randint(-5, 5))))

    return (
        owner, side, pid, day, number(), number(),
        random.choice((None, -2, -1, 0, 1, 2, 3, 4, 99, -(2**63))), random.choice((None, "a", "b", "a'b", "zz", "")),
        random.choice((None, True, False)), random.choice((None, *DAYS, DAYS[0] - datetime.timedelta(days=300))),
    )  # fmt: skip


def random_question(random: Random) -> str:
    """A question about table t; whatever may stand in one."""
    groups = random.sample(GROUPS, random.choice((0, 0, 1, 1, 2)))
    keys = "".join(f"{group} AS g{i}, " for i, group in enumerate(groups))
    wanted = [f"{aggregate(random)} AS m{i}" for i in range(random.choice((1, 1, 2, 3)))]
    text = f"SELECT {keys}{', '.join(wanted)} FROM "
    if random.random() < 0.2:
        where = f" WHERE {truth(random, 1)}" if random.random() < 0.5 else ""
        inner = random.choice(("*", f"pid, day, {value(random, 1)} AS x, y, k, r, {truth(random, 1)} AS b, d"))
        if random.random() < 0.5:
            text += f"(SELECT {inner} FROM t{where}) AS s"
        else:
            text = f"WITH c AS (SELECT {inner} FROM t{where}) {text}c"
    else:
        text += "t"
    if random.random() < 0.5:
        text += f" WHERE {truth(random, 2)}"
    return text + (" GROUP BY " + ", ".join(str(i + 1) for i in range(len(groups))) if groups else "")


GROUPS = [
    "r", "b", "k", "d", "k + 1", "DATE_TRUNC('month', d)", "EXTRACT(DAY FROM d)", "k > 1", "x > 0", "x IS NULL",
    "r LIKE 'a%'", "CASE WHEN b THEN r ELSE 'none' END", "FLOOR(k / 2)", "ABS(k)", "COALESCE(r, 'a')", "y < 2.5",
    "CASE WHEN y > 1 THEN 1 WHEN b THEN 2 END", "y", "FLOOR(y)", "COALESCE(y, k)", "CASE WHEN b THEN y ELSE x END",
]  # fmt: skip


def aggregate(random: Random) -> str:
    """An aggregate; the unit's columns are put in by the caller."""
    return random.choice(
        (
            "COUNT(*)", f"COUNT({value(random, 1)})", "COUNT(r)", "COUNT(DISTINCT UNIT)", "COUNT(DISTINCT UNIT)",
            "COUNT(DISTINCT r)", f"COUNT(DISTINCT {value(random, 1)})",
            f"SUM({value(random, 2)})", f"SUM({value(random, 1)})", "SUM(x)", f"AVG({value(random, 1)})", "AVG(x)",
            "VARIANCE(x)", f"STDDEV_POP({value(random, 1)})", "MEDIAN(x)", "MEDIAN(y)", "MIN(k)", "MAX(x) - MIN(x)",
            f"QUANTILE_CONT({value(random, 1)}, {random.choice((0.1, 0.5, 0.9))})",
            f"SUM(CASE WHEN {truth(random, 1)} THEN {value(random, 0)} ELSE 0 END)", "SUM(-5)", "AVG(7)",
        )
    )  # fmt: skip


def sought_question(random: Random) -> str:
    """A question for what has to be looked for: a place among values, different values, keys that nobody listed."""
    keys = random.choice(("", "", "r", "k", "b", "y", "y", "FLOOR(y)", "r, y", "b, COALESCE(y, k)", "k, FLOOR(y), b"))
    usual = "COUNT(*)", "COUNT(DISTINCT UNIT)", "SUM(x)"
    places = (
        "MEDIAN(x)", "MEDIAN(y)", "MEDIAN(k)", "MIN(x)", "MAX(y)", f"QUANTILE_CONT({random.choice('xyk')}, 0.9)",
        f"MEDIAN({value(random, 1)})", "MAX(k) - MIN(k)",
    )  # fmt: skip
    values = "COUNT(DISTINCT r)", "COUNT(DISTINCT y)", "COUNT(DISTINCT k)", f"COUNT(DISTINCT {value(random, 1)})"
    wanted = random.choice(random.choice((places, places, values, usual if "y" in keys else places)))
    text = f"SELECT {keys and f'{keys}, '}{wanted} AS m FROM t"
    text += f" WHERE {truth(random, 1)}" if random.random() < 0.3 else ""
    return text + (f" GROUP BY {keys}" if keys else "")


def value(random: Random, depth: int) -> str:
    """A number."""
    if depth == 0:
        return random.choice(("x", "x", "k", "y", "2", "0.5", "-3"))
    a, b = value(random, depth - 1), value(random, depth - 1)
    return random.choice(
        (
            a, f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"{a} / {b}", f"ABS({a})", f"FLOOR({a})", f"-({a})",
            f"CEIL({a})", f"ROUND({a})", f"COALESCE({a}, {b})", f"CASE WHEN {truth(random, 0)} THEN {a} ELSE {b} END",
        )
    )  # fmt: skip


def truth(random: Random, depth: int) -> str:
    """A condition."""
    if depth == 0:
        a, b = value(random, 0), value(random, 0)
        return random.choice(
            (
                f"{a} > {b}", f"{a} = {b}", f"{a} BETWEEN -1 AND {b}", f"{a} <> 1.5", "b", "r IN ('a', 'zz')",
                "r LIKE '%b'", "k IN (1, 2, 3.5)", f"{a} IS NOT NULL", "d >= DATE '2026-01-31'", "r <= 'b'", "b = TRUE",
                "EXTRACT(MONTH FROM d) = 1", "DATE_TRUNC('week', d) < DATE '2026-02-01'", "r NOT LIKE 'a_b'",
            )
        )  # fmt: skip
    a, b = truth(random, depth - 1), truth(random, depth - 1)
    return random.choice((a, f"({a} AND {b})", f"({a} OR {b})", f"NOT ({a})", f"CASE WHEN {a} THEN {b} END"))


def random_plan(random: Random, declared: Table, question: Question = random_question) -> PricedPlan:
    """A priced plan for a random question that is not refused; bounds are bought where none are declared."""
    units = ", ".join(declared.unit.columns)
    curator = Curator({"t": declared}, budget=Guarantee(1))
    while True:
        distinct = f"COUNT(DISTINCT {units})" if units else "COUNT(*)"
        text = question(random).replace("COUNT(DISTINCT UNIT)", distinct)
        bound = random.choice((None, None, None, 1, 2, 3, 1000, 2**33))
        noise = random.choice(("laplace", "laplace", "gaussian"))
        options = Options(max_rows_per_unit=bound, estimate_bounds=True, delta=1e-6, noise=noise)
        with contextlib.suppress(UnboundedColumn):  # products of products of enormous bounds
            return curator.plan(text, random.choice((0.1, 1, 3, 1e-4, 20)), options)
