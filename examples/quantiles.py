"""Quartiles of incomes by region, with error bars: `python examples/quantiles.py`.

Sixty thousand people with one to four incomes each (jobs, pensions, rents) live in five regions. Nobody declares bounds
for an income; three quartiles cost what one costs. The printed table has the exact values beside the private ones, for
whoever wants to see how far off they are: an owner would not publish them. Writes a chart, quantiles.svg unless another
name is given.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import charts

PEOPLE, EPSILON = 60_000, 1
REGIONS = {"coast": 1.25, "hills": 0.85, "islands": 0.8, "plain": 1.0, "town": 1.1}
SIZES = (0.2, 0.15, 0.04, 0.3, 0.31)  # the islands have few people
QUARTILES = {"first quartile": 0.25, "median": 0.5, "third quartile": 0.75}
QUESTION = (
    "SELECT region, QUANTILE_CONT(income, 0.25) AS q1, MEDIAN(income) AS q2, QUANTILE_CONT(income, 0.75) AS q3 "
    "FROM incomes GROUP BY region"
)


def incomes() -> pd.DataFrame:
    """A made-up table; repeatable, while the noise that protects it is not."""
    random = np.random.default_rng(2026)
    person = np.repeat(np.arange(PEOPLE), random.integers(1, 5, PEOPLE))
    home = random.choice(list(REGIONS), PEOPLE, p=SIZES)[person]
    level = pd.Series(home).map(REGIONS).to_numpy()
    return pd.DataFrame(
        {"person": person, "region": home, "income": np.round(level * random.lognormal(9.8, 0.7, len(person)), 2)}
    )


def main(path: str = "quantiles.svg") -> sf.Answer:
    """Ask, print the quartiles beside the exact ones, write the chart, return the answer."""
    frame = incomes()
    table = sf.table(frame, unit="person", max_rows_per_unit=4, columns={"region": sf.column(keys=list(REGIONS))})
    curator = sf.Curator({"incomes": table}, budget=sf.Guarantee(epsilon=EPSILON))
    answer = curator.ask(QUESTION, epsilon=EPSILON)
    exact = frame.groupby("region")["income"].quantile(list(QUARTILES.values())).unstack()
    print(f"{len(frame):,} incomes of {PEOPLE:,} people, epsilon {EPSILON}; {answer.receipt.remaining} is left\n")
    print(f"{'region':>8}" + "".join(f"{name:>30} {'exact':>7}" for name in QUARTILES))
    points = []
    for i, row in enumerate(answer.rows):
        line = f"{row['region']:>8}"
        for column, (name, share) in zip(("q1", "q2", "q3"), QUARTILES.items(), strict=True):
            low, high = answer.intervals[column][i]
            line += f"{f'{row[column]:,.0f} [{low:,.0f}, {high:,.0f}]':>30} {exact.loc[row['region'], share]:>7,.0f}"
            points.append(charts.Point(row["region"], row[column], low, high, series=name))
        print(line)
    title = f"Quartiles of incomes by region, epsilon {EPSILON}"
    charts.with_intervals(points, charts.Names("region", "income", title, "quartile")).save(path)
    print(f"\nchart: {path}")
    return answer


if __name__ == "__main__":
    main(*sys.argv[1:2])
