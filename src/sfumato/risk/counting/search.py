"""Which sets of columns single out how many: all sets up to a size, then greedily, and in the order that was given.

Adding a column never makes anybody less unique. So the worst set of a size is found exactly as long as all sets of it
were tried; beyond, a greedy search adds the column that singles out most, and what it finds is a lower bound of the
worst. Sets are tried column by column, those with most values first, such that whoever is alone early is left out
early (`partition`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sfumato.errors import InvalidArgument
from sfumato.phrases import Option, Phrase
from sfumato.risk.counting.codes import Coded
from sfumato.risk.counting.equal_keys import is_few
from sfumato.risk.counting.partition import Partition, Uniqueness

Tell = Callable[[str, int, int], None]
Sets = dict[tuple[int, ...], Uniqueness]

USUAL = 3  # columns of the largest sets that are all tried, unless said
MOST_STEPS = 12  # columns of the largest set that is searched greedily
PATIENCE = 60.0  # seconds that a search may take which nobody asked for in particular
LONG = 300.0  # seconds above which is asked first
_COUNTED, _HASHED, _EACH = 2e-8, 1e-7, 4e-5  # seconds for a row, by cells or hashes, and for a set


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a search takes at most, by and large: `sets` of up to `size` of `columns`, on `rows`."""

    sets: int
    size: int
    columns: int
    rows: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.sets:,} sets of up to {self.size} of {self.columns} columns on {self.rows:,} rows: "
            f"about {in_time(self.seconds)}"
        )


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    all_sets  every set of up to `size` columns, smallest first
    given     the sets that grow in the order that was given
    worst     for each size the set that singles out most: up to `size` of all, beyond by greedy search
    """

    size: int
    all_sets: tuple[Uniqueness, ...]
    given: tuple[Uniqueness, ...]
    worst: tuple[Uniqueness, ...]


def estimate(table: Coded, size: int) -> Estimate:
    """How long all sets of up to `size` columns take, and the greedy search beyond."""
    width, rows, seconds, sets = len(table.names), table.rows, 0.0, 0
    spaces = sorted(table.spaces, reverse=True)
    slow = _HASHED if table.unit is None else 2 * _HASHED
    for chosen in range(1, min(size, width) + 1):
        number = math.comb(width, chosen)
        few = is_few(math.prod(spaces[:chosen]), rows)
        seconds += number * (rows * (_COUNTED if few else slow) + _EACH)
        sets += number
    steps = max(0, min(width, MOST_STEPS) - size)
    seconds += (steps * width + width) * (rows * slow + _EACH)
    return Estimate(sets, min(size, width), width, rows, seconds)


def choose_size(table: Coded) -> int:
    """The largest sets that are tried unasked."""
    sizes = range(USUAL, 1, -1)
    return next((size for size in sizes if estimate(table, size).seconds <= PATIENCE), 1)


def confirm(wanted: Estimate, yes: bool | Callable[[Estimate], bool]) -> None:
    """Refuse a search that takes long, unless somebody says yes."""
    if wanted.seconds <= LONG or yes is True or (callable(yes) and yes(wanted)):
        return
    raise InvalidArgument(
        f"a search must take at most {in_time(LONG)} unless it is confirmed; {wanted}",
        fix=Phrase(
            "take smaller sets (", Option("subsets", 2), "), fewer columns, or confirm it: ", Option("yes", True)
        ),
    )


def search(table: Coded, size: int, tell: Tell) -> tuple[Found, Partition]:
    """Try all sets of up to `size` columns, then those in the given order, then greedily; and the groups by all."""
    width = len(table.names)
    size = min(size, width)
    found: Sets = {}
    total = sum(math.comb(width, chosen) for chosen in range(1, size + 1))
    order = sorted(range(width), key=lambda column: -table.spaces[column])

    def visit(at: Partition, start: int) -> None:
        for place in range(start, width):
            column = order[place]
            is_last = len(at.columns) + 1 == size or place == width - 1
            below = None if is_last else at.split(column)
            measured = at.measure(column) if below is None else below.uniqueness
            found[tuple(sorted((*at.columns, column)))] = measured
            tell(f"trying sets of columns: {len(found):,} of {total:,}", len(found), total)
            if below is not None:
                visit(below, place + 1)

    visit(Partition(table), 0)
    listed = [_named(table, columns, found) for columns in sorted(found, key=lambda c: (len(c), c))]
    given, whole = _given(table, found, size, tell)
    return Found(size, tuple(listed), given, _worst(table, found, size, tell)), whole


def _given(table: Coded, found: Sets, size: int, tell: Tell) -> tuple[tuple[Uniqueness, ...], Partition]:
    """The sets in the given order; those that were tried are known."""
    width = len(table.names)
    grown = [_named(table, tuple(range(chosen)), found) for chosen in range(1, size + 1)]
    at = together(table, range(size))
    for column in range(size, width):
        tell(f"adding columns: {column + 1} of {width}", column, width)
        at = at.split(column)
        grown.append(replace(at.uniqueness, columns=table.names[: column + 1]))
    return tuple(grown), at


def together(table: Coded, columns: Iterable[int]) -> Partition:
    """The groups by some columns; those with most values come first, since they leave fewest rows for the others."""
    at = Partition(table)
    for column in sorted(columns, key=lambda column: -table.spaces[column]):
        at = at.split(column)
    return at


def _worst(table: Coded, found: Sets, size: int, tell: Tell) -> tuple[Uniqueness, ...]:
    """The worst of each size; ties go to the columns that were named first."""
    best = []
    for chosen in range(1, size + 1):
        tried = [columns for columns in sorted(found) if len(columns) == chosen]
        best.append(max(tried, key=lambda columns: found[columns].unique))
    worst, steps = [_named(table, columns, found) for columns in best], min(len(table.names), MOST_STEPS)
    if size >= steps or worst[-1].unique == table.of:
        return tuple(worst)
    at = together(table, best[-1])
    while len(at.columns) < steps and at.uniqueness.unique < table.of:
        tell(f"adding the column that singles out most: {len(at.columns) + 1} of {steps}", len(at.columns), steps)
        rest = [column for column in range(len(table.names)) if column not in at.columns]
        measured = {column: at.measure(column) for column in rest}
        next_one = max(rest, key=lambda column: (measured[column].unique, measured[column].groups))
        if measured[next_one].groups == at.uniqueness.groups:
            break  # nothing splits any group
        at = at.split(next_one)
        worst.append(replace(at.uniqueness, columns=(*worst[-1].columns, table.names[next_one])))
    return tuple(worst)


def _named(table: Coded, columns: tuple[int, ...], found: Sets) -> Uniqueness:
    return replace(found[columns], columns=tuple(table.names[column] for column in columns))


def in_time(seconds: float) -> str:
    """A duration for a reader.

    >>> in_time(40), in_time(400), in_time(20_000), in_time(1e7)
    ('40 seconds', '7 minutes', '6 hours', '116 days')
    """
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} seconds"
