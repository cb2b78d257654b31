"""Questions that can be answered on paper: where two coins or one die give the chances of the design.

One of k answers by `response` with odds H : L is the own answer in H, and each other in L, of H + (k - 1) L cases.
Two coins make four cases and a die makes six; a die also makes three. Odds are e**epsilon to 60 bits unless they were
given, so those of paper may be less by a millionth of a millionth: never more, and no estimate could tell.

>>> from sfumato.surveys.design import design, yes_no
>>> rule(design("Health", [yes_no("smoker", "Do you smoke?", truth=0.5)]).items[0])
'Toss a coin. Heads: tick your own answer. Tails: toss again, and tick “yes” for heads, “no” for tails.'
>>> rule(design("Health", [yes_no("smoker", "Do you smoke?", keep=Fraction(5, 6))]).items[0])
'Throw a die. 1 to 5: tick your own answer. 6: tick the other one.'
"""

from __future__ import annotations

from fractions import Fraction

from sfumato.mechanisms.local import BlockResponse
from sfumato.surveys.design import Design
from sfumato.surveys.item import Item
from sfumato.surveys.question import Choice

_CLOSE = Fraction(1, 10**12)
_ORDER = ("first", "second", "third", "fourth", "fifth")


def on_paper(survey: Design) -> tuple[Item, ...]:
    """The questions that paper and a coin or a die can carry; none where each device would draw its question."""
    if survey.ask == "one" and len(survey.items) > 1:
        return ()
    return tuple(item for item in survey.items if rule(item) is not None)


def rule(item: Item) -> str | None:
    """What to do with a coin or a die, in words; None where neither has these chances."""
    match item.mechanism, item.question:
        case BlockResponse() as mechanism, Choice(categories=categories) if mechanism.blocks.name == "response":
            high, low = _simple(Fraction(mechanism.odds or 0)).as_integer_ratio()
            cases = high + (len(categories) - 1) * low
            if cases == 4:
                return _by_coins(categories)
            if cases in (3, 6):
                return _by_die(high * 6 // cases, low * 6 // cases, len(categories))
    return None


def _simple(odds: Fraction) -> Fraction:
    """Odds of few cases that are as good as these and no higher, or these.

    >>> _simple(3 + Fraction(1, 10**15)), _simple(3 - Fraction(1, 10**15)) == 3
    (Fraction(3, 1), False)
    """
    simple = odds.limit_denominator(6)
    return simple if simple <= odds <= simple * (1 + _CLOSE) else odds


def _by_coins(categories: tuple[str, ...]) -> str:
    """Two answers at 3 : 1, or three at 2 : 1, which is all that four cases allow."""
    toss = "Toss a coin. Heads: tick your own answer. Tails: toss again, and tick"
    if len(categories) == 2:
        return f"{toss} “{categories[0]}” for heads, “{categories[1]}” for tails."
    return f"{toss} the first of the other two answers for heads, the second for tails."


def _by_die(own: int, other: int, count: int) -> str:
    """Faces 1 to `own` are the own answer, `other` each the others in their order."""
    parts = [f"{_faces(1, own)}: tick your own answer."]
    for place in range(count - 1):
        which = "the other one" if count == 2 else f"the {_ORDER[place]} of the others"
        start = own + 1 + place * other
        parts.append(f"{_faces(start, start + other - 1)}: tick {which}.")
    return f"Throw a die. {' '.join(parts)}"


def _faces(start: int, end: int) -> str:
    if start == end:
        return str(start)
    return f"{start} or {end}" if end == start + 1 else f"{start} to {end}"
