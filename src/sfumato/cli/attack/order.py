"""An attack as it was ordered: run with a bar, asked for leave where it takes long, told as text, JSON or chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import charts
from sfumato.attacks import CONFIDENCE, EPSILON, SEED, Outcome, Side
from sfumato.attacks.outcome import percent
from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import sharing
from sfumato.cli._shared.failure import INTERRUPTED
from sfumato.cli._shared.files import write
from sfumato.cli._shared.formats import Target
from sfumato.cli._shared.progress import working
from sfumato.cli._shared.screen import can_ask, errors, output, say, show
from sfumato.curator.measurement.progress import Phase
from sfumato.errors import InvalidArgument, TakesLong

# fmt: off
_OF_OWN_DATA = ("column", "columns", "name", "target", "bounds", "value", "secret", "outside", "other", "group",
                "other_group")
# fmt: on


Allowed = Annotated[
    float,
    typer.Option(
        "--epsilon", "-e", parser=given.number("--epsilon"), metavar="NUMBER", help="The curator's whole budget."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="NUMBER", help="The seed of made-up people and subsets; noise has no seed.")
]
Sure = Annotated[
    float,
    typer.Option(
        "--confidence",
        parser=given.number("--confidence"),
        metavar="NUMBER",
        help="The probability that an interval holds.",
    ),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw a chart of both sides: .svg, .png or .html.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")]


@dataclass(frozen=True, slots=True)
class Order:
    """What an attack was asked for, beside its own sizes: the options that all attacks have."""

    settings: dict[str, Any]
    plot: Path | None
    as_json: bool
    quiet: bool
    yes: bool

    def run(self, attack: Callable[..., Outcome], **sizes: Any) -> None:
        """Run it, and tell what came of it."""
        Target(plot=self.plot).check()
        if sizes.get("data") is None:
            _refuse_without_data(sizes)
        try:
            outcome = self._allowed(attack, sizes)
        except KeyboardInterrupt:
            say(errors(), "interrupted: no outcome so far", "bold red")
            raise typer.Exit(INTERRUPTED) from None
        if self.plot is not None:
            about_own = sizes.get("data") is not None
            write(self.plot, lambda file: charts.save(outcome.plot(), file), private=about_own)
        if self.as_json:
            output().out(outcome.to_json(), highlight=False)
        else:
            tell(outcome, quiet=self.quiet)
        if self.plot is not None and not self.quiet:
            say(errors(), f"chart: {self.plot}")

    def _allowed(self, attack: Callable[..., Outcome], sizes: dict[str, Any]) -> Outcome:
        """Ask for leave where it would take long, unless --yes gave it."""
        if self.yes:
            return self._with_bar(attack, sizes, math.inf)
        try:
            return self._with_bar(attack, sizes, None)
        except TakesLong as long:
            if not can_ask():
                raise
            say(errors(), str(long).partition("; take less")[0])
            typer.confirm("Run it anyway?", abort=True)
        return self._with_bar(attack, sizes, math.inf)

    def _with_bar(self, attack: Callable[..., Outcome], sizes: dict[str, Any], patience: float | None) -> Outcome:
        allowed = {} if patience is None else {"patience": patience}
        with self._bar(attack.__name__) as progress:
            return attack(**sizes, **self.settings, **allowed, progress=progress)

    @contextmanager
    def _bar(self, name: str) -> Iterator[Callable[[int, int], None]]:
        with working(name, hidden=self.quiet or self.as_json) as told:

            def tell_phase(done: int, of: int) -> None:
                told(Phase(f"{name}: {done:,} of {of:,}", done + 1, of))

            yield tell_phase


def _read(
    epsilon: Allowed = EPSILON,
    seed: Seed = SEED,
    confidence: Sure = CONFIDENCE,
    plot: Plot = None,
    as_json: Json = False,
    quiet: given.Quiet = False,
    yes: given.Yes = False,
) -> Order:
    return Order({"epsilon": epsilon, "seed": seed, "confidence": confidence}, plot, as_json, quiet, yes)


ordered = sharing(_read)


def _refuse_without_data(sizes: dict[str, Any]) -> None:
    """Options about a table of one's own would be ignored without one, and the outcome taken for the table's."""
    for name in _OF_OWN_DATA:
        if sizes.get(name):
            option = f"--{name.replace('_', '-')}"
            raise InvalidArgument(f"{option} belongs to --data; got no --data; name a table of yours: --data FILE")


def tell(outcome: Outcome, *, quiet: bool) -> None:
    """The story, the questions, what was seen, how often it was right on both sides, and what stopped it."""
    console = output()
    if not quiet:
        say(console, outcome.story)
        say(
            console,
            f"\nThe same {'question' if outcome.asked == 1 else f'{outcome.asked:,} questions'} to both:",
            "bold",
        )
        for question in outcome.questions:
            say(console, f"  {_short(question)}")
        if outcome.seen:
            say(console, "\nWhat the attacker sees, once", "bold")
            show(console, [("", outcome.raw.name, outcome.curator.name), *outcome.seen], right=(1, 2))
    say(console, f"{'' if quiet else chr(10)}{outcome.headline}", "bold")
    rows = [("release", "right", f"{percent(outcome.confidence)} interval", "guesses", "answers")]
    rows += [_row(side) for side in (outcome.raw, *outcome.others, outcome.curator)]
    show(console, rows, right=(1, 2, 3, 4))
    epsilon = f"{float(outcome.guarantee.epsilon):g}"
    say(console, f"At epsilon {epsilon} no attacker at all can exceed {percent(outcome.bound)}.")
    say(console, outcome.verdict, "bold green" if outcome.kept else "bold red")
    if not quiet:
        say(console, f"(the guarantee: {outcome.promised})")
        say(console, f"\n{outcome.end}")


def _row(side: Side) -> tuple[str, str, str, str, str]:
    became = [f"{side.answered:,}"]
    became += [f"{side.repeated:,} repeated"] if side.repeated else []
    became += [f"{side.refused:,} refused"] if side.refused else []
    interval = f"{percent(side.low)} to {percent(side.high)}"
    return side.name, percent(side.success), interval, f"{side.trials:,}", ", ".join(became)


def _short(question: str, most: int = 160) -> str:
    return question if len(question) <= most else f"{question[: most - 3]}..."


def read_bounds(text: str | None) -> tuple[float, float] | None:
    """Two numbers, as in '0 200000'."""
    if text is None:
        return None
    try:
        low, high = (float(each) for each in text.replace(",", " ").split())
    except ValueError:
        raise InvalidArgument(f"--bounds must be two numbers; got {text!r}; for example '0 200000'") from None
    return low, high


def read_noise(text: str) -> tuple[str, float]:
    """A kind of noise and its scale, as in laplace:5."""
    kind, _, scale = text.partition(":")
    try:
        return kind.strip().lower(), float(scale)
    except ValueError:
        raise InvalidArgument(f"--noise must be KIND:SCALE; got {text!r}; for example laplace:5") from None


def read_listed(text: str | None) -> tuple[str, ...]:
    """Names, a comma apart."""
    return tuple(each.strip() for each in (text or "").split(",") if each.strip())


def read_group(listed: list[str] | None, option: str) -> dict[str, str] | None:
    """Values by column, each as NAME=VALUE."""
    found = {}
    for text in listed or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidArgument(f"{option} must be NAME=VALUE; got {text!r}; for example age='<30'")
        found[name.strip()] = value.strip()
    return found or None
