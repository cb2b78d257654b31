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
from sfumato.attacks.settings import ASKING, MOST_ROWS, Settings, at_most, making
from sfumato.attacks.simulation import Chance
from sfumato.attacks.user_table import Own
from sfumato.attacks.world import Declared, Release, Tally, in_digits, numbers, world
from sfumato.dataset.column import column as declare
from sfumato.errors import InvalidArgument
from sfumato.phrases import Option, Phrase
from sfumato.plan.syntax.node import quoted, text_literal

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
    targets: tuple[int, ...]  # rows of people who are in the list that has names
    names: tuple[str, ...]  # of them
    listed: int  # how many there are in the list
    spell: Callable[[str], str] = str


def linkage(
    patients: int = PATIENTS,
    *,
    trials: int = TRIALS,
    data: object = None,
    columns: Sequence[str] | str = (),
    secret: str | None = None,
    outside: object = None,
    name: str | None = None,
    **options: Any,
) -> Outcome:
    """Tell the diagnoses of people whose zip code, sex and birth date are known.

    patients   how many rows there are
    trials     about how many people it is tried, each time with a new curator
    data       a file or frame of your own; then `columns` are those that others may know as well, and `secret` the one
               that they want to know; people who are tried get secrets anew, drawn at random from all of the column, so
               that nothing but their own rows tells them: what zip codes say of illnesses, no promise hides
    outside    another file or frame that has these columns, and people by `name`; those are tried who are alone by them
               in both; without it all rows of `data` are

    The other options are those of `Settings`: epsilon, seed, confidence, patience, progress.
    """
    settings, count = Settings.read(options), checks.whole(1, trials=trials)
    if data is None:
        case = _made_up(at_most(MOST_ROWS, patients=checks.whole(2, patients=patients)), settings)
    else:
        case = _own(data, columns, secret, outside, name)
    settings.allow(count * ASKING)  # before so many rounds are drawn
    rounds = _rounds(case, count, settings.chance("targets"))
    settings.allow(count * ASKING + len(rounds) * making(len(case.columns[case.secret])))
    exact, private, shown, asked = Tally(), Tally(), list[list[float]](), list[str]()
    declared = {"patients": Declared({case.secret: declare(keys=case.keys)})}
    for turn, places in enumerate(rounds):
        secrets = _secrets(case, settings.chance("secrets", turn))
        with world({"patients": _table(case, secrets)}, declared) as made:
            for target in (case.targets[place] for place in places):
                asked.append(_question(case, target))
                for release, tally in ((made.raw(), exact), (made.guarded(settings.budget), private)):
                    found = _counts(release, asked[-1], case)
                    shown += [found] if len(asked) == 1 else []
                    tally.count(case.keys[int(np.argmax(found))] == secrets[target], release)
                settings.progress(len(asked), count)
    return Outcome(
        attack="linkage",
        story=STORY,
        measure="secrets told right",
        questions=tuple(asked[:2]),
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
        seen=_seen(case, case.names[rounds[0][0]], shown),
    )


def _rounds(case: _Case, count: int, chance: Chance) -> list[list[int]]:
    """Places of targets, `count` in all, in rounds with new secrets each.

    In a round no two targets are alike in what is known of them. So no two of its questions are about a same row, and
    guesses are independent of each other.
    """
    found: list[list[int]] = []
    while (left := count - sum(map(len, found))) > 0:
        alike: dict[tuple[str, ...], int] = {}
        for place in chance.order(len(case.targets)).tolist():
            if len(alike) == left:
                break
            alike.setdefault(tuple(case.columns[name][case.targets[place]] for name in case.known), place)
        found.append(list(alike.values()))
    return found


