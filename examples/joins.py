"""Spending by region and category, from two private tables and a public one: `python examples/joins.py`.

Thirty thousand people live in three regions; what they bought is in a second private table, and which product is in
which category in a public one. A sub-query joins purchases with the public list and adds up each person's spending in
each category; the result is joined with the people, by the unit. So each row still belongs to one person, which the
drawing shows that is printed. The exact values stand beside the private ones, for whoever wants to see how far off they
are: an owner would not publish them. Writes a chart, joins.svg unless another name is given.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import charts

PEOPLE, EPSILON, MOST_PURCHASES = 30_000, 1, 12
REGIONS = {"coast": 1.3, "hills": 0.8, "plain": 1.0}
PRODUCTS = {
    "bread": ("food", 4),
    "cheese": ("food", 9),
    "lamp": ("home", 35),
    "chair": ("home", 60),
    "ball": ("play", 12),
}
QUESTION = (
    "SELECT region, category, AVG(total) AS average FROM people JOIN "
    "(SELECT buyer, category, SUM(spend) AS total FROM sales JOIN products USING (product) GROUP BY buyer, category) "
    "AS t ON people.id = t.buyer GROUP BY region, category"
)


def people_and_sales() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Made-up tables; repeatable, while the noise that protects them is not."""
    random = np.random.default_rng(2026)
    people = pd.DataFrame({"id": np.arange(PEOPLE), "region": random.choice(list(REGIONS), PEOPLE, p=(0.3, 0.2, 0.5))})
    buyer = np.repeat(np.arange(PEOPLE), random.integers(0, MOST_PURCHASES + 1, PEOPLE))
    product = random.choice(list(PRODUCTS), len(buyer), p=(0.4, 0.2, 0.1, 0.05, 0.25))
    price = np.array([PRODUCTS[name][1] for name in product])
    level = people["region"].map(REGIONS).to_numpy()[buyer]
    spend = np.round(price * level * random.lognormal(0, 0.3, len(buyer)), 2)
    return people, pd.DataFrame({"buyer": buyer, "product": product, "spend": spend})


def main(path: str = "joins.svg") -> sf.Answer:
    """Ask, print the averages beside the exact ones, write the chart, return the answer."""
    people, sales = people_and_sales()
    catalog = pd.DataFrame({"product": list(PRODUCTS), "category": [category for category, _ in PRODUCTS.values()]})
    tables = {
        "people": sf.table(
            people, unit={"person": "id"}, max_rows_per_unit=1, columns={"region": sf.column(keys=list(REGIONS))}
        ),
        "sales": sf.table(
            sales,
            unit={"person": "buyer"},
            max_rows_per_unit=MOST_PURCHASES,
            columns={"spend": sf.column(bounds=(0, 200))},
        ),
        "products": sf.public(catalog, most_matches=1),  # everybody may read it; its categories become keys
    }
    curator = sf.Curator(tables, budget=sf.Guarantee(epsilon=EPSILON))
    answer = curator.ask(QUESTION, epsilon=EPSILON)
    whole = sales.merge(catalog).merge(people, left_on="buyer", right_on="id")
    totals = whole.groupby(["id", "region", "category"])["spend"].sum()
    exact = totals.groupby(["region", "category"]).mean()
    print(f"{len(sales):,} purchases of {PEOPLE:,} people, epsilon {EPSILON}\n")
    print("\n".join(answer.explain().splitlines()[1:8]) + "\n")
    print(f"{'region':>8} {'category':>9} {'average of a person':>26} {'exact':>7}")
    points = []
    for row, (low, high) in zip(answer.rows, answer.intervals["average"], strict=True):
        region, category, value = row["region"], row["category"], row["average"]
        said = f"{value:,.2f} [{low:,.2f}, {high:,.2f}]"
        print(f"{region:>8} {category:>9} {said:>26} {exact[region, category]:>7,.2f}")
        points.append(charts.Point(region, value, low, high, series=category))
    title = f"Spending of a person by region and category, epsilon {EPSILON}"
    charts.with_intervals(points, charts.Names("region", "average spending", title, "category")).save(path)
    print(f"\nchart: {path}")
    return answer


if __name__ == "__main__":
    main(*sys.argv[1:2])
