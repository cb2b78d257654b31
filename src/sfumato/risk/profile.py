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

from sfumato.risk.counting.partition import Uniqueness
from sfumato.risk.counting.rows import Rows
from sfumato.suggestions import names_a_person

Role = Literal["constant", "identifier", "quasi", "not counted"]

MOST_COLUMNS = 20  # that are chosen where nobody names any
NEARLY = 0.95  # of the values are different: a direct identifier
_ROUGHLY = 0.8  # from where an estimated number of values is counted exactly
_NAMES = re.compile(
    r"(^|_)(e?mail(_address)?|(tele)?phone(_?(number|no))?|mobile|ssn|passport|iban|surname|(first|last|full)_?name|"
    r"street|address|ip|ip_address|device_id|licen[cs]e_plate)$|^name$",
    re.IGNORECASE,
)
_EXACT = 2  # values up to which an estimate is replaced by a count: is it one?
_AT_ONCE = 500  # aggregates in one pass, and of those that need memory a twentieth


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
    roughly = _counted(rows, rows.names, "count({0})", "approx_count_distinct({0})")
    counted = [name for name, (present, some) in roughly.items() if some <= _EXACT or some >= _ROUGHLY * present]
    exactly = _counted(rows, counted, "count(DISTINCT {0})")
    found = []
    for name, (present, some) in roughly.items():
        distinct = exactly[name][0] if name in exactly else some
        role = _role(name, distinct, present, count, name in exactly)
        type = rows.types[name].split("(")[0].lower()
        found.append(Profile(name, type, role, count - present, distinct, name in exactly))
    return tuple(found)


def _counted(rows: Rows, names: Sequence[str], *forms: str) -> dict[str, tuple[int, ...]]:
    """What aggregates say of columns, many of them in one pass."""
    found: dict[str, tuple[int, ...]] = {}
    step = _AT_ONCE // (20 if "DISTINCT" in forms[0] else 1)
    for start in range(0, len(names), step):
        some = names[start : start + step]
        asked = ", ".join(form.format(rows.own(name)) for name in some for form in forms)
        row = rows.one(f"SELECT {asked} FROM {rows.sql}")
        width = len(forms)
        found |= {name: row[place * width : (place + 1) * width] for place, name in enumerate(some)}
    return found


def _role(name: str, distinct: int, present: int, count: int, is_exact: bool) -> Role:
    if distinct + (present < count) <= 1:
        return "constant"
    is_alone = is_exact and present > 1 and distinct >= NEARLY * present
    return "identifier" if is_alone or names_a_person(name) or _NAMES.search(name) else "quasi"


def choose(profiles: Sequence[Profile], apart: Sequence[str]) -> tuple[str, ...]:
    """The columns that are searched where nobody names any: possible quasi-identifiers, those with most values."""
    possible = [each for each in profiles if each.role == "quasi" and each.name not in apart]
    if not possible:  # one row, or one value everywhere: then what there is
        possible = [each for each in profiles if each.role == "constant" and each.name not in apart]
    most = sorted(possible, key=lambda each: -each.distinct)[:MOST_COLUMNS]
    return tuple(each.name for each in possible if each in most)


def settle(
    profiles: Sequence[Profile], chosen: Sequence[str], all_sets: Sequence[Uniqueness], left_out: int
) -> tuple[Profile, ...]:
    """The profiles with what the search found of the columns in it; it saw all values if no row was left out."""
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
        gained = replace(each, unique=single.unique, gain=sum(gains) / len(gains), most=max(gains))
        distinct = single.groups - bool(each.missing)
        settled.append(gained if left_out else replace(gained, distinct=distinct, is_exact=True))
    return tuple(settled)
