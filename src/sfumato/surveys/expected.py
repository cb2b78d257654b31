"""What a design can be expected to tell, before anybody is asked: errors for so many people, people for an error.

>>> from sfumato.surveys.design import design
>>> from sfumato.surveys.question import yes_no
>>> smoking = design("Health", [yes_no("smoker", truth=0.5)])
>>> people_for(smoking, 0.01)                                     # e**eps / ((e**eps - 1)**2 * 0.01**2)
7500
>>> [row] = expected(smoking, 7500)
>>> round(row.error, 6), round(row.error / row.central)           # how much closer a trusted curator would come
(0.01, 58)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato import checks
from sfumato.surveys.design import Design
from sfumato.surveys.item import Item
from sfumato.surveys.oracle import variance
from sfumato.surveys.question import Boxes, Number


@dataclass(frozen=True, slots=True)
class Expected:
    """What one question can be expected to tell; errors are those of one share, or of the mean of a number.

    `error` is the standard error from the noise, `half_width` how far an interval reaches to either side, people drawn
    at random included; `central` is the standard error from the noise of a trusted curator at the same epsilon.
    """

    question: str
    oracle: str
    epsilon: float
    people: int
    error: float
    half_width: float
    central: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def expected(survey: Design, people: int, confidence: checks.Number = 0.95) -> list[Expected]:
    """For each question the errors to expect of so many respondents."""
    from scipy.special import ndtri

    count = checks.whole(least=2, people=people)
    reach = -float(ndtri(float(1 - checks.inside(confidence=confidence)) / 2))
    rows = []
    for item in survey.items:
        asked = max(1, count * item.share // _shares(survey)) if survey.ask == "one" else count
        noise = float(variance(item)) / asked
        sampled = noise + 0.25 / asked  # a share of one half, or a number of which half the people have either bound
        unit = _range(item)
        rows.append(
            Expected(
                item.name,
                item.oracle,
                float(item.epsilon),
                asked,
                unit * math.sqrt(noise),
                unit * reach * math.sqrt(sampled),
                unit * _central(item, survey.epsilon if survey.ask == "one" else item.epsilon) / count,
            )
        )
    return rows


def people_for(survey: Design, error: checks.Number, question: str | None = None) -> int:
    """How many respondents bring the noise's standard error of every share, or of one question, down to `error`.

    The error of a number is in its own unit: numbers are left out unless named, or alone. With two answers
    n = e**eps / ((e**eps - 1)**2 * error**2).
    """
    bound = checks.positive(error=error)
    items = survey.items if question is None else (survey.item(question),)
    if question is None and any(isinstance(item.question, Number) for item in items) and len(items) > 1:
        items = tuple(item for item in items if not isinstance(item.question, Number))
    needed = 2
    for item in items:
        exact = variance(item) * Fraction(_range(item)) ** 2 / bound**2
        needed = max(needed, math.ceil(exact * (Fraction(_shares(survey), item.share) if survey.ask == "one" else 1)))
    return needed


def _shares(survey: Design) -> int:
    return sum(item.share for item in survey.items)


def _range(item: Item) -> float:
    match item.question:
        case Number(scale=scale):
            return float(scale.high - scale.low)
    return 1.0


def _central(item: Item, epsilon: Fraction) -> float:
    """The standard deviation of Laplace noise on a count, or on a sum over the range, under replace."""
    match item.question:
        case Number():
            moved = 1
        case Boxes(answers=answers, most=most):
            moved = min(len(answers), 2 * most)
        case _:
            moved = 1 if len(item.question.categories) == 2 else 2
    return math.sqrt(2) * moved / float(epsilon)
