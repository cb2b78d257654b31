"""Averages per person and joins on ten million rows of one million people: CPU and memory beside plain DuckDB.

Run: python bench/joins.py [--rows path.parquet] [--repeat 3] [--only person] [--json path]

The rows are those of bench/query.py; beside them lie a table of the million people, with home and age, and a public one
of the 20,000 products. Each question is asked in a process of its own, and in another one plain DuckDB does the least
that any answer about people needs: the same join or sub-query, and a pass that has one row of each person, if the
question has none itself. Goals: at most three times its CPU and its peak of memory. Errors are relative to the exact
answer, root mean squares over groups and repetitions.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from query import PRODUCTS, REGIONS, cpu, errors_of, generate

import sfumato as sf

MOST_TIMES = 3.0
PER_PERSON = "(SELECT user_id, SUM(spend) AS total FROM t GROUP BY user_id) AS s"


@dataclass(frozen=True)
class Question:
    """What is asked, what plain DuckDB does for it, and the goal for the relative error."""

    sql: str
    yardstick: str
    error: float = 0.01


def _pass(rows: str, value: str) -> str:
    """One row of each person, kept as a table."""
    return f"CREATE OR REPLACE TEMP TABLE u AS SELECT t.user_id, count(*), sum({value}) FROM {rows} GROUP BY t.user_id"


AVERAGE = f"SELECT AVG(total) AS v FROM {PER_PERSON}"
BY_HOME = f"SELECT home, AVG(total) AS v FROM {PER_PERSON} JOIN people ON people.user_id = s.user_id GROUP BY home"
ROWS = "t JOIN people ON people.user_id = t.user_id"
LOOKED = "t JOIN products ON products.product = t.product"
QUESTIONS = {
    "average per person": Question(AVERAGE, AVERAGE),
    "average per person by home": Question(BY_HOME, BY_HOME),
    "mean of rows by home": Question(f"SELECT home, AVG(spend) AS v FROM {ROWS} GROUP BY home", _pass(ROWS, "spend")),
    "rows by public category": Question(
        f"SELECT category, COUNT(*) AS v FROM {LOOKED} GROUP BY category", _pass(LOOKED, "length(category)")
    ),
}


def generate_people(rows: Path, path: Path) -> None:
    """A row for each person: a home and an age, from a hash, so that every run has the same."""
    home = "'R' || lpad(CAST(hash(user_id) % 50 AS VARCHAR), 2, '0')"
    duckdb.execute(
        f"COPY (SELECT user_id, {home} AS home, CAST(18 + hash(user_id, 1) % 70 AS BIGINT) AS age "
        f"FROM (SELECT DISTINCT user_id FROM '{rows}') ORDER BY hash(user_id, 2)) TO '{path}' (FORMAT parquet)"
    )


def generate_products(path: Path) -> None:
    """A public list of the products, in ten categories."""
    duckdb.execute(
        "COPY (SELECT 'P' || lpad(CAST(i AS VARCHAR), 5, '0') AS product, 'C' || CAST(i % 10 AS VARCHAR) AS category "
        f"FROM range({PRODUCTS}) AS r(i)) TO '{path}' (FORMAT parquet)"
    )


def ask(name: str, folder: Path, rows: Path, repeat: int) -> dict[str, Any]:
    """What Sfumato answers, with CPU and peak of memory."""
    tables = {
        "t": sf.table(rows, unit="user_id", columns={"spend": sf.column(bounds=(0, 1000))}),
        "people": sf.table(
            folder / "people.parquet", unit="user_id", max_rows_per_unit=1, columns={"home": sf.column(keys=REGIONS)}
        ),
        "products": sf.public(folder / "products.parquet", most_matches=1),
    }
    curator = sf.Curator(tables, budget=sf.Guarantee(epsilon=1000), replay=False)
    least, answers = cpu(lambda: curator.ask(QUESTIONS[name].sql, epsilon=1), repeat)
    found = [_by_key([tuple(row.values()) for row in answer.rows]) for answer in answers]
    intervals = [_by_key([tuple(row.values()) for row in answer.rows], answer.intervals["v"]) for answer in answers]
    return {"cpu": least, "peak_gb": _peak(), "found": found, "intervals": intervals}


def plain(name: str, folder: Path, rows: Path, repeat: int, sql: str = "") -> dict[str, Any]:
    """What plain DuckDB needs for a statement, the yardstick unless another is given."""
    engine = duckdb.connect()
    engine.execute("SET enable_progress_bar = false")
    for table, path in {"t": rows, **{name: folder / f"{name}.parquet" for name in ("people", "products")}}.items():
        engine.execute(f"CREATE VIEW {table} AS SELECT * FROM '{path}'")
    least, results = cpu(lambda: engine.execute(sql or QUESTIONS[name].yardstick).fetchall(), repeat)
    return {"cpu": least, "peak_gb": _peak(), "rows": results[-1]}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _by_key(rows: list[tuple[Any, ...]], values: list[Any] | None = None) -> dict[str, Any]:
    return {str(row[:-1]): row[-1] if values is None else values[place] for place, row in enumerate(rows)}


def alone(work: Callable[..., dict[str, Any]], *arguments: object) -> dict[str, Any]:
    """Work in a process of its own, so that its peak of memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as own:
        return own.submit(work, *arguments).result()


