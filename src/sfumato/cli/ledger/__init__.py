"""`sfumato ledger`: what was spent and by whom, whether the chain is whole, and copies of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Group
from sfumato.cli._shared.cost import said_amount
from sfumato.cli._shared.screen import can_ask, output, say
from sfumato.cli.ledger.drawn import draw, draw_bars, draw_entry
from sfumato.errors import InvalidArgument
from sfumato.ledger.ledger import Ledger

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="See what was spent; verify, back up and restore the ledger.",
    epilog=given.examples(
        "sfumato ledger show",
        "sfumato ledger verify",
        "sfumato ledger export entries.csv",
        "sfumato ledger backup monday.db",
    ),
)

Url = Annotated[
    str | None,
    typer.Option("--ledger", metavar="URL", help="The file or address of a ledger, instead of the project's."),
]
IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id of a receipt, or the number of an entry as ledger show lists it.")
]
FileArgument = Annotated[Path, typer.Argument(metavar="FILE")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def _open(where: Path | None, url: str | None) -> Ledger:
    """The ledger, which must be there."""
    return given.load_project(where).open_ledger(create=False) if url is None else Ledger.open(url, create=False)


def _check_new(file: Path, force: bool) -> None:
    """An older copy may be the only one of what was lost since."""
    if os.path.exists(file) and not force:
        raise InvalidArgument(f"{str(file)!r} must not exist yet; it does; choose another name, or give --force")


@app.command("show")
def show_ledger(
    id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Show one entry: the id of a receipt, or a number.")
    ] = None,
    entries: Annotated[int, typer.Option("--entries", min=0, help="How many of the last entries to list.")] = 5,
    where: given.Where = None,
    url: Url = None,
) -> None:
    """Show what was spent, or one entry."""
    if id is not None:
        with _open(where, url) as ledger:
            draw_entry(output(), ledger, id)
        return
    if url is None and not given.has_ledger(loaded := given.load_project(where)):
        with given.peeking(loaded) as untouched:
            for name, people in loaded.populations.items():
                untouched.establish(name, people.budget)
            draw_bars(output(), untouched.balance(), {})
        say(output(), "Nothing was asked yet; the first question creates the ledger.")
        return
    with _open(where, url) as ledger:
        draw(output(), ledger, entries)


@app.command()
def verify(
    head: Annotated[
        str | None,
        typer.Option("--head", metavar="HEAD", help="The head from a receipt; detects an older or a different ledger."),
    ] = None,
    where: given.Where = None,
    url: Url = None,
) -> None:
    """Check the whole chain and every decision in it."""
    with _open(where, url) as ledger:
        found = ledger.verify(head)
    erased = f", {found.erased} texts erased" if found.erased else ""
    say(output(), f"In order: {found.entries} entries{erased}; head {found.head}.")


@app.command()
def export(
    file: FileArgument,
    payloads: Annotated[bool, typer.Option("--payloads", help="Include questions and answers.")] = False,
    force: Force = False,
    where: given.Where = None,
    url: Url = None,
) -> None:
    """Write all entries to a .csv or .jsonl file.

    Leaves out questions and answers unless you give --payloads. Amounts are written as whole units and as decimals.
    """
    _check_new(file, force)
    with _open(where, url) as ledger:
        ledger.export(file, payloads=payloads)
        say(output(), f"Wrote {ledger.head.number} entries to {file}.")


@app.command()
def backup(file: FileArgument, force: Force = False, where: given.Where = None, url: Url = None) -> None:
    """Copy the ledger while it is in use.

    A name ending in .jsonl makes a copy that any ledger can restore; any other name makes a SQLite file.
    """
    _check_new(file, force)
    with _open(where, url) as ledger:
        ledger.backup(file)
        say(output(), f"Copied the ledger to {file}; head {ledger.head}. To restore it: sfumato ledger restore {file}")


@app.command()
def restore(file: FileArgument, where: given.Where = None, url: Url = None) -> None:
    """Restore a backup; no entry is ever lost.

    A new ledger gets all entries, an older one gets the entries it lacks.
    """
    if not os.path.exists(file):
        raise InvalidArgument(f"a backup must exist; there is none at {str(file)!r}; check the path")
    with Ledger.restore(file, url or given.load_project(where).ledger) as ledger:
        say(output(), f"Restored: {ledger.head.number} entries; head {ledger.head}.")


@app.command()
def merge(file: FileArgument, where: given.Where = None, url: Url = None) -> None:
    """Add what a copy of this ledger spent.

    Merging the same copy again adds nothing.
    """
    with _open(where, url) as ledger:
        say(output(), f"Merged: {ledger.merge(file)} spends were new; head {ledger.head}.")


@app.command()
def erase(
    id: IdArgument,
    yes: given.Yes = False,
    where: given.Where = None,
    url: Url = None,
) -> None:
    """Erase a question and its answer permanently.

    The chain stays valid, and what was spent stays spent.
    """
    with _open(where, url) as ledger:
        number = ledger.entry(id).number
        confirm(f"Permanently erase question and answer {number}?", yes)
        done = ledger.erase(id) is not None
        say(output(), f"Erased {number}; what it cost stays spent." if done else f"{number} was erased before.")


@app.command()
def reconcile(yes: given.Yes = False, where: given.Where = None) -> None:
    """Continue with a ledger that lost entries.

    Its witness knows a longer ledger. What is missing counts as spent. Repeat grants and revocations that are missing.
    """
    with _open(where, None) as ledger:
        confirm("Is the longer ledger lost permanently, with no backup?", yes)
        counted = ledger.reconcile()
        for entry in counted:
            cost = said_amount(entry.amount.epsilon)
            say(output(), f"Counted as spent by {entry.analyst} on {entry.population}: epsilon {cost}.")
        say(output(), f"The witness continues from here; head {ledger.head}.")


@app.command()
def resume(
    analyst: Annotated[str, typer.Argument(metavar="ANALYST")],
    table: Annotated[str, typer.Argument(metavar="TABLE")],
    where: given.Where = None,
    url: Url = None,
) -> None:
    """Let an analyst ask again after a failure.

    A question that fails after it was charged may reveal something by failing, so you check the failure first.
    """
    with _open(where, url) as ledger:
        done = ledger.resume(analyst, table) is not None
    say(output(), f"{analyst} may ask {table} again." if done else f"{analyst} was not paused on {table}.")


def confirm(question: str, yes: bool) -> None:
    """Ask whether this is meant; without a terminal it must be said beforehand."""
    if yes:
        return
    if not can_ask():
        raise InvalidArgument("this cannot be undone, and nobody can be asked here; if it is meant, give --yes")
    typer.confirm(question, abort=True)


COMMANDS = (Group("ledger", app),)
