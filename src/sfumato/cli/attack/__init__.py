"""`sfumato attack`: attacks that succeed on a raw release and fail against the curator, with the same questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato import attacks
from sfumato.attacks.averaging import REPEATS, VILLAGES
from sfumato.attacks.averaging import STORY as AVERAGING
from sfumato.attacks.differencing import PEOPLE, STORIES
from sfumato.attacks.differencing import TRIALS as DIFFERENCES
from sfumato.attacks.intersection import STORY as INTERSECTION
from sfumato.attacks.intersection import TRIALS as CONDITIONS
from sfumato.attacks.linkage import PATIENTS
from sfumato.attacks.linkage import STORY as LINKAGE
from sfumato.attacks.linkage import TRIALS as TARGETS
from sfumato.attacks.membership import PEOPLE as CANDIDATES
from sfumato.attacks.membership import STORY as MEMBERSHIP
from sfumato.attacks.membership import TRAITS
from sfumato.attacks.reconstruction import NOISES
from sfumato.attacks.reconstruction import STORY as RECONSTRUCTION
from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Group
from sfumato.cli._shared.screen import output, say
from sfumato.cli.attack.order import Order, ordered, read_bounds, read_group, read_listed, read_noise

STORIES_BY_NAME = {
    "differencing": STORIES["sum"],
    "averaging": AVERAGING,
    "reconstruction": RECONSTRUCTION,
    "linkage": LINKAGE,
    "intersection": INTERSECTION,
    "membership": MEMBERSHIP,
}


app = typer.Typer(
    rich_markup_mode=None,
    invoke_without_command=True,
    help="Attack a raw release and the curator.",
    epilog=given.examples(
        "sfumato attack",
        "sfumato attack reconstruction --epsilon 1 --plot chart.svg",
        "sfumato attack linkage --data my.csv --columns zip,sex,born --secret diagnosis",
    ),
)

Data = Annotated[
    Path | None, typer.Option("--data", metavar="FILE", help="Attack your own table: a .csv or .parquet file.")
]
Trials = Annotated[int, typer.Option("--trials", metavar="NUMBER", help="How often to repeat the attack.")]
ColumnOption = Annotated[
    str | None, typer.Option("--column", metavar="NAME", help="With --data: the column to attack.")
]
Secret = Annotated[str | None, typer.Option("--secret", metavar="NAME", help="With --data: the column to guess.")]
Columns = Annotated[
    str | None,
    typer.Option("--columns", metavar="NAMES", help="With --data: columns that others know, separated by commas."),
]


@app.callback()
def _listed(context: typer.Context) -> None:
    """Attacks that succeed on a raw release and fail against the curator."""
    if context.invoked_subcommand is not None:
        return
    console = output()
    say(
        console,
        "Each attack asks a raw release and the curator, which adds noise and keeps a ledger, the same questions "
        "and counts its correct guesses.",
    )
    for name, story in STORIES_BY_NAME.items():
        say(console, f"\n{name}", "bold")
        say(console, f"  {story}")
    say(console, "\nTry one: sfumato attack differencing. Its options: sfumato attack differencing --help")


@app.command(epilog=given.examples("sfumato attack differencing --kind mean --plot chart.svg"))
@ordered
def differencing(
    order: Order,
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="sum, mean, count or refusal.")] = "sum",
    people: Annotated[int, typer.Option("--people", metavar="NUMBER", help="How many people there are.")] = PEOPLE,
    trials: Trials = DIFFERENCES,
    data: Data = None,
    column: ColumnOption = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="With --data: the column that tells people apart.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="VALUE", help="With --data: the person to attack (default: the first row)."),
    ] = None,
    bounds: Annotated[
        str | None, typer.Option("--bounds", metavar="'LOW HIGH'", help="With --data: declared bounds of the column.")
    ] = None,
) -> None:
    """Subtract two answers to isolate one person."""
    order.run(
        attacks.differencing,
        kind=kind, people=people, trials=trials, data=data, column=column, name=name, target=target,
        bounds=read_bounds(bounds),
    )  # fmt: skip


@app.command(epilog=given.examples("sfumato attack averaging --repeats 100"))
@ordered
def averaging(
    order: Order,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="NUMBER", help="How often the question is asked.")
    ] = REPEATS,
    villages: Annotated[
        int, typer.Option("--villages", metavar="NUMBER", help="How many groups to ask about at once.")
    ] = VILLAGES,
    data: Data = None,
    column: ColumnOption = None,
) -> None:
    """Repeat a question and average the answers."""
    order.run(attacks.averaging, repeats=repeats, villages=villages, data=data, column=column)


@app.command(epilog=given.examples("sfumato attack reconstruction --people 50 --questions 200 --method linear-program"))
@ordered
def reconstruction(
    order: Order,
    people: Annotated[int, typer.Option("--people", metavar="NUMBER", help="How many people there are.")] = 100,
    questions: Annotated[int, typer.Option("--questions", metavar="NUMBER", help="How many subsets.")] = 400,
    method: Annotated[
        str, typer.Option("--method", metavar="METHOD", help="least-squares or linear-program.")
    ] = "least-squares",
    noise: Annotated[
        list[str] | None,
        typer.Option(
            "--noise",
            metavar="KIND:SCALE",
            help="Also attack a release with this noise, such as laplace:5; repeatable.",
        ),
    ] = None,
    data: Data = None,
    column: ColumnOption = None,
    value: Annotated[
        str | None, typer.Option("--value", metavar="VALUE", help="With --data: the value to guess.")
    ] = None,
) -> None:
    """Solve equations for everyone's secret."""
    noises = NOISES if noise is None else [read_noise(each) for each in noise]
    order.run(
        attacks.reconstruction,
        people=people, questions=questions, method=method, noises=noises, data=data, column=column, value=value,
    )  # fmt: skip