def measure_one(name: str, folder: Path, rows: Path, repeat: int) -> dict[str, Any]:
    """The figures of one question."""
    ours, theirs = alone(ask, name, folder, rows, repeat), alone(plain, name, folder, rows, repeat)
    truth = _by_key(alone(plain, name, folder, rows, 1, QUESTIONS[name].sql)["rows"])
    inside = [low <= truth[key] <= high for answer in ours["intervals"] for key, (low, high) in answer.items()]
    return {
        "cpu": ours["cpu"], "plain_cpu": theirs["cpu"], "times_cpu": ours["cpu"] / theirs["cpu"],
        "peak_gb": ours["peak_gb"], "plain_gb": theirs["peak_gb"], "times_memory": ours["peak_gb"] / theirs["peak_gb"],
        "error": errors_of(ours["found"], truth, len(truth)), "covered": sum(inside) / len(inside),
    }  # fmt: skip


def measure(folder: Path, rows: Path, repeat: int, only: str) -> dict[str, Any]:
    """Print and return the figures."""
    print(
        f"{'question':27s} {'plain':>6s} {'CPU':>6s} {'times':>6s} {'plain GB':>9s} {'GB':>5s} {'times':>6s} "
        f"{'error':>7s} {'covered':>8s}"
    )
    figures: dict[str, Any] = {"load_before": os.getloadavg(), "questions": {}}
    for name, asked in QUESTIONS.items():
        if only not in name:
            continue
        of = figures["questions"][name] = measure_one(name, folder, rows, repeat)
        met = max(of["times_cpu"], of["times_memory"]) <= MOST_TIMES and of["error"] <= asked.error
        print(
            f"{name:27s} {of['plain_cpu']:6.2f} {of['cpu']:6.2f} {of['times_cpu']:6.2f} {of['plain_gb']:9.2f} "
            f"{of['peak_gb']:5.2f} {of['times_memory']:6.2f} {of['error']:7.2%} {of['covered']:8.1%}  "
            f"{'met' if met else 'MISSED'}",
            flush=True,
        )
    figures["load_after"] = os.getloadavg()
    print(
        f"load of the machine {figures['load_before'][0]:.1f} before, {figures['load_after'][0]:.1f} after; "
        f"goals: {MOST_TIMES:g} times the CPU and the memory of plain DuckDB, errors of 1 %"
    )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, help="a parquet file with user_id, product and spend")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="questions with this in their name")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = arguments.rows or folder / "rows.parquet"
        if not arguments.rows:
            generate(rows)
        generate_people(rows, folder / "people.parquet")
        generate_products(folder / "products.parquet")
        figures = measure(folder, rows, arguments.repeat, arguments.only)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
