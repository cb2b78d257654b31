"""Membership: whether somebody is among the data, from nothing but how frequent many traits are in them.

Homer and others 2008; Dwork, Smith, Steinke, Ullman and Vadhan 2015. A person's own traits pull every frequency a
little toward them. Each pull is tiny, but a thousand of them add up: with d traits and n people among the data the two
cases are about sqrt(d / n) standard deviations apart.

The attacker estimates n from the counts and guesses each person by herself, inside if her pull is above the middle of
what it is on average inside and outside. To name a fixed number of people would make guesses depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.attacks.bound import most_right
from sfumato.attacks.outcome import Outcome
from sfumato.attacks.settings import Settings
from sfumato.attacks.simulation import Floats
from sfumato.attacks.user_table import Own
from sfumato.attacks.world import Declared, Release, Tally, numbers, world
from sfumato.dataset.column import column as declare
from sfumato.errors import InvalidArgument

STORY = (
    "A study of a disease publishes how frequent each of many genetic traits is among its patients, and nothing else. "
    "Somebody who has a drop of your blood compares it with these frequencies, and learns that you are one of them."
)
PEOPLE, TRAITS = 200, 1_000
QUESTION = "SELECT trait, COUNT(*) AS n FROM traits GROUP BY trait"
_MOST = 20_000_000  # traits of all people
_NEVER = 1e-12  # so that a trait that all have, or nobody, weighs something


def membership(
    people: int = PEOPLE,
    traits: int = TRAITS,
    *,
    data: object = None,
    columns: Sequence[str] | str = (),
    **options: Any,
) -> Outcome:
    """Tell of each person whether she is among the data, from the frequencies of traits alone.

    people   how many candidates there are; a coin decides for each whether she is among the data
    traits   how many traits each has or has not
    data     a file or frame of your own, one row a candidate; then a trait is a value in one of `columns`

    The other options are those of `Settings`: epsilon, seed, confidence, patience, progress.
    """
    settings = Settings.read(options)
    has, frequent, most = _made_up(people, traits, settings) if data is None else _own(data, columns)
    share = 0.0 if data is None else 1 / len(has)  # of a candidate in the frequencies of all
    count, many = has.shape
    settings.allow(0.2 + count * many * 2e-6)
    inside = settings.chance("members").below(2, count).astype(bool)
    who, what = np.nonzero(has[inside])
    declared = Declared({"trait": declare(keys=range(many))}, unit="person", max_rows_per_unit=most)
    with world({"traits": {"person": who, "trait": what}}, {"traits": declared}) as made:
        raw, guarded = made.raw(), made.guarded(settings.budget)
        counts = [_counts(each, many) for each in (raw, guarded)]
    settings.progress(2, 2)
    guessed = [guesses(has, frequent, each, share) for each in counts]
    tallies = _tally(guessed[0], inside, raw), _tally(guessed[1], inside, guarded)
    found = [each / _members(has, frequent, each) for each in counts]
    off, far = (f"{100 * float(np.mean(np.abs(each - frequent))):,.1f} points" for each in found)
    return Outcome(
        attack="membership",
        story=STORY,
        measure="memberships told right",
        questions=(QUESTION,),
        asked=1,
        raw=tallies[0].side("raw release", settings.sure),
        curator=tallies[1].side("curator", settings.sure),
        guessing=0.5,
        bound=most_right(settings.promise, "membership"),
        about="membership",
        guarantee=settings.promise,
        confidence=settings.sure,
        stopped=(
            f"one person may have {most:,} traits and so move as many counts, and the noise hides all of these moves "
            "together, not each by itself."
        ),
        seen=(("how far a frequency is off that of all people", off, far),),
    )


def guesses(has: NDArray[np.bool_], frequent: Floats, counts: Floats, share: float) -> NDArray[np.bool_]:
    """Who is inside: toward whose traits the counts are pulled; rare traits tell more, so they weigh more.

    A member pulls by 1 / members. If the candidates' own frequencies are compared with, each of them has pulled those
    by `share` already.
    """
    off, members = has - frequent, _members(has, frequent, counts)
    weights = 1 / np.maximum(frequent * (1 - frequent), _NEVER)
    pulls, own = off @ ((counts / members - frequent) * weights), off**2 @ weights
    return np.asarray(pulls > own * (1 / members - 2 * share) / 2, dtype=np.bool_)


def _members(has: NDArray[np.bool_], frequent: Floats, counts: Floats) -> float:
    """About how many are inside, as the counts have it."""
    return min(max(float(counts.sum() / frequent.sum()), 1.0), float(len(has)))


def _tally(guessed: NDArray[np.bool_], inside: NDArray[np.bool_], release: Release) -> Tally:
    tally = Tally()
    for guess, truth in zip(guessed, inside, strict=True):
        tally.count(bool(guess == truth))
    tally.add(release)
    return tally


def _counts(release: Release, many: int) -> Floats:
    found = numbers(release.ask(QUESTION), "trait", "n", range(many))
    return np.array(found if found is not None else [0.0] * many)


def _made_up(people: int, traits: int, settings: Settings) -> tuple[NDArray[np.bool_], Floats, int]:
    count, many = checks.whole(2, people=people), checks.whole(1, traits=traits)
    _check_size(count, many)
    frequent = 0.1 + 0.8 * settings.chance("frequencies").shares(many)
    return settings.chance("traits").shares(count * many).reshape(count, many) < frequent, frequent, many


def _own(data: object, columns: Sequence[str] | str) -> tuple[NDArray[np.bool_], Floats, int]:
    own = Own.read(data, needs=10)
    listed = [own.column(each, "columns") for each in _listed(columns)] or list(own.columns)
    texts = {name: np.array([str(each) for each in own.values(name)], dtype=object) for name in listed}
    traits = [(name, value) for name, values in texts.items() for value in dict.fromkeys(values)]
    _check_size(own.size, len(traits))
    has = np.array([texts[name] == value for name, value in traits], dtype=bool).T
    return has, has.mean(axis=0), len(texts)  # each has one value in a column


def _check_size(people: int, traits: int) -> None:
    if people * traits > _MOST:
        raise InvalidArgument(f"people times traits must be at most {_MOST:,}; got {people * traits:,}; take fewer")


def _listed(columns: Sequence[str] | str) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)
