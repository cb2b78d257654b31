r"""What a respondent is promised, in plain words: by what chances an answer is changed, and how much a report tells.

>>> from sfumato.surveys.design import design, yes_no
>>> coins = design("Health", [yes_no("smoker", "Do you smoke?", truth=0.5)])
>>> said_chance(coins.items[0])
'Your own answer is sent with a chance of 75\xa0%, the other one with 25\xa0%.'
>>> said_odds(coins.epsilon)
'Whoever sees what you send can suspect, not know: about your answer, a guess that was even before becomes at most ...
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

_GRADES = (  # how sure an even guess may become, and what that comes to
    (Fraction(65, 100), "can hardly tell"),
    (Fraction(80, 100), "can suspect, not know"),
    (Fraction(95, 100), "may guess, and be right more often than not"),
    (Fraction(1), "may be nearly sure, so this protects little"),
)


def said_odds(epsilon: Fraction, what: str = "your answer") -> str:
    """How much a report tells whoever sees it: to somebody who thought it even beforehand, and as odds."""
    _, sure = Guarantee(epsilon, neighbours="replace").posterior(0.5)
    grade = next(words for limit, words in _GRADES if sure <= limit)
    return (
        f"Whoever sees what you send {grade}: about {what}, a guess that was even before becomes at most "
        f"{said_sure(epsilon)}."
    )


def said_sure(epsilon: Fraction) -> str:
    r"""How sure an even guess becomes at most, with the odds.

    >>> said_sure(Fraction(1))
    '74\xa0% sure (odds of 2.72 to 1, epsilon 1)'
    """
    _, sure = Guarantee(epsilon, neighbours="replace").posterior(0.5)
    return f"{_at_most(sure)} sure (odds of {_odds(epsilon)}, epsilon {_up(epsilon)})"


def said_chance(item: Item) -> str:
    """What is sent instead of the answer, and with which chance it is the answer."""
    match item.mechanism, item.question:
        case BlockResponse() as mechanism, Choice(categories=categories):
            return _said_block(mechanism, len(categories))
        case UnaryResponse(stray=stray), _:
            return (
                "For each answer a yes or a no is sent: for yours a fair coin decides, each other has a yes with a "
                f"chance of {_percent(stray)}."
            )
        case BoxResponse(every=every, agree=agree), _:
            which = "Each box is sent" if every else "One box, drawn by chance, is sent"
            return f"{which} as you left it with a chance of {_percent(agree)}, else turned over."
        case PaddedResponse(inner=inner), Boxes(answers=answers):
            chosen = "One of the boxes that you ticked, or none, is drawn by chance; it is your answer here."
            return f"{chosen} {_said_block(inner, len(answers) + 1)}"
        case DuchiResponse(steps=steps) as mechanism, _:
            ends = f"{_percent(mechanism.chance(0))} to {_percent(mechanism.chance(int(steps)))}"
            return f"Only “high” or “low” is sent. The larger your number, the likelier “high”: from {ends}."
        case PiecewiseResponse(levels=levels), _:
            near = _percent(levels.agree)
            return f"A number is sent that lies near yours with a chance of {near}, else anywhere on a longer scale."
        case _, Number(scale=scale):
            width = float((scale.high - scale.low) / item.epsilon)
            return f"Your number is sent with noise, which is {width:.3g} away from it on average."
    raise TypeError(item.oracle)


def _said_block(mechanism: BlockResponse, count: int) -> str:
    agree, (same, others, _) = _percent(mechanism.agree), mechanism.blocks.sizes(count)
    if mechanism.blocks.name == "response" and count == 2:
        return f"Your own answer is sent with a chance of {agree}, the other one with {_percent(mechanism.stray)}."
    if mechanism.blocks.name == "response":
        return (
            f"Your own answer is sent with a chance of {agree}, each of the {count - 1} others with "
            f"{_percent(mechanism.stray)}."
        )
    if mechanism.blocks.name == "subset":
        size = mechanism.blocks.settings()["size"]
        return f"{size} of the {count} answers are sent together; yours is among them with a chance of {agree}."
    part = _percent(Fraction(same, same + others))
    return f"A number is sent that fits about {part} of the answers; it fits yours with a chance of {agree}."


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
    """e**epsilon to 1, rounded up.

    >>> _odds(Fraction(1)), _odds(Fraction("1.0986122886681098")), _odds(Fraction(6)), _odds(Fraction(40))
    ('2.72 to 1', '3 to 1', '404 to 1', 'e^40 to 1')
    """
    if epsilon > 30:
        return f"e^{_up(epsilon)} to 1"
    factor = math.exp(float(epsilon))
    digits = 2 - min(2, math.floor(math.log10(factor)))
    up = math.ceil(factor * 10**digits - 1e-6) / 10**digits
    return (f"{up:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{up:,.0f}") + " to 1"


def _up(epsilon: Fraction) -> str:
    """An epsilon with three decimals, rounded up."""
    return f"{math.ceil(epsilon * 1000) / 1000:g}"
