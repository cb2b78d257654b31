"""Quantiles of skewed values, one row per person, with declared bounds and without, beside the exponential mechanism.

Goals: never worse than without bounds (ratios up to 1.05 are chance at 2,000 draws); RMSE at most three times that of
the exponential mechanism with the whole epsilon over the same bounds; at most 1 % of intervals end at a bound.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sfumato as sf
from accuracy_tables import shapes, textbook
from accuracy_tables.figures import Figures, Report, figures, said
from accuracy_tables.one_row import Setting
from accuracy_tables.opendp import beside
from accuracy_tables.repeated import Question

RANGE = (0.0, 20_000.0)
LEVELS = {"median": 0.5, "q75": 0.75, "q90": 0.9}
SIZES = (1_000, 10_000)
CHANCE = 1.05


def _ask(report: Report, name: str, table: pa.Table, level: float, truth: float, bounded: bool, draws: int) -> Figures:
    columns = {"price": sf.column(bounds=RANGE)} if bounded else {}
    sql = f"SELECT QUANTILE_CONT(price, {level}) AS v FROM t"
    question = Question({"t": sf.table(table, columns=columns)}, sql)
    try:
        drawn = question.draw("v", {0: truth}, draws)
    finally:
        question.close()
    return report.know(name, table.num_rows, figures(drawn, RANGE if bounded else (-np.inf, np.inf)))


def quantiles(report: Report, setting: Setting) -> None:
    """Median, upper quartile and 90 % quantile."""
    for n in SIZES:
        values = shapes.prices(n)
        table = pa.table({"price": values})
        for name, level in LEVELS.items():
            truth = float(np.quantile(values, level))
            found = _ask(report, f"{name}, bounds", table, level, truth, True, setting.repeat)
            plain = _ask(report, f"{name}, no bounds", table, level, truth, False, setting.repeat)
            book = textbook.quantile_error(values, level, *RANGE)
            peer = setting.opendp.error(table, truth, kind="quantile", column="price", bounds=RANGE, level=level)
            more = f" (RMSE {said(found.rmse)}, textbook {said(book)}{beside(peer)})"
            report.at_most(f"{name} of skewed values, bounds", n, "RMSE / exponential", found.rmse / book, 3, more)
            more = f" (without: {said(plain.rmse)})"
            report.at_most("", n, "RMSE / without bounds", found.rmse / plain.rmse, CHANCE, more)
            report.at_most("", n, "open intervals", found.open, 0.01, f" (half {said(found.half)})")
            report.covers("", n, found.covered, 0.93)
