"""`sfumato survey randomize`: true answers in, what may be sent out."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._shared import options as given
from sfumato.cli._shared.progress import working
from sfumato.cli._shared.screen import errors, say
from sfumato.curator.measurement.progress import Phase
from sfumato.errors import InvalidArgument
from sfumato.surveys.design import Design
from sfumato.surveys.design_file import FILE, load
from sfumato.surveys.randomize import Memory, randomize_all
from sfumato.surveys.randomize import randomize as randomize_one

DesignFile = Annotated[Path, typer.Option("--design", "-d", metavar="FILE", help="The design, as it was published.")]
Source = Annotated[Path | None, typer.Argument(metavar="[ANSWERS]", help="A .csv or .jsonl file with true answers.")]
One = Annotated[
    list[str] | None,
    typer.Option(
        "--answer",
        metavar="NAME[=ANSWER]",
        help="An answer of one person, instead of a file; may be repeated. A name alone is asked for, and not shown: "
        "what is typed after = stays in the shell's history.",
    ),
]
Sent = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the result to a file instead of the screen."),
]
Kept = Annotated[
    Path | None,
    typer.Option(
        "--memory", metavar="FILE", help="With --answer: a file with what this device sent before and sends again."
    ),
]
Period = Annotated[
    str, typer.Option("--period", metavar="LABEL", help="The period for which --memory holds, for example 2027.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


def randomize(
    answers: Source = None,
    design: DesignFile = Path(FILE),
    one: One = None,
    out: Sent = None,
    memory: Kept = None,
    period: Period = "",
    force: Force = False,
    as_json: Json = False,
    quiet: given.Quiet = False,
) -> None:
    """Randomize answers of one person, or of a file.

    The file has a column for each question, named like it, and perhaps respondent, weight and stratum, which are
    passed on as they are. Several answers to one question stand with ; between them, 'none' where none applies; a
    question that was not answered is left empty, or, where several answers are allowed, says '(no answer)'.

    Example: sfumato survey randomize answers.csv --design survey.toml --output sent.csv
    """
    if (answers is None) == (not one):
        raise InvalidArgument("a file or --answer must be given, not both; for example --answer smoker=yes")
    if memory is not None and answers is not None:
        raise InvalidArgument("--memory is a single device's; got it with a file; give --answer, or leave it out")
    if out is not None and os.path.exists(out) and not force:
        raise InvalidArgument(f"{out.name} must not be there already; got a file; choose another name, or --force")
    survey = load(design)
    if answers is None:
        kept = None if memory is None else Memory(memory)
        sent = randomize_one(survey, dict(map(_answer, one or [])), memory=kept, period=period)
        columns = {name: [text] for name, text in sent.items()}
        if kept is not None and not quiet:
            say(errors(), f"With this memory, epsilon {float(kept.spent):.4g} was spent in total.")
    else:
        with working("randomizing", hidden=quiet or as_json) as told:
            told(Phase("randomizing", 1, 2))
            columns = randomize_all(survey, answers)
        if not columns["design"]:
            raise InvalidArgument(f"{answers.name} must have a row for each person; got none below its head; add them")
    text = _json(columns) if as_json else _csv(columns)
    if out is None:
        print(text, end="")
        return
    _write(out, text)
    if not quiet:
        _tell(columns, survey, out)


def _tell(columns: dict[str, list[str]], survey: Design, out: Path) -> None:
    count = len(columns["design"])
    people = f"{count:,} {'person' if count == 1 else 'people'}"
    say(errors(), f"sent: {out}, {people}, epsilon {float(survey.epsilon):.4g} each")
    for name in (item.name for item in survey.items if not any(columns[item.name])):
        say(errors(), f"Note: the file has no answers to {name}; does it have a column with that name?")
    say(errors(), "Do not share the true answers: share only this file. A second run costs epsilon again.")


def _write(out: Path, text: str) -> None:
    try:
        fresh = out.with_name(out.name + ".new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(out)
    except OSError as error:
        raise InvalidArgument(f"{out.name} cannot be written: {error.strerror}; choose another folder") from None


def _answer(text: str) -> tuple[str, str]:
    name, equals, answer = text.partition("=")
    if not name.strip():
        raise InvalidArgument("--answer must be NAME=ANSWER, or NAME; got no name; for example --answer smoker=yes")
    return name.strip(), answer if equals else typer.prompt(name.strip(), default="", hide_input=True, err=True)


def _csv(columns: dict[str, list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _json(columns: dict[str, list[str]]) -> str:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False, indent=2) + "\n"