@app.command(
    epilog=given.examples(
        "sfumato attack linkage --epsilon 0.1",
        "sfumato attack linkage --data my.csv --columns zip,sex,born --secret diagnosis",
    )
)
@ordered
def linkage(
    order: Order,
    patients: Annotated[int, typer.Option("--patients", metavar="NUMBER", help="How many rows there are.")] = PATIENTS,
    trials: Trials = TARGETS,
    data: Data = None,
    columns: Columns = None,
    secret: Secret = None,
    outside: Annotated[
        Path | None, typer.Option("--outside", metavar="FILE", help="With --data: a list of people with these columns.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="With --outside: the column with their names.")
    ] = None,
) -> None:
    """Join rows without names with a list that has names."""
    order.run(
        attacks.linkage,
        patients=patients,
        trials=trials,
        data=data,
        columns=read_listed(columns),
        secret=secret,
        outside=outside,
        name=name,
    )


@app.command(epilog=given.examples("sfumato attack intersection --epsilon 1"))
@ordered
def intersection(
    order: Order,
    trials: Trials = CONDITIONS,
    data: Data = None,
    other: Annotated[
        Path | None, typer.Option("--other", metavar="FILE", help="With --data: the second table.")
    ] = None,
    secret: Secret = None,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="NAME=VALUE", help="With --data: the person's group in it; repeatable."),
    ] = None,
    other_group: Annotated[
        list[str] | None,
        typer.Option("--other-group", metavar="NAME=VALUE", help="The person's group in the second table; repeatable."),
    ] = None,
) -> None:
    """Compare two k-anonymous tables."""
    order.run(
        attacks.intersection,
        trials=trials, data=data, other=other, secret=secret,
        group=read_group(group, "--group"), other_group=read_group(other_group, "--other-group"),
    )  # fmt: skip


@app.command(epilog=given.examples("sfumato attack membership --people 100 --traits 2000"))
@ordered
def membership(
    order: Order,
    people: Annotated[int, typer.Option("--people", metavar="NUMBER", help="How many candidates.")] = CANDIDATES,
    traits: Annotated[int, typer.Option("--traits", metavar="NUMBER", help="How many frequencies.")] = TRAITS,
    data: Data = None,
    columns: Columns = None,
) -> None:
    """Find out who is in the data from frequencies alone."""
    order.run(attacks.membership, people=people, traits=traits, data=data, columns=read_listed(columns))


COMMANDS = (Group("attack", app),)
