"""The command line: one file or folder per command group."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from sfumato import __version__
from sfumato.cli._shared.failure import report
from sfumato.cli._shared.streams import OutputLost, guarded
from sfumato.errors import UnknownName
from sfumato.renames import current_command

COMMANDS = [  # the modules of the commands, in the order of the help; a command is its file and a line here
    "sfumato.cli.demo",
    "sfumato.cli.init",
    "sfumato.cli.questions",
    "sfumato.cli.ledger",
    "sfumato.cli.budget",
    "sfumato.cli.survey",
    "sfumato.cli.risk",
    "sfumato.cli.audit",
    "sfumato.cli.attack",
    "sfumato.cli.doctor",
    "sfumato.cli.migrate",
]
_DEBUG = "--debug"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option(_DEBUG, help="Show the traceback of an error; may appear anywhere.")] = False,
) -> None:
    """Private data analysis with honest error bars."""


def build() -> typer.Typer:
    """The command line with the commands of all modules that are listed."""
    app = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: flags look like flags, and nothing is drawn that a log cannot show
        pretty_exceptions_enable=False,  # they print local variables
        help="Private data analysis with honest error bars.",
        epilog=(
            "Exit codes: 0 answered, 1 problem found by doctor or internal error, 2 usage, 3 refused, 4 engine failed, "
            "5 ledger failed, 6 claim refuted, 7 output not written, 130 interrupted, 141 pipe closed."
        ),
    )
    app.callback()(_options)
    for module in COMMANDS:
        for command in importlib.import_module(module).COMMANDS:
            command.add_to(app)
    return app


app = build()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a failure is one line and one hint, never a traceback unless asked for."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = _DEBUG in given
    if not debug:  # the owner's log repeats what is said here, and the ledger keeps
        logging.getLogger("sfumato.owner").addHandler(logging.NullHandler())
    try:
        with guarded():
            code = _run([each for each in given if each != _DEBUG], debug)
    except OutputLost as lost:
        with guarded():  # standard error may lie on the same full disk
            code = report(lost, debug=debug)
    sys.exit(code)


def _run(arguments: list[str], debug: bool) -> int | str | None:
    """Run a command; its exit code, as `sys.exit` takes it."""
    try:
        if said := current_command(arguments):
            raise UnknownName(said)
        app(arguments, prog_name="sfumato")
    except SystemExit as ended:
        return ended.code
    except OutputLost:
        raise
    except Exception as error:
        return report(error, debug=debug)
    return 0
