"""Make a risk report: read the rows, count every set of columns, judge groups, sums and an outside file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.curator.measurement.progress import Phase
from sfumato.errors import InvalidArgument
from sfumato.phrases import Option, Phrase
from sfumato.risk.counting import search
from sfumato.risk.counting.codes import Coded, encode
from sfumato.risk.counting.partition import Partition
from sfumato.risk.counting.rows import GIGABYTE, Rows, database, find_source, open_rows
from sfumato.risk.diversity import diversity
from sfumato.risk.dominance import Dominance, dominance
from sfumato.risk.linkage import Linkage, linkage
from sfumato.risk.profile import MOST_COLUMNS, Profile, choose, look, settle
from sfumato.risk.report.contents import Anonymity
from sfumato.risk.report.report import Report
from sfumato.suggestions import names_a_person, takes

MEMORY = 4.0  # gigabytes
SUGGESTED = 0.05  # a quasi-identifier adds at least so much to the share of unique ones, to some set
_SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))

Names = str | Iterable[str]


@takes("first comes the table, then names: sf.risk_report('people.csv', columns=['age', 'zip'])")
def risk_report(
    data: object,
    *,
    columns: Names | None = None,
    unit: Names | None = None,
    sensitive: Names | None = None,
    sums: str | None = None,
    by: Names | None = None,
    contributor: str | None = None,
    p: float = 10,
    link: object = None,
    on: Names | Mapping[str, str] | None = None,
    subsets: int | None = None,
    memory: float = MEMORY,
    yes: bool | Callable[[search.Estimate], bool] = False,
    progress: Callable[[Phase], object] | None = None,
) -> Report:
    """What a raw table gives away. FOR THE OWNER ONLY: the report is exact, and not private.

    data          a path or glob of .csv or .parquet, duckdb:///file.db#table, or a frame of pandas, polars or Arrow
    columns       what others may know about people; left out, possible quasi-identifiers are chosen
    unit          the columns that tell one person from another, where a person may have several rows
    sensitive     columns that nobody should learn: l-diversity and homogeneous groups
    sums, by, p   a column whose sums by other columns are published: the p-percent rule
    contributor   the column that tells contributors of sums apart, where one may have several rows
    link, on      an outside table with names, and the columns that both have, or a mapping from here to there
    subsets       all sets of up to so many columns are tried; left out, up to three as long as that is quick
    memory        gigabytes that the engine may use, and as many for counting; the engine goes on on disk
    yes           True, or a function that is shown an estimate: whether to search for longer than five minutes
    progress      is told what is being done

    Missing values are alike, and so are all NaN; texts are compared letter by letter, fields of a CSV as texts.
    """
    _check(p, memory, subsets, (link, on), (sums, by, contributor))
    tell, limit = _telling(progress), float(memory) * GIGABYTE
    source, wanted = find_source(data), [_listed(each) for each in (columns, unit, sensitive, by)]
    pairs = _pairs(on)
    others = [name for name in (sums, contributor) if name is not None] + list(pairs)
    with database(limit) as engine:
        tell("reading the table", 0, 0)
        only = None if columns is None else [name for each in wanted for name in each] + others
        rows = open_rows(engine, source, "data", only)
        chosen, units, hidden, keys = (_unrepeated(rows.find(name) for name in each) for each in wanted)
        count = _count(rows)
        profiles = look(rows, count)
        chosen = chosen if columns is not None else list(choose(profiles, [*units, *hidden]))
        _check_apart(rows, chosen, units, hidden)
        tell("reading the columns", 0, 0)
        found, anonymity, of, left_out = _searched(encode(rows, chosen, units, count, limit), subsets, yes, tell)
        profiles = settle(profiles, chosen, found.all_sets, left_out)
        tell("comparing sensitive values, sums and other files", 0, 0)
        diverse = tuple(diversity(rows, chosen, name, units) for name in hidden)
        judged = _dominance(rows, sums, keys, contributor, float(p))
        linked = None if link is None else _linkage(rows, link, pairs, units, of)
    possible = [each for each in profiles if each.role == "quasi" and (each.most or 0) >= SUGGESTED]
    suggested = tuple(each.name for each in sorted(possible, key=lambda each: -(each.gain or 0)))
    return Report(
        source.label, count, tuple(units), of, tuple(chosen), found.size, found.all_sets, found.given, found.worst,
        anonymity, profiles, suggested, diverse, judged, linked,
        _notes(profiles, chosen, units, count, left_out, columns is None),
    )  # fmt: skip


def _check(p: float, memory: float, subsets: int | None, link: tuple[Any, Any], sums: tuple[Any, Any, Any]) -> None:
    checks.positive(p=p)
    checks.positive(memory=memory)
    if subsets is not None:
        checks.whole(1, subsets=subsets)
    if (link[0] is None) is not (link[1] is None):
        raise InvalidArgument(
            Phrase(Option("link"), " and ", Option("on"), " belong together; got one of them"),
            fix="give the file and the columns both have",
        )
    if sums[0] is None and sums[1:] != (None, None):
        raise InvalidArgument(
            Phrase(
                Option("by"), " and ", Option("contributor"), " belong to ", Option("sums"), "; got no ", Option("sums")
            ),
            fix="name the column that is added up",
        )


def _searched(
    coded: Coded, subsets: int | None, yes: bool | Callable[[search.Estimate], bool], tell: search.Tell
) -> tuple[search.Found, Anonymity, int, int]:
    """What the search found, the groups by all columns, how many there are and how many rows had no unit."""
    if not coded.of:
        raise InvalidArgument("the table must have rows with a unit; every row has none; check the unit's columns")
    size = search.choose_size(coded) if subsets is None else subsets
    search.confirm(search.estimate(coded, size), yes)
    found, whole = search.search(coded, size, tell)
    return found, _anonymity(whole, coded.names), coded.of, coded.left_out


def _listed(names: Names | None) -> list[str]:
    if names is None:
        return []
    listed = [names] if isinstance(names, str) else list(names)
    if not listed or not all(isinstance(name, str) for name in listed):
        raise InvalidArgument(f"names of columns must be texts; got {names!r}; for example ['age', 'zip']")
    return listed


def _pairs(on: Names | Mapping[str, str] | None) -> dict[str, str]:
    """The columns that link, here and there."""
    return dict(on) if isinstance(on, Mapping) else {name: name for name in _listed(on)}


def _unrepeated(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _count(rows: Rows) -> int:
    (count,) = rows.one(f"SELECT count(*) FROM {rows.sql}")
    if not count:
        raise InvalidArgument(f"{rows.label} must have rows; it has none; there is nothing to report")
    return int(count)


def _check_apart(rows: Rows, chosen: Sequence[str], units: Sequence[str], hidden: Sequence[str]) -> None:
    """What others know, whose rows they are, and what nobody should learn are different columns."""
    for name in chosen:
        if name in units or name in hidden:
            other = "unit" if name in units else "sensitive"
            raise InvalidArgument(
                f"{rows.label}: column {name!r} must be in columns or in {other}; got both; leave one"
            )
    if not chosen:
        raise InvalidArgument(
            f"{rows.label} must have columns that others may know; found direct identifiers alone",
            fix=Phrase("name them: ", Option("columns", ["age", "zip"])),
        )


def _anonymity(whole: Partition, columns: Sequence[str]) -> Anonymity:
    sizes, unique = whole.sizes, whole.uniqueness
    ranges = []
    for least, most in _SIZES:
        inside = sizes[(sizes >= least) & (sizes <= (most or np.inf))]
        alone = whole.closed if least == 1 else 0
        ranges.append((least, most, len(inside) + alone, int(inside.sum()) + alone))
    return Anonymity(tuple(columns), unique.smallest, unique.groups, unique.unique, tuple(ranges))


def _dominance(rows: Rows, sums: str | None, by: Sequence[str], contributor: str | None, p: float) -> Dominance | None:
    if sums is None:
        return None
    return dominance(rows, rows.find(sums), by, None if contributor is None else rows.find(contributor), p)


def _linkage(rows: Rows, link: object, pairs: Mapping[str, str], units: Sequence[str], of: int) -> Linkage:
    if not pairs:
        raise InvalidArgument(
            Phrase(Option("on"), " must name the columns that both have; got none"),
            fix=Phrase("for example ", Option("on", ["age", "zip"])),
        )
    outside = open_rows(rows.engine, find_source(link), "outside", list(pairs.values()))
    return linkage(rows, outside, {rows.find(here): outside.find(there) for here, there in pairs.items()}, units, of)


def _notes(
    profiles: Sequence[Profile], chosen: Sequence[str], units: Sequence[str], count: int, left_out: int, unasked: bool
) -> tuple[str, ...]:
    notes = []
    if count == 1:
        notes.append("The table has one row: whatever is known about it singles it out.")
    if left_out:
        notes.append(f"{left_out:,} rows have no {' or no '.join(units)} and are left out.")
    direct = [each.name for each in profiles if each.role == "identifier" and each.name not in units]
    named = [name for name in direct if name in chosen]
    if named:
        notes.append(f"Direct identifiers are among the columns: {', '.join(named)}. They single out on their own.")
    if unasked:
        notes.append("The columns were chosen by their names and values; name columns to say what others really know.")
    if unasked and (apart := [name for name in direct if name not in chosen]):
        notes.append(
            f"Direct identifiers are left out of the search: {', '.join(apart)}. Remove them from what is shared."
        )
    several = [each for each in profiles if names_a_person(each.name) and 1 < each.distinct < 0.95 * count]
    if several and not units:
        notes.append(
            f"{several[0].name} sounds like a person's number, and persons have several rows: give it as unit."
        )
    if unasked and sum(each.role in ("quasi", "not counted") for each in profiles) > MOST_COLUMNS:
        notes.append(f"The {MOST_COLUMNS} columns with most values were chosen; name others by columns.")
    return tuple(notes)


def _telling(progress: Callable[[Phase], object] | None) -> search.Tell:
    if progress is None:
        return lambda words, done, of: None
    if not callable(progress):
        raise InvalidArgument(f"progress must be callable with a phase; got {progress!r}; for example print")

    def tell(words: str, done: int, of: int) -> None:
        with contextlib.suppress(Exception):
            progress(Phase(words, done + 1, max(of, 1)))

    return tell
