"""`sfumato survey design`: questions in, a design file out, with the errors to expect."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli import given
from sfumato.cli.screen import errors, output, say, show
from sfumato.errors import InvalidArgument
from sfumato.surveys.design import Ask, Design
from sfumato.surveys.design import design as make
from sfumato.surveys.expected import Expected, expected, people_for
from sfumato.surveys.question import Question, number, one_of, ordinal, several_of, yes_no
from sfumato.surveys.written import FILE, content, digest, load_draft, save

_EXAMPLE = "for example 'smoker=yes-no', 'party=one-of: red, green, blue' or 'rent=number: 0 3000 50'"
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
Title = Annotated[str, typer.Option("--title", help="What the survey is called.")]
Cost = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        "-e",
        parser=given.number("--epsilon"),
        metavar="NUMBER",
        help="What a respondent pays in all; 1 or less is a strong promise.",
    ),
]
Odds = Annotated[
    float | None,
    typer.Option(
        "--odds",
        parser=given.number("--odds"),
        metavar="FACTOR",
        help="Instead of epsilon: the most by which a report may change the odds in a bet on an answer, for example 3.",
    ),
]
Asked = Annotated[
    str, typer.Option("--ask", help="'all' questions of everybody, or 'one' of each person, drawn at random.")
]
People = Annotated[int, typer.Option("--people", metavar="NUMBER", help="How many respondents are expected.")]
Wanted = Annotated[
    float | None,
    typer.Option(
        "--error",
        parser=given.number("--error"),
        metavar="NUMBER",
        help="A standard error of shares that is wanted, for example 0.01: says how many people it needs.",
    ),
]
Out = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
Json = Annotated[bool, typer.Option("--json", help="Design and errors as JSON.")]


def design(
    draft: Draft = None,
    questions: Questions = None,
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

    Each question gets the mechanism of least variance. What is written can be published, and must not be changed.

    Example: sfumato survey design --question 'smoker=yes-no' --epsilon 1 --people 5000
    """
    survey = _survey(draft, questions or [], title, epsilon, odds, ask)
    rows = expected(survey, people)
    needed = None if error is None else people_for(survey, error)
    save(survey, out, force=force)
    if as_json:
        told = {"hash": digest(survey), **content(survey), "expected": [row.to_dict() for row in rows]}
        print(json.dumps({**told, "people_for": needed}, ensure_ascii=False, indent=2))
        return
    if not quiet:
        _tell(survey, rows, people, error, needed)
    say(errors(), f"design: {out}")


def _survey(
    draft: Path | None, questions: list[str], title: str, epsilon: float | None, odds: float | None, ask: str
) -> Design:
    if draft is not None:
        if questions or epsilon is not None or odds is not None:
            raise InvalidArgument("a draft has its questions and its epsilon; got options beside it; write them there")
        return load_draft(draft)
    if not questions:
        raise InvalidArgument(f"--question or a draft must be given; got none; {_EXAMPLE}")
    chosen: Ask = "one" if ask == "one" else "all"
    if ask != chosen:
        raise InvalidArgument(f"--ask must be 'all' or 'one'; got {ask!r}; leave it out for 'all'")
    return make(title, [_question(text) for text in questions], epsilon, odds=odds, ask=chosen)


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
        try:
            low, high, *step = (Fraction(part) for part in details.replace(",", " ").split())
            return number(name, name, (low, high), step=step[0] if step else None)
        except (ValueError, ZeroDivisionError) as wrong:
            if isinstance(wrong, InvalidArgument):
                raise
    raise InvalidArgument(f"--question must be NAME=KIND; got {text!r}; {_EXAMPLE}")


def _tell(survey: Design, rows: list[Expected], people: int, error: float | None, needed: int | None) -> None:
    console = output()
    say(console, f"{survey.title}: each respondent pays epsilon {float(survey.epsilon):.4g} in all.", "bold")
    head = ("question", "mechanism", "epsilon", "people", "95 % interval", "error from noise", "with a trusted curator")
    cells = [
        (
            row.question,
            row.oracle,
            f"{row.epsilon:.4g}",
            f"{row.people:,}",
            f"±{row.half_width:.2g}",
            f"{row.error:.2g}",
            f"{row.central:.2g}",
        )
        for row in rows
    ]
    show(console, [head, *cells], right=(2, 3, 4, 5, 6))
    if needed is not None:
        say(console, f"A standard error of {error:g} from noise needs {needed:,} respondents.")
    say(console, survey.guarantee.describe())
