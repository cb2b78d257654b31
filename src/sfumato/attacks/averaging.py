"""Averaging: the same question again and again, so that noise which is new each time averages out.

The mean of m answers has an error that falls as 1 / sqrt(m). A curator that remembers gives the same answer to the same
question, and charges the same question in other words until nothing is left.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.attacks.bound import most_right
from sfumato.attacks.outcome import Outcome, Side
from sfumato.attacks.settings import ASKING, MOST_ROWS, Settings, at_most
from sfumato.attacks.simulation import Chance, Floats, Integers
from sfumato.attacks.user_table import Own
from sfumato.attacks.world import Declared, Release, Rows, Tally, numbers, world
from sfumato.charts import Point
from sfumato.dataset.column import column as declare
from sfumato.errors import InvalidArgument
from sfumato.plan.syntax.node import quoted

STORY = (
    "A system adds noise to every count, new noise each time, and keeps no account. "
    "Somebody who knows all others of a village asks again and again, and sees in the mean if one more is there."
)
REPEATS, VILLAGES, SIZE = 200, 500, 20


def averaging(
    repeats: int = REPEATS,
    *,
    villages: int = VILLAGES,
    data: object = None,
    column: str | None = None,
    **options: Any,
) -> Outcome:
    """Tell in each of many villages whether one more person is counted, from the mean of repeated answers.

    repeats    how often the question is asked: half of the times in the same words, half in other words each time
    villages   in how many villages at once, since a count by village costs no more than one count
    data       a file or frame of your own, one row a person; then villages are the values of `column`

    The other options are those of `Settings`: epsilon, seed, confidence, patience, progress.
    """
    settings, count = Settings.read(options), checks.whole(1, repeats=repeats)
    places: list[Any]
    if data is None:
        many = at_most(MOST_ROWS // SIZE, villages=checks.whole(1, villages=villages))
        places, name = np.repeat(np.arange(many), SIZE).tolist(), "village"
    else:
        own = Own.read(data, needs=2)
        name = own.column(column, "column")
        places = [str(each) for each in own.values(name) if each is not None]
        if not places:
            raise InvalidArgument(f"column {name!r} of {own.label} must have values; got none; choose another column")
    keys = list(dict.fromkeys(places))
    settings.allow(count * (ASKING + 5e-5 * len(keys)))
    here = settings.chance("members").below(2, len(keys)).astype(bool)
    table, known = _without_some(places, keys, here)
    questions = _questions(name if data is None else quoted(name), count)
    with world({"people": {name: table}}, {"people": Declared({name: declare(keys=keys)})}) as made:
        guarded = made.guarded(settings.budget)
        naive = Fresh(made.raw(), 1 / float(settings.budget), settings.chance("noise"))
        raw = _collect(naive, questions, name, keys, settings, 0)
        private = _collect(guarded, questions, name, keys, settings, 1)
    truth = known + here
    sides = (
        _side("no ledger, new noise", raw, known, here, naive, settings),
        _side("curator", private, known, here, guarded, settings),
    )
    return _outcome(settings, questions, sides, guarded.repeated, _curve(raw, private, truth, settings))


def _outcome(
    settings: Settings, questions: Sequence[str], sides: Sequence[Side], repeated: int, curve: tuple[Point, ...]
) -> Outcome:
    return Outcome(
        attack="averaging",
        story=STORY,
        measure="memberships told right",
        questions=(questions[0], questions[-1]),
        asked=len(questions),
        raw=sides[0],
        curator=sides[1],
        guessing=0.5,
        bound=most_right(settings.promise, "membership"),
        about="membership",
        guarantee=settings.promise,
        confidence=settings.sure,
        stopped=(
            f"the same question gets the stored answer ({repeated:,} times here), which tells nothing new; in other "
            f"words it is charged again, and once epsilon {float(settings.budget):g} is spent it is refused."
        ),
        curve=curve,
    )


def _without_some(places: Sequence[Any], keys: Sequence[Any], here: Any) -> tuple[Any, Integers]:
    """The rows without the last person of those villages where she is not counted; and how many others there are."""
    last = {each: place for place, each in enumerate(places)}
    gone = {last[key] for key, stays in zip(keys, here, strict=True) if not stays}
    kept = [each for place, each in enumerate(places) if place not in gone]
    if not kept:
        raise InvalidArgument(f"villages must have several people each; got {len(places)} rows in all; take other data")
    times = Counter(places)
    sizes = np.array([times[key] - 1 for key in keys], dtype=np.int64)
    return np.array(kept, dtype=np.int64 if isinstance(keys[0], int) else object), sizes


def _questions(name: str, count: int) -> list[str]:
    """Half of them in the same words, half in others."""
    what, by = f"SELECT {name}, COUNT(*) AS n FROM people", f"GROUP BY {name}"
    same = math.ceil(count / 2)
    return [f"{what} {by}"] * same + [f"{what} WHERE {i} = {i} {by}" for i in range(1, count - same + 1)]


class Fresh:
    """Counts with new Laplace noise each time, and no account: what a system does that knows the noise only."""

    def __init__(self, release: Release, scale: float, chance: Chance) -> None:
        self._release, self._scale, self._chance = release, scale, chance
        self.answered = self.repeated = self.refused = 0

    def ask(self, question: str) -> Rows | None:
        """The exact counts, each with its noise."""
        rows = sorted(self._release.ask(question) or [], key=lambda row: str(next(iter(row.values()))))
        self.answered += 1
        noise = self._chance.laplace(self._scale, len(rows))
        return [{**row, "n": row["n"] + each} for row, each in zip(rows, noise, strict=True)]


def _collect(
    release: Release, questions: Sequence[str], name: str, keys: Sequence[Any], settings: Settings, before: int
) -> Floats:
    """The answers in order, a row each; refused ones are left out."""
    found = []
    for place, question in enumerate(questions):
        answer = numbers(release.ask(question), name, "n", keys)
        found += [] if answer is None else [answer]
        settings.progress(before * len(questions) + place + 1, 2 * len(questions))
    return np.array(found, dtype=np.float64)


def _side(name: str, answers: Floats, known: Integers, here: Any, release: Release, settings: Settings) -> Side:
    guesses = answers.mean(axis=0) - known > 0.5
    tally = Tally()
    for guess, truth in zip(guesses, here, strict=True):
        tally.count(bool(guess == truth))
    tally.add(release)
    return tally.side(name, settings.sure)


def _curve(raw: Floats, private: Floats, truth: Integers, settings: Settings) -> tuple[Point, ...]:
    """The root mean square error of the mean of the first m answers, with two standard errors over the villages."""
    found = []
    one = math.sqrt(2) / float(settings.budget)
    for series, answers in (("no ledger", raw), ("curator", private)):
        sizes = [2**i for i in range(20) if 2**i <= len(raw)]
        for m in sizes:
            squares = (answers[:m].mean(axis=0) - truth) ** 2
            middle, error = float(squares.mean()), 2 * float(squares.std()) / math.sqrt(len(squares))
            low, high = math.sqrt(max(middle - error, middle / 100)), math.sqrt(middle + error)
            found.append(Point(m, math.sqrt(middle), low, high, series))
            if series == "no ledger":
                law = one / math.sqrt(m)
                found.append(Point(m, law, law, law, "1 / √m"))
    return tuple(found)
