"""Differencing: two answers about many people, whose difference is one person.

The kinds are the lectures': sums with and without one name; a published mean and a coalition of all but one; counts of
a group so small that it has one member; and a release that refuses small counts, whose refusal tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sfumato import checks
from sfumato.attacks.bound import EVEN, most_right
from sfumato.attacks.outcome import Outcome
from sfumato.attacks.settings import ASKING, MOST_ROWS, Settings, at_most
from sfumato.attacks.user_table import Own
from sfumato.attacks.world import Declared, Release, Rows, Tally, Values, in_digits, number, world
from sfumato.dataset.column import Column
from sfumato.dataset.column import column as declare
from sfumato.errors import InvalidArgument
from sfumato.plan.syntax.node import quoted, text_literal

Kind = Literal["sum", "mean", "count", "refusal"]
Number = float | None

STORIES: dict[str, str] = {
    "sum": "Hilda's neighbor may not see her income, but may ask for sums over the whole village. "
    "He asks for the sum of all incomes, and for the sum of all but Hilda's.",
    "mean": "The village publishes its mean income. All others put their incomes together and subtract.",
    "count": "Only one man of 21 took part in a survey about drugs. "
    "Somebody counts the men of 21, and those of them who took drugs.",
    "refusal": "A system refuses every count below five, so that nobody is found in a small group. "
    "Somebody asks how many people called Hilda took drugs: zero means no, so a refusal means yes.",
}
STOPPED = {
    "sum": "each sum has noise as large as one person's whole range of incomes, so the difference fits any income.",
    "mean": "the mean has noise as large as one person can move it, so what is left after subtracting fits any income.",
    "count": "a count of one has noise of several, so it may be nobody or ten, with and without the attribute.",
    "refusal": "whether the curator refuses follows from the question's text and from the ledger, never from the data.",
}
LOW, HIGH, OTHERS, PEOPLE, TRIALS, LEAST = 19_000, 119_000, 6_020_000, 120, 100, 5
_BOUNDS = (0, 200_000)


@dataclass(frozen=True, slots=True)
class _Case:
    """The table if the secret is the first of two, and if it is the second; the questions; and how to read answers."""

    tables: tuple[Values, Values]
    columns: dict[str, Column]
    questions: tuple[str, ...]
    secret: tuple[str, str]
    labels: tuple[str, ...]
    found: Callable[[Sequence[Number]], float]  # what the answers come to
    nearer: tuple[float, float]  # what it would be for either secret


def differencing(
    kind: Kind = "sum",
    *,
    people: int = PEOPLE,
    trials: int = TRIALS,
    data: object = None,
    column: str | None = None,
    name: str | None = None,
    target: object = None,
    bounds: tuple[checks.Number, checks.Number] | None = None,
    **options: Any,
) -> Outcome:
    """Tell one person's secret, one of two that are equally likely, from answers about many.

    kind     'sum', 'mean', 'count' or 'refusal'
    people   how many there are
    trials   how often it is played, each time with a new secret and a new curator
    data     a file or frame of your own, for 'sum' and 'mean'; then the secret is whether the `target`, a value of the
             column `name`, has its own value in `column` or the one that is farthest from it; `bounds` of the column
             are declared, as always

    The other options are those of `Settings`: epsilon, seed, confidence, patience, progress.
    """
    settings, count = Settings.read(options), checks.whole(1, trials=trials)
    if kind not in STORIES:
        raise InvalidArgument(f"kind must be one of {', '.join(STORIES)}; got {kind!r}; choose one")
    if data is None:
        case = _made_up(kind, at_most(MOST_ROWS, people=checks.whole(3, people=people)), settings)
    else:
        case = _own(kind, data, column, name, target, bounds)
    settings.allow(count * len(case.questions) * ASKING)
    return _play(kind, case, count, settings)


def _play(kind: Kind, case: _Case, trials: int, settings: Settings) -> Outcome:
    first = 0 if kind in ("sum", "mean") else 1  # is shown, and not counted, since no coin chose it
    coins = [first, *settings.chance("secrets", kind).below(2, trials).tolist()]
    exact, private, shown = Tally(), Tally(), list[list[Number]]()
    with ExitStack() as stack:
        declared = {"people": Declared(case.columns)}
        worlds = [stack.enter_context(world({"people": each}, declared)) for each in case.tables]
        for place, coin in enumerate(coins):
            raw: Release = worlds[coin].raw()
            guarded = worlds[coin].guarded(settings.budget, len(case.questions))
            for release, tally in ((Suppressed(raw) if kind == "refusal" else raw, exact), (guarded, private)):
                answers = [_only(release.ask(question)) for question in case.questions]
                if place == 0:
                    shown.append(answers)
                else:
                    tally.count(_guess(case, answers) == coin, release)
            settings.progress(place, trials)
    return Outcome(
        attack="differencing",
        story=STORIES[kind],
        measure="secrets told right",
        questions=case.questions,
        asked=trials * len(case.questions),
        raw=exact.side("raw release" if kind != "refusal" else "small counts refused", settings.sure),
        curator=private.side("curator", settings.sure),
        guessing=0.5,
        bound=most_right(settings.promise, "value", EVEN),
        about="value",
        guarantee=settings.promise,
        confidence=settings.sure,
        stopped=STOPPED[kind],
        seen=_seen(case, *shown),
    )


def _guess(case: _Case, answers: Sequence[Number]) -> int:
    found, (first, second) = case.found(answers), case.nearer
    return 0 if abs(found - first) <= abs(found - second) else 1


def _seen(case: _Case, raw: Sequence[Number], private: Sequence[Number]) -> tuple[tuple[str, str, str], ...]:
    both = [*zip(case.labels, raw, private, strict=False), (case.labels[-1], case.found(raw), case.found(private))]
    lines = [(label, in_digits(mine), in_digits(theirs)) for label, mine, theirs in both]
    mine, theirs = (case.secret[_guess(case, each)] for each in (raw, private))
    return (*lines, ("so the guess is", mine, theirs))


def _only(rows: Rows | None) -> Number:
    return number(rows, next(iter(rows[0]))) if rows else None


class Suppressed:
    """Exact counts, but for those that concern fewer than `LEAST` people: these are refused."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self.answered = self.repeated = self.refused = 0

    def ask(self, question: str) -> Rows | None:
        """Zero is told, since it concerns nobody."""
        rows = self._release.ask(question)
        if rows is not None and 0 < float(next(iter(rows[0].values()))) < LEAST:
            self.refused += 1
            return None
        self.answered += 1
        return rows


