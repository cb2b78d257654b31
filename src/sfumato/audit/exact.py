"""Refute a claim by exact probabilities: for events so rare that no sample would show them.

The masses of a few outcomes on both neighbors are given as fractions; what is left out on either side is one more
outcome. Merging outcomes is post-processing, so a claim that fails for them fails. See `privacy.verify`.

>>> from sfumato.privacy.guarantee import Guarantee
>>> found = judge("leaks", {"my row": Fraction(1, 1000)}, {}, Guarantee(1, 1e-6))
>>> found.refuted, round(found.delta, 6)
(True, 0.001)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato import rounding
from sfumato.privacy import verify
from sfumato.privacy.guarantee import Guarantee

Masses = Mapping[str, Fraction]
REST = "everything else"


@dataclass(frozen=True, slots=True)
class ExactFinding:
    """The least delta with which the claimed epsilon can be true, rounded down; no statistics."""

    name: str
    claim: Guarantee
    delta: float

    @property
    def refuted(self) -> bool:
        """Whether the claim is false."""
        return self.delta > rounding.up(self.claim.delta)

    def describe(self) -> str:
        """In plain words."""
        verdict = "REFUTED" if self.refuted else "not refuted"
        return (
            f"{self.name}: {verdict} by exact probabilities; claimed: epsilon {float(self.claim.epsilon):g}, delta "
            f"{float(self.claim.delta):g}; at this epsilon delta is at least {self.delta:.3g}"
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        claimed = {"epsilon": float(self.claim.epsilon), "delta": float(self.claim.delta)}
        return {"mechanism": self.name, "claimed": claimed, "refuted": self.refuted, "delta_at_least": self.delta}


def judge(name: str, mine: Masses, theirs: Masses, claim: Guarantee) -> ExactFinding:
    """Compare the masses in both directions."""
    p, q = _whole(mine), _whole(theirs)
    low = max(verify.excess(a, b, claim.epsilon)[0] for a, b in ((p, q), (q, p)))
    return ExactFinding(name, claim, low)


def _whole(masses: Masses) -> dict[str, Fraction]:
    return {**masses, REST: 1 - sum(masses.values(), Fraction(0))}
