"""The questions of a survey: yes or no, one of k, several of k, a number between bounds, one on an ordered scale.

>>> one_of("party", "Whom would you vote for?", ["red", "green", "blue"]).place("green")
1
>>> number("rent", "What is your rent?", bounds=(0, 3000), step=50).place("1234")
25
>>> several_of("symptoms", "Which do you have?", ["cough", "fever", "rash"]).place("cough; rash")
(0, 2)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato import checks
from sfumato.errors import InvalidArgument, OutsideRange
from sfumato.mechanisms.local.box_response import read_most
from sfumato.mechanisms.local.scale import STEPS, Scale

NO_ANSWER = "(no answer)"
APART = ";"  # between several answers in one text
MOST_ANSWERS = 1 << 20
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,(\d{1,2}|\d{4,})")  # after three digits it may stand between thousands
_LONGEST = 1_000  # characters of a text
_RESERVED = ("design", "respondent", "weight", "stratum", "round")
Skip = Literal["public", "private"]
ChoiceKind = Literal["yes-no", "one-of", "ordinal"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with one answer out of several; `odds` where the question itself fixes how likely the truth is."""

    name: str
    text: str
    kind: ChoiceKind
    answers: tuple[str, ...]
    skip: Skip = "public"
    odds: Fraction | None = None

    def __post_init__(self) -> None:
        _check_names(self.name, self.text, self.answers)
        if self.skip not in ("public", "private"):
            raise InvalidArgument(f"skip must be 'public' or 'private'; got {self.skip!r}; leave it out for 'public'")

    @property
    def categories(self) -> tuple[str, ...]:
        """The answers, and that none was given where this is kept private."""
        return (*self.answers, NO_ANSWER) if self.skip == "private" else self.answers

    def place(self, answer: Any) -> int | None:
        """Where an answer stands; None: not answered, which is seen."""
        return self.places([answer])[0]

    def places(self, answers: Sequence[Any]) -> list[int | None]:
        """Where each answer of many stands."""
        known = {text: place for place, text in enumerate(self.categories)}
        skipped = len(self.answers) if self.skip == "private" else None
        found = [
            skipped if is_missing(answer) else known.get(answer if type(answer) is str else str(answer), -1)
            for answer in answers
        ]
        if -1 in found:  # perhaps for blanks at their ends, or for capitals
            loose = _loose(self.categories)
            found = [
                known.get(str(answer).strip(), loose.get(str(answer).strip().casefold(), -1)) if place == -1 else place
                for answer, place in zip(answers, found, strict=True)
            ]
        if strange := found.count(-1):
            raise OutsideRange(
                f"{self.name} must be one of {_listed(self.answers)}; got another answer"
                f"{in_rows(strange, len(answers), found.index(-1))}; correct it, or leave it empty"
            )
        return found


@dataclass(frozen=True, slots=True)
class Boxes:
    """A question with any number of answers out of several, at most `most` of them."""

    name: str
    text: str
    answers: tuple[str, ...]
    most: int
    kind: ClassVar[str] = "several-of"

    def __post_init__(self) -> None:
        _check_names(self.name, self.text, self.answers)
        read_most(len(self.answers), self.most)
        if any(APART in answer for answer in self.answers):
            raise InvalidArgument(f"{self.name}: answers must have no {APART!r}, which stands between them; got one")
        if "none" in self.answers:
            raise InvalidArgument(f"{self.name}: 'none' means that no box is ticked; got an answer of that name")

    def place(self, answer: Any) -> tuple[int, ...] | None:
        """Where the answers stand, in their order; None: not answered, which is seen.

        The text 'none' and an empty list mean that no box is ticked; None and the text '(no answer)' that the question
        was not answered. An empty cell may mean either, so it is refused: taken for no answer it would leave out, and
        show, exactly the people who ticked nothing.
        """
        if answer is None or (isinstance(answer, str) and answer.strip().casefold() == NO_ANSWER):
            return None
        if is_missing(answer):
            raise OutsideRange(
                f"{self.name} must be answers, 'none' or {NO_ANSWER!r}; got an empty cell; write 'none' where no box "
                f"is ticked, {NO_ANSWER!r} where the question was not answered"
            )
        given = answer.split(APART) if isinstance(answer, str) else answer
        if not isinstance(given, Collection):
            raise OutsideRange(f"{self.name} must be a list of answers; got something else; for example 'a; b'")
        texts = {str(each).strip() for each in given} - ({"none"} if isinstance(answer, str) else set())
        if not texts <= set(self.answers):
            loose = _loose(self.answers)
            spelled = {text: loose.get(text.casefold()) for text in texts - set(self.answers)}
            texts = {text if spelled.get(text) is None else self.answers[spelled[text] or 0] for text in texts}
        if not texts <= set(self.answers):
            raise OutsideRange(
                f"{self.name} must be some of {_listed(self.answers)}, with {APART!r} between them, or 'none'; got "
                f"another answer; correct it, or write {NO_ANSWER!r}"
            )
        if len(texts) > self.most:
            raise OutsideRange(f"{self.name} must have at most {self.most} answers; got more; leave some out")
        return tuple(sorted(self.answers.index(text) for text in texts))


@dataclass(frozen=True, slots=True)
class Number:
    """A question with a number between bounds, in steps."""

    name: str
    text: str
    scale: Scale
    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        _check_names(self.name, self.text, ())

    def place(self, answer: Any) -> int | None:
        """The nearest step to a number; None: not answered."""
        if is_missing(answer):
            return None
        try:
            exact = _number(answer)
            return self.scale.place(exact)
        except (InvalidArgument, InvalidOperation, ValueError):
            ends = f"{float(self.scale.low):g} and {float(self.scale.high):g}"
            raise OutsideRange(
                f"{self.name} must be a number between {ends}; got something else; correct it, or leave it empty"
            ) from None


