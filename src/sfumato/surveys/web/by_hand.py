"""Questions that can be answered on paper: where two coins or one die give the chances of the design.

One of k answers by `response` with odds H : L is the own answer in H, and each other in L, of H + (k - 1) L cases.
Two coins make four cases and a die makes six; a die also makes three. Odds are e**epsilon to 60 bits unless they were
given, so those of paper may be less by a millionth of a millionth: never more, and no estimate could tell.

>>> from sfumato.surveys.design import design, yes_no
>>> from sfumato.surveys.web.words import english
>>> rule(design("Health", [yes_no("smoker", "Do you smoke?", truth=0.5)]).items[0], english())
'Toss a coin. Heads: tick your own answer. Tails: toss again, and tick “yes” for heads, “no” for tails.'
>>> rule(design("Health", [yes_no("smoker", "Do you smoke?", keep=Fraction(5, 6))]).items[0], english())
'Throw a die. 1 to 5: tick your own answer. 6: tick the other one.'
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from sfumato.mechanisms.local import BlockResponse
from sfumato.surveys.design import Design
from sfumato.surveys.item import Item
from sfumato.surveys.question import Choice
from sfumato.surveys.web.words import Words

Tool = Literal["coin", "die"]
_CLOSE = Fraction(1, 10**12)


def on_paper(survey: Design) -> tuple[Item, ...]:
    """The questions that paper and a coin or a die can carry; none where each device would draw its question."""
    if survey.ask == "one" and len(survey.items) > 1:
        return ()
    return tuple(item for item in survey.items if tool(item) is not None)


def tool(item: Item) -> Tool | None:
    """What has the chances of a question: two throws of a coin, one of a die, or neither."""
    cases = _cases(item)
    return None if cases is None else "coin" if sum(cases) == 4 else "die"


def rule(item: Item, said: Words) -> str | None:
    """What to do with a coin or a die, in words; None where neither has these chances."""
    cases = _cases(item)
    if cases is None:
        return None
    assert isinstance(item.question, Choice)
    return _by_coins(item.question.categories, said) if sum(cases) == 4 else _by_die(cases, said)


def _cases(item: Item) -> tuple[int, ...] | None:
    """In how many of four or six cases the own answer is ticked, and each of the others; None: not in so many."""
    match item.mechanism, item.question:
        case BlockResponse() as mechanism, Choice(categories=categories) if mechanism.blocks.name == "response":
            high, low = _simple(Fraction(mechanism.odds or 0)).as_integer_ratio()
            total = high + (len(categories) - 1) * low
            times = 6 // total if total in (3, 6) else 1
            return (times * high, *[times * low] * (len(categories) - 1)) if total in (3, 4, 6) else None
    return None


def _simple(odds: Fraction) -> Fraction:
    """Odds of few cases that are as good as these and no higher, or these.

    >>> _simple(3 + Fraction(1, 10**15)), _simple(3 - Fraction(1, 10**15)) == 3
    (Fraction(3, 1), False)
    """
    simple = odds.limit_denominator(6)
    return simple if simple <= odds <= simple * (1 + _CLOSE) else odds


def _by_coins(categories: tuple[str, ...], said: Words) -> str:
    """Two answers at 3 : 1, or three at 2 : 1, which is all that four cases allow."""
    if len(categories) == 2:
        return said.text("coins_two", first=categories[0], second=categories[1])
    return said.text("coins_three")


def _by_die(cases: tuple[int, ...], said: Words) -> str:
    """The first faces are the own answer, the next each the others in their order."""
    keys = ["die_own", *(["die_other"] if len(cases) == 2 else [f"die_other_{i}" for i in range(1, len(cases))])]
    parts, start = [said.text("die")], 1
    for key, count in zip(keys, cases, strict=True):
        parts.append(said.text(key, faces=_faces(start, start + count - 1, said)))
        start += count
    return " ".join(parts)


def _faces(first: int, last: int, said: Words) -> str:
    if first == last:
        return str(first)
    return said.text("faces_two" if last == first + 1 else "faces_several", first=first, last=last)
