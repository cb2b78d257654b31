"""The differencing attack: two harmless counts, with and without one person, and their difference is that person."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from sfumato.cli._shared.screen import say
from sfumato.cli._shared.screen import show as show_table
from sfumato.cli.demo.city import exact
from sfumato.curator.curator import Curator

EARNS = 80_000
EPSILON = 0.5
_TARGET = f"SELECT min(person) FROM visits WHERE income > {EARNS} AND region = 'harbour'"
_COUNT = "SELECT COUNT(DISTINCT person) AS n FROM visits WHERE income > {earns}"


@dataclass(frozen=True, slots=True)
class Attack:
    """The two counts and their difference, exact and private; intervals are (low, high)."""

    person: int
    exact: tuple[int, int]
    private: tuple[float, float]
    difference: tuple[float, float]

    @property
    def fails(self) -> bool:
        """Whether the private answers fit both a person who is counted and one who is not."""
        return self.difference[0] <= 0 and self.difference[1] >= 1


def run(curator: Curator, folder: Path) -> Attack:
    """Ask both counts exactly, as nobody may, and privately, as anyone may."""
    person = int(exact(folder, _TARGET)[0][0])
    everybody = _COUNT.format(earns=EARNS)
    questions = (everybody, f"{everybody} AND person <> {person}")
    first, second = (int(exact(folder, question)[0][0]) for question in questions)
    answers = [curator.ask(question, epsilon=EPSILON, analyst="attacker") for question in questions]
    values = [float(answer.rows[0]["n"]) for answer in answers]
    (low, high), (other_low, other_high) = (answer.intervals["n"][0] or (0.0, 0.0) for answer in answers)
    return Attack(person, (first, second), (values[0], values[1]), (low - other_high, high - other_low))


def show(console: Console, curator: Curator, folder: Path) -> None:
    """Tell the attack, and why it fails."""
    found = run(curator, folder)
    say(console, "\nAn attack", "bold")
    say(console, f"Does reader {found.person} earn more than {EARNS:,}? Two harmless-looking counts should tell:")
    low, high = found.difference
    show_table(
        console,
        [
            ("readers who earn more", "exact", f"private, epsilon {EPSILON:g} each"),
            ("all of them", f"{found.exact[0]:,}", f"{found.private[0]:,.0f}"),
            (f"all but reader {found.person}", f"{found.exact[1]:,}", f"{found.private[1]:,.0f}"),
            ("difference", f"{found.exact[0] - found.exact[1]:,}", f"between {low:,.0f} and {high:,.0f}"),
        ],
        right=(1, 2),
    )
    if found.fails:
        say(console, "The exact counts reveal the answer. The private counts fit both yes and no: the attack fails.")
    else:
        say(console, "The exact counts reveal the answer. This time the private interval missed: one in twenty may.")