def _made_up(kind: Kind, people: int, settings: Settings) -> _Case:
    names = np.array(["Hilda", *(f"neighbor {i}" for i in range(1, people))], dtype=object)
    if kind in ("sum", "mean"):
        return _amounts(kind, "name", "income", names, _incomes(people, settings), (LOW, HIGH), _BOUNDS, "Hilda")
    took = np.where(settings.chance("drugs").shares(people) < 0.2, "yes", "no").astype(object)
    ages = 22 + settings.chance("ages").below(50, people)
    ages[0] = 21
    sexes = np.where(settings.chance("sexes").shares(people) < 0.5, "male", "female").astype(object)
    sexes[0] = "male" if kind == "count" else "female"
    base: dict[str, Any] = {"name": names, "age": ages, "sex": sexes}
    no, yes = ({**base, "drugs": np.array([said, *took[1:]], dtype=object)} for said in ("no", "yes"))
    tables = (no, yes)
    columns = {"drugs": declare(keys=["no", "yes"]), "sex": declare(keys=["female", "male"])}
    group = "age = 21 AND sex = 'male'" if kind == "count" else "name = 'Hilda'"
    took_question = f"SELECT COUNT(*) AS n FROM people WHERE {group} AND drugs = 'yes'"
    secret = ("no drugs", "drugs")
    if kind == "refusal":
        found = _refused_is_yes
        return _Case(tables, columns, (took_question,), secret, ("Hildas who took drugs", "so many"), found, (0, 1))
    questions = (f"SELECT COUNT(*) AS n FROM people WHERE {group}", took_question)
    labels = ("men of 21", "men of 21 who took drugs", "so many of them did")
    return _Case(tables, columns, questions, secret, labels, lambda answers: answers[1] or 0.0, (0, 1))


