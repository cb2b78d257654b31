"""Intersection: two tables that are each k-anonymous, and one person who is in both.

Ganta, Kasiviswanathan and Smith 2008. In each table she hides among k rows; the conditions that are possible in both
are few. Differential privacy composes instead: what two releases give away is at most the sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato import checks
from sfumato.attacks.bound import most_right
from sfumato.attacks.outcome import Outcome
from sfumato.attacks.settings import ASKING, Settings, making
from sfumato.attacks.user_table import Own
from sfumato.attacks.world import Declared, Release, Tally, in_digits, numbers, world
from sfumato.dataset.column import column as declare
from sfumato.errors import InvalidArgument
from sfumato.phrases import Option, Phrase
from sfumato.plan.syntax.node import quoted, text_literal

STORY = (
    "Alice, 28, from zip code 13012, was in two hospitals, and each publishes its patients so that nobody is alone: "
    "in groups of four here, of six there. Somebody who knows this looks for what her two groups have in common."
)
_A = ("AIDS", "heart disease", "viral infection", "viral infection")
_A_OLD = ("cancer", "heart disease", "viral infection", "viral infection")
_B = ("AIDS", "tuberculosis", "flu", "tuberculosis", "cancer", "cancer")
_B_OLD = ("cancer", "cancer", "cancer", "tuberculosis", "viral infection", "viral infection")
# The lectures' tables: zip, age and condition; the first row of each is Alice's.
HOSPITAL_A: tuple[tuple[str, str, str], ...] = (
    *(("130**", "<30", each) for each in _A),
    *(("130**", ">40", each) for each in _A_OLD),
    *(("130**", "3*", "cancer") for _ in range(4)),
)
HOSPITAL_B: tuple[tuple[str, str, str], ...] = (
    *(("130**", "<35", each) for each in _B),
    *(("130**", ">35", each) for each in _B_OLD),
)
CONDITIONS = tuple(dict.fromkeys(each for *_, each in (*HOSPITAL_A, *HOSPITAL_B)))
TRIALS = 100
_ALONE = (("all who are in their thirties, in one table alone", "cancer, all four", "never asked"),)  # homogeneity


@dataclass(frozen=True, slots=True)
class _Part:
    """One of the tables: its columns as texts, the row of whom it is about, the secret, and the group she is in."""

    columns: dict[str, list[str]]
    row: int
    secret: str
    where: str
    spell: Callable[[str], str] = str

    def having(self, condition: str) -> dict[str, Any]:
        """The table, if this is her condition."""
        values = {**self.columns, self.secret: list(self.columns[self.secret])}
        values[self.secret][self.row] = condition
        return {name: np.array(each, dtype=object) for name, each in values.items()}

    def question(self, table: str) -> str:
        """What there is in her group."""
        secret = self.spell(self.secret)
        return f"SELECT {secret}, COUNT(*) AS n FROM {table} WHERE {self.where} GROUP BY {secret}"


def intersection(
    *,
    trials: int = TRIALS,
    data: object = None,
    other: object = None,
    secret: str | None = None,
    group: Mapping[str, object] | None = None,
    other_group: Mapping[str, object] | None = None,
    **options: Any,
) -> Outcome:
    """Tell the condition of a person who is in two tables, from the groups in which she hides.

    trials        how often it is played, each time with a new condition and a new curator
    data, other   two files or frames of your own; `secret` is the column that both have, `group` and `other_group` say
                  in which group the person is, for example {'age': '<30'}; she is one more row there, with any
                  condition

    One curator answers for both tables, and each gets half of epsilon. The other options are those of `Settings`:
    epsilon, seed, confidence, patience, progress.
    """
    settings, count = Settings.read(options), checks.whole(1, trials=trials)
    parts = _lectures() if data is None and other is None else _own(data, other, secret, group, other_group)
    keys = tuple(dict.fromkeys(each for part in parts for each in part.columns[part.secret]))
    rows = sum(len(part.columns[part.secret]) for part in parts)
    settings.allow(2 * count * ASKING + min(count, len(keys)) * making(rows))
    first = keys.index(parts[0].columns[parts[0].secret][parts[0].row])  # is shown, and not counted: nobody drew it
    drawn = [first, *settings.chance("conditions").below(len(keys), count).tolist()]
    exact, private, shown = Tally(), Tally(), list[list[list[float]]]()
    questions = tuple(part.question(name) for part, name in zip(parts, ("a", "b"), strict=True))
    declared = {n: Declared({p.secret: declare(keys=keys)}) for p, n in zip(parts, ("a", "b"), strict=True)}
    with ExitStack() as stack:
        worlds = {
            each: stack.enter_context(
                world({"a": parts[0].having(keys[each]), "b": parts[1].having(keys[each])}, declared)
            )
            for each in sorted(set(drawn))
        }
        for place, truth in enumerate(drawn):
            for release, tally in (
                (worlds[truth].raw(), exact),
                (worlds[truth].guarded(settings.budget, 2), private),
            ):
                found = [_counts(release, q, p.secret, keys) for q, p in zip(questions, parts, strict=True)]
                if place == 0:
                    shown.append(found)
                else:
                    tally.count(_guess(found) == truth, release)
            settings.progress(place, count)
    return Outcome(
        attack="intersection",
        story=STORY,
        measure="conditions told right",
        questions=questions,
        asked=2 * count,
        raw=exact.side("two k-anonymous tables", settings.sure),
        curator=private.side("curator", settings.sure),
        guessing=1 / len(keys),
        bound=most_right(settings.promise, "value", (1 / len(keys),) * len(keys)),
        about="value",
        guarantee=settings.promise,
        confidence=settings.sure,
        stopped=(
            "promises add up: both tables share one budget, and two answers give away no more than their sum says, "
            "whoever is in both. Being one of k and being one of k do not add up."
        ),
        seen=(*_seen(keys, shown), *(_ALONE if data is None else ())),
    )


def candidates(*tables: Sequence[str]) -> tuple[str, ...]:
    """What is possible in every group: the conditions that all of them have.

    >>> candidates(_A, _B)
    ('AIDS',)
    """
    return tuple(each for each in dict.fromkeys(tables[0]) if all(each in other for other in tables[1:]))


def anonymity(rows: Sequence[Sequence[str]]) -> int:
    """The k of a table whose last column is the secret: the size of its smallest group.

    >>> anonymity(HOSPITAL_A), anonymity(HOSPITAL_B)
    (4, 6)
    """
    return min(Counter(tuple(row[:-1]) for row in rows).values())


def _guess(found: Sequence[Sequence[float]]) -> int:
    """What seems to be there in both groups: the condition whose smaller count is largest."""
    return int(np.argmax(np.min(np.array(found), axis=0)))


def _counts(release: Release, question: str, secret: str, keys: Sequence[str]) -> list[float]:
    return numbers(release.ask(question), secret, "n", keys) or [0.0] * len(keys)


def _seen(keys: Sequence[str], shown: Sequence[Sequence[Sequence[float]]]) -> tuple[tuple[str, str, str], ...]:
    lines = []
    for place, key in enumerate(keys):
        mine, theirs = (" and ".join(in_digits(table[place]) for table in side) for side in shown)
        lines.append((f"{key}, in her two groups", mine, theirs))
    left = [[key for place, key in enumerate(keys) if min(table[place] for table in side) > 0.5] for side in shown]
    mine, theirs = (", ".join(each) or "nothing" for each in left)
    lines.append(("possible in both", mine, theirs))
    return tuple(lines)


def _lectures() -> tuple[_Part, _Part]:
    found = []
    for rows, age in ((HOSPITAL_A, "<30"), (HOSPITAL_B, "<35")):
        columns = {name: [row[place] for row in rows] for place, name in enumerate(("zip", "age", "condition"))}
        found.append(_Part(columns, 0, "condition", f"zip = '130**' AND age = '{age}'"))
    return found[0], found[1]


def _own(
    data: object,
    other: object,
    secret: str | None,
    group: Mapping[str, object] | None,
    other_group: Mapping[str, object] | None,
) -> tuple[_Part, _Part]:
    if data is None or other is None:
        raise InvalidArgument(
            "two tables must be given; got one", fix=Phrase("give both: ", Option("data"), " and ", Option("other"))
        )
    return _own_part(data, secret, group, "group"), _own_part(other, secret, other_group, "other_group")


def _own_part(data: object, secret: str | None, group: Mapping[str, object] | None, option: str) -> _Part:
    own = Own.read(data, needs=2)
    wanted = own.column(secret, "secret")
    if not group:
        raise InvalidArgument(
            Phrase(Option(option), f" must say in which group of {own.label} the person is; got none"),
            fix="name a column",
        )
    known = {own.column(name, option): str(value) for name, value in group.items()}
    columns = {name: [str(each) for each in own.values(name)] for name in own.columns}
    inside = [i for i in range(own.size) if all(columns[name][i] == value for name, value in known.items())]
    if not inside:
        said = ", ".join(f"{name} {value!r}" for name, value in known.items())
        raise InvalidArgument(f"{option} must be a group of {own.label}; nobody there has {said}; name another")
    for values in columns.values():
        values.append(values[inside[0]])
    where = " AND ".join(f"{quoted(name)} = {text_literal(value)}" for name, value in known.items())
    return _Part(columns, own.size, wanted, where, quoted)
