"""`sfumato demo`: a made-up city, three private answers beside the exact ones, a chart, the budget, an attack."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from sfumato import project
from sfumato.charts import Point
from sfumato.cli._shared.command import Command
from sfumato.cli._shared.cost import bar, said_left, used
from sfumato.cli._shared.formats import cells
from sfumato.cli._shared.progress import working
from sfumato.cli._shared.screen import output, say, show
from sfumato.cli.demo import attack, city
from sfumato.cli.demo.chart import draw
from sfumato.curator.answers.answer import Answer
from sfumato.curator.curator import Curator
from sfumato.errors import InvalidArgument

QUESTIONS = (
    ("How many visits were there?", "SELECT region, COUNT(*) AS visits FROM visits GROUP BY region", 0.5),
    (
        "When?",
        "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) AS visits FROM visits GROUP BY 1 ORDER BY 1",
        0.5,
    ),
    ("What do the visitors earn?", "SELECT region, AVG(income) AS income FROM visits GROUP BY region", 1.0),
)
CHART = "income.svg"


def demo(
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Write data, ledger and chart to this new folder.")
    ] = None,
) -> None:
    """Ask private questions about a made-up city.

    Shows private answers beside exact ones, a chart, an attack that fails, and the budget.
    """
    started, console, folder = time.monotonic(), output(), _folder(keep)
    with working("making up a city"):
        city.build(folder)
    say(console, f"A made-up city: {city.ROWS:,} visits to its libraries by up to {city.PEOPLE:,} people.", "bold")
    say(console, "This demo shows exact values beside the private ones. No other command shows exact values.")
    loaded = project.load(folder)
    with loaded.open_ledger() as ledger:
        curator, inside = loaded.curator(ledger=ledger), []
        for title, question, epsilon in QUESTIONS:
            with working("asking") as told:
                answer = curator.ask(question, epsilon=epsilon, analyst="demo", progress=told)
            say(console, f"\n{title}  (epsilon {epsilon:g})", "bold")
            say(console, f"  {question}")
            inside += _compare(console, answer, city.exact(folder, question))
        say(console, f"{sum(inside)} of {len(inside)} intervals contain the exact value; about 95% should.")
        _draw(console, answer, folder)
        attack.show(console, curator, folder)
        _budget(console, curator)
    _say_next(console, folder)
    say(console, f"\nThe demo took {time.monotonic() - started:.1f} s.")


def _folder(keep: Path | None) -> Path:
    """A new folder; it stays, so that the next commands work."""
    if keep is None:
        return Path(tempfile.mkdtemp(prefix="sfumato-demo-"))
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise InvalidArgument(f"--keep must be a new or empty folder; got {str(keep)!r}; choose another")
    except OSError as error:
        raise InvalidArgument(f"{str(keep)!r} cannot be made a folder: {error.strerror}; choose another") from None
    return keep


def _compare(console: Console, answer: Answer, truth: list[tuple[Any, ...]]) -> list[bool]:
    """Show the answer beside the truth; for each row, whether the interval holds it."""
    key, value = answer.columns
    shown = cells(answer, list(range(len(answer.rows))))
    known = {_plain(row[0]): row[1] for row in truth}
    found, inside = [[key, f"{value}, private", "exact"]], []
    for row, pair, cell in zip(answer.rows, answer.intervals[value], shown[1:], strict=True):
        number = known.get(_plain(row[key]), 0)
        low, high = pair or (row[value], row[value])
        inside.append(low <= number <= high)
        found.append([*cell, f"{number:,.0f}"])
    show(console, found, right=(1, 2))
    return inside


def _plain(key: Any) -> str:
    return str(key)[:10]


def _draw(console: Console, answer: Answer, folder: Path) -> None:
    key, value = answer.columns
    pairs = zip(answer.rows, answer.intervals[value], strict=True)
    points = [Point(row[key], row[value], *(pair or (row[value], row[value]))) for row, pair in pairs]
    say(
        console,
        "\nThe same as a chart. Bars are values, whiskers are 95% intervals; fewer visitors give a wider interval.",
    )
    draw(console, points)
    answer.plot(notes=False).save(str(folder / CHART))
    say(console, f"  Saved as {folder / CHART}")


def _budget(console: Console, curator: Curator) -> None:
    account = curator.ledger.balance().population(curator.population).account
    part = used(account)
    say(console, "\nThe budget", "bold")
    say(console, f"  spent {bar(part)} {float(part):.0%}; left: {said_left(curator.ledger, curator.population, None)}")
    say(
        console,
        "  Each cost was recorded before the data was read. When the budget is spent, no one gets another answer.",
    )


def _say_next(console: Console, folder: Path) -> None:
    say(console, "\nYour turn", "bold")
    for line in (
        f"cd {folder}",
        'sfumato ask "SELECT COUNT(*) AS n FROM visits WHERE age < 30" --epsilon 0.5',
        'sfumato explain "SELECT AVG(age) AS age FROM visits"',
        "sfumato ledger show",
        "sfumato init your-data.csv          # then use your own data",
    ):
        console.print(f"  {line}", soft_wrap=True)


COMMANDS = (Command(demo, ("sfumato demo --keep city",)),)
