"""`sfumato audit`: a certified lower bound on the epsilon that is really spent."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import charts
from sfumato.audit.by_name import is_mechanism, mechanism_game
from sfumato.audit.draw import Progress
from sfumato.audit.finding import Finding
from sfumato.audit.game import CONFIDENCE, SAMPLES, SECONDS, Game, game
from sfumato.audit.load import load
from sfumato.audit.picture import draw_finding
from sfumato.audit.zoo import ZOO
from sfumato.cli._shared import options as given
from sfumato.cli._shared.command import Command
from sfumato.cli._shared.failure import INTERRUPTED, REFUTED
from sfumato.cli._shared.files import write
from sfumato.cli._shared.formats import Target
from sfumato.cli._shared.progress import working
from sfumato.cli._shared.question_options import File, read_question
from sfumato.cli._shared.screen import errors, say
from sfumato.cli.audit import questions, zoo
from sfumato.cli.audit.names import is_question, list_names, same, unknown
from sfumato.cli.audit.render import show_finding
from sfumato.curator.measurement.progress import Phase
from sfumato.errors import InvalidArgument

What = Annotated[
    str | None,
    typer.Argument(
        metavar="WHAT",
        help="A mechanism's name, SQL (@FILE reads it from a file, - from standard input), module:name of your own, "
        "zoo, or a name from it. Without it: list the names.",
    ),
]
Claimed = Annotated[
    float | None,
    typer.Option(
        "--epsilon", "-e", parser=given.number("--epsilon"), metavar="NUMBER", help="The claimed epsilon (default 1)."
    ),
]
ClaimedDelta = Annotated[
    float | None,
    typer.Option("--delta", parser=given.number("--delta"), metavar="NUMBER", help="The claimed delta (default 0)."),
]
With = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="NAME=VALUE", help="A parameter of the mechanism, such as size=3; may be repeated."),
]
Input = Annotated[str | None, typer.Option("--value", metavar="VALUE", help="One input: a number, a list or a text.")]
Neighbor = Annotated[str | None, typer.Option("--neighbor", metavar="VALUE", help="The neighboring input.")]
Samples = Annotated[
    int | None,
    typer.Option(
        "--samples",
        "-n",
        parser=given.whole("--samples"),
        metavar="NUMBER",
        help=f"Outputs per input (default {SAMPLES:,}; none for SQL).",
    ),
]
Sure = Annotated[
    float,
    typer.Option(
        "--confidence",
        parser=given.number("--confidence"),
        metavar="NUMBER",
        help="The probability that the bound holds.",
    ),
]
Limit = Annotated[
    float,
    typer.Option(
        "--limit", parser=given.number("--limit"), metavar="SECONDS", help="The most time that sampling may take."
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw both distributions and the event: .svg, .png or .html."),
]
Timing = Annotated[
    bool,
    typer.Option(
        "--timing",
        help="Time every release on this machine, and audit the output and its duration together.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


@dataclass(frozen=True, slots=True)
class Order:
    """What an audit was asked for, beside its target."""

    samples: int | None
    confidence: float
    seconds: float
    as_json: bool
    plot: Path | None
    quiet: bool
    timing: bool = False

    @contextmanager
    def progress(self, what: str) -> Iterator[Progress]:
        """A bar on a terminal."""
        with working(what, hidden=self.quiet or self.as_json) as told:

            def tell(done: int, of: int) -> None:
                told(Phase(f"{what}: {done:,} of {of:,}", done + 1, of))

            yield tell

    def play(self, chosen: Game, samples: int = SAMPLES) -> Finding:
        """Sample, with a bar."""
        with self.progress("timing releases" if self.timing else "drawing samples") as progress:
            count = samples if self.samples is None else self.samples
            play = chosen.play_timing if self.timing else chosen.play
            with redirect_stdout(sys.stderr):  # a mechanism that prints must not spoil the report
                return play(count, self.confidence, seconds=self.seconds, progress=progress)

    def draw(self, finding: Finding) -> None:
        """The chart, if one was asked for; before anything is printed."""
        if self.plot is None:
            return
        write(self.plot, lambda file: charts.save(draw_finding(finding), file))
        if not self.quiet:
            say(errors(), f"chart: {self.plot}")


def audit(
    what: What = None,
    file: File = None,
    epsilon: Claimed = None,
    delta: ClaimedDelta = None,
    parameters: With = None,
    value: Input = None,
    neighbor: Neighbor = None,
    samples: Samples = None,
    confidence: Sure = CONFIDENCE,
    limit: Limit = SECONDS,
    plot: Plot = None,
    timing: Timing = False,
    as_json: Json = False,
    quiet: given.Quiet = False,
    where: given.Where = None,
) -> None:
    """Try to refute what a mechanism claims.

    Reports a lower bound on its true epsilon that holds with the stated confidence. Finding nothing is not a proof.
    Exit code 6: the claim is refuted.
    """
    if what is None and file is None:
        list_names(as_json=as_json)
        return
    is_sql = file is not None or is_question(what or "")
    what = read_question(what, file) if is_sql else (what or "").strip()
    order = Order(samples, confidence, limit, as_json, plot, quiet, timing)
    Target(plot=plot).check()
    own = {"--with": parameters, "--value": value, "--neighbor": neighbor, "--timing": timing or None}
    claim = {"--epsilon": epsilon, "--delta": delta}
    broken = None if is_sql else next((each for each in ZOO if same(each.name, what)), None)
    try:
        if is_sql:
            _refuse("a question", own)
            refuted = questions.audit_question(what, epsilon, delta, where, order)
        elif same(what, "zoo"):
            _refuse("the zoo", {**own, **claim, "--plot": plot})
            refuted = zoo.audit_zoo(order)
        elif broken is not None:
            _refuse(f"{broken.name} has its claim and its neighbors, and it", {**own, **claim})
            refuted = zoo.audit_broken(broken, order)
        else:
            finding = order.play(_game(what, epsilon, delta, parameters or [], _read(value), _read(neighbor)))
            show_finding(finding, order)
            refuted = finding.refuted
    except KeyboardInterrupt:
        say(errors(), "interrupted: there is no verdict", "bold red")
        raise typer.Exit(INTERRUPTED) from None
    if refuted:
        raise typer.Exit(REFUTED)


def _refuse(what: str, options: dict[str, Any]) -> None:
    """Refuse options that would be forgotten."""
    for name, given_value in options.items():
        if given_value is not None:
            raise InvalidArgument(f"{what} takes no {name}; got one; leave {name} out")


def _game(
    what: str, epsilon: float | None, delta: float | None, parameters: list[str], value: Any, neighbor: Any
) -> Game:
    if is_mechanism(what):
        options = dict(map(_parameter, parameters))
        for name, claimed in (("epsilon", epsilon), ("delta", delta)):
            if claimed is not None and name in options:
                raise InvalidArgument(f"{name} must be given once; got --{name} and --with {name}; leave one out")
            options |= {} if claimed is None else {name: claimed}
        return mechanism_game(what, options, value, neighbor)
    if ":" not in what:
        raise unknown(what)
    found = load(what)
    if isinstance(found, Game):
        _refuse(
            f"{what} is a whole game, and it", {"--epsilon": epsilon, "--delta": delta, "--with": parameters or None}
        )
        _refuse(f"{what} is a whole game, and it", {"--value": value, "--neighbor": neighbor})
        return found
    _refuse("a mechanism of your own", {"--with": parameters or None})
    if epsilon is None and delta is not None and hasattr(found, "guarantee"):
        raise InvalidArgument("--delta must come with --epsilon; got it alone; the mechanism has a claim of its own")
    if (value is None) is not (neighbor is None):
        raise InvalidArgument("both inputs must be given, or none: 0 and 1; got one; give --value and --neighbor")
    inputs = (0, 1) if value is None else (value, neighbor)
    claim = epsilon if epsilon is not None or hasattr(found, "guarantee") else 1.0
    return game(found, *inputs, epsilon=claim, delta=delta or 0, name=what)


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidArgument(f"--with must be NAME=VALUE; got {text!r}; for example --with size=3")
    return name.strip(), _read(value)


def _read(text: str | None) -> Any:
    """A number, list or other literal as Python writes it, else the text itself."""
    if text is None:
        return None
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text.strip()


_EXAMPLES = (
    "sfumato audit laplace --epsilon 1",
    'sfumato audit noise:my_count --value "[1, 2]" --neighbor "[1]" -e 1',
    'sfumato audit "SELECT COUNT(*) AS n FROM visits"',
    "sfumato audit zoo",
)
COMMANDS = (Command(audit, _EXAMPLES),)
