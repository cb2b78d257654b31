"""The same counts in plain Python, by definition and slowly."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

Row = dict[str, Any]


def groups(rows: Iterable[Row], columns: Sequence[str], unit: Sequence[str] = ()) -> dict[Any, set[Any]]:
    """Who has each combination of values; a row is its own unit where none is named."""
    found: dict[Any, set[Any]] = defaultdict(set)
    for place, row in enumerate(rows):
        who = tuple(row[name] for name in unit) if unit else place
        if not unit or None not in who:
            found[tuple(row[name] for name in columns)].add(who)
    return found


def uniqueness(rows: list[Row], columns: Sequence[str], unit: Sequence[str] = ()) -> tuple[int, int, int]:
    """How many are singled out, how many groups there are, and the size of the smallest."""
    found = groups(rows, columns, unit)
    singled = {who for members in found.values() if len(members) == 1 for who in members}
    return len(singled), len(found), min(map(len, found.values()))


def sets(columns: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """All sets of up to so many columns."""
    return [chosen for n in range(1, size + 1) for chosen in itertools.combinations(columns, n)]


def diversity(
    rows: list[Row], columns: Sequence[str], sensitive: str, unit: Sequence[str] = ()
) -> tuple[int, float, int, int, int, int]:
    """The least number of values in a group, the least entropy as a number, and how many groups are homogeneous.

    And who is in those, in all groups, and in homogeneous ones with others; whoever is in several is one.
    """
    spread: dict[Any, dict[Any, set[Any]]] = defaultdict(lambda: defaultdict(set))
    for place, row in enumerate(rows):
        who = tuple(row[name] for name in unit) if unit else place
        if not unit or None not in who:
            spread[tuple(row[name] for name in columns)][row[sensitive]].add(who)
    kept = [values for values in spread.values() if set(values) != {None}]
    counts = [[len(who) for who in values.values()] for values in kept]
    entropies = [-sum(n / sum(each) * math.log(n / sum(each)) for n in each) for each in counts]
    one = [who for values in kept if len(values) == 1 for who in values.values()]
    everybody = set().union(*(who for values in kept for who in values.values()))
    several = set().union(*(who for who in one if len(who) > 1))
    members = set().union(*one)
    return min(map(len, counts)), math.exp(min(entropies)), len(one), len(members), len(everybody), len(several)


def unsafe(contributions: dict[Any, list[float]], p: float) -> set[Any]:
    """The cells in which the second largest knows the largest too well, by the definition of the rule."""
    found = set()
    for key, values in contributions.items():
        largest, _, *rest = [*sorted(map(abs, values), reverse=True), 0.0, 0.0]
        if math.fsum(rest) < p / 100 * largest or largest == 0:
            found.add(key)
    return found


def linked(here: list[Row], there: list[Row], on: Sequence[str]) -> tuple[int, int, float]:
    """Candidates, links one to one, and how many a guess links rightly."""
    ours, theirs = (
        Counter(key for row in rows if None not in (key := tuple(row[name] for name in on))) for rows in (here, there)
    )
    met = [(ours[key], theirs[key]) for key in ours if key in theirs]
    return sum(a for a, _ in met), met.count((1, 1)), sum(a / max(a, b) for a, b in met)
