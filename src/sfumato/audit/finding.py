"""What an audit found: a certified lower bound on epsilon, the event that shows it, and what could be found at most.

Claim. With probability `confidence` at least, over all the audit's draws, the mechanism's true epsilon at the claimed
delta is not below `certified`. Each of k tested events E was fixed before the outputs that test it were drawn. If the
mechanism is (epsilon, delta)-private, then p = Pr[E on one side] <= e^epsilon q + delta for q = Pr[E on the other], so
epsilon >= ln((p - delta) / q). p is replaced by a lower and q by an upper bound (`proportion`), each missed with
probability (1 - confidence) / 2k at most; by the union bound all hold at once.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sfumato import rounding
from sfumato.audit.proportion import at_least, at_most
from sfumato.privacy.guarantee import Guarantee

_DOWN = 1e-12  # more than a logarithm of floats is off


@dataclass(frozen=True, slots=True)
class Tested:
    """An event with how often it happened on both sides, and the epsilon that this certifies.

    likelier   'value' or 'neighbor': the side on which the event was expected more often
    hits       how often it happened there, of `trials`
    others     how often on the other side, of as many
    low        a lower bound of its probability there
    high       an upper bound of its probability on the other side

    """

    words: str
    likelier: str
    hits: int
    others: int
    trials: int
    low: float
    high: float
    certified: float

    @classmethod
    def of(cls, words: str, swapped: bool, hits: int, others: int, trials: int, delta: float, miss: float) -> Tested:
        """Bound both probabilities, each missed with probability `miss`."""
        low, high = at_least(hits, trials, miss), at_most(others, trials, miss)
        side = "neighbor" if swapped else "value"
        return cls(words, side, hits, others, trials, low, high, certified(low, high, delta))


def certified(low: float, high: float, delta: float) -> float:
    """ln((low - delta) / high), rounded down; 0 where it says nothing.

    >>> round(certified(0.5, 0.2, 0.0), 6)
    0.916291
    """
    over = low - delta
    return max(0.0, math.log(over) - math.log(high) - _DOWN) if over > 0 else 0.0


def ceiling(trials: int, delta: float, miss: float) -> float:
    """The most that so many trials can certify: the event always happens on one side, and never on the other."""
    return certified(at_least(trials, trials, miss), at_most(0, trials, miss), delta)


@dataclass(frozen=True, slots=True)
class Side:
    """A bin of the chart: the share of outputs in it, on each side, and whether the event holds there."""

    label: str
    start: float
    end: float
    value: float
    neighbor: float
    chosen: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an audit by sampling.

    certified    a lower bound of the true epsilon, at the claimed delta
    confidence   how often such a bound holds
    ceiling      the most that could have been certified with as many samples
    tested       the events that were tested, the best one first
    inputs       the value and the neighbor, in short
    durations    the median nanoseconds of a release on each input, where the audit measured time
    """

    name: str
    claim: Guarantee
    samples: int
    confidence: float
    certified: float
    ceiling: float
    tested: tuple[Tested, ...] = field(repr=False)
    seconds: float
    seen: str = ""
    sides: tuple[Side, ...] = field(default=(), repr=False)
    inputs: tuple[str, str] = ("", "")
    durations: tuple[float, float] | None = None

    @property
    def refuted(self) -> bool:
        """Whether the claim cannot be true, at this confidence."""
        return self.certified > rounding.up(self.claim.epsilon)

    @property
    def excess(self) -> float:
        """By how much the certified epsilon exceeds the claimed one; 0 where it does not."""
        return max(0.0, self.certified - rounding.up(self.claim.epsilon))

    @property
    def could_refute(self) -> bool:
        """Whether as many samples could have refuted the claim at all."""
        return self.ceiling > rounding.up(self.claim.epsilon)

    @property
    def best(self) -> Tested:
        """The event that certifies most."""
        return self.tested[0]

    def describe(self) -> str:
        """In plain words."""
        claim = f"claimed: epsilon {float(self.claim.epsilon):g}"
        claim += f", delta {float(self.claim.delta):g}" if self.claim.delta else ""
        verdict = "REFUTED" if self.refuted else "not refuted"
        best = self.best
        lines = [
            f"{self.name}: {verdict}; {claim}; certified: epsilon at least {floor(self.certified)}"
            f" with confidence {said(self.confidence)}",
            f"the event: {best.words}; it happened {best.hits:,} times of {best.trials:,} on the "
            f"{best.likelier}, {best.others:,} times on the other side"
            if self.certified > 0
            else "no event told the two inputs apart",
        ]
        if self.durations is not None:
            lines.append(self.measured)
        if not self.refuted:
            lines.append(self.limits)
        return "\n".join(lines)

    @property
    def measured(self) -> str:
        """What was timed, in a sentence: the bound is about this machine and this run, not about every clock."""
        if self.durations is None:
            return "no durations were measured"
        value, neighbor = self.durations
        return (
            f"a release took {value:,.0f} ns on the value and {neighbor:,.0f} ns on the neighbor (medians), on this "
            "machine, by its own clock and under its load"
        )

    @property
    def limits(self) -> str:
        """Why 'not refuted' is no proof, in a sentence: what this audit could not have seen."""
        most = f"{self.samples:,} samples a side can certify at most {floor(self.ceiling)}"
        if not self.could_refute:
            return f"no proof: {most}, too few to refute this claim; take more"
        if self.certified == 0:
            return f"no proof: {most}; on other neighbors, or with more samples, something may show"
        return f"no proof: other neighbors may tell more; {most}"

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """For JSON: plain numbers, texts and lists."""
        return {
            "mechanism": self.name,
            "claimed": {"epsilon": float(self.claim.epsilon), "delta": float(self.claim.delta)},
            "neighbors": self.claim.neighbors.value,
            "value": self.inputs[0],
            "neighbor": self.inputs[1],
            "refuted": self.refuted,
            "certified_epsilon": self.certified,
            "exceeds_claim_by": self.excess,
            "confidence": self.confidence,
            "can_certify_at_most": self.ceiling,
            "could_refute": self.could_refute,
            "samples": self.samples,
            "seconds": round(self.seconds, 3),
            "median_nanoseconds": None if self.durations is None else list(self.durations),
            "events": [{name: getattr(each, name) for name in Tested.__slots__} for each in self.tested],
        }


def short(value: object, most: int = 60) -> str:
    """An input on one line; a long one by what is in it how often, or cut in the middle.

    >>> short([1, 2, 3]), short([7.0] * 13 + [9.0] * 12)
    ('[1, 2, 3]', '13 times 7.0, 12 times 9.0')
    >>> short(list(range(100)), most=20)
    '[0, 1, 2,... 98, 99]'
    """
    words = " ".join(repr(value).split())
    if len(words) > most and isinstance(value, list | tuple):
        counted = Counter(map(repr, value)).items()
        grouped = ", ".join(f"{count} times {each}" for each, count in counted)
        words = min(words, grouped, key=len)
    half = (most - 3) // 2
    return words if len(words) <= most else f"{words[: most - 3 - half]}...{words[-half:]}"


def floor(epsilon: float) -> str:
    """With three decimals, rounded down: a bound is not made better by printing it.

    >>> floor(0.97864)
    '0.978'
    """
    return f"{math.floor(epsilon * 1_000) / 1_000:.3f}"


def said(confidence: float) -> str:
    """As percent, or as the probability to be wrong where that is tiny.

    >>> said(0.999), said(1 - 1e-7)
    ('99.9 %', '1 - 1e-07')
    """
    return f"{100 * confidence:g} %" if confidence <= 0.99999 else f"1 - {1 - confidence:.2g}"
