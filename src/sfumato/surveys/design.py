"""A survey's design: the questions, what each answer costs, and how it is randomized. It is public, all of it.

>>> smoking = design("Health", [yes_no("smoker", "Do you smoke?", truth=0.5)])
>>> round(float(smoking.epsilon), 4), smoking.items[0].oracle
(1.0986, 'response')
>>> two = design("Health", [yes_no("smoker"), number("rent", "Your rent?", (0, 3000), step=50)], epsilon=1)
>>> [str(item.epsilon) for item in two.items]
['1/2', '1/2']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeVar

from sfumato import checks
from sfumato.errors import InvalidArgument, UnknownName
from sfumato.mechanisms.local import epsilon_of
from sfumato.mechanisms.mechanism import read_epsilon
from sfumato.privacy.guarantee import Guarantee
from sfumato.privacy.neighbors import Neighbors
from sfumato.privacy.unit import Unit
from sfumato.suggestions import nearest
from sfumato.surveys.item import Item
from sfumato.surveys.oracle import choose
from sfumato.surveys.question import Choice, Question, number, yes_no

__all__ = ["Design", "design", "number", "yes_no"]

T = TypeVar("T")
Ask = Literal["all", "one"]
RESPONDENT = Unit(("respondent",))


@dataclass(frozen=True)
class Design:
    """Questions with their mechanisms; `epsilon` is what a respondent pays in all.

    `ask`: "all" questions of everybody, at a part of epsilon each; or "one" of each person, drawn by the person's
    device in proportion to the shares, at the whole epsilon.
    """

    title: str
    items: tuple[Item, ...]
    epsilon: Fraction
    ask: Ask = "all"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))
        if not isinstance(self.title, str) or not self.title.strip() or not self.title.isprintable():
            raise InvalidArgument(f"title must be a printable text; got {self.title!r}; name the survey")
        names = [item.name.lower() for item in self.items]
        if not names or len(set(names)) < len(names):
            got = "a name twice; rename one" if names else "none; make one by yes_no, one_of, several_of or number"
            raise InvalidArgument(f"questions must be one or more with different names; got {got}")
        costs = [item.epsilon for item in self.items]
        spent = sum(costs) if self.ask == "all" else max(costs)
        if self.ask not in ("all", "one"):
            raise InvalidArgument(f"ask must be 'all' or 'one'; got {self.ask!r}; leave it out for 'all'")
        if spent > self.epsilon:
            raise InvalidArgument(
                f"the questions must cost at most the design's epsilon, {float(self.epsilon):g}; got "
                f"{float(spent):g} in all; give a larger epsilon, or fewer questions"
            )

    @property
    def guarantee(self) -> Guarantee:
        """What each respondent is promised, whoever collects, for everything that is sent under this design once."""
        return Guarantee(self.epsilon, neighbors=Neighbors.REPLACE, unit=RESPONDENT)

    @cached_property
    def _by_name(self) -> dict[str, Item]:
        return {item.name: item for item in self.items}

    def item(self, name: str) -> Item:
        """The question of this name."""
        if name not in self._by_name:
            raise UnknownName(f"unknown question {name!r}; {nearest(name, self._by_name)}")
        return self._by_name[name]


def design(
    title: str,
    questions: Sequence[Question],
    epsilon: checks.Number | None = None,
    *,
    odds: checks.Number | None = None,
    shares: Mapping[str, int] | None = None,
    ask: Ask = "all",
    oracles: Mapping[str, str] | None = None,
) -> Design:
    """Give each question its part of epsilon, and the mechanism of least variance.

    title       what the survey is called
    questions   made by yes_no, one_of, ordinal, several_of and number
    epsilon     what a respondent pays in all; left out where every question has a chance of its own
    odds        instead of epsilon: by how much all that is sent may change the odds in a bet on an answer
    shares      whole numbers: parts of epsilon (ask="all"), or of the people (ask="one"); 1 each unless said
    ask         "all" questions of everybody, or "one" drawn at random of each person, at the whole epsilon
    oracles     mechanisms by name, for questions that shall not have the one chosen
    """
    if odds is not None:
        epsilon = _epsilon_for(odds, epsilon)
    parts = _shares(questions, shares or {}, "shares")
    named = _known(questions, oracles or {}, "oracles")
    own = {each.name: epsilon_of(each.odds) for each in questions if isinstance(each, Choice) and each.odds is not None}
    free = [each for each in questions if each.name not in own]
    if epsilon is None and free:
        raise InvalidArgument("epsilon must be given; got none; for a strong promise choose 1 or less, for example 0.5")
    fixed = sum(own.values(), Fraction(0)) if ask == "all" else max(own.values(), default=Fraction(0))
    whole = fixed if epsilon is None else read_epsilon(epsilon)
    rest = whole - fixed if ask == "all" else whole
    if free and rest <= 0:
        raise InvalidArgument(
            f"epsilon must leave something for {free[0].name}: others cost {float(fixed):g}; got {float(whole):g}; "
            "give a larger one"
        )
    total = sum(parts[each.name] for each in free)
    items = []
    for each in questions:
        part = Fraction(parts[each.name], total) if free and each in free and ask == "all" else Fraction(1)
        cost = own.get(each.name, rest * part)
        items.append(choose(each, cost, named.get(each.name), parts[each.name]))
    return Design(title, tuple(items), whole, ask)


def _epsilon_for(odds: checks.Number, epsilon: checks.Number | None) -> Fraction:
    exact = checks.positive(odds=odds)
    if epsilon is not None:
        raise InvalidArgument(f"odds or epsilon must be given, not both; got {odds!r} and {epsilon!r}; leave one out")
    if exact <= 1:
        raise InvalidArgument(f"odds must be above 1; got {odds!r}; 1 would send nothing but noise, 3 is usual")
    return epsilon_of(exact)


def _shares(questions: Sequence[Question], given: Mapping[str, int], what: str) -> dict[str, int]:
    known = _known(questions, given, what)
    return {each.name: checks.whole(least=1, share=known.get(each.name, 1)) for each in questions}


def _known(questions: Sequence[Question], given: Mapping[str, T], what: str) -> Mapping[str, T]:
    names = {each.name for each in questions}
    for name in given:
        if name not in names:
            raise UnknownName(f"{what}: unknown question {name!r}; known are {', '.join(sorted(names))}")
    return given