def _secrets(case: _Case, chance: Chance) -> list[str]:
    """The secrets of all rows, those of targets drawn as likely as they are believed to be."""
    secrets, ends = list(case.columns[case.secret]), np.cumsum(case.beliefs)[:-1]
    drawn = np.searchsorted(ends, chance.shares(len(case.targets)), side="right")
    for target, place in zip(case.targets, drawn.tolist(), strict=True):
        secrets[target] = case.keys[place]
    return secrets


def _table(case: _Case, secrets: list[str]) -> dict[str, Any]:
    return {name: np.array(each, dtype=object) for name, each in {**case.columns, case.secret: secrets}.items()}


def unique(columns: Sequence[Sequence[object]]) -> float:
    """The share of rows that no other row equals in these columns.

    >>> unique([["m", "m", "f"], [20, 20, 21]])
    0.3333333333333333
    """
    rows = list(zip(*columns, strict=True))
    times = Counter(rows)
    return sum(times[row] == 1 for row in rows) / len(rows)


def _seen(case: _Case, name: str, shown: Sequence[Sequence[float]]) -> tuple[tuple[str, str, str], ...]:
    found = f"{len(case.targets):,} of {case.listed:,}"
    lines = [("people of the list with names who have a row", found, "gives no rows")]
    for end in range(1, len(case.known) + 1):
        names = case.known[:end]
        share = unique([case.columns[name] for name in names])
        lines.append((f"rows that are alone by {', '.join(names)}", percent(share), "gives no rows"))
    for place, key in enumerate(case.keys):
        mine, theirs = (in_digits(side[place]) for side in shown)
        lines.append((f"rows like that of {name}, with {key}", mine, theirs))
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
    rows, names = tuple(range(patients)), tuple(f"voter {each}" for each in settings.chance("voters").order(patients))
    known = ("zip", "sex", "born")
    return _Case(columns, known, "diagnosis", beliefs, DIAGNOSES, rows, names, patients)


def _own(data: object, columns: Sequence[str] | str, secret: str | None, outside: object, name: str | None) -> _Case:
    own = Own.read(data, needs=2)
    wanted = own.column(secret, "secret")
    listed = [columns] if isinstance(columns, str) else list(columns)
    if not listed:
        raise InvalidArgument(
            Phrase(Option("columns"), " must name what others know; got none"), fix="for example zip, sex and born"
        )
    known = tuple(own.column(each, "columns") for each in listed)
    if wanted in known:
        raise InvalidArgument(f"secret must not be among the columns that others know; got {wanted!r}; leave it out")
    texts = {name: [str(each) for each in own.values(name)] for name in dict.fromkeys((*known, wanted))}
    times = Counter(texts[wanted])
    if len(times) < 2:
        raise InvalidArgument(f"column {wanted!r} must have different values; got one only; choose another column")
    beliefs = tuple(each / own.size for each in times.values())
    rows: tuple[int, ...] = tuple(range(own.size))
    names, many = tuple(f"row {1 + row}" for row in rows), own.size
    if outside is not None:
        other = Own.read(outside, needs=1)
        rows, names = _linked(
            other, other.column(name, "name"), known, list(zip(*(texts[c] for c in known), strict=True))
        )
        many = other.size
        if not rows:
            raise InvalidArgument(
                f"people of {other.label} must be alone by {', '.join(known)} in {own.label}; nobody is; "
                "name more columns"
            )
    return _Case(texts, known, wanted, beliefs, tuple(times), rows, names, many, quoted)


def _linked(
    other: Own, name: str, known: Sequence[str], rows: Sequence[tuple[str, ...]]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The rows, and the names for them, of those who are alone in both tables."""
    theirs = [other.values(other.column(each, "columns")) for each in known]
    listed = list(zip(*([str(value) for value in column] for column in theirs), strict=True))
    here, there, place = Counter(rows), Counter(listed), {row: i for i, row in enumerate(rows)}
    both = [(place[row], str(other.values(name)[i])) for i, row in enumerate(listed) if here[row] == 1 == there[row]]
    return tuple(row for row, _ in both), tuple(word for _, word in both)
