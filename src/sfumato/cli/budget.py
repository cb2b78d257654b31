"""`sfumato budget`: what may be spent, by everybody and by each analyst."""

from __future__ import annotations

import datetime
from typing import Annotated

import typer

from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Group
from sfumato.cli._shared.cost import said_left
from sfumato.cli._shared.screen import output, say, show
from sfumato.cli.ledger import confirm
from sfumato.errors import InvalidArgument
from sfumato.ledger.balance import Account
from sfumato.ledger.ledger import system_clock
from sfumato.ledger.records.budget import EPOCH, Budget, moment
from sfumato.privacy.guarantee import Guarantee
from sfumato.project import Project

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show, grant and revoke budgets.",
    epilog=given.examples("sfumato budget show", "sfumato budget grant anna --epsilon 1", "sfumato budget apply"),
)

PopulationOption = Annotated[
    str | None,
    typer.Option("--population", metavar="NAME", help="The population; required if the project has several."),
]
_NEVER = "never"
Named = Annotated[str | None, typer.Argument(metavar="ANALYST", help="One analyst; without a name: everyone together.")]


@app.command("show")
def show_budgets(where: given.Where = None) -> None:
    """List the budgets that were granted and what is left of each."""
    loaded = given.load_project(where)
    with given.peeking(loaded) as ledger:
        rows = [("whose", "epsilon", "delta", "until", "left")]
        for name, people in loaded.populations.items():
            balance = ledger.balance().population(name)
            if balance.account.budget is None and not balance.account.revoked:
                declared = people.budget
                rows.append(
                    (name, f"{float(declared.epsilon):g}", f"{float(declared.delta):g}", "", "all; nothing asked yet")
                )
                continue
            rows.append((name, *_granted(balance.account), said_left(ledger, name, None)))
            for analyst, account in sorted(balance.analysts.items()):
                left = said_left(ledger, name, analyst) if account.budget else _no_own(account, balance.named)
                rows.append((f"  {analyst}", *_granted(account), left))
    show(output(), rows)


def _granted(account: Account) -> tuple[str, str, str]:
    if account.revoked:
        return "revoked", "", ""
    held = account.budget
    if held is None:
        return "-", "", ""
    return f"{float(held.epsilon):g}", f"{float(held.delta):g}", "" if held.until is None else moment(held.until)


def _no_own(account: Account, named: bool) -> str:
    if account.revoked:
        return "may not ask"
    return "no budget of their own; may not ask, because others have one" if named else "no budget of their own"


@app.command()
def grant(
    analyst: Named = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon",
            "-e",
            parser=given.number("--epsilon"),
            metavar="NUMBER",
            help="The epsilon that the analyst may spend.",
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            "--delta", parser=given.number("--delta"), metavar="NUMBER", help="The delta that the analyst may spend."
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="DATE", help="The last day of the budget in UTC, such as 2026-12-31, or never."
        ),
    ] = None,
    population: PopulationOption = None,
    create: given.Create = False,
    where: given.Where = None,
) -> None:
    """Grant a budget, replacing an earlier one.

    With a name: grant that analyst a budget. Without: apply the project file's budget. Options you leave out keep
    their earlier values.
    """
    loaded = given.load_project(where)
    name = given.read_population(loaded, population)
    declared = _declared(loaded, name, epsilon, delta) if analyst is None else None
    with given.open_ledger(loaded, create) as ledger:
        people = ledger.balance().population(name)
        held = people.of(analyst).budget
        guarantee = declared or _own(epsilon, delta, held)
        last = _kept_until(held) if until is None else _read_until(until)
        if people.account.budget is None and analyst is not None:
            ledger.establish(name, loaded.populations[name].budget)
        was_first = analyst is not None and not people.named
        ledger.grant(name, guarantee, analyst=analyst, until=last)
        said = f"{_said(guarantee)}{_said_until(last)}"
        say(output(), f"Granted to {analyst or name}: {said}. Left: {said_left(ledger, name, analyst)}.")
        whole = ledger.balance().population(name).account.budget
        if analyst is not None and whole is not None and guarantee.epsilon > whole.epsilon:
            limit = f"epsilon {float(whole.epsilon):g}"
            say(output(), f"Note: this is more than the total budget of {name} ({limit}), which applies as well.")
        if was_first:
            say(output(), "From now on, only analysts with a budget of their own may ask.")


@app.command("apply")
def apply_budget(population: PopulationOption = None, create: given.Create = False, where: given.Where = None) -> None:
    """Use the project file's budget from now on.

    What was spent stays spent. A smaller budget than was spent leaves nothing.
    """
    grant(None, None, None, None, population, create, where)


def _own(epsilon: float | None, delta: float | None, held: Budget | None) -> Guarantee:
    """What an analyst is granted; what is not given stays as it was."""
    if epsilon is None and held is None:
        raise InvalidArgument("an analyst's budget must be said; got none; give --epsilon, for example --epsilon 1")
    kept = (0, 0) if held is None else (held.epsilon, held.delta)
    return Guarantee(kept[0] if epsilon is None else epsilon, kept[1] if delta is None else delta)


def _kept_until(held: Budget | None) -> datetime.datetime | None:
    """The end of an earlier grant; one that is past cannot be kept."""
    if held is None or held.until is None:
        return None
    if held.ended(system_clock()):
        raise InvalidArgument(
            f"the last day must lie in the future; the earlier grant ended on {moment(held.until)}; say when this one "
            "ends, for example --until 2030-12-31, or --until never"
        )
    return EPOCH + datetime.timedelta(microseconds=held.until)


def _declared(loaded: Project, name: str, epsilon: float | None, delta: float | None) -> Guarantee:
    """The budget of a population; where project file and ledger differ, questions are refused, so the file leads."""
    declared = loaded.populations[name].budget
    for word, given_, held in (("epsilon", epsilon, declared.epsilon), ("delta", delta, declared.delta)):
        if given_ is not None and given_ != float(held):
            raise InvalidArgument(
                f"the budget of {name!r} must be the one in the project file; got {word} {given_:g}, but it says "
                f"{float(held):g}; change it there first, then: sfumato budget apply"
            )
    return declared


def _said(guarantee: Guarantee) -> str:
    return f"epsilon {float(guarantee.epsilon):g}, delta {float(guarantee.delta):g}"


def _said_until(last: datetime.datetime | None) -> str:
    return "" if last is None else f", until {last:%Y-%m-%d %H:%M} UTC"


def _read_until(text: str) -> datetime.datetime | None:
    if text == _NEVER:
        return None
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(
            f"--until must be year-month-day, or never; got {text!r}; for example 2026-12-31"
        ) from None
    return datetime.datetime.combine(day, datetime.time(), datetime.UTC) + datetime.timedelta(days=1)


@app.command()
def revoke(
    analyst: Named = None,
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, recorded in the ledger.")] = "",
    yes: given.Yes = False,
    population: PopulationOption = None,
    where: given.Where = None,
) -> None:
    """End a budget; what was spent stays spent."""
    loaded = given.load_project(where)
    name = given.read_population(loaded, population)
    with loaded.open_ledger(create=False) as ledger:
        if analyst is None:
            confirm(f"Revoke the whole budget of {name!r}, so that no one can ask?", yes)
        ledger.revoke(name, analyst=analyst, why=why)
    say(output(), f"Revoked the budget of {analyst or name}. To grant a new one: sfumato budget grant")


COMMANDS = (Group("budget", app),)
