"""What all attacks take: how much the curator may give away, the seed of what is made up, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sfumato import checks
from sfumato.attacks.chance import Chance
from sfumato.attacks.world import Progress, silent
from sfumato.errors import TakesLong
from sfumato.privacy.guarantee import Guarantee

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

    @property
    def promise(self) -> Guarantee:
        """What the curator promises to everybody."""
        return Guarantee(self.epsilon)

    @property
    def allowance(self) -> Fraction:
        """Epsilon, exactly."""
        return self.promise.epsilon

    @property
    def sure(self) -> float:
        """The confidence, checked."""
        return float(checks.inside(confidence=self.confidence))

    def chance(self, *words: object) -> Chance:
        """Public random numbers."""
        return Chance(checks.whole(0, seed=self.seed), *words)

    def allow(self, seconds: float) -> None:
        """Refuse what would take longer than is allowed."""
        if seconds > self.patience:
            raise TakesLong(
                f"an attack must take at most {in_words(self.patience)}; this one would take about "
                f"{in_words(seconds)}; take less of it, or allow it: patience={seconds:.0f}"
            )


def in_words(seconds: float) -> str:
    """A time as one would say it.

    >>> in_words(40), in_words(600), in_words(9_000), in_words(1e6)
    ('40 seconds', '10 minutes', '2.5 hours', '11.6 days')
    """
    for name, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{max(1, round(seconds))} seconds"
