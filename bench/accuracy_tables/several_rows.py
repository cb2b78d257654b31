"""Several rows per person in seven shapes: COUNT(*), SUM(x) and AVG(x), with `max_rows_per_unit` declared and without.

The oracle is the best fixed limit in hindsight with all of epsilon; nobody could have known it. Without a declaration
each draw of noise is made on several fresh tables, since a limit that suits one table may be luck.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import sfumato as sf
from accuracy_tables import shapes, textbook
from accuracy_tables.figures import Figures, Report, figures, said
from accuracy_tables.one_row import Setting
from accuracy_tables.opendp import beside
from accuracy_tables.repeated import Draws, Question

RANGE = (0.0, shapes.LARGEST)
QUESTIONS = ("COUNT(*)", "SUM(x)", "AVG(x)")
DECLARED_SIZES = (300, 1_000, 4_000)
SMALL, LARGE = (300, 1_000), (3_000, 10_000, 60_000)
MOST_OF_LAPLACE, MOST_OF_UNDECLARED, WIDEST = 1.2, 1.3, 3.6  # the last in M / epsilon
MEDIAN_TABLE, WORST_TABLE, WIDTHS = 2.3, 4.0, 4.0


def _ask(table: pa.Table, what: str, truth: float, most: int | None, draws: int, seed: int = 0) -> Draws:
    columns = {"x": sf.column(bounds=RANGE)} if "x" in table.column_names else {}
    declared = sf.table(table, unit="person", columns=columns, max_rows_per_unit=most)
    question = Question({"t": declared}, f"SELECT {what} AS v FROM t")
    try:
        return question.draw("v", {0: truth}, draws, seed)
    finally:
        question.close()


def _truth(table: pa.Table, what: str) -> float:
    if what == "COUNT(*)":
        return table.num_rows
    x = shapes.column(table, "x")
    return float(x.sum() if what == "SUM(x)" else x.mean())


def oracle(table: pa.Table, what: str) -> float:
    """RMSE with the best fixed limit in hindsight."""
    person = shapes.column(table, "person")
    rows = np.bincount(person)
    if what == "COUNT(*)":
        return textbook.best_sum(rows)
    sums = np.bincount(person, shapes.column(table, "x"))
    return textbook.best_sum(sums) if what == "SUM(x)" else textbook.best_mean(rows, sums, *RANGE)


def at_maximum(table: pa.Table, what: str, most: int) -> float:
    """RMSE of Laplace noise for people with `most` rows."""
    if what == "AVG(x)":
        return textbook.mean_error(shapes.column(table, "x"), *RANGE, most=most)
    return textbook.sum_error(most * (RANGE[1] if what == "SUM(x)" else 1))


def declared(report: Report, setting: Setting) -> None:
    """With a declared maximum."""
    for shape in shapes.SHAPES:
        for n in DECLARED_SIZES:
            table = shapes.several(shape, n)
            for what in QUESTIONS:
                _declared(report, setting, shape, table, what, n)


def _declared(report: Report, setting: Setting, shape: str, table: pa.Table, what: str, n: int) -> None:
    most, truth, name = shapes.MOST[shape], _truth(table, what), f"{what}, {shape}, declared"
    found = report.know(name, n, figures(_ask(table, what, truth, most, setting.repeat)))
    free = figures(_ask(table, what, truth, None, setting.repeat))
    report.know(f"{what}, {shape}, not declared", n, free)
    laplace, best = at_maximum(table, what, most), oracle(table, what)
    peer = None
    if n == DECLARED_SIZES[1] and what == "COUNT(*)":
        peer = setting.opendp.error(table, truth, kind="count", unit="person", bound=most)
    more = f" (RMSE {said(found.rmse)}, oracle {said(best)}{beside(peer)})"
    report.at_most(name, n, "RMSE / Laplace at M", found.rmse / laplace, MOST_OF_LAPLACE, more)
    report.at_most("", n, "RMSE / not declared", found.rmse / free.rmse, MOST_OF_UNDECLARED, f" ({said(free.rmse)})")
    if what == "AVG(x)":
        report.note("", n, f"half / RMSE {said(found.half_over_rmse)} (half {said(found.half)})")
    else:
        scale = most * (RANGE[1] if what == "SUM(x)" else 1)
        report.at_most("", n, "half in M", found.half / scale, WIDEST, f" (/ RMSE {said(found.half_over_rmse)})")
    report.covers("", n, found.covered, 0.93)


def fresh(shape: str, n: int, what: str, setting: Setting) -> Iterator[tuple[Figures, float]]:
    """The figures of fresh tables, each beside its oracle."""
    draws = max(20, setting.repeat // setting.tables)
    for seed in range(setting.tables):
        table = shapes.several(shape, n, seed, values=what != "COUNT(*)")
        yield figures(_ask(table, what, _truth(table, what), None, draws, seed)), oracle(table, what)


def undeclared(report: Report, setting: Setting, what: str = "COUNT(*)") -> None:
    """Without a declaration, 3,000 to 60,000 people."""
    for shape in shapes.SHAPES:
        for n in LARGE[:2] if setting.quick else LARGE:
            name, found = f"{what}, {shape}, not declared", list(fresh(shape, n, what, setting))
            for seed, (each, _) in enumerate(found):
                report.know(f"{name}, table {seed}", n, each)
            ratios = np.array([each.rmse / best for each, best in found])
            report.at_most(name, n, "RMSE / oracle, median", float(np.median(ratios)), MEDIAN_TABLE)
            report.at_most("", n, "RMSE / oracle, worst table", float(ratios.max()), WORST_TABLE)
            widths = float(np.median([each.half_over_rmse for each, _ in found]))
            if shape in shapes.LIGHT:
                report.at_most("", n, "half / RMSE, median", widths, WIDTHS)
            else:
                report.note("", n, f"half / RMSE, median {said(widths)}")
            covered = float(np.mean([each.covered for each, _ in found]))
            report.covers("", n, covered, 0.88 if shape == "Pareto 1.2" else 0.93)


def undeclared_values(report: Report, setting: Setting) -> None:
    """The same for sums and means."""
    for what in QUESTIONS[1:]:
        undeclared(report, setting, what)


def small(report: Report, setting: Setting) -> None:
    """Without a declaration, 300 and 1,000 people."""
    for shape in shapes.SHAPES:
        for n in SMALL:
            name, found = f"{QUESTIONS[0]}, {shape}, not declared", list(fresh(shape, n, QUESTIONS[0], setting))
            for seed, (each, _) in enumerate(found):
                report.know(f"{name}, table {seed}", n, each)
            ratios = float(np.median([each.rmse / best for each, best in found]))
            enormous = sum(each.enormous for each, _ in found)
            report.at_most(name, n, "enormous errors", enormous, 0, f" (RMSE / oracle, median {said(ratios)})")
            covered = float(np.mean([each.covered for each, _ in found]))
            opened = float(np.mean([each.open for each, _ in found]))
            if shape in shapes.LIGHT:
                report.covers("", n, covered, 0.93)
            else:
                report.note("", n, f"coverage {covered:.1%}")
            report.note("", n, f"open high ends {opened:.1%} (fine where fewer than two octaves are seen)")


def patients(report: Report, setting: Setting) -> None:
    """Mean length of stay by ward, with a declared maximum of visits."""
    table, most, name = shapes.patients(), 125, "AVG by 6 wards, 58,885 visits, declared"
    truth, high = shapes.means(table, "ward", "days"), float(shapes.LONGEST)
    columns = {"ward": sf.column(keys=tuple(truth)), "days": sf.column(bounds=(0, high))}
    stays = sf.table(table, unit="patient", columns=columns, max_rows_per_unit=most)
    question = Question({"t": stays}, "SELECT ward, AVG(days) AS v FROM t GROUP BY ward")
    drawn = question.draw("v", truth, setting.repeat, key="ward")
    question.close()
    found = report.know(name, 5_021, figures(drawn))
    trivial = float(np.mean((drawn.low <= 0) & (drawn.high >= high)))
    peer = setting.opendp.error(
        table, list(truth.values()), kind="mean", column="days", bounds=(0.0, high), unit="patient", bound=most,
        key="ward", keys=list(truth),
    )  # fmt: skip
    more = f" (RMSE {said(found.rmse)}, half {said(found.half)}{beside(peer)})"
    report.at_most(name, 5_021, "trivial intervals", trivial, 0, more)
    report.at_most("", 5_021, "half / RMSE", found.half_over_rmse, 4)
    report.covers("", 5_021, found.covered, 0.93)