Question = Choice | Boxes | Number


def yes_no(
    name: str,
    text: str = "",
    answers: Sequence[str] = ("yes", "no"),
    *,
    keep: checks.Number | None = None,
    truth: checks.Number | None = None,
    skip: Skip = "public",
) -> Choice:
    """A question with two answers.

    Its epsilon follows from the design, or from one of two chances: `keep`, to give one's own answer and not the other;
    or `truth`, to tell the truth, where else a fair coin answers. truth=0.5 is the survey with two coins, ln 3.

    >>> yes_no("smoker", "Do you smoke?", truth=0.5).odds
    Fraction(3, 1)
    """
    if keep is not None and truth is not None:
        raise InvalidArgument("keep or truth must be given, not both; got both; leave one out")
    if len(answers) != 2:
        raise InvalidArgument(f"answers must be two; got {len(answers)}; use one_of for more")
    odds = None
    if (keep is not None or truth is not None) and skip == "private":
        raise InvalidArgument("skip must be 'public' where the question has a chance of its own; got 'private'")
    if keep is not None or truth is not None:
        kept = checks.inside(keep=keep) if keep is not None else (1 + checks.inside(truth=truth or 0)) / 2
        if kept <= Fraction(1, 2):
            raise InvalidArgument(f"keep must be above one half; got {keep!r}; 0.75 is usual")
        odds = kept / (1 - kept)
    return Choice(name, text or name, "yes-no", tuple(answers), skip, odds)


def one_of(name: str, text: str, answers: Sequence[str], *, skip: Skip = "public") -> Choice:
    """A question with one answer out of a list."""
    return Choice(name, text or name, "one-of", tuple(answers), skip)


def ordinal(name: str, text: str, answers: Sequence[str], *, skip: Skip = "public") -> Choice:
    """A question with one answer out of a list that has an order, the least first."""
    return Choice(name, text or name, "ordinal", tuple(answers), skip)


def several_of(name: str, text: str, answers: Sequence[str], *, most: int | None = None) -> Boxes:
    """A question with several answers out of a list; `most`: how many at most, all unless said."""
    return Boxes(name, text or name, tuple(answers), read_most(len(answers), most))


def number(
    name: str,
    text: str,
    bounds: tuple[checks.Number, checks.Number],
    *,
    step: checks.Number | None = None,
) -> Number:
    """A question with a number between bounds; `step`: how finely it is asked, a thousandth of them unless said."""
    steps: Any = STEPS
    if step is not None:
        low, high = Scale.read(bounds).low, Scale.read(bounds).high
        exact = (high - low) / checks.positive(step=step)
        if exact.denominator != 1:
            raise InvalidArgument(f"step must divide the range between the bounds; got {step!r}; choose another")
        steps = int(exact)
    return Number(name, text or name, Scale.read(bounds, steps))


def is_missing(answer: Any) -> bool:
    """Whether a cell holds nothing: None, an empty text, or what libraries of tables write instead."""
    if answer is None or isinstance(answer, str):
        return answer is None or not answer.strip()
    differs = answer != answer  # NaN; what pandas calls NA compares as NA
    return bool(differs) if isinstance(differs, bool | np.bool_) else differs is answer


def _number(answer: Any) -> Fraction:
    if isinstance(answer, str):
        text = answer.strip()
        return checks.number(value=Decimal(text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text))
    return checks.number(value=answer)


def in_rows(strange: int, count: int, first: int) -> str:
    """How many rows are wrong and which is the first, from 1 and without the head; of a single one nothing."""
    return f" in {strange} of {count} rows, the first in row {first + 1}" if count > 1 else ""


def _loose(answers: Sequence[str]) -> dict[str, int]:
    """The places of answers in small letters; without those that capitals alone tell apart."""
    often = Counter(answer.casefold() for answer in answers)
    return {a.casefold(): place for place, a in enumerate(answers) if often[a.casefold()] == 1}


def _listed(answers: Sequence[str]) -> str:
    shown = ", ".join(answers[:6])
    return f"{shown}, ... ({len(answers)} answers)" if len(answers) > 6 else shown


def _amiss(answers: Sequence[str]) -> str:
    if len(answers) < 2 or len(answers) > MOST_ANSWERS:
        return f"{len(answers):,}; {'add one' if len(answers) < 2 else 'group them'}"
    twice = next((answer for answer, often in Counter(answers).items() if often > 1), NO_ANSWER)
    return f"{twice!r}{'' if twice == NO_ANSWER else ' twice'}; take it away"


def _check_names(name: str, text: str, answers: Sequence[str]) -> None:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or name.lower() in _RESERVED:
        raise InvalidArgument(
            f"a question's name must be a word of letters, digits and _, and none of {', '.join(_RESERVED)}; got "
            f"{name!r}; put the rest into its text"
        )
    for word in (text, *answers):
        if not isinstance(word, str) or not word.strip() or not word.isprintable() or len(word) > _LONGEST:
            raise InvalidArgument(
                f"{name}: text and answers must be printable texts of one line; got {word!r}; write it anew"
            )
        if word != word.strip():
            raise InvalidArgument(f"{name}: answers must have no blanks at their ends; got {word!r}; take them away")
    is_list = not answers or 2 <= len(answers) <= MOST_ANSWERS
    if not is_list or len(set(answers)) < len(answers) or NO_ANSWER in answers:
        raise InvalidArgument(
            f"{name}: answers must be two or more different ones, none of them {NO_ANSWER!r}; got {_amiss(answers)}"
        )
