"""What a command is given: the options that several share, and the project file."""

from __future__ import annotations

import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import project
from sfumato.cli._shared.screen import errors, say
from sfumato.curator.curator import Curator
from sfumato.errors import InvalidArgument, SfumatoError, UnknownName
from sfumato.ledger.ledger import Ledger
from sfumato.project import FILE, Project
from sfumato.suggestions import nearest

_WHOLE = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?")  # 1e999999999 would take a gigabyte


def number(option: str) -> Any:
    """How a number is read that an option takes; typer takes a ValueError for its own, so this one is none."""

    def read(text: Any) -> float:
        try:
            return float(text)
        except ValueError:
            raise SfumatoError(f"{option} must be a number; got {text!r}; for example 0.5") from None

    return read


def whole(option: str) -> Any:
    """How a whole number is read, also as 1e6 or 100,000; typer's own refusal gives no example."""

    def read(text: Any) -> int:
        plain = str(text).replace(",", "").replace("_", "")
        try:
            number = Fraction(plain) if _WHOLE.fullmatch(plain.strip()) else Fraction(1, 2)
        except (ValueError, ZeroDivisionError):
            number = Fraction(1, 2)
        if number.denominator != 1:
            raise SfumatoError(f"{option} must be a whole number; got {text!r}; for example 100000")
        return int(number)

    return read


Where = Annotated[
    Path | None,
    typer.Option(
        "--project",
        "-p",
        metavar="PATH",
        envvar="SFUMATO_PROJECT",
        help=f"The project file or its folder (default: {FILE} here or in a parent folder).",
    ),
]
_COST = "The privacy cost of the answer; 1 or less is a strong guarantee."
Epsilon = Annotated[float, typer.Option("--epsilon", "-e", parser=number("--epsilon"), metavar="NUMBER", help=_COST)]
Most = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        "-e",
        parser=number("--epsilon"),
        metavar="NUMBER",
        help=f"{_COST} With --within: the most it may cost.",
    ),
]
Within = Annotated[
    str | None,
    typer.Option(
        "--within", metavar="WIDTH", help="The half-width you want, such as 500 or 5%, instead of an epsilon."
    ),
]
Delta = Annotated[
    float,
    typer.Option(
        "--delta",
        parser=number("--delta"),
        metavar="NUMBER",
        help="The probability that the guarantee may fail, for example 1e-9.",
    ),
]
Tidy = Annotated[bool, typer.Option("--tidy", help="Round counts to whole numbers of at least zero.")]
Analyst = Annotated[
    str,
    typer.Option(
        "--as", metavar="ANALYST", envvar="SFUMATO_ANALYST", help="The analyst who asks and whose budget is charged."
    ),
]
Create = Annotated[
    bool,
    typer.Option(
        "--create",
        help="Create a new ledger in an empty file or database; only if nothing was ever spent.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result only: no cost, notes or progress.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def read_within(text: str | None) -> float | str | None:
    """A wanted half-width: a number, or a share of the value as it was written."""
    if text is None or text.strip().endswith("%"):
        return text
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(f"--within must be a number or a share; got {text!r}; for example 500 or 5%") from None


def find_project(given: Path | None) -> Path:
    """The project file that was given, or the nearest one above this folder."""
    if given is not None:
        return given
    here = Path.cwd()
    return next((found for folder in (here, *here.parents) if os.path.isfile(found := folder / FILE)), here / FILE)


def load_project(given: Path | None) -> Project:
    """The project, its tables' schemas read."""
    return project.load(find_project(given))


def has_ledger(loaded: Project) -> bool:
    """Whether the project's ledger is there already; one in a database is said to be."""
    if "://" in loaded.ledger and not loaded.ledger.startswith("sqlite"):
        return True
    return os.path.exists(loaded.ledger.rpartition(":///")[2])


def open_ledger(loaded: Project, create: bool) -> Ledger:
    """The project's ledger to write to; a new one is announced, since an old one may have been lost."""
    ledger = loaded.open_ledger(create=create or None)
    if ledger.is_new:
        say(errors(), f"New ledger: {ledger.label}. It records nothing as spent.")
        say(errors(), "  If there was an earlier ledger, stop and restore it: sfumato ledger restore FILE")
    return ledger


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


def examples(*lines: str) -> str:
    """The end of a command's help, as click prints it line by line, which a backspace before them tells it to."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
