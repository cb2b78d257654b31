"""What the duration of a question tells of one person: questions that do more work if somebody has a secret.

Each question is asked of two databases that differ in one person's secret, in turns, and the least durations are
compared. The person has one row, or as many as --rows, in a table of --people others. A ratio near 1 tells nothing; how
far it may be above 1 is what joins can grow (`MOST_GROWTH`), beside the time of everything else.

Run: python bench/conditional.py [--people 100000] [--rows 1] [--repeat 5] [--json path]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sfumato as sf

NEAR = 1.2  # a ratio that is lost among the noise of a shared machine
VICTIM = 7
QUESTIONS = {
    "no join": "SELECT COUNT(*) AS n FROM visits WHERE ill = 1",
    "by a hundred": "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE ill = 1) AS v JOIN grid ON ill = one",
    "by a thousand": (
        "SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE ill = 1) AS v JOIN grid ON ill = grid.one "
        "JOIN tens ON ill = tens.one"
    ),
    "secret in ON": "SELECT COUNT(*) AS n FROM visits JOIN grid ON ill = grid.one JOIN tens ON tens.one = ill",
    "people twice": "SELECT COUNT(*) AS n FROM people JOIN visits ON id = who AND visits.ill = 1",
    "sub-query": "SELECT SUM(s) AS s FROM (SELECT who, SUM(spend) AS s FROM visits WHERE ill = 1 GROUP BY who) AS q",
    "semi join": "SELECT COUNT(*) AS n FROM people SEMI JOIN visits ON id = who AND ill = 1",
}


def curator(people: int, rows: int, secret: bool) -> sf.Curator:
    """A population of people with ten visits each, and the victim with its own."""
    random = np.random.default_rng(20261116)
    who = np.concatenate([random.integers(VICTIM + 1, people, 10 * people), np.full(rows, VICTIM)])
    visits = pd.DataFrame(
        {"who": who, "ill": ((who == VICTIM) & secret).astype("int64"), "spend": random.exponential(20, who.size)}
    )
    return sf.Curator(
        {
            "visits": sf.table(visits, unit={"person": "who"}, columns={"spend": sf.column(bounds=(0, 200))}),
            "people": sf.table(pd.DataFrame({"id": np.arange(people)}), unit={"person": "id"}, max_rows_per_unit=1),
            "tens": sf.public(pd.DataFrame({"one": [1] * 10, "cell": range(10)})),
            "grid": sf.public(pd.DataFrame({"one": [1] * 100, "cell": range(100)})),
        },
        budget=sf.Guarantee(epsilon=10_000),
        replay=False,
    )


def seconds(asked: sf.Curator, question: str) -> float:
    """One answer by the clock; a failure is an answer too."""
    start = time.perf_counter()
    asked.ask(question, epsilon=1, estimate_bounds=True)
    return time.perf_counter() - start


def measure(people: int, rows: int, repeat: int) -> dict[str, Any]:
    """Print and return the figures."""
    pair = [curator(people, rows, secret) for secret in (False, True)]
    figures: dict[str, Any] = {"people": people, "rows": rows, "load_before": os.getloadavg(), "questions": {}}
    print(f"{'question':16s} {'without':>9s} {'with':>9s} {'ratio':>7s}")
    for name, question in QUESTIONS.items():
        spent: list[list[float]] = [[], []]
        for _ in range(repeat):
            for durations, asked in zip(spent, pair, strict=True):
                durations.append(seconds(asked, question))
        without, having = map(min, spent)
        figures["questions"][name] = {"without": without, "with": having, "ratio": having / without}
        verdict = "" if having / without <= NEAR else "TELLS"
        print(f"{name:16s} {without:7.3f} s {having:7.3f} s {having / without:7.2f}  {verdict}", flush=True)
    figures["load_after"] = os.getloadavg()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1, help="rows of the victim")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures = measure(arguments.people, arguments.rows, arguments.repeat)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
