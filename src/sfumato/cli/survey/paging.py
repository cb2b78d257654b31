"""`sfumato survey page`: a design in, one page out whose browser randomizes, or the sheet of paper; and its words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._shared import options as given
from sfumato.cli._shared.screen import errors, say
from sfumato.errors import InvalidArgument
from sfumato.surveys.design_file import FILE, load
from sfumato.surveys.web import page as write_page
from sfumato.surveys.web import paper as write_paper
from sfumato.surveys.web import words as write_words

Published = Annotated[Path, typer.Argument(metavar="DESIGN", help="The design, as it was published.")]
Out = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")]
Collect = Annotated[
    str | None,
    typer.Option("--collect", metavar="URL", help="The https address to which a respondent may send the report."),
]
Period = Annotated[
    str | None,
    typer.Option("--period", metavar="LABEL", help="Within this period a browser sends the same report again."),
]
Paper = Annotated[bool, typer.Option("--paper", help="Write only the paper sheet, to answer with a coin or a die.")]
Language = Annotated[
    str | None,
    typer.Option("--language", metavar="TAG", help="The language of the questions, if it differs from the page's."),
]
Words = Annotated[
    Path | None,
    typer.Option("--words", metavar="FILE", help="The page's texts in another language."),
]
English = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def page(
    design: Published = Path(FILE),
    out: Out = Path("survey.html"),
    collect: Collect = None,
    period: Period = None,
    paper: Paper = False,
    language: Language = None,
    words: Words = None,
    force: Force = False,
    quiet: given.Quiet = False,
) -> None:
    """Write one page that randomizes in a browser.

    It works offline, on the respondent's own device, and shows what is sent before it is.

    Example: sfumato survey page survey.toml --output survey.html --collect https://survey.example/reports
    """
    survey = load(design)
    if paper and (collect is not None or period is not None):
        raise InvalidArgument("--paper takes neither --collect nor --period; got one of them; leave it out")
    if paper:
        write_paper(survey, out, language=language, words=words, force=force)
    else:
        write_page(survey, out, collect=collect, period=period, language=language, words=words, force=force)
    if not quiet:
        say(errors(), f"{'sheet' if paper else 'page'}: {out}")


def words(out: English = Path("words.toml"), force: Force = False, quiet: given.Quiet = False) -> None:
    """Write the page's texts in English, to translate them.

    Translate all of it, then: sfumato survey page --words words.toml

    Example: sfumato survey words --output de.toml
    """
    write_words(out, force=force)
    if not quiet:
        say(errors(), f"words: {out}; translate them, then: sfumato survey page --words {out}")
