"""What a design can be expected to tell, on a terminal: a table, and in words how to read it."""

from __future__ import annotations

from sfumato.cli._shared.screen import output, say, show
from sfumato.surveys.design import Design, design
from sfumato.surveys.expected import Expected, expected, people_for
from sfumato.surveys.question import Number

_MUCH = 1.1  # times as close, from which on another way to ask is worth a line
_HEAD = ("question", "mechanism", "epsilon", "people", "95 % interval", "noise adds", "a curator's noise")


def tell(survey: Design, rows: list[Expected], people: int, error: float | None, needed: int | None) -> None:
    """The errors to expect, whether another way to ask has smaller ones, and what is promised."""
    console = output()
    say(console, f"{survey.title}: epsilon {float(survey.epsilon):.4g} for everything a respondent sends.", "bold")
    show(console, [_HEAD, *(_cells(survey, row) for row in rows)], right=(2, 3, 4, 5, 6))
    say(
        console,
        f"95 % interval: its half-width with {people:,} respondents chosen at random. Noise adds: the standard error "
        "that protecting the answers costs. A curator's noise: the same if everyone gave their true answers to a "
        "trusted curator.",
    )
    _tell_one(survey, rows, people)
    if error is not None and needed is not None:
        _tell_needed(survey, error, needed)
    say(console, "A respondent's answers are protected from everyone, including you. Who takes part is visible.")
    say(console, survey.guarantee.describe().partition("\n")[2])


def _cells(survey: Design, row: Expected) -> tuple[str, ...]:
    errors = (_said(survey, row.question, value) for value in (row.half_width, row.error, row.central))
    interval, noise, central = errors
    return row.question, row.oracle, f"{row.epsilon:.4g}", f"{row.people:,}", f"±{interval}", noise, central


def _tell_one(survey: Design, rows: list[Expected], people: int) -> None:
    """What it would bring to ask each person one question, where that is more."""
    if survey.ask == "one" or len(rows) < 2:
        return
    shares = {item.name: item.share for item in survey.items}
    other = design(survey.title, [item.question for item in survey.items], survey.epsilon, shares=shares, ask="one")
    pairs = list(zip(rows, expected(other, people), strict=True))
    now, then = max(pairs, key=lambda pair: pair[0].half_width / pair[1].half_width)
    if now.half_width < _MUCH * then.half_width:
        return
    closer, here = (_said(survey, now.question, row.half_width) for row in (then, now))
    say(
        output(),
        f"More accurate at the same epsilon: ask each person one question at random (--ask one): {now.question} "
        f"±{closer} instead of ±{here}. Cross tables need all answers of each person.",
    )


def _tell_needed(survey: Design, error: float, needed: int) -> None:
    names = [item.name for item in survey.items if people_for(survey, error, item.name) == needed]
    is_number = all(isinstance(item.question, Number) for item in survey.items)
    wanted = f"{error:g}" if is_number else f"{100 * error:g} %"
    whose = f" (for {names[0]}; the other questions need fewer or as many)" if names and len(survey.items) > 1 else ""
    say(output(), f"A standard error of {wanted} from noise needs {needed:,} people{whose}.")


def _said(survey: Design, question: str, value: float) -> str:
    """An error with two digits: of a number in its own unit, of a share in percent."""
    if isinstance(survey.item(question).question, Number):
        return f"{float(f'{value:.2g}'):,g}"
    return f"{float(f'{100 * value:.2g}'):g} %"
