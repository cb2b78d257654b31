"""What a group gives away about its members although none of them is unique: too few different sensitive values.

A table is l-diverse if every group has at least l different values of the sensitive column; a group with one value is
homogeneous, and whoever is known to be in it has that value. With entropy l a group counts as diverse as evenly spread
values of the same entropy would be. A missing value counts as a value; a group in which all are missing tells nothing
and is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.risk.counting.rows import Rows

EXAMPLES = 10  # groups that are shown


@dataclass(frozen=True, slots=True)
class Homogeneous:
    """A group whose members all have one value: its values in the columns, how many they are, and the value."""

    values: tuple[Any, ...]
    size: int
    value: Any


@dataclass(frozen=True, slots=True)
class Diversity:
    """What groups by `columns` give away about a sensitive column.

    distinct      the least number of different values in a group: the l of l-diversity
    entropy       the least entropy of a group, as the number of values that evenly spread have it
    homogeneous   groups with one value alone
    members       units, or rows, in those groups; a unit in several of them counts once
    of            units, or rows, in all groups that tell something
    several       those of them that are in groups of at least two, where k-anonymity would call them safe
    examples      the largest homogeneous groups
    """

    sensitive: str
    columns: tuple[str, ...]
    groups: int
    distinct: int
    entropy: float
    homogeneous: int
    members: int
    of: int
    several: int
    examples: tuple[Homogeneous, ...]


def _members(source: str, keys: Sequence[str], units: Sequence[str]) -> str:
    """How many are in homogeneous groups, in any, and in homogeneous ones with others; a unit counts once."""
    conditions = ("d = 1", "true", "d = 1 AND n > 1")
    if not units:
        return f"SELECT {', '.join(f'coalesce(sum(n) FILTER ({each}), 0)' for each in conditions)} FROM spread"
    who = f"({', '.join(f'given.{name}' for name in units)})"
    same = " AND ".join(f"given.{key} IS NOT DISTINCT FROM spread.{key}" for key in keys)
    counts = ", ".join(f"count(DISTINCT {who}) FILTER ({each})" for each in conditions)
    return f"SELECT {counts} FROM {source} AS given JOIN spread ON {same}"


def diversity(rows: Rows, columns: Sequence[str], sensitive: str, unit: Sequence[str]) -> Diversity:
    """Count the values of a sensitive column in each group; of a unit each value once."""
    keys = [rows.own(name) for name in columns]
    listed, value = ", ".join(keys), rows.own(sensitive)
    source = rows.sql
    if unit:
        units = [rows.own(name) for name in unit]
        known = " AND ".join(f"{name} IS NOT NULL" for name in units)
        chosen = dict.fromkeys([*keys, value, *units])
        source = f"(SELECT DISTINCT {', '.join(chosen)} FROM {rows.sql} WHERE {known})"
    cells = f"SELECT {listed}, {value} AS v, count(*) AS n FROM {source} GROUP BY {', '.join([*keys, value])}"
    rows.ask(
        f"CREATE OR REPLACE TEMP TABLE spread AS SELECT {listed}, count(*) AS d, sum(n) AS n, any_value(v) AS v, "
        f"ln(sum(n)) - sum(n * ln(n)) / sum(n) AS e FROM ({cells}) GROUP BY {listed} HAVING count(v) > 0"
    )
    groups, least, entropy, one = rows.one(
        "SELECT count(*), coalesce(min(d), 0), coalesce(min(e), 0), count(*) FILTER (d = 1) FROM spread"
    )
    members, of, several = rows.one(_members(source, keys, [rows.own(name) for name in unit]))
    shown = rows.ask(
        f"SELECT {listed}, n, v FROM spread WHERE d = 1 AND n > 1 ORDER BY n DESC, {listed} LIMIT {EXAMPLES}"
    )
    rows.ask("DROP TABLE spread")
    examples = tuple(Homogeneous(tuple(row[:-2]), int(row[-2]), row[-1]) for row in shown)
    return Diversity(
        sensitive, tuple(columns), groups, int(least), math.exp(max(entropy, 0.0)), one, int(members), int(of),
        int(several), examples,
    )  # fmt: skip
