"""What each column is: the same everywhere, a name for somebody, or something that others may know.

constant      one value, which tells nothing
identifier    a direct identifier: (nearly) every value once, or a name such as email or person_id
quasi         a possible quasi-identifier: alone it names nobody, together with others it may
not counted   left out of the search, to be named by `columns`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sfumato.dataset.name import names_a_person
from sfumato.risk.partition import Uniqueness
from sfumato.risk.rows import Rows

Role = Literal["constant", "identifier", "quasi", "not counted"]

MOST_COLUMNS = 20  # that are chosen where nobody names any
NEARLY = 0.95  # of the values are different: a direct identifier
_ROUGHLY = 0.8  # from where an estimated number of values is counted exactly
_NAMES = re.compile(
    r"(^|_)(e?mail(_address)?|(tele)?phone(_?(number|no))?|mobile|ssn|passport|iban|surname|(first|last|full)_?name|"
    r"street|address|ip|ip_address|device_id|licen[cs]e_plate)$|^name$",
    re.IGNORECASE,
)
_EXACT = 1_000  # values up to which an estimate is replaced by a count
_AT_ONCE = 100  # columns in one pass


@dataclass(frozen=True, slots=True)
class Profile:
    """A column: its type in the source, its role, and how many different values it has, exactly where `is_exact`.

    unique   how many rows or units have a value that nobody else has; None where it was not counted
    gain     what it adds to the share of unique ones, on average over all sets that were tried
    most     what it adds to one of them at most
    """

    name: str
    type: str
    role: Role
    missing: int
    distinct: int
    is_exact: bool
    unique: int | None = None
    gain: float | None = None
    most: float | None = None


def look(rows: Rows, count: int) -> tuple[Profile, ...]:
    """All columns at a first look; numbers of different values are estimates where nothing depends on them."""
    found = []
    for start in range(0, len(rows.names), _AT_ONCE):
        names = rows.names[start : start + _AT_ONCE]
        asked = ", ".join(f"count({rows.own(name)}), approx_count_distinct({rows.own(name)})" for name in names)
        row = rows.one(f"SELECT {asked} FROM {rows.sql}")
        found += [_look(rows, name, count, *row[2 * i : 2 * i + 2]) for i, name in enumerate(names)]
    return tuple(found)


def _look(rows: Rows, name: str, count: int, present: int, distinct: int) -> Profile:
    is_exact = distinct <= _EXACT or distinct >= _ROUGHLY * present
    if is_exact:
        (distinct,) = rows.one(f"SELECT count(DISTINCT {rows.own(name)}) FROM {rows.sql}")
    values = distinct + (present < count)
    role: Role = "quasi"
    if values <= 1:
        role = "constant"
    elif names_a_person(name) or _NAMES.search(name) or (is_exact and present > 1 and distinct >= NEARLY * present):
        role = "identifier"
    return Profile(name, rows.types[name].split("(")[0].lower(), role, count - present, distinct, is_exact)


def choose(profiles: Sequence[Profile], apart: Sequence[str]) -> tuple[str, ...]:
    """The columns that are searched where nobody names any: possible quasi-identifiers, those with most values."""
    possible = [each for each in profiles if each.role == "quasi" and each.name not in apart]
    most = sorted(possible, key=lambda each: -each.distinct)[:MOST_COLUMNS]
    return tuple(each.name for each in possible if each in most)


def settle(profiles: Sequence[Profile], chosen: Sequence[str], all_sets: Sequence[Uniqueness]) -> tuple[Profile, ...]:
    """The profiles with what the search found of the columns in it."""
    shares = {frozenset(each.columns): each.share for each in all_sets}
    alone = {each.columns[0]: each for each in all_sets if len(each.columns) == 1}
    settled = []
    for each in profiles:
        if each.name not in chosen:
            settled.append(replace(each, role="not counted") if each.role == "quasi" else each)
            continue
        gains = [
            share - shares.get(columns - {each.name}, 0.0) for columns, share in shares.items() if each.name in columns
        ]
        single = alone[each.name]
        settled.append(
            replace(each, is_exact=True, unique=single.unique, gain=sum(gains) / len(gains), most=max(gains))
        )
    return tuple(settled)
