"""A question as HTML: a fieldset that starts locked, its answers, and what is promised below them."""

from __future__ import annotations

from fractions import Fraction

from sfumato.surveys.item import Item
from sfumato.surveys.question import Boxes, Choice, Number
from sfumato.surveys.web.files import escape
from sfumato.surveys.web.promise import said_chance, said_odds

_RADIOS = 12  # answers beyond which a list unfolds
_COLUMNS = 8  # boxes beyond which they stand in columns


def fieldset(place: int, item: Item, language: str, *, is_counted: bool) -> str:
    """The question at this place of a design; `language` is the attribute for its own texts, or nothing."""
    key = f"q{place}"
    number = f'<span class="number" aria-hidden="true">{place + 1}</span>' if is_counted else ""
    words = f"{said_chance(item)} {said_odds(item.epsilon)} {_if_empty(item)}"
    return (
        f'<fieldset class="question" id="{key}" aria-describedby="{key}-error {key}-promise" disabled>\n'
        f'<legend>{number}<span class="asked" dir="auto"{language}>{escape(item.question.text)}</span></legend>\n'
        f"{_answers(key, item, language)}\n"
        f'<p class="error" id="{key}-error" role="alert" hidden></p>\n'
        f'<p class="promise" id="{key}-promise">{escape(words)}</p>\n</fieldset>'
    )


def _if_empty(item: Item) -> str:
    if isinstance(item.question, Choice) and item.question.skip == "private":
        return "To leave it empty is an answer like the others, and as well protected."
    return "That you leave it empty can be seen."


def _answers(key: str, item: Item, language: str) -> str:
    match item.question:
        case Choice(answers=answers) if len(answers) <= _RADIOS:
            rows = [_tick("radio", key, str(i), answer, language) for i, answer in enumerate(answers)]
            rows.append(_tick("radio", key, "", "I leave this empty", kind="empty"))
            return f'<div class="answers">\n{"".join(rows)}</div>'
        case Choice(answers=answers):
            return _list(key, answers, language)
        case Boxes(answers=answers, most=most):
            rows = [_tick("checkbox", key, str(i), answer, language) for i, answer in enumerate(answers)]
            rows.append(_tick("checkbox", key, "none", "none of these", kind="empty"))
            several = "Tick all that apply" if most == len(answers) else f"Tick at most {most}"
            many = " many" if len(answers) > _COLUMNS else ""
            return f'<span class="hint">{several}</span>\n<div class="answers{many}">\n{"".join(rows)}</div>'
        case Number(scale=scale):
            ends = f"between {plain(scale.low)} and {plain(scale.high)}"
            step = plain((scale.high - scale.low) / scale.steps)
            return (
                f'<label class="hint" for="{key}-number">A number {ends}, which is rounded to steps of {step}</label>\n'
                f'<input type="text" id="{key}-number" inputmode="decimal" autocomplete="off" spellcheck="false" '
                f'maxlength="40" aria-describedby="{key}-error">'
            )
    raise TypeError(item.oracle)


def _tick(shape: str, key: str, value: str, text: str, language: str = "", kind: str = "") -> str:
    classed = f' class="{kind}"' if kind else ""
    return (
        f'<label{classed}><input type="{shape}" name="{key}" value="{value}" autocomplete="off">'
        f'<span dir="auto"{language}>{escape(text)}</span></label>\n'
    )


def _list(key: str, answers: tuple[str, ...], language: str) -> str:
    rows = "\n".join(f'<option value="{i}"{language}>{escape(answer)}</option>' for i, answer in enumerate(answers))
    return (
        f'<label class="hint" for="{key}-list">Choose one of {len(answers)}</label>\n'
        f'<select id="{key}-list" autocomplete="off"><option value="" selected>I leave this empty</option>\n'
        f"{rows}</select>"
    )


def plain(number: Fraction) -> str:
    """A bound as people write it.

    >>> plain(Fraction(3000)), plain(Fraction(1, 4)), plain(Fraction(1, 3))
    ('3000', '0.25', '0.333333')
    """
    return f"{float(number):.12g}" if number.denominator in (1, 2, 4, 5, 8, 10) else f"{float(number):.6g}"
