"""Products that nobody listed, found at several epsilons: `python examples/unknown_keys.py`.

Thirty thousand people bought one to nine of three thousand products: a few that everybody buys, and a long tail of
which many have one buyer, whom they would name. A product is shown if enough people bought it. Printed is how many are
found, how much of all purchases they cover, and how few people the rarest of them has. Writes a chart,
unknown_keys.svg unless another name is given.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import charts

PEOPLE, PRODUCTS, DELTA = 30_000, 3_000, 1e-9
EPSILONS = (0.1, 0.3, 1.0, 3.0)
SHARES = {"half of epsilon for the search": 1, "four fifths": 4}  # beside 1 for the numbers
QUESTION = "SELECT product, COUNT(*) AS n FROM purchases GROUP BY product"


def purchases() -> pd.DataFrame:
    """A made-up table; repeatable, while the noise that protects it is not."""
    random = np.random.default_rng(2026)
    person = np.repeat(np.arange(PEOPLE), random.integers(1, 10, PEOPLE))
    popular = np.arange(1, PRODUCTS + 1, dtype=float) ** -1.1
    product = random.choice(PRODUCTS, len(person), p=popular / popular.sum())
    return pd.DataFrame({"person": person, "product": [f"product {number}" for number in product]})


def main(path: str = "unknown_keys.svg") -> dict[tuple[str, float], int]:
    """Ask at every epsilon, print what was found, write the chart, return how many products were found."""
    frame = purchases()
    buyers = frame.groupby("product")["person"].nunique()
    table = sf.table(frame, unit="person", max_rows_per_unit=9)
    # An owner would allow one of these answers, not all.
    curator = sf.Curator({"purchases": table}, budget=sf.Guarantee(epsilon=100, delta=1e-6))
    alone = int((buyers == 1).sum())
    print(f"{len(frame):,} purchases by {PEOPLE:,} people; of {len(buyers):,} products {alone} have one buyer\n")
    print(f"{'for the search':>32} {'epsilon':>8} {'found':>6} {'of purchases':>13} {'fewest buyers':>14}")
    found, points = {}, []
    for name, share in SHARES.items():
        for epsilon in EPSILONS:
            answer = curator.ask(QUESTION, epsilon=epsilon, delta=DELTA, shares={"product": share, "n": 1})
            shown = [row["product"] for row in answer.rows]
            covered, fewest = frame["product"].isin(shown).mean(), buyers[shown].min() if shown else 0
            print(f"{name:>32} {epsilon:>8g} {len(shown):>6,} {covered:>13.0%} {fewest:>14,}")
            found[name, epsilon] = len(shown)
            points.append(charts.Point(f"{epsilon:g}", len(shown), len(shown), len(shown), series=name))
    title = f"Products found among {len(buyers):,}, delta {DELTA:g}"
    charts.with_intervals(points, charts.Names("epsilon", "products found", title, "for the search")).save(path)
    print(f"\nchart: {path}")
    return found


if __name__ == "__main__":
    main(*sys.argv[1:2])
