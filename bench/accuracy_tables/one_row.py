"""One row per person: means, variances, bounds that are far too wide, means by group.

Goals: RMSE of a mean at most 1.1 times the textbook's, 2 h sqrt(1 + m^2) / (n epsilon); intervals at most 2.3 times the
RMSE, and right in 93 to 98 of 100 draws; variances at most half as wrong as version 0.1's were. Epsilon is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import sfumato as sf
from accuracy_tables import shapes, textbook
from accuracy_tables.figures import Figures, Report, figures, said
from accuracy_tables.opendp import OpenDP, beside
from accuracy_tables.repeated import Question

WIDE = 50  # how many times too wide bounds may be
RANGE = (0.0, float(shapes.OLDEST))
# RMSE of version 0.1 on these tables at epsilon 1, from 2,000 draws.
VERSION_0_1 = {
    "VARIANCE": {100: 168, 300: 60.1, 1_000: 16.4, 3_000: 7.49, 10_000: 2.26},
    "STDDEV": {100: 6.18, 300: 2.35, 1_000: 0.553, 3_000: 0.246, 10_000: 0.0756},
    "wide AVG": {100: 168, 300: 20.2, 1_000: 0.793, 3_000: 0.1405, 10_000: 0.0503},
}


@dataclass(frozen=True, slots=True)
class Setting:
    """How much is measured, and beside whom."""

    repeat: int
    sizes: tuple[int, ...]
    tables: int
    quick: bool
    opendp: OpenDP


def _ask(report: Report, name: str, sql: str, ages: np.ndarray, truth: float, high: float, repeat: int) -> Figures:
    declared = sf.table(pa.table({"age": ages}), columns={"age": sf.column(bounds=(0, high))})
    question = Question({"t": declared}, sql)
    try:
        return report.know(name, len(ages), figures(question.draw("v", {0: truth}, repeat)))
    finally:
        question.close()


def means(report: Report, setting: Setting) -> None:
    """AVG with good bounds."""
    for n in setting.sizes:
        ages = shapes.ages(n)
        found = _ask(report, "AVG", "SELECT AVG(age) AS v FROM t", ages, ages.mean(), RANGE[1], setting.repeat)
        book = textbook.mean_error(ages, *RANGE)
        peer = setting.opendp.error(pa.table({"age": ages}), ages.mean(), kind="mean", column="age", bounds=RANGE)
        more = f" (RMSE {said(found.rmse)}, textbook {said(book)}{beside(peer)})"
        report.at_most("AVG, one row per person", n, "RMSE / textbook", found.rmse / book, 1.1, more)
        report.at_most("", n, "half / RMSE", found.half_over_rmse, 2.3, f" (half {said(found.half)})")
        report.covers("", n, found.covered, 0.93, 0.98)


def wide(report: Report, setting: Setting) -> None:
    """AVG with bounds that are fifty times too wide."""
    for n in setting.sizes:
        ages = shapes.ages(n)
        sql = "SELECT AVG(age) AS v FROM t"
        found = _ask(report, "AVG, wide bounds", sql, ages, ages.mean(), WIDE * RANGE[1], setting.repeat)
        before = VERSION_0_1["wide AVG"][n]
        name = f"AVG, bounds {WIDE} times too wide"
        more = f" (RMSE {said(found.rmse)}, half {said(found.half)})"
        if n < 3_000:
            report.note(name, n, f"RMSE / version 0.1's {said(found.rmse / before)}{more}")
        else:
            report.at_most(name, n, "RMSE / version 0.1's", found.rmse / before, 1.0, more)
        report.covers("", n, found.covered, 0.93)


def variances(report: Report, setting: Setting) -> None:
    """VARIANCE and STDDEV."""
    for place, (name, power) in enumerate((("VARIANCE", 2), ("STDDEV", 1))):
        for n in setting.sizes:
            ages = shapes.ages(n)
            truth = float(np.std(ages, ddof=1)) ** power
            sql = f"SELECT {name}(age) AS v FROM t"
            found = _ask(report, name, sql, ages, truth, RANGE[1], setting.repeat)
            book = textbook.variance_errors(ages, *RANGE, 20_000)[place]
            before = VERSION_0_1[name][n]
            more = f" (RMSE {said(found.rmse)}, textbook {said(book)})"
            report.at_most(f"{name}, one row per person", n, "RMSE / version 0.1's", found.rmse / before, 0.5, more)
            report.at_most("", n, "half / RMSE", found.half_over_rmse, 2.5, f" (half {said(found.half)})")
            report.covers("", n, found.covered, 0.93)


def groups(report: Report, setting: Setting) -> None:
    """AVG by seven groups of a thousand people."""
    n, name = 1_000, "AVG by 7 groups"
    table = shapes.grouped(n)
    truth = shapes.means(table, "g", "age")
    columns = {"g": sf.column(keys=shapes.GROUPS), "age": sf.column(bounds=RANGE)}
    question = Question({"t": sf.table(table, columns=columns)}, "SELECT g, AVG(age) AS v FROM t GROUP BY g")
    found = report.know(name, n, figures(question.draw("v", truth, setting.repeat, key="g")))
    question.close()
    keys, ages = shapes.column(table, "g"), shapes.column(table, "age")
    book = math.sqrt(np.mean([textbook.mean_error(ages[keys == g], *RANGE) ** 2 for g in shapes.GROUPS]))
    peer = setting.opendp.error(
        table, list(truth.values()), kind="mean", column="age", bounds=RANGE, key="g", keys=shapes.GROUPS
    )
    more = f" (RMSE {said(found.rmse)}, textbook {said(book)}{beside(peer)})"
    report.at_most(name, n, "half", found.half, 6, more)
    report.covers("", n, found.covered, 0.93)
