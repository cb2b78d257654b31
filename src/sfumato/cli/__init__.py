"""The command line: one file or folder per command group."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from sfumato import __version__
from sfumato.cli import allowance, attack, given, ledger, survey
from sfumato.cli.audit import audit
from sfumato.cli.demo import demo
from sfumato.cli.doctor import doctor
from sfumato.cli.failure import report
from sfumato.cli.init import init
from sfumato.cli.questions import ask, explain, quote
from sfumato.cli.risk import risk
from sfumato.cli.streams import OutputLost, guarded

_DEBUG = "--debug"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: flags look like flags, and nothing is drawn that a log cannot show
    pretty_exceptions_enable=False,  # they print local variables
    help="Private data analysis with honest error bars.",
    epilog=(
        "Exit codes: 0 answer, 1 doctor or defect, 2 usage, 3 refused, 4 engine, 5 ledger, 6 refuted, "
        "7 output not written, 130 interrupted, 141 pipe closed."
    ),
)
_COUNT = '"SELECT region, COUNT(*) AS n FROM visits GROUP BY region"'
_EXAMPLES = {
    demo: ("sfumato demo --keep city",),
    init: ("sfumato init visits.csv", 'sfumato init visits.csv --unit person --column "spent=0 100" --no-questions'),
    quote: (f"sfumato quote {_COUNT} -e 0.5",),
    ask: (f"sfumato ask {_COUNT} -e 0.5", f"sfumato ask {_COUNT} --within 5% --plot n.svg"),
    explain: (f"sfumato explain {_COUNT} -e 0.5",),
    audit: (
        "sfumato audit laplace --epsilon 1",
        'sfumato audit noise:my_count --value "[1, 2]" --neighbour "[1]" -e 1',
        'sfumato audit "SELECT COUNT(*) AS n FROM visits"',
        "sfumato audit zoo",
    ),
    risk: (
        "sfumato risk people.csv",
        "sfumato risk people.csv --columns age,sex,zip --sensitive diagnosis --html risk.html",
        "sfumato risk people.csv --columns age,zip --link voters.csv --on age,zip=place",
        "sfumato risk firms.csv --columns region --sum revenue --by region",
    ),
    doctor: ("sfumato doctor",),
}


for command in (demo, init, quote, ask, explain):
    app.command(epilog=given.examples(*_EXAMPLES[command]))(command)
app.add_typer(ledger.app, name="ledger")
app.add_typer(allowance.app, name="allowance")
app.add_typer(survey.app, name="survey")
app.command(epilog=given.examples(*_EXAMPLES[risk]))(risk)
app.command(epilog=given.examples(*_EXAMPLES[audit]))(audit)
app.add_typer(attack.app, name="attack")
app.command(epilog=given.examples(*_EXAMPLES[doctor]))(doctor)


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
        with guarded():
            code = _run([each for each in given if each != _DEBUG], debug)
    except OutputLost as lost:
        with guarded():  # standard error may lie on the same full disk
            code = report(lost, debug=debug)
    sys.exit(code)


def _run(arguments: list[str], debug: bool) -> int | str | None:
    """Run a command; its exit code, as `sys.exit` takes it."""
    try:
        app(arguments, prog_name="sfumato")
    except SystemExit as ended:
        return ended.code
    except OutputLost:
        raise
    except Exception as error:
        return report(error, debug=debug)
    return 0
