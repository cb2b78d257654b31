"""`sfumato survey design`: questions in, a design file out, with the errors to expect."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli._shared import options as given
from sfumato.cli._shared.screen import errors, say
from sfumato.cli.survey.render import tell
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.suggestions import nearest
from sfumato.surveys.design import Ask, Design
from sfumato.surveys.design import design as make
from sfumato.surveys.design_file import FILE, content, digest, load_draft, save
from sfumato.surveys.expected import expected, people_for
from sfumato.surveys.question import Question, number, one_of, ordinal, several_of, yes_no

_EXAMPLE = "for example 'smoker=yes-no', 'party=one-of: red, green, blue' or 'rent=number: 0 3000 50'"
_KINDS = ("yes-no", "one-of", "several-of", "ordinal", "number")
_LISTED: dict[str, Any] = {"one-of": one_of, "ordinal": ordinal, "several-of": several_of}

Draft = Annotated[Path | None, typer.Argument(metavar="[DRAFT]", help="A draft of survey.toml, written by hand.")]
Questions = Annotated[
    list[str] | None,
    typer.Option(
        "--question",
        metavar="NAME=KIND",
        help=(
            "A question: 'smoker=yes-no', 'party=one-of: red, green', 'symptoms=several-of: cough, fever', "
            "'mood=ordinal: bad, good', 'rent=number: 0 3000 50' (bounds and step); may be repeated."
        ),
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="NAME=TEXT",
        help="What respondents read: 'smoker=Do you smoke?' (default: the name); may be repeated.",
    ),
]
Shares = Annotated[
    list[str] | None,
    typer.Option(
        "--share",
        metavar="NAME=NUMBER",
        help="A question's parts of epsilon, or of the people with --ask one: 'smoker=2' (default 1).",
    ),
]
Title = Annotated[str, typer.Option("--title", help="The title of the survey.")]
Cost = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        "-e",
        parser=given.number("--epsilon"),
        metavar="NUMBER",
        help="The privacy cost of all answers of a respondent together; 1 or less is a strong guarantee.",
    ),
]
Odds = Annotated[
    float | None,
    typer.Option(
        "--odds",
        parser=given.number("--odds"),
        metavar="FACTOR",
        help="Instead of epsilon: the factor by which a report may change the odds in a bet on an answer, such as 3.",
    ),
]
Asked = Annotated[
    str, typer.Option("--ask", help="Ask everyone 'all' questions, or each person 'one' question at random.")
]
People = Annotated[int, typer.Option("--people", metavar="NUMBER", help="How many respondents are expected.")]
Wanted = Annotated[
    float | None,
    typer.Option(
        "--error",
        parser=given.number("--error"),
        metavar="NUMBER",
        help="A standard error you want, such as 0.01 for one percent: says how many people it needs.",
    ),
]
Out = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Json = Annotated[bool, typer.Option("--json", help="Print design and errors as JSON.")]


def design(
    draft: Draft = None,
    questions: Questions = None,
    texts: Texts = None,
    shares: Shares = None,
    title: Title = "Survey",
    epsilon: Cost = None,
    odds: Odds = None,
    ask: Asked = "all",
    people: People = 10_000,
    error: Wanted = None,
    out: Out = Path(FILE),
    force: Force = False,
    as_json: Json = False,
    quiet: given.Quiet = False,
) -> None:
    """Design a survey and say what to expect.

    Each question gets the mechanism of least error. What is written can be published, and must not be changed.

    Example: sfumato survey design --question 'smoker=yes-no' --epsilon 1 --people 5000
    """
    survey = _survey(draft, _Given(questions or [], texts or [], shares or [], title, ask), epsilon, odds)
    rows = expected(survey, people)
    needed = None if error is None else people_for(survey, error)
    save(survey, out, force=force)
    if as_json:
        told = {"hash": digest(survey), **content(survey), "expected": [row.to_dict() for row in rows]}
        print(json.dumps({**told, "people_for": needed}, ensure_ascii=False, indent=2))
        return
    if not quiet:
        tell(survey, rows, people, error, needed)
    say(errors(), f"design: {out}; next: sfumato survey page {out}, or sfumato survey randomize answers.csv -d {out}")


@dataclass(frozen=True, slots=True)
class _Given:
    """A survey as it was typed."""

    questions: list[str]
    texts: list[str]
    shares: list[str]
    title: str
    ask: str


def _survey(draft: Path | None, typed: _Given, epsilon: float | None, odds: float | None) -> Design:
    if draft is not None:
        if typed.questions or typed.texts or typed.shares or epsilon is not None or odds is not None:
            raise InvalidArgument("a draft has its questions and its epsilon; got options beside it; write them there")
        return load_draft(draft)
    if not typed.questions:
        raise InvalidArgument(f"--question or a draft must be given; got none; {_EXAMPLE}")
    chosen: Ask = "one" if typed.ask == "one" else "all"
    if typed.ask != chosen:
        raise InvalidArgument(f"--ask must be 'all' or 'one'; got {typed.ask!r}; leave it out for 'all'")
    if epsilon is None and odds is None:
        raise InvalidArgument(
            "epsilon must be given, or --odds; got none; for a strong promise give --epsilon 1 or less, for two coins "
            "and a single yes or no --odds 3"
        )
    asked = {each.name: each for each in map(_question, typed.questions)}
    if len(asked) < len(typed.questions):
        raise InvalidArgument("each --question must have a name of its own; got a name twice; rename one")
    for name, text in _pairs("--text", "smoker=Do you smoke?", typed.texts, asked):
        asked[name] = replace(asked[name], text=text)
    parts = {name: _whole(part) for name, part in _pairs("--share", "smoker=2", typed.shares, asked)}
    return make(typed.title, list(asked.values()), epsilon, odds=odds, shares=parts, ask=chosen)


def _pairs(option: str, example: str, texts: list[str], known: dict[str, Question]) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        name, equals, rest = (part.strip() for part in text.partition("="))
        if not equals or not rest:
            raise InvalidArgument(f"{option} must be NAME=...; got {text!r}; for example {option} '{example}'")
        if name not in known:
            raise UnknownName(f"{option}: unknown question {name!r}; {nearest(name, known)}")
        pairs.append((name, rest))
    return pairs


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise InvalidArgument(f"--share must be a whole number of 1 or more; got {text!r}; for example smoker=2")
    return int(text)


def _question(text: str) -> Question:
    name, equals, rest = (part.strip() for part in text.partition("="))
    kind, _, details = (part.strip() for part in rest.partition(":"))
    listed = [part.strip() for part in details.split(",") if part.strip()]
    if equals and kind == "yes-no" and len(listed) in (0, 2):
        return yes_no(name, name, listed or ("yes", "no"))
    if equals and kind in _LISTED and listed:
        made: Question = _LISTED[kind](name, name, listed)
        return made
    if equals and kind == "number":
        return _number(name, details, text)
    if equals and kind not in (*_LISTED, "yes-no"):
        raise InvalidArgument(
            f"--question must be NAME=KIND, the kind one of {', '.join(_KINDS)}; got {text!r}; {nearest(kind, _KINDS)}"
        )
    raise InvalidArgument(f"--question must be NAME=KIND; got {text!r}; {_EXAMPLE}")


def _number(name: str, details: str, text: str) -> Question:
    try:
        low, high, *step = (Fraction(part) for part in details.replace(",", " ").split())
    except (ValueError, ZeroDivisionError):
        low, high, step = Fraction(0), Fraction(0), []
    if low >= high or len(step) > 1:
        raise InvalidArgument(
            f"--question must be NAME=KIND, and for a number a low bound, a high one and a step; got {text!r}; for "
            "example 'rent=number: 0 3000 50'"
        )
    if step and (step[0] <= 0 or (high - low) % step[0]):
        raise InvalidArgument(
            f"--question: the step of {name} must divide the range between its bounds, {float(high - low):g}; got "
            f"{float(step[0]):g}; choose another, or leave it out for a thousandth of the range"
        )
    return number(name, name, (low, high), step=step[0] if step else None)
