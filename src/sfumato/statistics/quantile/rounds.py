"""How the share of quantiles is divided among the rounds of their search."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from sfumato.statistics.share import Share

_PARTS = (Fraction(1, 25), Fraction(7, 50), Fraction(17, 50), Fraction(12, 25))


class Looks(NamedTuple):
    """The shares of looking for quantiles: where units have values, the rows of groups, a place, and around it."""

    landmarks: Share
    groups: Share
    place: Share
    around: Share


def looks_of(share: Share) -> Looks:
    """What each look at the line costs."""
    return Looks(*(share.part(each) for each in _PARTS))
