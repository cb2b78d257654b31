"""What came of an attack: the share of right guesses on a raw release and against the curator, and what is possible."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from sfumato.attacks.picture import Level, beside, by_powers, with_levels
from sfumato.audit.proportion import at_least, at_most
from sfumato.charts import GRAY, ORANGE, Names, Point
from sfumato.privacy.guarantee import About, Guarantee

_REPEATING = "Repeating wears noise off, unless answers are stored"
_ERRORS = "root mean square over the villages, two standard errors"


@dataclass(frozen=True, slots=True)
class Side:
    """How often an attack was right on one release.

    name        which release
    hits        right guesses
    trials      guesses
    low, high   an interval of the probability to be right, by Clopper and Pearson
    answered    questions that got a new answer
    repeated    questions that got the answer of before
    refused     questions that got none
    """

    name: str
    hits: int
    trials: int
    low: float
    high: float
    answered: int
    repeated: int = 0
    refused: int = 0

    @classmethod
    def of(
        cls, name: str, hits: int, trials: int, confidence: float, answered: int, repeated: int = 0, refused: int = 0
    ) -> Side:
        """With the interval that misses the probability no more often than 1 - confidence."""
        miss = (1 - confidence) / 2
        ends = at_least(hits, trials, miss), at_most(hits, trials, miss)
        return cls(name, hits, trials, *ends, answered, repeated, refused)

    @property
    def success(self) -> float:
        """The share of right guesses."""
        return self.hits / self.trials

    def __str__(self) -> str:
        return f"{percent(self.success)} [{percent(self.low)} to {percent(self.high)}], {self.hits} of {self.trials}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"success": self.success, **{name: getattr(self, name) for name in Side.__slots__}}


@dataclass(frozen=True, slots=True)
class Outcome:
    """An attack with the same questions on a raw release and against the curator.

    attack      its name, as in `sfumato attack NAME`
    story       who wants to know what, in two sentences
    measure     what is counted: the guesses that are right
    questions   some of the questions, as they were asked on both sides
    asked       how many there were, for all guesses
    raw         how it went on the raw release
    others      how it went on other releases without a promise
    curator     how it went against the curator
    guessing    the share of right guesses without any release
    bound       the largest share that the promise leaves to any attacker
    about       what is guessed: a value of a person, or whether the person is among the data
    guarantee   the promise, for everything that was asked about a person
    seen        what the attacker saw: what it is, on the raw release, from the curator
    stopped     what stopped it
    curve       errors by number of answers, for attacks that collect them
    """

    attack: str
    story: str
    measure: str
    questions: tuple[str, ...]
    asked: int
    raw: Side
    curator: Side
    guessing: float
    bound: float
    about: About
    guarantee: Guarantee
    stopped: str
    confidence: float
    others: tuple[Side, ...] = ()
    seen: tuple[tuple[str, str, str], ...] = ()
    curve: tuple[Point, ...] = field(default=(), repr=False)

    @property
    def headline(self) -> str:
        """The point of it, in one line."""
        shares = percent(self.raw.success), percent(self.curator.success), percent(self.guessing)
        return "{}: {} without the curator, {} with it, {} by guessing".format(self.measure.capitalize(), *shares)

    @property
    def kept(self) -> bool:
        """Whether what the curator gave away is within its promise: the interval does not lie above the bound."""
        return self.curator.low <= self.bound

    @property
    def verdict(self) -> str:
        """How the curator stands to the bound."""
        if self.curator.success <= self.bound:
            return "The curator does not exceed that."
        if self.kept:
            return "The curator is above that no further than chance explains: its interval reaches below."
        often = round(2 / (1 - self.confidence))
        return f"The curator is above that: with noise as promised, this happens in one run of {often:,} at most."

    @property
    def end(self) -> str:
        """What stopped it, or held it back; or that nothing did, where a large epsilon leaves most secrets told."""
        if self.curator.low <= self.guessing:
            return f"What stopped it: {self.stopped}"
        if self.curator.low <= (1 + self.guessing) / 2:
            return f"What held it back, though it does better than guessing, as this epsilon allows: {self.stopped}"
        return (
            f"Nothing stopped it: at epsilon {float(self.guarantee.epsilon):g} the noise is too small to hide a person."
        )

    @property
    def promised(self) -> str:
        """What the bound follows from."""
        epsilon = f"epsilon {float(self.guarantee.epsilon):g}"
        if self.about == "membership":
            return f"{epsilon}, whether somebody is among the data"
        return f"{epsilon}, which counts twice: another value is one person removed and one added"

    def describe(self) -> str:
        """In plain words."""
        sides = [self.raw, *self.others, self.curator]
        width = max(len(side.name) for side in sides)
        lines = [self.story, "", f"{self.headline}.", f"With {percent(self.confidence)} intervals:"]
        lines += [f"  {side.name.ljust(width)}  {side}" for side in sides]
        lines += [
            f"  {'guessing'.ljust(width)}  {percent(self.guessing)}",
            f"  {'at most'.ljust(width)}  {percent(self.bound)} for any attacker ({self.promised})",
            "",
            self.verdict,
            self.end,
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def plot(self) -> Any:
        """An Altair chart: right guesses with intervals, beside guessing and the bound."""
        sides = (self.raw, *self.others, self.curator)
        points = [Point(side.name, 100 * side.success, 100 * side.low, 100 * side.high) for side in sides]
        levels = (
            Level(100 * self.guessing, f"guessing: {percent(self.guessing)}", GRAY),
            Level(100 * self.bound, f"the most any attacker can reach: {percent(self.bound)}", ORANGE),
        )
        subtitle = (
            f"{self.attack.capitalize()} with the same questions; {percent(self.confidence)} intervals",
            f"the promise: {self.promised}",
        )
        drawn = with_levels(points, levels, Names("", self.measure + ", %", self.headline, subtitle=subtitle))
        if not self.curve:
            return drawn
        names = Names("answers in the mean, m", "error of the mean", _REPEATING, subtitle=(_ERRORS,))
        return beside(drawn, by_powers(self.curve, names))

    def to_dict(self) -> dict[str, Any]:
        """For JSON: plain numbers, texts and lists."""
        return {
            "attack": self.attack,
            "story": self.story,
            "measure": self.measure,
            "headline": self.headline,
            "questions": list(self.questions),
            "asked": self.asked,
            "raw": self.raw.to_dict(),
            "others": [side.to_dict() for side in self.others],
            "curator": self.curator.to_dict(),
            "guessing": self.guessing,
            "bound": self.bound,
            "kept": self.kept,
            "about": self.about,
            "epsilon": float(self.guarantee.epsilon),
            "neighbors": self.guarantee.neighbors.value,
            "confidence": self.confidence,
            "seen": [{"what": what, "raw": raw, "curator": curator} for what, raw, curator in self.seen],
            "verdict": self.verdict,
            "end": self.end,
        }

    def to_json(self) -> str:
        """As one text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)


def percent(share: float) -> str:
    """A share with one decimal, without one where it is whole.

    >>> percent(0.975), percent(1.0)
    ('97.5 %', '100 %')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
