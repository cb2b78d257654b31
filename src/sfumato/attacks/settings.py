"""What all attacks take: how much the curator may give away, the seed of what is made up, and how long it may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from sfumato import checks
from sfumato.attacks.simulation import Chance
from sfumato.attacks.world import Progress, silent
from sfumato.errors import InvalidArgument, TakesLong, UnknownName
from sfumato.phrases import Option, Phrase
from sfumato.privacy.guarantee import Guarantee
from sfumato.suggestions import nearest

MOST_ROWS = 1_000_000  # of a table, which is held in memory
EPSILON, CONFIDENCE, SEED, PATIENCE = 0.5, 0.95, 1, 600.0
ASKING = 0.03  # seconds that a question takes, about


@dataclass(frozen=True, slots=True)
class Settings:
    """Options that every attack has.

    epsilon      all that the curator may spend on a person, for all questions together
    seed         of made-up people and of what the attacker chooses; the curator's noise has none
    confidence   how often the intervals of success hold
    patience     the most seconds that an attack may be expected to take
    progress     called with the questions asked so far, and with how many there will be
    """

    epsilon: checks.Number = EPSILON
    seed: int = SEED
    confidence: checks.Number = CONFIDENCE
    patience: float = PATIENCE
    progress: Progress = silent

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> Settings:
        """From the options of an attack; refuses those that nobody knows, and those that cannot be meant."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise UnknownName(f"unknown option {name!r}; {nearest(name, known)}")
        found = cls(**options)
        checks.whole(0, seed=found.seed)
        _ = found.promise, found.sure
        return found

    @property
    def promise(self) -> Guarantee:
        """What the curator promises to everybody."""
        return Guarantee(self.epsilon)

    @property
    def budget(self) -> Fraction:
        """Epsilon, exactly."""
        return self.promise.epsilon

    @property
    def sure(self) -> float:
        """The confidence, checked."""
        return float(checks.inside(confidence=self.confidence))

    def chance(self, *words: object) -> Chance:
        """Public random numbers."""
        return Chance(self.seed, *words)

    def allow(self, seconds: float) -> None:
        """Refuse what would take longer than is allowed."""
        if seconds > self.patience:
            raise TakesLong(
                f"an attack must take at most {in_words(self.patience)}; this one would take about {in_words(seconds)}",
                fix=Phrase("take less of it, or allow it: ", Option("patience", round(seconds))),
            )


def making(rows: int) -> float:
    """Seconds that it takes to make a table of so many rows, about."""
    return 0.1 + 3e-6 * rows


def at_most(limit: int, **named: int) -> int:
    """A whole number that fits into the memory.

    >>> at_most(10, people=11)
    Traceback (most recent call last):
        ...
    sfumato.errors.InvalidArgument: people must be at most 10; got 11; take fewer
    """
    ((name, value),) = named.items()
    if value > limit:
        raise InvalidArgument(f"{name} must be at most {limit:,}; got {value:,}; take fewer")
    return value


def in_words(seconds: float) -> str:
    """A time as one would say it.

    >>> in_words(40), in_words(600), in_words(9_000), in_words(1e6)
    ('40 seconds', '10 minutes', '2.5 hours', '11.6 days')
    """
    for name, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{max(1, round(seconds))} seconds"
