"""How many rows of a public table one private row can match: counted in the public table alone."""

from __future__ import annotations

from functools import lru_cache

from sfumato.dataset.public_table import PublicTable
from sfumato.embedded.database import connected
from sfumato.engines.sql.dialect import DUCKDB
from sfumato.engines.sql.lower import Lower, read_column
from sfumato.plan.relations.matching import Compared, End, Matching
from sfumato.plan.syntax.node import Column, quoted

_KEPT = 256  # answers for joins that were asked before


def most_matches(matching: Matching) -> int:
    """The most rows whose keys are equal and whose ranges have a point in common; never too few."""
    names = {name: quoted(f"c{place}") for place, name in enumerate(matching.columns)}
    lower = Lower(DUCKDB, matching.columns, {Column(name): own for name, own in names.items()})

    def rendered(compared: Compared) -> str:
        sql = lower.sql(compared.expression)
        return sql if compared.kind is None else f"CAST({sql} AS {compared.kind.value})"

    columns = ", ".join(
        f"{read_column(DUCKDB, f'p.{quoted(matching.names[name])}', declared)} AS {names[name]}"
        for name, declared in matching.columns.items()
    )
    rows = f"(SELECT {columns} FROM public_rows AS p)"
    keys = [f"{rendered(key)} AS k{place}" for place, key in enumerate(matching.keys)]
    present = [f"k{place} IS NOT NULL" for place in range(len(keys))]
    if matching.low is None or matching.high is None:
        return _count(matching.public, _fullest(rows, keys, present))
    return _count(matching.public, _deepest(rows, keys, present, rendered, matching.low, matching.high))


def _fullest(rows: str, keys: list[str], present: list[str]) -> str:
    """The most rows with the same keys."""
    if not keys:
        return f"SELECT count(*) FROM {rows}"
    by = ", ".join(f"k{place}" for place in range(len(keys)))
    kept = f"SELECT {', '.join(keys)} FROM {rows}"
    return f"SELECT max(n) FROM (SELECT count(*) AS n FROM ({kept}) WHERE {' AND '.join(present)} GROUP BY {by})"


def _deepest(rows: str, keys: list[str], present: list[str], rendered: object, low: End, high: End) -> str:
    """The most ranges with the same keys that hold one point: a walk along their ends.

    At a point, ranges that end before it are left first, then those that begin with it are entered, then those that end
    with it are left, and those that begin after it are entered last. Ranges without a point would be left before they
    were entered, so they take no part.
    """
    assert callable(rendered)
    kept = f"SELECT {', '.join([*keys, f'{rendered(low.at)} AS a', f'{rendered(high.at)} AS b'])} FROM {rows}"
    holds = "a <= b" if low.closed and high.closed else "a < b"
    rows = f"(SELECT * FROM ({kept}) WHERE {' AND '.join([*present, holds])})"
    by = ", ".join(f"k{place}" for place in range(len(keys)))
    part, listed = (f"PARTITION BY {by} ", f"{by}, ") if keys else ("", "")
    begins = f"SELECT {listed}a AS v, {1 if low.closed else 3} AS phase, 1 AS d FROM {rows}"
    ends = f"SELECT {listed}b AS v, {2 if high.closed else 0} AS phase, -1 AS d FROM {rows}"
    depth = f"sum(d) OVER ({part}ORDER BY v, phase RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    return f"SELECT max(n) FROM (SELECT {depth} AS n FROM ({begins} UNION ALL {ends}))"


@lru_cache(maxsize=_KEPT)
def _count(public: PublicTable, sql: str) -> int:
    with connected() as engine:
        engine.execute("SET TimeZone = 'UTC'")
        engine.register("public_rows", public.rows)
        (found,) = engine.execute(sql).fetchone() or (0,)
    return int(found or 0)
