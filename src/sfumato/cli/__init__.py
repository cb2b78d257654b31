"""The command line: one file per command group."""

from __future__ import annotations

import typer

from sfumato import __version__
from sfumato.cli.demo import demo

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: flags look like flags, and nothing is drawn that a log cannot show
    help="Private data analysis with honest error bars.",
)
app.command()(demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Private data analysis with honest error bars."""


def main() -> None:
    """Run the command line."""
    app()
