"""Which epsilon others chose, and what an epsilon is worth in money.

There is no right epsilon, only one that was chosen with open eyes. `CHOICES` lists values that were published together
with what they protect; a number alone says nothing, since 4 a day is more than 19 once. `affordable` is the economic
method (Hsu et al. 2014): the most that a study may take from its participants if it pays them for the added risk.
`window` sets against it the least that the study needs to be accurate; between the two an epsilon may be chosen.

>>> [choice.epsilon for choice in CHOICES if "census" in choice.application.lower()]
[19.61]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from sfumato import checks, rounding
from sfumato.checks import Number


@dataclass(frozen=True, slots=True)
class Choice:
    """One published choice of epsilon: for what, how much, for which unit, and where it is written."""

    application: str
    epsilon: float
    unit: str
    source: str


CHOICES = (
    Choice("advice for a cautious release", 0.01, "a person", "Dwork 2008, survey of results: 'say, 0.01, 0.1'"),
    Choice("advice for an ordinary release", 0.1, "a person", "Dwork 2008, survey of results: 'say, 0.01, 0.1'"),
    Choice("shares of web links, by country and age", 0.45, "one action of a user", "Facebook URLs data set, 2020"),
    Choice("advice for some cases", math.log(2), "a person", "Dwork 2008: 'in some cases, ln 2 or ln 3'"),
    Choice("a survey by coin toss", math.log(3), "an answer", "Warner 1965, with two fair coins"),
    Choice("settings of a browser (RAPPOR)", math.log(3), "a report", "Erlingsson, Pihur, Korolova 2014, experiments"),
    Choice("use of apps on Windows", 1.672, "a user, every six hours", "Microsoft; Ding, Kulkarni, Yekhanin 2017"),
    Choice("health data types in use", 2, "a user and day", "Apple, differential privacy overview"),
    Choice("visits to places (mobility reports)", 2.64, "a user and day", "Google, Aktay et al. 2020"),
    Choice("popular emoji", 4, "a user and day", "Apple, differential privacy overview"),
    Choice("the largest value found in early papers", 10, "a person", "Hsu et al. 2014, table of published values"),
    Choice("census for redistricting", 19.61, "a person (17.14) and a home (2.47)", "US Census Bureau, 2020 census"),
    Choice("who engages with posts", 34.9, "a member, in an analyst's month", "LinkedIn, Rogers et al. 2020"),
)


def affordable(budget: Number, people: int, cost: Number) -> float:
    """The largest epsilon whose added risk a budget pays for: (e^epsilon - 1) * cost for each of the people.

    `cost` is what a participant would expect to lose, by whatever happens in life, if the study were done without him;
    epsilon raises the probability of any such event by at most the factor e^epsilon.

    >>> affordable(budget=30_000, people=1_000, cost=100)      # ln(1 + 30,000 / (1,000 * 100)) = ln 1.3
    0.262364264467491
    """
    share = checks.positive(budget=budget) / checks.whole(1, people=people)
    return rounding.down(rounding.log_down(1 + share / checks.positive(cost=cost)))


class Window(NamedTuple):
    """The epsilons that are large enough for the study and small enough for its budget; closed if low > high."""

    low: float
    high: float

    @property
    def is_open(self) -> bool:
        """Whether there is an epsilon to choose."""
        return self.low <= self.high


def window(budget: Number, people: int, cost: Number, *, within: Number, confidence: Number = 0.95) -> Window:
    """The epsilons at which a share of the people is estimated well enough and everyone can be paid.

    The noise of a count, of scale 1 / epsilon, exceeds within * people with probability 1 - confidence at most if
    epsilon >= ln(1 / (1 - confidence)) / (within * people). Above it lies what is `affordable`. More people lower both
    ends; they open a window only if budget / cost is above ln(1 / (1 - confidence)) / within.

    >>> window(budget=30_000, people=1_000, cost=100, within=0.02)              # 2 % of the share, with 95 %
    Window(low=0.149786613677699..., high=0.262364264467491)
    >>> window(budget=30_000, people=100, cost=10_000, within=0.02).is_open
    False
    """
    miss = 1 - checks.inside(confidence=confidence)
    wanted = checks.inside(within=within) * checks.whole(1, people=people)
    return Window(rounding.up(rounding.log_up(1 / miss) / wanted), affordable(budget, people, cost))
