"""How good a survey is in which nobody is trusted: `python examples/survey.py`.

Made-up people answer which of forty shops they like best, and what rent they pay. Each answer is randomized before it
is sent. Printed are true and estimated shares at several epsilons, and how far they are off for several numbers of
people, beside what was expected. Writes a chart, survey.svg unless another name is given.
"""

from __future__ import annotations

import sys

import numpy as np

import sfumato as sf
from sfumato import charts

SHOPS, PEOPLE = 40, (1_000, 10_000, 100_000)
EPSILONS = (0.5, 1.0, 2.0)


def made_up(people: int) -> dict[str, list[str]]:
    """True answers; repeatable, while the noise that protects them is not."""
    random = np.random.default_rng(people)
    popular = np.arange(1, SHOPS + 1, dtype=float) ** -1.0
    shops = random.choice(SHOPS, people, p=popular / popular.sum())
    rents = np.clip(random.normal(900, 300, people), 0, 3000)
    return {"shop": [f"shop {number}" for number in shops], "rent": [f"{rent:.0f}" for rent in rents]}


def main(path: str = "survey.svg") -> float:
    """Run all surveys, print how far they are off, write the chart, return the largest error by what was expected."""
    points, worst = [], 0.0
    print(f"{'epsilon':>8} {'people':>8} {'mechanism':>11} {'error':>8} {'expected':>9} {'rent':>6} {'interval':>16}")
    for epsilon in EPSILONS:
        shop = sf.survey.one_of("shop", "Which shop do you like best?", [f"shop {i}" for i in range(SHOPS)])
        rent = sf.survey.number("rent", "What is your rent?", (0, 3000), step=10)
        survey = sf.survey.design("Shops", [shop, rent], epsilon=2 * epsilon)  # epsilon each
        for people in PEOPLE:
            truth = made_up(people)
            found = sf.survey.estimate(survey, sf.survey.randomize_all(survey, truth))
            shares = np.array([truth["shop"].count(row.label) / people for row in found["shop"].rows])
            off = float(np.sqrt(np.mean((np.array([row.value for row in found["shop"].rows]) - shares) ** 2)))
            expected = sf.survey.expected(survey, people)[0]
            low, high = found["rent"]["mean"].interval
            print(
                f"{epsilon:>8g} {people:>8,} {expected.oracle:>11} {off:>8.4f} {expected.error:>9.4f} "
                f"{found['rent']['mean'].value:>6,.0f} {f'[{low:,.0f}, {high:,.0f}]':>16}"
            )
            worst = max(worst, off / expected.error)
            points.append(charts.Point(f"{people:,}", off, off, off, series=f"epsilon {epsilon:g}"))
    title = f"Error of the shares of {SHOPS} shops, each answer randomized"
    charts.with_intervals(points, charts.Names("people", "error of a share", title, "of each answer")).save(path)
    print(f"\nchart: {path}")
    return worst


if __name__ == "__main__":
    main(*sys.argv[1:2])
