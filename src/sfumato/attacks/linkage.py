"""Linkage: rows without names, joined by what they keep with a list that has names.

Sweeney 2000: birth date, sex and zip code single out most people, and the list of voters has all three.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.attacks.bound import most_right
from sfumato.attacks.outcome import Outcome, percent
from sfumato.attacks.own import Own
from sfumato.attacks.settings import ASKING, Settings
from sfumato.attacks.world import Declared, Release, Tally, in_digits, numbers, world
from sfumato.dataset.column import column as declare
from sfumato.errors import InvalidArgument
from sfumato.plan.node import quoted, text_literal

STORY = (
    "A hospital gives diagnoses to research without names, but with zip code, sex and birth date. "
    "Somebody looks up in the list of voters who lives there and was born on that day."
)
PATIENTS, TRIALS = 300, 100
DIAGNOSES = ("asthma", "diabetes", "flu", "hepatitis")
_FIRST = datetime.date(1940, 1, 1)


@dataclass(frozen=True, slots=True)
class _Case:
    """The rows as texts by column, which columns an outsider knows too, and which one is the secret."""

    columns: dict[str, list[str]]
    known: tuple[str, ...]
    secret: str
    beliefs: tuple[float, ...]
    keys: tuple[str, ...]
    spell: Callable[[str], str] = str


def linkage(
    patients: int = PATIENTS,
    *,
    trials: int = TRIALS,
    data: object = None,
    columns: Sequence[str] | str = (),
    secret: str | None = None,
    **options: Any,
) -> Outcome:
    """Tell the diagnoses of people whose zip code, sex and birth date are known.

    patients   how many rows there are
    trials     about how many people it is tried, each time with a new curator
    data       a file or frame of your own; then `columns` are those that others may know as well, and `secret` the one
               that they want to know

    The other options are those of `Settings`: epsilon, seed, confidence, patience, progress.
    """
    settings, count = Settings.read(options), checks.whole(1, trials=trials)
    case = _made_up(checks.whole(2, patients=patients), settings) if data is None else _own(data, columns, secret)
    size = len(case.columns[case.secret])
    settings.allow(count * ASKING)
    targets = settings.chance("targets").below(size, count)
    exact, private, shown = Tally(), Tally(), list[list[float]]()
    tables = {"patients": {name: np.array(values, dtype=object) for name, values in case.columns.items()}}
    declared = {"patients": Declared({case.secret: declare(keys=case.keys)})}
    questions = [_question(case, int(target)) for target in targets]
    with world(tables, declared) as made:
        for place, (target, question) in enumerate(zip(targets, questions, strict=True)):
            for release, tally in ((made.raw(), exact), (made.guarded(settings.allowance), private)):
                found = _counts(release, question, case)
                shown += [found] if place == 0 else []
                tally.count(case.keys[int(np.argmax(found))] == case.columns[case.secret][target], release)
            settings.progress(place + 1, count)
    return Outcome(
        attack="linkage",
        story=STORY,
        measure="secrets told right",
        questions=tuple(questions[:2]),
        asked=count,
        raw=exact.side("raw release", settings.sure),
        curator=private.side("curator", settings.sure),
        guessing=max(case.beliefs),
        bound=most_right(settings.promise, "value", case.beliefs),
        about="value",
        guarantee=settings.promise,
        confidence=settings.sure,
        stopped=(
            f"the curator gives no rows, only counts with noise; whoever asks about a group of one gets "
            f"{len(case.keys)} numbers that would look much the same without this person."
        ),
        seen=_seen(case, shown),
    )


def unique(columns: Sequence[Sequence[object]]) -> float:
    """The share of rows that no other row equals in these columns.

    >>> unique([["m", "m", "f"], [20, 20, 21]])
    0.3333333333333333
    """
    rows = list(zip(*columns, strict=True))
    times = Counter(rows)
    return sum(times[row] == 1 for row in rows) / len(rows)


def _seen(case: _Case, shown: Sequence[Sequence[float]]) -> tuple[tuple[str, str, str], ...]:
    lines = []
    for end in range(1, len(case.known) + 1):
        names = case.known[:end]
        share = unique([case.columns[name] for name in names])
        lines.append((f"rows that are alone by {', '.join(names)}", percent(share), "gives no rows"))
    for place, key in enumerate(case.keys):
        mine, theirs = (in_digits(side[place]) for side in shown)
        lines.append((f"rows like the first target's, with {key}", mine, theirs))
    return tuple(lines)


def _counts(release: Release, question: str, case: _Case) -> list[float]:
    return numbers(release.ask(question), case.secret, "n", case.keys) or [0.0] * len(case.keys)


def _question(case: _Case, target: int) -> str:
    known = " AND ".join(f"{case.spell(name)} = {text_literal(case.columns[name][target])}" for name in case.known)
    secret = case.spell(case.secret)
    return f"SELECT {secret}, COUNT(*) AS n FROM patients WHERE {known} GROUP BY {secret}"


def _made_up(patients: int, settings: Settings) -> _Case:
    zips = [f"130{each:02d}" for each in settings.chance("zips").below(20, patients)]
    sexes = [("female", "male")[each] for each in settings.chance("sexes").below(2, patients)]
    days = settings.chance("births").below(365 * 60, patients)
    births = [str(_FIRST + datetime.timedelta(days=int(each))) for each in days]
    ill = [DIAGNOSES[each] for each in settings.chance("diagnoses").below(len(DIAGNOSES), patients)]
    columns = {"zip": zips, "sex": sexes, "born": births, "diagnosis": ill}
    beliefs = (1 / len(DIAGNOSES),) * len(DIAGNOSES)
    return _Case(columns, ("zip", "sex", "born"), "diagnosis", beliefs, DIAGNOSES)


def _own(data: object, columns: Sequence[str] | str, secret: str | None) -> _Case:
    own = Own.read(data, needs=2)
    wanted = own.column(secret, "secret")
    listed = [columns] if isinstance(columns, str) else list(columns)
    if not listed:
        raise InvalidArgument("columns must name what others know; got none; for example zip, sex and born")
    known = tuple(own.column(each, "columns") for each in listed)
    if wanted in known:
        raise InvalidArgument(f"secret must not be among the columns that others know; got {wanted!r}; leave it out")
    texts = {name: [str(each) for each in own.values(name)] for name in dict.fromkeys((*known, wanted))}
    times = Counter(texts[wanted])
    if len(times) < 2:
        raise InvalidArgument(f"column {wanted!r} must have different values; got one only; choose another column")
    beliefs = tuple(each / own.size for each in times.values())
    return _Case(texts, known, wanted, beliefs, tuple(times), quoted)
