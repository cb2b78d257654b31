"""`sfumato survey`: design a survey of the local model, randomize answers, estimate from what was collected."""

from __future__ import annotations

import typer

from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Group
from sfumato.cli.survey.designing import design
from sfumato.cli.survey.estimating import estimate
from sfumato.cli.survey.paging import page, words
from sfumato.cli.survey.randomizing import randomize

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run surveys that need no trusted collector.",
    epilog=given.examples(
        "sfumato survey design --question smoker=yes-no --epsilon 1",
        "sfumato survey page",
        "sfumato survey randomize answers.csv -o sent.csv",
        "sfumato survey estimate sent.csv",
    ),
)
for command in (design, page, words, randomize, estimate):
    app.command()(command)


COMMANDS = (Group("survey", app),)