def _refused_is_yes(answers: Sequence[Number]) -> float:
    return 1.0 if answers[0] is None else answers[0]


def _incomes(people: int, settings: Settings) -> list[int]:
    """Those of all others, whose sum is 6,020,000 for 119 of them."""
    parts = 0.5 + settings.chance("incomes").shares(people - 1)
    total = round(OTHERS * (people - 1) / (PEOPLE - 1))
    found = np.floor(parts / parts.sum() * total).astype(int)
    found[: total - int(found.sum())] += 1
    return [int(each) for each in found]


def _amounts(
    kind: Kind,
    name: str,
    column: str,
    names: Any,
    others: Sequence[float],
    secrets: tuple[float, float],
    bounds: tuple[checks.Number, checks.Number],
    target: str,
    spell: Callable[[str], str] = str,
) -> _Case:
    """Sums or means of a column; the target is the first row."""
    first, second = ({name: names, column: np.array([each, *others], dtype=np.float64)} for each in secrets)
    tables, said = (first, second), (f"{secrets[0]:,.0f}", f"{secrets[1]:,.0f}")
    wanted, total, size = spell(column), float(sum(others)), 1 + len(others)
    columns = {column: declare(bounds=bounds)}
    if kind == "mean":
        mean_of, left = f"SELECT AVG({wanted}) AS mean FROM people", f"{size:,} times the mean, less all others"
        return _Case(
            tables, columns, (mean_of,), said, ("the mean", left), lambda a: size * (a[0] or 0.0) - total, secrets
        )
    whole = f"SELECT SUM({wanted}) AS total FROM people"
    without = f"{whole} WHERE {spell(name)} <> {text_literal(target)}"
    labels = ("the sum of all", f"the sum of all but {target}", "the difference")
    return _Case(tables, columns, (whole, without), said, labels, lambda a: (a[0] or 0.0) - (a[1] or 0.0), secrets)


def _own(
    kind: Kind,
    data: object,
    column: str | None,
    name: str | None,
    target: object,
    bounds: tuple[checks.Number, checks.Number] | None,
) -> _Case:
    if kind not in ("sum", "mean"):
        raise InvalidArgument(f"kind must be sum or mean with data of your own; got {kind!r}; choose one of them")
    own = Own.read(data, needs=3)
    amount, names = own.column(column, "column"), own.column(name, "name")
    if bounds is None:
        raise InvalidArgument(f"bounds must be declared for column {amount!r}; got none; for example 0 200000")
    wanted = own.value(names, target if target is not None else own.values(names)[0], "target")
    values = own.numbers(amount)
    places = [place for place, each in enumerate(own.values(names)) if each == wanted]
    if len(places) > 1:
        raise InvalidArgument(
            f"the target must have one row of {own.label}; got {len(places)} with {names!r} {wanted!r}; choose another"
        )
    mine = values.pop(places[0])
    texts = [str(each) for place, each in enumerate(own.values(names)) if place != places[0]]
    farthest = max(values, key=lambda each: abs(each - mine))
    if farthest == mine:
        raise InvalidArgument(f"column {amount!r} must have different values; got one only; choose another column")
    listed = np.array([str(wanted), *texts], dtype=object)
    return _amounts(kind, names, amount, listed, values, (mine, farthest), bounds, str(wanted), quoted)
