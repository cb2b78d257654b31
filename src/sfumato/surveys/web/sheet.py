"""The sheet of paper as HTML: the questions that coins and dice can carry, with what to do for each."""

from __future__ import annotations

from fractions import Fraction

from sfumato.surveys import written
from sfumato.surveys.design import Design
from sfumato.surveys.item import Item
from sfumato.surveys.question import Choice
from sfumato.surveys.web.by_hand import on_paper, rule
from sfumato.surveys.web.files import escape, filled
from sfumato.surveys.web.promise import said_odds, said_sure


def sheet(survey: Design, language: str) -> str:
    """The sheet; nothing where no question can be answered on paper."""
    items = on_paper(survey)
    if not items:
        return ""
    left_out = len(survey.items) - len(items)
    return filled(
        "sheet.html",
        title=escape(survey.title),
        language=language,
        tools=_tools(items),
        missing=f" {left_out} of the survey's questions need other chances and are not on paper." if left_out else "",
        questions="\n".join(_question(number, item, language) for number, item in enumerate(items, 1)),
        promise=escape(_promise(items)),
        design=written.short(survey),
    )


def about_paper(survey: Design) -> str:
    """What the page says about paper: a button that prints the sheet, or why there is none."""
    items, count = on_paper(survey), len(survey.items)
    if not items:
        why = (
            "each device draws which of its questions is asked"
            if survey.ask == "one" and count > 1
            else "coins and dice give simple chances, and its questions need others"
        )
        words = f"<p>This survey cannot be answered on paper: {why}.</p>"
        return f"<details>\n<summary>On paper?</summary>\n{words}\n</details>"
    which = "All of this survey" if len(items) == count else f"{len(items)} of its {count} questions"
    return (
        f"<details>\n<summary>Answer on paper, with {_tools(items)}</summary>\n<p>You need not trust a device. {which} "
        "can be answered on a sheet of paper, with the same chances and the same promise. What is printed is the sheet "
        "alone, and nothing that you ticked here.</p>\n"
        '<p><button type="button" id="print">Print the sheet</button></p>\n</details>'
    )


def _promise(items: tuple[Item, ...]) -> str:
    each = said_odds(max(item.epsilon for item in items), "one answer")
    if len(items) == 1:
        return each
    together = said_sure(sum((item.epsilon for item in items), Fraction(0)))
    return f"{each} About all answers of this sheet together it becomes at most {together}."


def _tools(items: tuple[Item, ...]) -> str:
    rules = [rule(item) or "" for item in items]
    needed = [word for word in ("coin", "die") if any(f" a {word}" in each for each in rules)]
    return " and ".join(f"a {word}" for word in needed)


def _question(number: int, item: Item, language: str) -> str:
    assert isinstance(item.question, Choice)
    boxes = "\n".join(
        f'<li><span class="box"></span><span dir="auto"{language}>{escape(answer)}</span>'
        f'<span class="code">{place}</span></li>'
        for place, answer in enumerate(item.question.categories)
    )
    text = f'<span dir="auto"{language}>{escape(item.question.text)}</span>'
    return (
        f'<div class="item"><h2>{number}.&ensp;{text}</h2>\n<p class="rule">{escape(rule(item) or "")}</p>\n'
        f'<ul class="boxes">\n{boxes}\n</ul></div>'
    )
