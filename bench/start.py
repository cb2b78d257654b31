"""How long `import sfumato` takes, in CPU seconds of fresh processes, beside numpy alone.

Run: python bench/start.py [--json path]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

GOAL = 0.5


def cpu_seconds(module: str, runs: int = 7) -> float:
    """The best of several fresh processes."""
    program = f"import time, {module}; print(time.process_time())"
    return min(float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    figures = {module: cpu_seconds(module) for module in ("sys", "numpy", "sfumato")}
    for module, seconds in figures.items():
        print(f"import {module:10s} {seconds:6.3f} s CPU")
    print(f"goal: import sfumato under {GOAL} s: {'met' if figures['sfumato'] < GOAL else 'MISSED'}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"cpu_seconds": figures, "goal": GOAL}, indent=2) + "\n")


if __name__ == "__main__":
    main()
