"""The risk report on ten million rows: CPU and memory beside a plain GROUP BY of all columns in DuckDB.

Run: python bench/risk.py [--rows path.parquet] [--repeat 2] [--json path]

Without a file the rows of bench/query.py are made. Each report has a process of its own, and so has the yardstick: the
number of unique rows by all columns of the report, one GROUP BY. Goals: all sets of up to three of five columns, their
growth and the worst sets at most six times the CPU of that one GROUP BY, three columns at most four times, with a
sensitive column eight times, people instead of rows eight times, and 2 GB.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
from query import cpu, generate

import sfumato as sf

MOST_MEMORY = 2.0  # GB
ALL = ("region", "product", "spend", "age", "day")
REPORTS: dict[str, tuple[tuple[str, ...], dict[str, Any], float]] = {
    "three columns": (ALL[:3], {}, 4.0),
    "all columns": (ALL, {"subsets": 3}, 6.0),
    "all columns, sensitive": (ALL[:2] + ALL[3:], {"sensitive": "spend"}, 8.0),
    "people": (ALL[:3], {"unit": "user_id", "subsets": 3}, 8.0),
}


def report(path: Path, columns: tuple[str, ...], options: dict[str, Any], repeat: int) -> dict[str, Any]:
    """A report, and what it takes."""
    start = time.perf_counter()
    least, made = cpu(lambda: sf.risk_report(path, columns=columns, yes=True, **options), repeat)
    sets = len(made[-1].all_sets)
    wall = (time.perf_counter() - start) / repeat
    return {"cpu": least, "wall": wall, "peak_gb": _peak(), "sets": sets, "share": made[-1].share}


def plain(path: Path, columns: tuple[str, ...], repeat: int) -> dict[str, Any]:
    """The unique rows by all columns, and nothing else."""
    engine = duckdb.connect()
    engine.execute("SET enable_progress_bar = false")
    sql = f"SELECT count(*) FILTER (n = 1) FROM (SELECT count(*) AS n FROM '{path}' GROUP BY {', '.join(columns)})"
    least, _ = cpu(lambda: engine.execute(sql).fetchall(), repeat)
    return {"cpu": least, "peak_gb": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def alone(work: Callable[..., dict[str, Any]], *arguments: object) -> dict[str, Any]:
    """Work in a process of its own, so that its peak of memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as own:
        return own.submit(work, *arguments).result()


def measure(path: Path, repeat: int) -> dict[str, Any]:
    """Print and return the figures."""
    figures: dict[str, Any] = {"load_before": os.getloadavg(), "reports": {}}
    held = {name for (name,) in duckdb.execute(f"SELECT name FROM parquet_schema('{path}')").fetchall()}
    print(
        f"{'report':24s} {'sets':>5s} {'GROUP BY':>9s} {'CPU':>7s} {'times':>6s} {'wall':>6s} {'GB':>5s} {'unique':>8s}"
    )
    for name, (columns, options, most) in REPORTS.items():
        present = tuple(column for column in columns if column in held)
        yardstick, ours = alone(plain, path, present, repeat), alone(report, path, present, options, repeat)
        times = ours["cpu"] / yardstick["cpu"]
        met = times <= most and ours["peak_gb"] <= MOST_MEMORY
        figures["reports"][name] = {**ours, "columns": present, "yardstick_cpu": yardstick["cpu"], "times": times}
        print(
            f"{name:24s} {ours['sets']:5d} {yardstick['cpu']:9.2f} {ours['cpu']:7.2f} {times:6.2f} {ours['wall']:6.1f} "
            f"{ours['peak_gb']:5.2f} {ours['share']:8.2%}  {'met' if met else 'MISSED'}",
            flush=True,
        )
    figures["load_after"] = os.getloadavg()
    print(f"load of the machine {figures['load_before'][0]:.1f} before, {figures['load_after'][0]:.1f} after")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, help="a parquet file with user_id, region, product, spend, age, day")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.rows or Path(folder) / "rows.parquet"
        if not arguments.rows:
            generate(path)
        figures = measure(path, arguments.repeat)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
