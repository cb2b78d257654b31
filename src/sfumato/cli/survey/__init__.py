"""`sfumato survey`: design a survey of the local model, randomise answers, estimate from what was collected."""

from __future__ import annotations

import typer

from sfumato.cli import given
from sfumato.cli.survey.designing import design
from sfumato.cli.survey.estimating import estimate
from sfumato.cli.survey.paging import page, words
from sfumato.cli.survey.randomising import randomise

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Surveys in which nobody has to be trusted.",
    epilog=given.examples(
        "sfumato survey design --question smoker=yes-no --epsilon 1",
        "sfumato survey page",
        "sfumato survey randomise answers.csv -o sent.csv",
        "sfumato survey estimate sent.csv",
    ),
)
for command in (design, page, words, randomise, estimate):
    app.command()(command)
