"""Answers on tables of 100 to 60,000 people: error, half-width and coverage beside the textbook and OpenDP, and goals.

Run: python bench/accuracy.py [--only means] [--repeat 2000] [--quick] [--opendp python] [--json path]

A table is fixed; its noise is drawn 2,000 times, since 200 draws cannot tell 1.1 times from once or 93 % from 98 %.
Exact numbers are read once (`accuracy_tables/repeated.py`); all else is what `Curator.ask` does. Epsilon is 1 and
confidence 95 %. RMSE is over draws and groups; a half-width is the median of half an interval. The textbook's
mechanism gets all of epsilon: Laplace noise at the declared maximum for sums and means, three noisy sums for a
variance, the exponential mechanism for a quantile, and, where nothing is declared, the best fixed limit in hindsight
(`oracle`), which nobody can know. OpenDP answers the same at the declared maximum (40 releases); it is optional and
wants its own polars, so perhaps an environment of its own: `pip install "opendp[polars]"`, whose interpreter is given
by --opendp.

An error of more than ten times the truth is enormous; it is counted over everything that ran. `bench/query.py` measures
ten million rows. Everything takes about an hour on one core, --quick (200 draws, fewer and smaller tables) minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from accuracy_tables import several_rows
from accuracy_tables.figures import Report
from accuracy_tables.one_row import Setting, groups, means, variances, wide
from accuracy_tables.opendp import OpenDP
from accuracy_tables.quantiles import quantiles

SECTIONS: dict[str, Callable[[Report, Setting], None]] = {
    "means": means,
    "wide": wide,
    "variances": variances,
    "groups": groups,
    "quantiles": quantiles,
    "patients": several_rows.patients,
    "declared": several_rows.declared,
    "small": several_rows.small,
    "undeclared": several_rows.undeclared,
    "values": several_rows.undeclared_values,
}
SIZES, TABLES = (100, 300, 1_000, 3_000, 10_000), 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=SECTIONS, help="this section, and others that are named so")
    parser.add_argument("--repeat", type=int, default=2_000, help="draws of noise for each question")
    parser.add_argument("--quick", action="store_true", help="200 draws, 4 fresh tables of at most 10,000 people")
    parser.add_argument("--opendp", default=sys.executable, help="a Python that has opendp[polars]; '' for none")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    repeat, tables = (200, 4) if given.quick else (given.repeat, TABLES)
    setting = Setting(repeat, SIZES, tables, given.quick, OpenDP(given.opendp))
    report, start = Report(), time.monotonic()
    report.head()
    for name in given.only or SECTIONS:
        SECTIONS[name](report, setting)
    enormous = sum(each.enormous for each in report.all_figures.values())
    asks = sum(each.asks for each in report.all_figures.values())
    for name, each in report.all_figures.items():
        if each.enormous:
            report.note(f"enormous: {name.rpartition(',')[0]}", each.asks, f"{each.enormous} {name.rpartition(',')[2]}")
    report.at_most("errors above ten times the truth", asks, "of all answers", enormous, 0)
    missed = [line for line in report.lines if line.met is False]
    print(f"{len(missed)} goals missed, {sum(line.met is True for line in report.lines)} met", end="; ")
    print(f"{time.monotonic() - start:.0f} s{'; ' + setting.opendp.missing if setting.opendp.missing else ''}")
    if given.json:
        given.json.write_text(json.dumps({"repeat": repeat, **report.as_json()}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
