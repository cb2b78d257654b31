"""The p-percent rule for sums: a cell is unsafe if its second largest contributor can estimate the largest too well.

The second largest, x2, subtracts itself from the published sum T: T - x2 = x1 + R is its estimate of the largest, x1,
and R, what all others contribute, is by how much that is too high. The cell is unsafe if R < p % of x1.

    the standard rule     R < p/100 * x1                      p = 10: unsafe if known to within 10 %
    the same as a ratio   x1 / (T - x2) > 100 / (100 + p)     "largest over the sum of all but the second largest"

Both are one rule: x1 / (x1 + R) > 1 / (1 + p/100) exactly if R < p/100 * x1. Said as a ratio its threshold is 0.909
for p = 10; to compare the ratio with p itself would call nearly every cell unsafe.

Contributions count by their size, also negative ones, as sums of each contributor. A cell of zeros alone is unsafe:
whoever reads 0 knows everybody's contribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.errors import InvalidArgument
from sfumato.risk.counting.rows import Rows

SHOWN = 1_000  # unsafe cells that are kept
_MOST = 1e308  # beyond which a sum, or a hundred times it, is no number any more


@dataclass(frozen=True, slots=True)
class Cell:
    """A sum: its keys, how many contribute, the total of their sizes, the two largest, and whether it is unsafe.

    excess   R / x1: by how much the second largest overestimates the largest
    ratio    x1 / (T - x2): the largest over the sum of all but the second largest
    """

    keys: tuple[Any, ...]
    contributors: int
    total: float
    largest: float
    second: float
    excess: float
    ratio: float
    is_unsafe: bool


@dataclass(frozen=True, slots=True)
class Dominance:
    """The sums of a column by keys under the p-percent rule; `cells` are the unsafe ones, the worst first.

    left_out   rows whose value is missing or no finite number, or whose contributor is missing
    negative   contributors whose sum is negative
    """

    column: str
    by: tuple[str, ...]
    contributor: str | None
    p: float
    count: int
    unsafe: int
    cells: tuple[Cell, ...]
    left_out: int
    negative: int

    @property
    def threshold(self) -> float:
        """The rule as a ratio: a cell is unsafe above it."""
        return 100 / (100 + self.p)


def dominance(rows: Rows, column: str, by: Sequence[str], contributor: str | None, p: float) -> Dominance:
    """Judge the sums of a column."""
    value, keys = f"TRY_CAST({rows.own(column)} AS DOUBLE)", [rows.own(name) for name in by]
    usable = f"{value} IS NOT NULL AND isfinite({value})"
    who = rows.own(contributor) if contributor else None
    usable += f" AND {who} IS NOT NULL" if who else ""
    (left_out, kept) = rows.one(f"SELECT count(*) FILTER (NOT ({usable})), count(*) FILTER ({usable}) FROM {rows.sql}")
    (largest,) = rows.one(f"SELECT max(abs({value})) FILTER ({usable}) FROM {rows.sql}")
    if kept and largest * kept * max(p, 100) > _MOST:
        raise InvalidArgument(f"{rows.label}: sums of {column!r} must be finite numbers; they are too large; scale it")
    if not kept:
        raise InvalidArgument(
            f"{rows.label}: column {column!r} must hold numbers to be added up; got none; choose another"
        )
    each = f"SELECT {', '.join([*keys, f'{value} AS x'])} FROM {rows.sql} WHERE {usable}"
    if who:
        summed = f"fsum({value}) AS x"
        each = f"SELECT {', '.join([*keys, summed])} FROM {rows.sql} WHERE {usable} GROUP BY {', '.join([*keys, who])}"
    listed, grouped = "".join(f"{key}, " for key in keys), f" GROUP BY {', '.join(keys)}" if keys else ""
    cells = (
        f"SELECT {listed}count(*) AS n, fsum(abs(x)) AS t, max(abs(x), 2) AS top, count(*) FILTER (x < 0) AS minus "
        f"FROM ({each}){grouped}"
    )
    judged = (
        f"SELECT {listed}n, t, top[1] AS x1, coalesce(top[2], 0) AS x2, "
        f"CASE WHEN n <= 2 THEN 0 ELSE greatest(t - top[1] - coalesce(top[2], 0), 0) END AS r, minus FROM ({cells})"
    )
    rows.ask(f"CREATE OR REPLACE TEMP TABLE judged AS {judged}")
    unsafe = f"(100 * r < {p!r} * x1 OR x1 = 0)"
    count, bad, negative = rows.one(f"SELECT count(*), count(*) FILTER ({unsafe}), sum(minus) FROM judged")
    shown = rows.ask(
        f"SELECT {listed}n, t, x1, x2, r FROM judged WHERE {unsafe} "
        f"ORDER BY CASE WHEN x1 = 0 THEN 0 ELSE r / x1 END, {listed}x1 DESC LIMIT {SHOWN}"
    )
    rows.ask("DROP TABLE judged")
    width = len(keys)
    found = tuple(_cell(row[:width], *row[width:]) for row in shown)
    return Dominance(column, tuple(by), contributor, p, count, bad, found, left_out, int(negative))


def _cell(keys: tuple[Any, ...], n: int, total: float, largest: float, second: float, rest: float) -> Cell:
    excess, ratio = (rest / largest, largest / (largest + rest)) if largest else (0.0, 1.0)
    return Cell(tuple(keys), n, total, largest, second, excess, ratio, True)
