"""Questions on ten million rows of one million people: accuracy and CPU, beside plain DuckDB and OpenDP.

Run: python bench/query.py [--rows path.parquet] [--repeat 5] [--only median] [--opendp python] [--json path]

Without a file a table is generated: a person has 1 to 200 rows, a home region of fifty, products of a long tail and
log-normal spending. Each question has a process of its own. CPU is that of an answer, and in passes: relative to what
any answer about people needs on the same table in the same process, a GROUP BY of the unit (of unit and key for keys
that nobody listed). Errors are relative to the exact answer, root mean squares over groups (of the hundred largest keys
where these are found; one that is not found counts as 100 %) and repetitions.

Limits are bought, and medians have no bounds. OpenDP answers the same at a bound of 20 rows of a person, as its
examples suggest, and of 200, which nobody exceeds: best for a count, if somebody knows it. `query_opendp.py` says how.
It is optional: `pip install "opendp[polars]"`, which wants its own polars, so perhaps into an environment of its own,
whose interpreter is then given by --opendp.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import sfumato as sf

REGIONS = [f"R{i:02d}" for i in range(50)]
PRODUCTS = 20_000
BY_PERSON, BY_KEY = "user_id", "user_id, product"
LARGEST = 100  # keys whose errors count where keys are found
MOST_MEMORY = 1.0  # GB
BOUNDS = (20, 200)  # rows of a person, for OpenDP


@dataclass(frozen=True)
class Question:
    """What is asked, its yardstick, and the goals: relative error, passes."""

    sql: str
    error: float
    passes: float = 3.0
    yardstick: str = BY_PERSON
    options: dict[str, float] = field(default_factory=dict)
    bounded: bool = True
    peer: bool = False


QUESTIONS = {
    "count by region": Question("SELECT region, COUNT(*) AS v FROM t GROUP BY region", 0.005, peer=True),
    "sum by region": Question("SELECT region, SUM(spend) AS v FROM t GROUP BY region", 0.01),
    "mean by region": Question("SELECT region, AVG(spend) AS v FROM t GROUP BY region", 0.005),
    "people by region": Question("SELECT region, COUNT(DISTINCT user_id) AS v FROM t GROUP BY region", 0.01),
    "median by region": Question(
        "SELECT region, MEDIAN(spend) AS v FROM t GROUP BY region", 0.01, bounded=False, peer=True
    ),
    "count by product": Question(
        "SELECT product, COUNT(*) AS v FROM t GROUP BY product",
        0.05,
        passes=2.0,
        yardstick=BY_KEY,
        options={"delta": 1e-9},
        peer=True,
    ),
}


def generate(path: Path, people: int = 1_000_000, rows: int = 10_000_000) -> None:
    """Write the table."""
    random = np.random.default_rng(20261116)
    weight = random.permutation(np.arange(1, people + 1, dtype=float) ** -0.75)
    count = np.clip(np.round(weight / weight.sum() * rows * 1.13), 1, 200).astype(int)
    user = np.repeat(np.arange(people), count)
    share = np.arange(1, 51, dtype=float) ** -0.6
    home = random.choice(50, people, p=share / share.sum())
    region = np.where(random.random(user.size) < 0.7, home[user], random.choice(50, user.size, p=share / share.sum()))
    spend = np.round(np.clip(random.lognormal(3.2, 1.0, user.size), 0, 1000), 2)
    popular = np.arange(1, PRODUCTS + 1, dtype=float) ** -1.05
    product = random.choice(PRODUCTS, user.size, p=popular / popular.sum())
    order = random.permutation(user.size)
    columns = {"user_id": user[order], "r": region[order], "p": product[order], "spend": spend[order]}
    engine = duckdb.connect()
    engine.register("made", columns)
    engine.execute(
        "COPY (SELECT user_id, 'R' || lpad(CAST(r AS VARCHAR), 2, '0') AS region, "
        "'P' || lpad(CAST(p AS VARCHAR), 5, '0') AS product, spend FROM made) "
        f"TO '{path}' (FORMAT parquet)"
    )


def cpu(work: Callable[[], Any], repeat: int = 3) -> tuple[float, list[Any]]:
    """The least CPU seconds of several runs, and all results."""
    best, results = math.inf, []
    for _ in range(repeat):
        start = time.process_time()
        results.append(work())
        best = min(best, time.process_time() - start)
    return best, results


def errors_of(found: Sequence[dict[str, float]], truth: dict[str, float], largest: int) -> float:
    """The root mean square of relative errors over the largest keys; what was not found is off by all of it."""
    keys = sorted(truth, key=truth.__getitem__, reverse=True)[:largest]
    errors = [answer.get(key, 0.0) / truth[key] - 1 for answer in found for key in keys]
    return math.sqrt(sum(error * error for error in errors) / len(errors))


def measure_one(name: str, path: Path, repeat: int) -> dict[str, Any]:
    """The figures of one question, in a process of its own."""
    asked = QUESTIONS[name]
    columns = {"region": sf.column(keys=REGIONS)}
    if asked.bounded:
        columns["spend"] = sf.column(bounds=(0, 1000))
    curator = sf.Curator(
        {"t": sf.table(path, unit="user_id", columns=columns)},
        budget=sf.Guarantee(epsilon=1000, delta=1e-3),
        replay=False,
    )
    ours, answers = cpu(lambda: curator.ask(asked.sql, epsilon=1, **asked.options), repeat)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # before the yardsticks
    plain = duckdb.connect()
    plain.execute("SET enable_progress_bar = false")
    exact_cpu, exact = cpu(lambda: plain.execute(asked.sql.replace("FROM t", f"FROM '{path}'")).fetchall())
    by = asked.yardstick
    collapse = f"CREATE OR REPLACE TEMP TABLE u AS SELECT {by}, count(*) AS n FROM '{path}' GROUP BY {by}"
    one_pass, _ = cpu(lambda: plain.execute(collapse).fetchall())
    truth, key = dict(exact[-1]), answers[0].columns[0]
    inside = [
        low <= truth[row[key]] <= high
        for answer in answers
        for row, (low, high) in zip(answer.rows, answer.intervals["v"], strict=True)
    ]
    found = [{row[key]: row["v"] for row in answer.rows} for answer in answers]
    return {
        "plain_cpu": exact_cpu, "cpu": ours, "yardstick_cpu": one_pass, "passes": ours / one_pass, "peak_gb": peak,
        "covered": sum(inside) / len(inside), "goal": asked.error, "most_passes": asked.passes, "truth": truth,
        **judged(found, truth),
    }  # fmt: skip


def judged(found: Sequence[dict[str, float]], truth: dict[str, float]) -> dict[str, Any]:
    """How close answers are to the truth, and how many keys they have."""
    return {
        "error": errors_of(found, truth, LARGEST),
        "keys": round(sum(len(answer) for answer in found) / len(found)),
        "of_keys": len(truth),
    }


def ask_opendp(python: str, name: str, path: Path, bound: int, repeat: int) -> dict[str, Any]:
    """What OpenDP answers, or why it does not, from a process of its own."""
    script = Path(__file__).with_name("query_opendp.py")
    asked = [python, str(script), name, str(path), str(bound), str(repeat)]
    alone = {**os.environ, "PYTHONPATH": ""}
    try:
        run = subprocess.run(asked, env=alone, capture_output=True, text=True, check=False)
    except OSError as wrong:
        return {"missing": str(wrong)}
    said = run.stdout.strip().splitlines()
    if run.returncode or not said:
        return {"missing": (run.stderr.strip().splitlines() or ["nothing was said"])[-1]}
    answered: dict[str, Any] = json.loads(said[-1])
    return answered


def measure(path: Path, repeat: int, only: str, python: str) -> dict[str, Any]:
    """Print and return the figures."""
    print(
        f"{'question':17s} {'by':16s} {'plain':>6s} {'pass':>6s} {'CPU':>6s} {'passes':>7s} {'error':>8s} {'goal':>6s} "
        f"{'covered':>8s} {'keys':>12s} {'GB':>5s}"
    )
    figures: dict[str, Any] = {"load_before": os.getloadavg(), "questions": {}}
    missing = ""
    for name, asked in QUESTIONS.items():
        if only not in name:
            continue
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as own:
            ours = own.submit(measure_one, name, path, repeat).result()
        truth, yardstick = ours.pop("truth"), ours["yardstick_cpu"]
        met = ours["error"] <= asked.error and ours["passes"] <= asked.passes and ours["peak_gb"] <= MOST_MEMORY
        figures["questions"][name] = {"sfumato": ours}
        _print_line(name, "sfumato", ours, "met" if met else "MISSED")
        for bound in BOUNDS if asked.peer and not missing else ():
            theirs = ask_opendp(python, name, path, bound, min(repeat, 3))
            if missing := theirs.get("missing", ""):
                break
            theirs |= judged(theirs.pop("answers"), truth) | {"passes": theirs["cpu"] / yardstick}
            figures["questions"][name][f"opendp, bound {bound}"] = theirs
            _print_line("", f"{theirs['peer']}, {bound}", theirs, "")
    if missing:
        print(f'no comparison with OpenDP: {missing}; pip install "opendp[polars]", or --opendp PYTHON')
    figures["load_after"] = os.getloadavg()
    print(
        f"load of the machine {figures['load_before'][0]:.1f} before, {figures['load_after'][0]:.1f} after; "
        f"goal for memory {MOST_MEMORY} GB"
    )
    return figures


def _print_line(name: str, by: str, of: dict[str, Any], verdict: str) -> None:
    def said(key: str, form: str, width: int) -> str:
        return f"{format(of[key], form) if key in of else '-':>{width}s}"

    keys = f"{of['keys']:,}/{of['of_keys']:,}"
    print(
        f"{name:17s} {by:16s} {said('plain_cpu', '.2f', 6)} {said('yardstick_cpu', '.2f', 6)} {said('cpu', '.2f', 6)} "
        f"{said('passes', '.2f', 7)} {said('error', '.3%', 8)} {said('goal', '.1%', 6)} {said('covered', '.1%', 8)} "
        f"{keys:>12s} {said('peak_gb', '.2f', 5)}  {verdict}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, help="a parquet file with user_id, region, product and spend")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="questions with this in their name")
    parser.add_argument("--opendp", default=sys.executable, help="a Python that has opendp[polars]")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.rows or Path(folder) / "rows.parquet"
        if not arguments.rows:
            generate(path)
        figures = measure(path, arguments.repeat, arguments.only, arguments.opendp)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
