"""The command line: one file or folder per command group."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from sfumato import __version__
from sfumato.cli import allowance, attack, ledger, survey
from sfumato.cli.audit import audit
from sfumato.cli.demo import demo
from sfumato.cli.doctor import doctor
from sfumato.cli.failure import report
from sfumato.cli.init import init
from sfumato.cli.questions import ask, explain, quote
from sfumato.cli.risk import risk

_DEBUG = "--debug"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: flags look like flags, and nothing is drawn that a log cannot show
    pretty_exceptions_enable=False,  # they print local variables
    help="Private data analysis with honest error bars.",
    epilog=(
        "Exit codes: 0 answer, 1 doctor or defect, 2 usage, 3 refused, 4 engine, 5 ledger, 6 refuted, 130 interrupted."
    ),
)
for command in (demo, init, quote, ask, explain):
    app.command()(command)
app.add_typer(ledger.app, name="ledger")
app.add_typer(allowance.app, name="allowance")
app.add_typer(survey.app, name="survey")
app.command()(risk)
app.command()(audit)
app.add_typer(attack.app, name="attack")
app.command()(doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option(_DEBUG, help="Show the traceback of an error; may stand anywhere.")] = False,
) -> None:
    """Private data analysis with honest error bars."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a failure is one line and one hint, never a traceback unless asked for."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = _DEBUG in given
    if not debug:  # the owner's log repeats what is said here, and the ledger keeps
        logging.getLogger("sfumato.owner").addHandler(logging.NullHandler())
    try:
        app([each for each in given if each != _DEBUG], prog_name="sfumato")
    except Exception as error:
        sys.exit(report(error, debug=debug))
