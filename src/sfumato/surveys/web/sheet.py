"""The sheet of paper as HTML: the questions that coins and dice can carry, with what to do for each."""

from __future__ import annotations

from fractions import Fraction

from sfumato.surveys import design_file as written
from sfumato.surveys.design import Design
from sfumato.surveys.item import Item
from sfumato.surveys.question import Choice
from sfumato.surveys.web.by_hand import on_paper, rule, tool
from sfumato.surveys.web.files import escape, filled
from sfumato.surveys.web.promise import odds, so_sure
from sfumato.surveys.web.words import Words


def sheet(survey: Design, language: str, said: Words) -> str:
    """The sheet; nothing where no question can be answered on paper."""
    items = on_paper(survey)
    if not items:
        return ""
    left_out = len(survey.items) - len(items)
    about = said.text("sheet", tools=_tools(items, said))
    lacks = f" {said.text('sheet_lacks', count=left_out)}" if left_out else ""
    return filled(
        "sheet.html",
        **said.escaped("paper"),
        title=escape(survey.title),
        language=language,
        about=escape(about + lacks),
        questions="\n".join(_question(number, item, language, said) for number, item in enumerate(items, 1)),
        promise=escape(_promise(items, said)),
        design=said.html("design"),
        digits=written.short(survey),
    )


def about_paper(survey: Design, said: Words) -> str:
    """What the page says about paper: a button that prints the sheet, or why there is none."""
    items, count = on_paper(survey), len(survey.items)
    if not items:
        why = said.html("no_paper_drawn" if survey.ask == "one" and count > 1 else "no_paper_chances")
        return f"<details>\n<summary>{said.html('no_paper')}</summary>\n<p>{why}</p>\n</details>"
    some = {"some": str(len(items)), "count": str(count)}
    which = said.text("paper_all") if len(items) == count else said.text("paper_some", **some)
    summary = said.text("answer_on_paper", tools=_tools(items, said))
    return (
        f"<details>\n<summary>{escape(summary)}</summary>\n<p>{escape(which)}</p>\n"
        f'<p><button type="button" id="print">{said.html("print")}</button></p>\n</details>'
    )


def _promise(items: tuple[Item, ...], said: Words) -> str:
    each = said.text("sheet_odds", **odds(max(item.epsilon for item in items), said))
    if len(items) == 1:
        return each
    together = so_sure(sum((item.epsilon for item in items), Fraction(0)))
    return f"{each} {said.text('sheet_together', **together)}"


def _tools(items: tuple[Item, ...], said: Words) -> str:
    needed = {tool(item) for item in items}
    return said.text("a_coin_and_a_die" if len(needed) == 2 else "a_coin" if needed == {"coin"} else "a_die")


def _question(number: int, item: Item, language: str, said: Words) -> str:
    assert isinstance(item.question, Choice)
    boxes = "\n".join(
        f'<li><span class="box"></span><span dir="auto"{language}>{escape(answer)}</span>'
        f'<span class="code">{place}</span></li>'
        for place, answer in enumerate(item.question.categories)
    )
    text = f'<span dir="auto"{language}>{escape(item.question.text)}</span>'
    return (
        f'<div class="item"><h2>{number}.&ensp;{text}</h2>\n<p class="rule">{escape(rule(item, said) or "")}</p>\n'
        f'<ul class="boxes">\n{boxes}\n</ul></div>'
    )
