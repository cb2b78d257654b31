"""What a purchase costs and what a person spends, by shop, with error bars: `python examples/per_person.py`.

Forty thousand people buy in four shops: in one seldom and much, in another often and little. An average of purchases
and an average of people tell different stories, and the second needs a sub-query that adds up each person's rows in
each shop. Inside it everything is exact; noise is added once, at the end. The printed table has the exact values beside
the private ones, for whoever wants to see how far off they are: an owner would not publish them. Writes a chart,
per_person.svg unless another name is given.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import charts

PEOPLE, EPSILON, MOST_VISITS = 40_000, 1, 30
SHOPS = {"bakery": (8.0, 6), "books": (1.0, 22), "chemist": (2.0, 15), "shoes": (0.4, 80)}  # visits, price
PURCHASES = "SELECT shop, AVG(spend) AS average FROM sales GROUP BY shop"
PER_PERSON = (
    "SELECT shop, AVG(total) AS average FROM "
    "(SELECT person, shop, SUM(spend) AS total FROM sales GROUP BY person, shop) AS t GROUP BY shop"
)


def sales() -> pd.DataFrame:
    """A made-up table; repeatable, while the noise that protects it is not."""
    random = np.random.default_rng(2026)
    parts = []
    for shop, (visits, price) in SHOPS.items():
        person = np.repeat(np.arange(PEOPLE), random.poisson(visits, PEOPLE))
        spend = np.round(price * random.lognormal(0, 0.5, len(person)), 2)
        parts.append(pd.DataFrame({"person": person, "shop": shop, "spend": spend}))
    whole = pd.concat(parts, ignore_index=True)
    return whole[whole.groupby("person").cumcount() < MOST_VISITS]


def main(path: str = "per_person.svg") -> dict[str, sf.Answer]:
    """Ask both, print them beside the exact values, write the chart, return the answers."""
    frame = sales()
    columns = {"shop": sf.column(keys=list(SHOPS)), "spend": sf.column(bounds=(0, 500))}
    table = sf.table(frame, unit="person", max_rows_per_unit=MOST_VISITS, columns=columns)
    curator = sf.Curator({"sales": table}, budget=sf.Guarantee(epsilon=2 * EPSILON))
    answers = {name: curator.ask(sql, epsilon=EPSILON) for name, sql in _questions().items()}
    by_shop = frame.groupby("shop")["spend"]
    exact = {
        "a purchase": by_shop.mean(),
        "a person": frame.groupby(["person", "shop"])["spend"].sum().groupby("shop").mean(),
    }
    print(f"{len(frame):,} purchases of {PEOPLE:,} people, epsilon {EPSILON} for each question\n")
    print(f"{'shop':>8}" + "".join(f"{name:>26} {'exact':>7}" for name in answers))
    points = []
    for i, shop in enumerate(SHOPS):
        line = f"{shop:>8}"
        for name, answer in answers.items():
            value, (low, high) = answer.rows[i]["average"], answer.intervals["average"][i]
            line += f"{f'{value:,.2f} [{low:,.2f}, {high:,.2f}]':>26} {exact[name][shop]:>7,.2f}"
            points.append(charts.Point(shop, value, low, high, series=name))
        print(line)
    title = f"What a purchase costs and what a person spends, epsilon {EPSILON} each"
    charts.with_intervals(points, charts.Names("shop", "average spending", title, "average of")).save(path)
    print("\n" + "\n".join(answers["a person"].explain().splitlines()[1:4]) + f"\n\nchart: {path}")
    return answers


def _questions() -> dict[str, str]:
    return {"a purchase": PURCHASES, "a person": PER_PERSON}


if __name__ == "__main__":
    main(*sys.argv[1:2])
