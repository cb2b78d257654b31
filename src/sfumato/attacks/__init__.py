"""Attacks: each succeeds on a raw release and fails against the curator, with the same questions."""

from sfumato.attacks.averaging import averaging
from sfumato.attacks.bound import most_right
from sfumato.attacks.differencing import differencing
from sfumato.attacks.intersection import intersection
from sfumato.attacks.linkage import linkage
from sfumato.attacks.membership import membership
from sfumato.attacks.outcome import Outcome, Side
from sfumato.attacks.reconstruction import reconstruction
from sfumato.attacks.settings import CONFIDENCE, EPSILON, SEED, Settings

__all__ = [
    "CONFIDENCE",
    "EPSILON",
    "SEED",
    "Outcome",
    "Settings",
    "Side",
    "averaging",
    "differencing",
    "intersection",
    "linkage",
    "membership",
    "most_right",
    "reconstruction",
]
