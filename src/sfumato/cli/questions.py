"""`sfumato ask`, `quote` and `explain`: a question in SQL, its price, and its way."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli import given
from sfumato.cli.asked import Asked, asking
from sfumato.cli.budget import said_cost, said_left, said_more
from sfumato.cli.failure import INTERRUPTED
from sfumato.cli.formats import Format, Target
from sfumato.cli.made_up import made_up_curator
from sfumato.cli.progress import working
from sfumato.cli.screen import errors, output, say, show
from sfumato.cli.streams import keeping
from sfumato.curator.answer import AGAIN, Answer
from sfumato.curator.curator import Curator
from sfumato.curator.options import Options
from sfumato.curator.quote import Quote
from sfumato.errors import EngineFailed
from sfumato.ledger.amount import Amount
from sfumato.ledger.entry import Kind
from sfumato.ledger.ledger import Ledger
from sfumato.project import Project


@asking
def ask(
    asked: Asked,
    epsilon: given.Most = None,
    within: given.Within = None,
    tidy: given.Tidy = False,
    format: Annotated[Format, typer.Option("--format", help="How the answer is written.")] = Format.TABLE,
    output_file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the answer to a file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw it, with error bars, to an .svg, .png or .html.")
    ] = None,
    analyst: given.Analyst = "analyst",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Answer from made-up data of the same schema: free, and marked as such.")
    ] = False,
    create: given.Create = False,
    explain: Annotated[bool, typer.Option("--explain", help="Tell also, step by step, how the answer came about.")] = (
        False
    ),
    quiet: given.Quiet = False,
) -> None:
    """Ask a question; get a private answer with intervals.

    It is charged before the data is touched. To ask the same again is free, and gives the same answer.
    """
    text, options = asked.text, asked.options | {"tidy": tidy}
    target = Target(format, output_file, plot, quiet, dry_run)
    target.check()
    loaded = given.load_project(asked.where)
    with nullcontext(Ledger.in_memory()) if dry_run else given.open_ledger(loaded, create) as ledger:
        opened = _made_up(loaded, text, ledger) if dry_run else nullcontext(given.curator_for(loaded, text, ledger))
        with opened as curator:
            accuracy = {"epsilon": epsilon, "within": given.read_within(within)}
            answer = _ask(curator, text, analyst, accuracy | options, quiet=quiet)
            amount = _amount(curator, text, float(answer.guarantee.epsilon), options)
        with nullcontext() if dry_run else keeping():
            target.write(answer)
            if explain:
                say(output(), answer.explain())
            if not (quiet or dry_run):
                again = AGAIN in answer.receipt.notes
                cost = "nothing, since it was asked before" if again else said_cost(answer.guarantee)
                on_screen = format is Format.TABLE and output_file is None
                _say_left(curator, analyst, amount, f"Cost: {cost}", answer.receipt.id, to_output=on_screen)


@asking
def quote(
    asked: Asked,
    epsilon: given.Most = None,
    within: given.Within = None,
    analyst: given.Analyst = "analyst",
    quiet: given.Quiet = False,
) -> None:
    """Say what a question costs, and how accurate it would be.

    Free, and without a look at the data.
    """
    text, options = asked.text, asked.options
    loaded = given.load_project(asked.where)
    with given.peeking(loaded) as ledger:
        curator = given.curator_for(loaded, text, ledger)
        width = given.read_within(within)
        quoted = curator.quote(text, epsilon=epsilon, within=width, analyst=analyst, **options)
        head = "expected half-width" if quoted.pilot is None else "expected half-width if all is spent"
        show(output(), [("column", head), *((name, str(each)) for name, each in quoted.expected.items())])
        if quiet:
            return
        for note in quoted.notes:
            say(output(), f"Note: {note}", indent="      ")
        fits = "" if quoted.fits else " (more than is left)"
        amount = _amount(curator, text, float(quoted.cost.epsilon), options)
        _say_left(curator, analyst, amount, f"{_said_quote(quoted)}{fits}", to_output=True)


@asking
def explain(
    asked: Asked,
    epsilon: given.Epsilon = 1.0,
) -> None:
    """Tell what would happen to a question, step by step.

    Whom it protects, what is bought, how epsilon is shared, and why the whole is private. Free.
    """
    text, options = asked.text, asked.options
    with Ledger.in_memory() as ledger:  # nothing is asked of the real one
        curator = given.curator_for(given.load_project(asked.where), text, ledger)
        say(output(), curator.explain(text, epsilon=epsilon, **options))


def _said_quote(quoted: Quote) -> str:
    wanted = "It" if quoted.wanted is None else f"For {quoted.wanted} it"
    pilot = "" if quoted.pilot is None else f"epsilon {float(quoted.pilot.epsilon):g} for a pilot, "
    first = f"{pilot}together with the answer at most " if pilot else ""
    return f"{wanted} would cost: {first}{said_cost(quoted.cost)}"


def _amount(curator: Curator, text: str, epsilon: float, options: dict[str, Any]) -> Amount:
    """What the ledger will write for a question."""
    return Amount.of(curator.plan(text, epsilon, Options.read(options)).loss)


def _ask(curator: Curator, text: str, analyst: str, options: dict[str, Any], *, quiet: bool) -> Answer:
    """The answer; who stops it by Ctrl-C is told what it cost."""
    before = curator.ledger.head.number
    pressed: list[int] = []
    try:
        with _noting_interrupts(pressed), working("reading the question", hidden=quiet) as told:
            return curator.ask(text, analyst=analyst, progress=told, **options)
    except (KeyboardInterrupt, EngineFailed):  # the engine takes Ctrl-C for a failure of its own
        if not pressed:
            raise
    charged = any(entry.kind is Kind.RESERVED for entry in curator.ledger.entries(after=before))
    cost = "it stays charged: the reservation was written before the data was touched" if charged else "not charged"
    say(errors(), f"interrupted: there is no answer; {cost}", "bold red", indent="  ")
    raise typer.Exit(INTERRUPTED)


@contextmanager
def _noting_interrupts(pressed: list[int]) -> Iterator[None]:
    def note(number: int, _: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _made_up(loaded: Project, text: str, ledger: Ledger) -> Any:
    return made_up_curator(loaded.populations[loaded.population_of(text)], loaded.public, ledger)


def _say_left(
    curator: Curator, analyst: str, amount: Amount, begin: str, receipt: str = "", *, to_output: bool
) -> None:
    ledger, population = curator.ledger, curator.population
    left, more = said_left(ledger, population, analyst), said_more(ledger, population, analyst, amount)
    say(
        output() if to_output else errors(),
        f"{begin}. Left: {left}; {more}.{f' Receipt: {receipt}' * bool(receipt)}",
        "dim",
    )
