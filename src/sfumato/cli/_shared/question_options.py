"""What `ask`, `quote` and `explain` are given alike: the question, and the options that the curator takes.

Each of them takes one value, `Asked`, and what it has of its own; `asking` makes options of both.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli._shared.command import sharing
from sfumato.cli._shared.options import Delta, Where, number
from sfumato.errors import InvalidArgument
from sfumato.input_files import read_text
from sfumato.plan.syntax.tree import LONGEST, check_typed

Question = Annotated[
    str | None,
    typer.Argument(metavar="SQL", help="The question; @FILE reads it from a file, - from standard input."),
]
File = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the question from a file.")]
Noise = Annotated[
    str | None, typer.Option("--noise", metavar="KIND", help="laplace or gaussian (default: the one with less noise).")
]
Confidence = Annotated[
    float,
    typer.Option(
        "--confidence", parser=number("--confidence"), metavar="NUMBER", help="The probability that an interval holds."
    ),
]
Share = Annotated[
    list[str] | None,
    typer.Option(
        "--share", metavar="COLUMN=NUMBER", help="Give a column more of epsilon, such as n=2; may be repeated."
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        "--max-rows-per-unit",
        metavar="ROWS",
        help="Count at most ROWS rows per unit instead of estimating a limit.",
    ),
]
EstimateBounds = Annotated[
    bool,
    typer.Option("--estimate-bounds", help="Estimate bounds for columns that declare none; spends 10% of epsilon."),
]
Simultaneous = Annotated[bool, typer.Option("--simultaneous", help="Make all intervals hold at once; they are wider.")]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's text, the curator's options for it, and where the project is."""

    text: str
    options: dict[str, Any]
    where: Path | None


def read(
    question: Question = None,
    file: File = None,
    delta: Delta = 0,
    noise: Noise = None,
    confidence: Confidence = 0.95,
    share: Share = None,
    max_rows_per_unit: MaxRows = None,
    estimate_bounds: EstimateBounds = False,
    simultaneous: Simultaneous = False,
    where: Where = None,
) -> Asked:
    """The question as it was given."""
    options = {
        "delta": delta,
        "noise": noise,
        "confidence": confidence,
        "shares": dict(map(_read_share, share)) if share else None,
        "max_rows_per_unit": max_rows_per_unit,
        "estimate_bounds": estimate_bounds,
        "simultaneous": simultaneous,
    }
    return Asked(read_question(question, file), options, where)


asking = sharing(read, before=2)


def _read_share(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        return name.strip(), float(number)
    except ValueError:
        raise InvalidArgument(f"--share must be COLUMN=NUMBER; got {text!r}; for example --share n=2") from None


def read_question(question: str | None, file: Path | None) -> str:
    """The question's text from wherever it was given."""
    if question is not None and file is not None:
        raise InvalidArgument("the question must be given once; got SQL and --file; leave one out")
    if file is None and question is not None and question.startswith("@"):
        file = Path(question[1:])
    if file is not None:
        text = _read_file(file)
    elif sys.stdin is not None and (question == "-" or (question is None and not sys.stdin.isatty())):
        text = _read_input()
    else:
        text = question or ""
    check_typed(text)  # as it was typed: what is taken off below counts
    if not text.strip():
        raise InvalidArgument('the question must be SQL; got none; for example "SELECT COUNT(*) AS n FROM people"')
    return text.strip().rstrip(";")


def _read_input() -> str:
    try:
        return sys.stdin.read(LONGEST + 1)
    except UnicodeDecodeError:
        raise InvalidArgument("standard input must be SQL in UTF-8; got another encoding; convert it") from None


def _read_file(file: Path) -> str:
    missing = f"{str(file)!r} cannot be read: there is no such file; check the path"
    return read_text(file, missing, most=LONGEST + 1, pipes=True)
