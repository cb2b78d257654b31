r"""What a respondent is promised, in plain words: by what chances an answer is changed, and how much a report tells.

>>> from sfumato.surveys.design import design, yes_no
>>> from sfumato.surveys.web.words import english
>>> coins = design("Health", [yes_no("smoker", "Do you smoke?", truth=0.5)])
>>> said_chance(coins.items[0], english())
'Your answer is sent with a chance of 75\xa0%, the other answer with 25\xa0%.'
>>> said_odds(coins.epsilon, english())
'Someone who sees your report may suspect your answer but cannot know it. A 50/50 guess about your answer becomes at ...
"""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.mechanisms.local import (
    BlockResponse,
    BoxResponse,
    DuchiResponse,
    PaddedResponse,
    PiecewiseResponse,
    UnaryResponse,
)
from sfumato.privacy.guarantee import Guarantee
from sfumato.surveys.item import Item
from sfumato.surveys.question import Boxes, Choice, Number
from sfumato.surveys.web.words import Words

_GRADES = (  # how sure an even guess may become, and which words say what that comes to
    (Fraction(65, 100), "grade_1"),
    (Fraction(80, 100), "grade_2"),
    (Fraction(95, 100), "grade_3"),
    (Fraction(1), "grade_4"),
)


def odds(epsilon: Fraction, said: Words) -> dict[str, str]:
    """How much a report tells whoever sees it: to somebody who thought it even beforehand, and as odds."""
    _, sure = Guarantee(epsilon, neighbors="replace").posterior(0.5)
    grade = next(words for limit, words in _GRADES if sure <= limit)
    return {"grade": said.text(grade), **so_sure(epsilon)}


def so_sure(epsilon: Fraction) -> dict[str, str]:
    r"""How sure an even guess becomes at most, with the odds.

    >>> so_sure(Fraction(1))
    {'percent': '74\xa0%', 'factor': '2.72', 'epsilon': '1'}
    """
    _, sure = Guarantee(epsilon, neighbors="replace").posterior(0.5)
    return {"percent": _at_most(sure), "factor": _odds(epsilon), "epsilon": _up(epsilon)}


def said_odds(epsilon: Fraction, said: Words) -> str:
    """What whoever sees the report can tell of one answer."""
    return said.text("odds", **odds(epsilon, said))


def said_chance(item: Item, said: Words) -> str:
    """What is sent instead of the answer, and with which chance it is the answer."""
    match item.mechanism, item.question:
        case BlockResponse() as mechanism, Choice(categories=categories):
            return _said_block(mechanism, len(categories), said)
        case UnaryResponse(stray=stray), _:
            return said.text("chance_unary", other=_percent(stray))
        case BoxResponse(every=every, agree=agree), _:
            return said.text("chance_boxes" if every else "chance_box", own=_percent(agree))
        case PaddedResponse(inner=inner), Boxes(answers=answers):
            return f"{said.text('chance_padded')} {_said_block(inner, len(answers) + 1, said)}"
        case DuchiResponse(steps=steps) as mechanism, _:
            least, most = (_percent(mechanism.chance(place)) for place in (0, int(steps)))
            return said.text("chance_high", least=least, most=most)
        case PiecewiseResponse(levels=levels), _:
            return said.text("chance_near", own=_percent(levels.agree))
        case _, Number(scale=scale):
            return said.text("chance_noise", width=f"{float((scale.high - scale.low) / item.epsilon):.3g}")
    raise TypeError(item.oracle)


def _said_block(mechanism: BlockResponse, count: int, said: Words) -> str:
    own, other, (same, others, _) = _percent(mechanism.agree), mechanism.stray, mechanism.blocks.sizes(count)
    match mechanism.blocks.name:
        case "response" if count == 2:
            return said.text("chance_two", own=own, other=_percent(other))
        case "response":
            return said.text("chance_several", own=own, count=count - 1, other=_percent(other))
        case "subset":
            return said.text("chance_subset", size=mechanism.blocks.settings()["size"], count=count, own=own)
    return said.text("chance_space", part=_percent(Fraction(same, same + others)), own=own)


def _percent(chance: Fraction) -> str:
    r"""Three digits say enough of a chance.

    >>> _percent(Fraction(3, 4)), _percent(Fraction(1, 3)), _percent(Fraction(1, 300))
    ('75\xa0%', '33.3\xa0%', '0.333\xa0%')
    """
    return f"{float(100 * chance):.3g}\N{NO-BREAK SPACE}%"


def _at_most(sure: float) -> str:
    r"""Rounded up, with as many digits as keep it below certainty.

    >>> _at_most(0.7310586), _at_most(0.75), _at_most(0.99999)
    ('74\xa0%', '75\xa0%', '99.999\xa0%')
    """
    for digits in range(13):
        up = math.ceil(100 * sure * 10**digits - 1e-6) / 10**digits
        if up < 100:
            return f"{up:.{digits}f}\N{NO-BREAK SPACE}%"
    return "100\N{NO-BREAK SPACE}%"


def _odds(epsilon: Fraction) -> str:
    """e**epsilon, rounded up: so much to 1.

    >>> _odds(Fraction(1)), _odds(Fraction("1.0986122886681098")), _odds(Fraction(6)), _odds(Fraction(40))
    ('2.72', '3', '404', 'e^40')
    """
    if epsilon > 30:
        return f"e^{_up(epsilon)}"
    factor = math.exp(float(epsilon))
    digits = 2 - min(2, math.floor(math.log10(factor)))
    up = math.ceil(factor * 10**digits - 1e-6) / 10**digits
    return f"{up:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{up:,.0f}"


def _up(epsilon: Fraction) -> str:
    """An epsilon with three decimals, rounded up."""
    return f"{math.ceil(epsilon * 1000) / 1000:g}"
