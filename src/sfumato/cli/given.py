"""What a command is given: the options that several share, the question's text, the project file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import project
from sfumato.curator.curator import Curator
from sfumato.dataset.name import nearest
from sfumato.errors import InvalidArgument, SfumatoError, UnknownName
from sfumato.ledger.ledger import Ledger
from sfumato.project import FILE, Project

_LONGEST = 1 << 20  # characters of a question


def number(option: str) -> Any:
    """How a number is read that an option takes; typer takes a ValueError for its own, so this one is none."""

    def read(text: Any) -> float:
        try:
            return float(text)
        except ValueError:
            raise SfumatoError(f"{option} must be a number; got {text!r}; for example 0.5") from None

    return read


Where = Annotated[
    Path | None,
    typer.Option(
        "--project",
        "-p",
        metavar="PATH",
        envvar="SFUMATO_PROJECT",
        help=f"The project file, or its folder; without it {FILE} here or in a folder above.",
    ),
]
Question = Annotated[
    str | None,
    typer.Argument(metavar="SQL", help="The question; @FILE reads it from a file, - from standard input."),
]
File = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the question from a file.")]
_COST = "How much privacy it may cost; 1 or less is a strong promise."
Epsilon = Annotated[float, typer.Option("--epsilon", "-e", parser=number("--epsilon"), metavar="NUMBER", help=_COST)]
Most = Annotated[
    float | None,
    typer.Option(
        "--epsilon", "-e", parser=number("--epsilon"), metavar="NUMBER", help=f"{_COST} With --within: at most."
    ),
]
Within = Annotated[
    str | None,
    typer.Option("--within", metavar="WIDTH", help="The half-width wanted, 500 or 5%, instead of an epsilon."),
]
Delta = Annotated[
    float,
    typer.Option(
        "--delta",
        parser=number("--delta"),
        metavar="NUMBER",
        help="The probability with which the promise may fail, for example 1e-9.",
    ),
]
Noise = Annotated[
    str | None, typer.Option("--noise", metavar="KIND", help="laplace or gaussian; without it the smaller one.")
]
Confidence = Annotated[
    float,
    typer.Option("--confidence", parser=number("--confidence"), metavar="NUMBER", help="How often an interval holds."),
]
Share = Annotated[
    list[str] | None,
    typer.Option("--share", metavar="COLUMN=NUMBER", help="More of epsilon for a column, as in n=2; may be repeated."),
]
Bound = Annotated[
    int | None, typer.Option("--bound", metavar="ROWS", help="So many rows of a unit count, instead of a bought limit.")
]
Bounds = Annotated[
    str | None, typer.Option("--bounds", metavar="auto", help="auto: buy the bounds of values that nobody declared.")
]
Simultaneous = Annotated[bool, typer.Option("--simultaneous", help="Let all intervals hold at once; they are wider.")]
Tidy = Annotated[bool, typer.Option("--tidy", help="Counts as whole numbers, not below zero.")]
Analyst = Annotated[
    str,
    typer.Option("--as", metavar="ANALYST", envvar="SFUMATO_ANALYST", help="Who asks, and whose allowance is charged."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="The answer alone: no cost, no notes, no progress.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether this is meant.")]


def read_options(
    delta: float,
    noise: str | None,
    confidence: float,
    share: list[str] | None,
    bound: int | None,
    bounds: str | None,
    simultaneous: bool,
) -> dict[str, Any]:
    """The options of a question as the curator takes them."""
    return {
        "delta": delta,
        "noise": noise,
        "confidence": confidence,
        "shares": dict(map(_read_share, share)) if share else None,
        "bound": bound,
        "bounds": bounds,
        "simultaneous": simultaneous,
    }


def read_within(text: str | None) -> float | str | None:
    """A wanted half-width: a number, or a share of the value as it was written."""
    if text is None or text.strip().endswith("%"):
        return text
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(f"--within must be a number or a share; got {text!r}; for example 500 or 5%") from None


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
        text = sys.stdin.read(_LONGEST)
    else:
        text = question or ""
    if not text.strip():
        raise InvalidArgument('the question must be SQL; got none; for example "SELECT COUNT(*) AS n FROM people"')
    return text.strip().rstrip(";")


def _read_file(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.read(_LONGEST)
    except UnicodeDecodeError:
        raise InvalidArgument(f"{file} must be SQL in UTF-8; got another encoding; save it anew") from None
    except OSError as error:
        raise InvalidArgument(f"{str(file)!r} cannot be read: {error.strerror}; check the path") from None


def find_project(given: Path | None) -> Path:
    """The project file that was given, or the nearest one above this folder."""
    if given is not None:
        return given
    here = Path.cwd()
    return next((found for folder in (here, *here.parents) if (found := folder / FILE).is_file()), here / FILE)


def load_project(given: Path | None) -> Project:
    """The project, its tables' schemas read."""
    return project.load(find_project(given))


def has_ledger(loaded: Project) -> bool:
    """Whether the project's ledger is there already; one in a database is said to be."""
    if "://" in loaded.ledger and not loaded.ledger.startswith("sqlite"):
        return True
    return Path(loaded.ledger.rpartition(":///")[2]).exists()


def peeking(loaded: Project) -> Ledger:
    """The ledger to look into; before the first question there is none, and looking makes none."""
    return loaded.open_ledger() if has_ledger(loaded) else Ledger.in_memory()


def curator_for(loaded: Project, question: str, ledger: Ledger) -> Curator:
    """The curator of the people whom a question is about."""
    return loaded.curator(loaded.population_of(question), ledger=ledger)


def read_population(loaded: Project, named: str | None) -> str:
    """The population that was named, or the only one."""
    if named is None and len(loaded.populations) > 1:
        raise InvalidArgument(
            f"--population must be given where there are several; got none; choose of {', '.join(loaded.populations)}"
        )
    chosen = named or next(iter(loaded.populations))
    if chosen not in loaded.populations:
        raise UnknownName(f"unknown population {chosen!r}; {nearest(chosen, loaded.populations)}")
    return chosen
