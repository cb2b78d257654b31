"""Reconstruction: a secret yes or no of everybody, from many counts of any people that are each slightly wrong.

Dinur and Nissim 2003: if every count of a subset is off by less than about the square root of the number of people, the
secret of nearly all of them follows, by least squares or by a linear program. That is the fundamental law: too accurate
answers to too many questions destroy privacy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato import checks
from sfumato.attacks.bound import most_right
from sfumato.attacks.outcome import Outcome, Side
from sfumato.attacks.settings import ASKING, Settings
from sfumato.attacks.simulation import Chance, Floats, Integers
from sfumato.attacks.user_table import Own
from sfumato.attacks.world import Declared, Release, number, world
from sfumato.dataset.column import column as declare
from sfumato.errors import InvalidArgument
from sfumato.phrases import Option, Phrase

Method = Literal["least-squares", "linear-program"]
Noise = tuple[Literal["uniform", "gaussian", "laplace"], float]

STORY = (
    "A registry gives no names, only how many of any group of its people have a disease, and blurs each count a bit. "
    "Somebody asks about a few hundred random groups, and solves the equations for everybody's secret."
)
NOISES: tuple[Noise, ...] = (("uniform", 2), ("gaussian", 2), ("uniform", 10), ("laplace", 10))
_WORDS = {
    "uniform": "counts off by up to {:g}",
    "gaussian": "Gaussian noise, sd {:g}",
    "laplace": "Laplace noise, scale {:g}",
}
_RIDGE = 1e-6  # so that the equations have one solution also if they are too few
_MOST = 50_000_000  # entries of the equations, each of 8 bytes
MOST_PEOPLE = 10_000  # a question names half of them, and has an end


def reconstruction(
    people: int = 100,
    questions: int = 400,
    *,
    method: Method = "least-squares",
    noises: Iterable[Noise] = NOISES,
    data: object = None,
    column: str | None = None,
    value: object = None,
    **options: Any,
) -> Outcome:
    """Tell everybody's secret bit from counts of random subsets.

    people      how many there are; with `data` as many as it has rows
    questions   how many random subsets are counted
    method      'least-squares' or 'linear-program' (HiGHS)
    noises      what else a release without a promise might do: ('uniform', 2), ('gaussian', 2), ('laplace', 10)
    data        a file or frame of your own; then the secret is whether `column` has the `value`, of as many people as
                there are rows, each drawn from all rows: so nobody's secret follows from the others' and their number

    The other options are those of `Settings`: epsilon, seed, confidence, patience, progress.
    """
    settings = Settings.read(options)
    solve = _METHODS.get(method)
    if solve is None:
        raise InvalidArgument(f"method must be least-squares or linear-program; got {method!r}; choose one")
    bits, yes = (_bits(people, settings), 0.5) if data is None else _own_bits(data, column, value, settings)
    size, count = len(bits), checks.whole(1, questions=questions)
    if not 2 <= size <= MOST_PEOPLE:
        raise InvalidArgument(f"people must be between 2 and {MOST_PEOPLE:,}; got {size:,}; take others")
    listed = [_checked(each) for each in noises]
    if size * count > _MOST:
        raise InvalidArgument(f"people times questions must be at most {_MOST:,}; got {size * count:,}; take fewer")
    settings.allow(seconds(size, count, method, len(listed)))
    members = settings.chance("subsets", size).shares(size * count).reshape(count, size) < 0.5
    asked = [_question(each) for each in members]
    tables = {"people": {"person": np.arange(size), "secret": bits}}
    with world(tables, {"people": Declared({"secret": declare(keys=[0, 1])})}) as made:
        raw, guarded = made.raw(), made.guarded(settings.budget, count)
        exact, private = _answers(raw, asked, settings, 0), _answers(guarded, asked, settings, 1)
    chance = settings.chance("noise")
    blurred = [(_WORDS[kind].format(scale), exact + _drawn(chance, kind, scale, count)) for kind, scale in listed]
    sides = [
        Side.of(name, int(np.sum(solve(members, answers) == bits)), size, settings.sure, count)
        for name, answers in (("raw release", exact), *blurred)
    ]
    hits = int(np.sum(solve(members, private) == bits))
    guarded_side = Side.of("curator", hits, size, settings.sure, guarded.answered, guarded.repeated, guarded.refused)
    return _outcome(settings, asked, (yes, 1 - yes), [*sides, guarded_side])


def _outcome(settings: Settings, asked: Sequence[str], beliefs: tuple[float, float], sides: Sequence[Side]) -> Outcome:
    size, promise = sides[-1].trials, settings.promise
    scale = len(asked) / float(settings.budget)
    return Outcome(
        attack="reconstruction",
        story=STORY,
        measure="secrets told right",
        questions=tuple(asked[:2]),
        asked=len(asked),
        raw=sides[0],
        others=tuple(sides[1:-1]),
        curator=sides[-1],
        guessing=max(beliefs),
        bound=most_right(promise, "value", beliefs),
        about="value",
        guarantee=promise,
        confidence=settings.sure,
        stopped=(
            f"every question is charged, and {len(asked):,} of them share one budget, so each count gets noise of "
            f"scale {scale:,.0f} among {size:,} people: few questions with little noise or many with much, not both."
        ),
    )


def seconds(people: int, questions: int, method: Method = "least-squares", noises: int = len(NOISES)) -> float:
    """About how long it takes: questions to the curator, and the equations solved for each release."""
    asking = questions * (ASKING + 1.5e-4 * people)
    squares = 1e-9 * (questions + people) * people**2
    program = 4e-9 * (questions + people) ** 2 * people
    return asking + (noises + 2) * (squares if method == "least-squares" else program)


def _bits(people: int, settings: Settings) -> Integers:
    return settings.chance("secrets").below(2, checks.whole(2, people=people))


def _own_bits(data: object, column: str | None, value: object, settings: Settings) -> tuple[Integers, float]:
    """The bits of people who are drawn from the rows, and the share of rows that have the value."""
    own = Own.read(data, needs=2)
    found = own.column(column, "column")
    wanted = own.value(found, value)
    bits = np.array([1 if each == wanted else 0 for each in own.values(found)], dtype=np.int64)
    return bits[settings.chance("people").below(len(bits), len(bits))], float(np.mean(bits))


def _question(members: NDArray[np.bool_]) -> str:
    named = ", ".join(map(str, np.flatnonzero(members))) or "-1"
    return f"SELECT COUNT(*) AS n FROM people WHERE secret = 1 AND person IN ({named})"


def _answers(release: Release, asked: Sequence[str], settings: Settings, before: int) -> Floats:
    """What the release says; what it refuses is taken for half of the subset by the solver, so NaN."""
    found = []
    for place, question in enumerate(asked):
        answer = number(release.ask(question), "n")
        found.append(np.nan if answer is None else answer)
        settings.progress(before * len(asked) + place + 1, 2 * len(asked))
    return np.array(found)


def _checked(noise: Noise) -> Noise:
    kind, scale = noise
    if kind not in _WORDS:
        raise InvalidArgument(
            f"noise must be uniform, gaussian or laplace; got {kind!r}",
            fix=Phrase("for example ", Option("noise", ("uniform", 2))),
        )
    return kind, float(checks.positive(scale=scale))


def _drawn(chance: Chance, kind: str, scale: float, size: int) -> Floats:
    return {"uniform": chance.uniform, "gaussian": chance.gaussian, "laplace": chance.laplace}[kind](scale, size)


def least_squares(members: NDArray[np.bool_], answers: Floats) -> Integers:
    """The bits nearest to the vector that fits the answers best."""
    known = np.isfinite(answers)
    counts = members[known].astype(np.float64)
    normal = counts.T @ counts + _RIDGE * np.eye(counts.shape[1])
    found = np.linalg.solve(normal, counts.T @ answers[known])
    return (found > 0.5).astype(np.int64)


def linear_program(members: NDArray[np.bool_], answers: Floats) -> Integers:
    """The bits nearest to the shares in [0, 1] whose counts are off by least in total."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, vstack

    known = np.isfinite(answers)
    counts, count, size = csr_array(members[known].astype(np.float64)), int(np.sum(known)), members.shape[1]
    slack = eye_array(count)
    over, under = hstack([counts, -slack]), hstack([-counts, -slack])
    cost = np.concatenate([np.zeros(size), np.ones(count)])
    limits = np.concatenate([answers[known], -answers[known]])
    bounds = [(0, 1)] * size + [(0, None)] * count
    rows: Any = vstack([over, under])
    solved = linprog(cost, A_ub=rows, b_ub=limits, bounds=bounds, method="highs")
    return (np.asarray(solved.x)[:size] > 0.5).astype(np.int64)


_METHODS = {"least-squares": least_squares, "linear-program": linear_program}
