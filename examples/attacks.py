"""Six attacks on a raw release and on the curator, with the same questions: `python examples/attacks.py`.

Every attack tells nearly all secrets of the raw release. Against the curator it is right about as often as guessing,
and no more often than epsilon allows, up to chance. Writes a chart, attacks.svg unless another name is given.
"""

from __future__ import annotations

import sys

import sfumato as sf
from sfumato import charts

EPSILON = 0.5


def main(path: str = "attacks.svg") -> list[sf.attacks.Outcome]:
    """Run them, print a line each, write the chart, return what came of them."""
    outcomes = [
        sf.attacks.differencing(trials=25, epsilon=EPSILON),
        sf.attacks.averaging(100, villages=200, epsilon=EPSILON),
        sf.attacks.reconstruction(40, 60, epsilon=EPSILON),
        sf.attacks.linkage(trials=25, epsilon=EPSILON),
        sf.attacks.intersection(trials=25, epsilon=EPSILON),
        sf.attacks.membership(epsilon=EPSILON),
    ]
    print(f"right guesses at epsilon {EPSILON:g}\n")
    print(f"{'attack':>14} {'raw release':>12} {'curator':>26} {'guessing':>9} {'at most':>8}")
    points = []
    for each in outcomes:
        private = f"{each.curator.success:.0%} [{each.curator.low:.0%} to {each.curator.high:.0%}]"
        print(f"{each.attack:>14} {each.raw.success:>12.0%} {private:>26} {each.guessing:>9.0%} {each.bound:>8.0%}")
        for series, side in (("raw release", each.raw), ("curator", each.curator)):
            points.append(charts.Point(each.attack, 100 * side.success, 100 * side.low, 100 * side.high, series))
        most = 100 * each.bound
        points.append(charts.Point(each.attack, most, most, most, "at most, for any attacker"))
    title = f"The same questions, two answers, epsilon {EPSILON:g}"
    names = charts.Names("attack", "right guesses, %", title, "", ("95 % intervals",))
    charts.with_intervals(points, names).save(path)
    print(f"\nchart: {path}")
    return outcomes


if __name__ == "__main__":
    main(*sys.argv[1:2])
