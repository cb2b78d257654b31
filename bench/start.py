"""How long the first steps take, in fresh processes.

`import sfumato` in CPU seconds, beside numpy alone; and by the clock, once installed: from a CSV to the first private
answer (`sfumato init`, then `sfumato ask`), and `sfumato demo`.

Run: python bench/start.py [--json path]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOAL = 0.5
FIRST_ANSWER, DEMO = 60.0, 15.0
ROWS = 100_000


def cpu_seconds(module: str, runs: int = 7) -> float:
    """The best of several fresh processes."""
    program = f"import time, {module}; print(time.process_time())"
    return min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(runs))


def clock_seconds(*commands: tuple[str, ...]) -> float:
    """Commands of the program one after the other in a new folder, with a CSV of so many rows in it."""
    with tempfile.TemporaryDirectory() as folder:
        rows = (f"{i % 20_000},{('north', 'south')[i % 2]},{20_000 + i % 90_000}" for i in range(ROWS))
        (Path(folder) / "people.csv").write_text("\n".join(["person_id,region,income", *rows]) + "\n")
        started = time.perf_counter()
        for command in commands:
            subprocess.run(
                [sys.executable, "-m", "sfumato", *command], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        return time.perf_counter() - started


def first_steps() -> dict[str, float]:
    question = "SELECT region, AVG(income) AS income FROM people GROUP BY region"
    declared = ("--unit", "person_id", "--column", "region=north, south", "--column", "income=0 200000")
    return {
        "sfumato --help": clock_seconds(("--help",)),
        "sfumato init, ask": clock_seconds(("init", "people.csv", *declared), ("ask", question, "--epsilon", "0.5")),
        "sfumato demo": clock_seconds(("demo", "--keep", "city")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures = {module: cpu_seconds(module) for module in ("sys", "numpy", "sfumato")}
    for module, seconds in figures.items():
        print(f"import {module:10s} {seconds:6.3f} s CPU")
    print(f"goal: import sfumato under {GOAL} s: {'met' if figures['sfumato'] < GOAL else 'MISSED'}")
    steps = first_steps()
    for name, seconds in steps.items():
        print(f"{name:17s} {seconds:6.2f} s")
    for name, goal in (("sfumato init, ask", FIRST_ANSWER), ("sfumato demo", DEMO)):
        print(f"goal: {name} under {goal:g} s: {'met' if steps[name] < goal else 'MISSED'}")
    if arguments.json:
        goals = {"goal": GOAL, "goal_first_answer": FIRST_ANSWER, "goal_demo": DEMO}
        content = {"cpu_seconds": figures, "clock_seconds": steps, **goals}
        arguments.json.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
