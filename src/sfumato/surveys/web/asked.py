"""A question as HTML: a fieldset that starts locked, its answers, and what is promised below them."""

from __future__ import annotations

from fractions import Fraction

from sfumato.surveys.item import Item
from sfumato.surveys.question import Boxes, Choice, Number
from sfumato.surveys.web.files import escape
from sfumato.surveys.web.promise import said_chance, said_odds
from sfumato.surveys.web.words import Words

_RADIOS = 12  # answers beyond which a list unfolds
_COLUMNS = 8  # boxes beyond which they stand in columns


def fieldset(place: int, item: Item, language: str, said: Words, *, is_counted: bool) -> str:
    """The question at this place of a design; `language` is the attribute for its own texts, or nothing."""
    key = f"q{place}"
    number = f'<span class="number" aria-hidden="true">{place + 1}</span>' if is_counted else ""
    words = f"{said_chance(item, said)} {said_odds(item.epsilon, said)} {_if_empty(item, said)}"
    return (
        f'<fieldset class="question" id="{key}" aria-describedby="{key}-error {key}-promise" disabled>\n'
        f'<legend>{number}<span class="asked" dir="auto"{language}>{escape(item.question.text)}</span></legend>\n'
        f"{_answers(key, item, language, said)}\n"
        f'<p class="error" id="{key}-error" role="alert" hidden></p>\n'
        f'<p class="promise" id="{key}-promise">{escape(words)}</p>\n</fieldset>'
    )


def _if_empty(item: Item, said: Words) -> str:
    is_private = isinstance(item.question, Choice) and item.question.skip == "private"
    return said.text("empty_private" if is_private else "empty_public")


def _answers(key: str, item: Item, language: str, said: Words) -> str:
    match item.question:
        case Choice(answers=answers) if len(answers) <= _RADIOS:
            rows = [_tick("radio", key, str(i), answer, language) for i, answer in enumerate(answers)]
            rows.append(_tick("radio", key, "", said.text("leave_empty"), kind="empty"))
            return f'<div class="answers">\n{"".join(rows)}</div>'
        case Choice(answers=answers):
            return _list(key, answers, language, said)
        case Boxes(answers=answers, most=most):
            rows = [_tick("checkbox", key, str(i), answer, language) for i, answer in enumerate(answers)]
            rows.append(_tick("checkbox", key, "none", said.text("none_of_these"), kind="empty"))
            several = said.text("tick_all") if most == len(answers) else said.text("tick_most", most=most)
            many = " many" if len(answers) > _COLUMNS else ""
            return f'<span class="hint">{escape(several)}</span>\n<div class="answers{many}">\n{"".join(rows)}</div>'
        case Number(scale=scale):
            step = plain((scale.high - scale.low) / scale.steps)
            hint = said.text("number", low=plain(scale.low), high=plain(scale.high), step=step)
            return (
                f'<label class="hint" for="{key}-number">{escape(hint)}</label>\n<input type="text" '
                f'id="{key}-number" dir="ltr" inputmode="decimal" autocomplete="off" spellcheck="false" '
                f'maxlength="40" aria-describedby="{key}-error">'
            )
    raise TypeError(item.oracle)


def _tick(shape: str, key: str, value: str, text: str, language: str = "", kind: str = "") -> str:
    classed = f' class="{kind}"' if kind else ""
    return (
        f'<label{classed}><input type="{shape}" name="{key}" value="{value}" autocomplete="off">'
        f'<span dir="auto"{language}>{escape(text)}</span></label>\n'
    )


def _list(key: str, answers: tuple[str, ...], language: str, said: Words) -> str:
    rows = "\n".join(f'<option value="{i}"{language}>{escape(answer)}</option>' for i, answer in enumerate(answers))
    return (
        f'<label class="hint" for="{key}-list">{escape(said.text("choose", count=len(answers)))}</label>\n'
        f'<select id="{key}-list" autocomplete="off"><option value="" selected>{said.html("leave_empty")}</option>\n'
        f"{rows}</select>"
    )


def plain(number: Fraction) -> str:
    """A bound as people write it.

    >>> plain(Fraction(3000)), plain(Fraction(1, 4)), plain(Fraction(1, 3))
    ('3000', '0.25', '0.333333')
    """
    return f"{float(number):.12g}" if number.denominator in (1, 2, 4, 5, 8, 10) else f"{float(number):.6g}"
