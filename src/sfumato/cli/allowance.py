"""`sfumato allowance`: what may be spent, by everybody and by each analyst."""

from __future__ import annotations

import datetime
from typing import Annotated

import typer

from sfumato.cli import given
from sfumato.cli.budget import said_left
from sfumato.cli.ledger import confirm
from sfumato.cli.screen import output, say, show
from sfumato.errors import InvalidArgument
from sfumato.ledger.allowance import EPOCH, Allowance, moment
from sfumato.ledger.balance import Account
from sfumato.ledger.ledger import system_clock
from sfumato.privacy.guarantee import Guarantee
from sfumato.project import Project

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="What may be spent, and by whom.",
    epilog=given.examples(
        "sfumato allowance show", "sfumato allowance grant anna --epsilon 1", "sfumato allowance revoke anna"
    ),
)

PopulationOption = Annotated[
    str | None, typer.Option("--population", metavar="NAME", help="Whose data; needed where a project has several.")
]
_NEVER = "never"
Named = Annotated[str | None, typer.Argument(metavar="ANALYST", help="One analyst; without a name: all together.")]


@app.command("show")
def show_allowances(where: given.Where = None) -> None:
    """List what was granted and what is left."""
    loaded = given.load_project(where)
    with given.peeking(loaded) as ledger:
        rows = [("whose", "epsilon", "delta", "until", "left")]
        for name, people in loaded.populations.items():
            balance = ledger.balance().population(name)
            if balance.account.allowance is None and not balance.account.revoked:
                declared = people.allowance
                rows.append(
                    (name, f"{float(declared.epsilon):g}", f"{float(declared.delta):g}", "", "all; not asked yet")
                )
                continue
            rows.append((name, *_granted(balance.account), said_left(ledger, name, None)))
            for analyst, account in sorted(balance.analysts.items()):
                left = said_left(ledger, name, analyst) if account.allowance else _no_own(account, balance.named)
                rows.append((f"  {analyst}", *_granted(account), left))
    show(output(), rows)


def _granted(account: Account) -> tuple[str, str, str]:
    if account.revoked:
        return "revoked", "", ""
    held = account.allowance
    if held is None:
        return "-", "", ""
    return f"{float(held.epsilon):g}", f"{float(held.delta):g}", "" if held.until is None else moment(held.until)


def _no_own(account: Account, named: bool) -> str:
    if account.revoked:
        return "may not ask"
    return "no limit of its own is set; may not ask, since others have one" if named else "no limit of its own is set"


@app.command()
def grant(
    analyst: Named = None,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--epsilon", "-e", parser=given.number("--epsilon"), metavar="NUMBER", help="What the analyst may spend."
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
        typer.Option("--until", metavar="DATE", help="The last day on which it holds, in UTC: 2026-12-31; or never."),
    ] = None,
    population: PopulationOption = None,
    create: given.Create = False,
    where: given.Where = None,
) -> None:
    """Grant an allowance, in place of an earlier one.

    To an analyst what the options say; without a name to all what the project file says. What is not given stays as it
    was: epsilon, delta and the last day.
    """
    loaded = given.load_project(where)
    name = given.read_population(loaded, population)
    declared = _declared(loaded, name, epsilon, delta) if analyst is None else None
    with given.open_ledger(loaded, create) as ledger:
        people = ledger.balance().population(name)
        held = people.of(analyst).allowance
        guarantee = declared or _own(epsilon, delta, held)
        last = _kept_until(held) if until is None else _read_until(until)
        if people.account.allowance is None and analyst is not None:
            ledger.establish(name, loaded.populations[name].allowance)
        was_first = analyst is not None and not people.named
        ledger.grant(name, guarantee, analyst=analyst, until=last)
        said = f"{_said(guarantee)}{_said_until(last)}"
        say(output(), f"Granted to {analyst or name}: {said}. Left: {said_left(ledger, name, analyst)}.")
        whole = ledger.balance().population(name).account.allowance
        if analyst is not None and whole is not None and guarantee.epsilon > whole.epsilon:
            limit = f"epsilon {float(whole.epsilon):g}"
            say(output(), f"Note: that is more than all may spend together on {name}, {limit}, which holds as well.")
        if was_first:
            say(output(), "From now on only analysts with a grant of their own may ask.")


def _own(epsilon: float | None, delta: float | None, held: Allowance | None) -> Guarantee:
    """What an analyst is granted; what is not given stays as it was."""
    if epsilon is None and held is None:
        raise InvalidArgument("an analyst's allowance must be said; got none; give --epsilon, for example --epsilon 1")
    kept = (0, 0) if held is None else (held.epsilon, held.delta)
    return Guarantee(kept[0] if epsilon is None else epsilon, kept[1] if delta is None else delta)


def _kept_until(held: Allowance | None) -> datetime.datetime | None:
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
    """The allowance of a population; where project file and ledger differ, questions are refused, so the file leads."""
    declared = loaded.populations[name].allowance
    for word, given_, held in (("epsilon", epsilon, declared.epsilon), ("delta", delta, declared.delta)):
        if given_ is not None and given_ != float(held):
            raise InvalidArgument(
                f"the allowance of {name!r} must be the one in the project file; got {word} {given_:g}, but it says "
                f"{float(held):g}; change it there first, then: sfumato allowance grant"
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
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, for the ledger.")] = "",
    yes: given.Yes = False,
    population: PopulationOption = None,
    where: given.Where = None,
) -> None:
    """End an allowance; what was spent stays spent."""
    loaded = given.load_project(where)
    name = given.read_population(loaded, population)
    with loaded.open_ledger(create=False) as ledger:
        if analyst is None:
            confirm(f"Revoke the allowance of all of {name!r}, so that nobody can ask?", yes)
        ledger.revoke(name, analyst=analyst, why=why)
    say(output(), f"Revoked: the allowance of {analyst or name}. A new one: sfumato allowance grant")
