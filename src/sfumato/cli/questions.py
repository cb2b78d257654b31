"""`sfumato ask`, `quote` and `explain`: a question in SQL, its price, and its way."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Command
from sfumato.cli._shared.cost import said_cost, said_left, said_more
from sfumato.cli._shared.failure import INTERRUPTED
from sfumato.cli._shared.formats import Format, Target
from sfumato.cli._shared.progress import working
from sfumato.cli._shared.question_options import Asked, asking
from sfumato.cli._shared.screen import errors, output, say, show
from sfumato.cli._shared.simulation import made_up_curator
from sfumato.cli._shared.streams import keeping
from sfumato.curator.answers.answer import AGAIN, Answer
from sfumato.curator.budgeting.quote import Quote
from sfumato.curator.curator import Curator
from sfumato.curator.options import Options
from sfumato.errors import EngineFailed
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.records.amount import Amount
from sfumato.ledger.records.entry import Kind
from sfumato.project import Project


@asking
def ask(
    asked: Asked,
    epsilon: given.Most = None,
    within: given.Within = None,
    tidy: given.Tidy = False,
    format: Annotated[Format, typer.Option("--format", help="The format of the answer.")] = Format.TABLE,
    output_file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the answer to a file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw a chart with error bars: .svg, .png or .html.")
    ] = None,
    analyst: given.Analyst = "analyst",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Answer from made-up data of the same schema; free, and marked as made up."),
    ] = False,
    create: given.Create = False,
    explain: Annotated[bool, typer.Option("--explain", help="Also explain how the answer was computed.")] = False,
    quiet: given.Quiet = False,
) -> None:
    """Ask a question and get a private answer with intervals.

    The cost is charged before the data is read. Asking the same question again is free and gives the same answer.
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
                cost = "nothing, because it was asked before" if again else said_cost(answer.guarantee)
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
    """Show what a question costs and how accurate it would be.

    Free: the data is not read.
    """
    text, options = asked.text, asked.options
    loaded = given.load_project(asked.where)
    with given.peeking(loaded) as ledger:
        curator = given.curator_for(loaded, text, ledger)
        width = given.read_within(within)
        quoted = curator.quote(text, epsilon=epsilon, within=width, analyst=analyst, **options)
        head = "expected half-width" if quoted.pilot is None else "expected half-width if all of it is spent"
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
    """Explain step by step how a question would be answered.

    Names who is protected, what is estimated privately, how epsilon is divided, and why the result is private. Free.
    """
    text, options = asked.text, asked.options
    with Ledger.in_memory() as ledger:  # nothing is asked of the real one
        curator = given.curator_for(given.load_project(asked.where), text, ledger)
        say(output(), curator.explain(text, epsilon=epsilon, **options))


def _said_quote(quoted: Quote) -> str:
    wanted = "" if quoted.wanted is None else f" for {quoted.wanted}"
    pilot = "" if quoted.pilot is None else f"epsilon {float(quoted.pilot.epsilon):g} for a pilot, at most "
    together = " in total" if pilot else ""
    return f"Cost{wanted}: {pilot}{said_cost(quoted.cost)}{together}"


def _amount(curator: Curator, text: str, epsilon: float, options: dict[str, Any]) -> Amount:
    """What the ledger will write for a question."""
    return Amount.of(curator.plan(text, epsilon, Options(**options)).loss)


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
    cost = "the charge stays, because it was recorded before the data was read" if charged else "not charged"
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


_COUNT = '"SELECT region, COUNT(*) AS n FROM visits GROUP BY region"'
COMMANDS = (
    Command(quote, (f"sfumato quote {_COUNT} -e 0.5",)),
    Command(ask, (f"sfumato ask {_COUNT} -e 0.5", f"sfumato ask {_COUNT} --within 5% --plot n.svg")),
    Command(explain, (f"sfumato explain {_COUNT} -e 0.5",)),
)
